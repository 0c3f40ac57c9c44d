// "Run" on blocks of Python code: they run in this page, in a worker (run-worker.js) with Pyodide.
// Nothing is loaded before the first click.  The script's own element says where Pyodide and the wheel lie.

const own = document.querySelector("script[data-wheel]").dataset;
const blocks = [...document.querySelectorAll(".runnable")];
let worker = null;
let running = null; // the panel of the block that runs

function element(parent, name, properties) {
  const made = Object.assign(document.createElement(name), properties);
  parent.append(made);
  return made;
}

/** What is above a block that goes on from it, as the reader has edited it. */
function above(block) {
  if (!block.matches(".continued")) return "";
  return blocks.slice(0, blocks.indexOf(block)).map((one) => one.querySelector("pre").textContent).join("\n");
}

/** Below a block: what is going on, what the code printed, and a picture. */
function panelOf(block) {
  const panel = element(block, "div", { className: "run-panel" });
  panel.status = element(panel, "p", { className: "run-status" });
  panel.status.setAttribute("role", "status");
  panel.output = element(panel, "pre", { className: "run-output", tabIndex: 0 });
  panel.output.setAttribute("aria-label", "Output");
  panel.pictures = element(panel, "div", { className: "run-pictures" });
  return panel;
}

function end(words) {
  const panel = running;
  running = null;
  panel.status.textContent = words;
  panel.button.textContent = "Run";
}

function stop(words) {
  worker.terminate();
  worker = null;
  end(words);
}

const on = {
  status: ({ words }) => { running.status.textContent = words; },
  output: ({ text }) => { running.output.textContent += text; },
  image: ({ png }) => {
    const image = element(running.pictures, "img", { alt: "The picture that the code drew" });
    image.src = URL.createObjectURL(new Blob([png], { type: "image/png" }));
  },
  boxes: (message) => drawBoxes(running.pictures, message),
  done: ({ seconds }) => end(`Ran in this page in ${seconds < 1 ? Math.ceil(1000 * seconds) + " ms" : seconds.toFixed(1) + " s"}. Edit the code and run it again.`),
  failed: ({ reason }) => end(`It could not be drawn: ${reason}`),
  unavailable: ({ reason }) => stop(`Python could not be loaded from ${new URL(own.pyodide, location.href).host}: there is no network, or it is blocked here. The page is complete without it. (${reason})`),
};

function started() {
  const made = new Worker(new URL("run-worker.js", import.meta.url), { type: "module" });
  made.onmessage = ({ data }) => { if (running) on[data.kind](data); };
  made.onerror = (event) => { if (running) stop(`It did not run: ${event.message || "the worker could not be started"}.`); };
  made.postMessage({ pyodide: new URL(own.pyodide, location.href).href, wheel: new URL(own.wheel, import.meta.url).href });
  return made;
}

function run(block, button) {
  if (running) {
    const isOwn = running.button === button;
    stop("Stopped.");
    if (isOwn) return;
  }
  const panel = (block.panel ??= panelOf(block));
  panel.button = button;
  panel.output.textContent = "";
  panel.pictures.replaceChildren();
  running = panel;
  button.textContent = "Stop";
  worker ??= started();
  worker.postMessage({ before: above(block), code: block.querySelector("pre").textContent });
}

/** Boxes as rows of four numbers; those that touch another are marked. */
function drawBoxes(parent, { rows, touches, solid, words }) {
  const figure = element(parent, "figure", {});
  const canvas = element(figure, "canvas", { width: 1280, height: 720 });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", words);
  element(figure, "figcaption", { textContent: words });
  const style = getComputedStyle(document.documentElement);
  const [blue, orange, faint] = ["--blue", "--orange", "--faint"].map((name) => style.getPropertyValue(name) || "#005f94");
  const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
  for (let k = 0; k < rows.length; k += 4) {
    for (const axis of [0, 1]) {
      low[axis] = Math.min(low[axis], rows[k + axis]);
      high[axis] = Math.max(high[axis], rows[k + 2 + axis]);
    }
  }
  const size = [high[0] - low[0] || 1, high[1] - low[1] || 1];
  const scale = Math.min(1240 / size[0], 1240 / size[1]);
  canvas.height = Math.ceil(Math.min(1280, Math.max(120, size[1] * scale + 40)));
  const pen = canvas.getContext("2d");
  pen.lineWidth = rows.length < 400 ? 4 : 2;
  for (let k = 0; k < rows.length / 4; k++) {
    const [x0, y0, x1, y1] = rows.slice(4 * k, 4 * k + 4);
    pen.strokeStyle = pen.fillStyle = k < solid ? faint : touches[k] ? orange : blue;
    const place = [20 + (x0 - low[0]) * scale, 20 + (y0 - low[1]) * scale, (x1 - x0) * scale, (y1 - y0) * scale];
    pen.globalAlpha = 0.25;
    pen.fillRect(...place);
    pen.globalAlpha = 1;
    pen.strokeRect(...place);
  }
}

for (const block of blocks) {
  const pre = block.querySelector("pre");
  const button = element(block, "button", { type: "button", className: "run", textContent: "Run" });
  button.title = own.weight;
  button.addEventListener("click", () => {
    try {
      pre.contentEditable = "plaintext-only";
    } catch {
      pre.contentEditable = "true"; // a browser without it
    }
    pre.spellcheck = false;
    pre.setAttribute("aria-label", "Code, which can be edited");
    run(block, button);
  });
  pre.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run(block, button);
    }
  });
}
