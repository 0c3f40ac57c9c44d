// A recording: the frame that is shown, what the program did in it, and the slowest frames.

const EVERY = 120; // milliseconds between two requests while the slider is dragged

const milliseconds = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;

function element(name, fields = {}, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

/** What the program was given. A world reports contacts that have a listener, not all boxes that overlap. */
function foundText({ found, listened }) {
  if (listened === false) return "no listener for contacts";
  const count = found.toLocaleString("en");
  return listened ? `${count} ${found === 1 ? "contact" : "contacts"} reported to listeners` : `${count} ${found === 1 ? "pair" : "pairs"} given to the program`;
}

/** The bar above the lanes; it exists if the server has a recording, and is shown with its scene. */
export class ReplayBar {
  #page;
  #asked = 0;
  #timer = 0;
  #dragging = false;

  constructor(page) {
    this.#page = page;
    this.frame = element("input", { type: "range", className: "wide", min: 0, step: 1, value: 0, ariaLabel: "Frame of the recording" });
    this.number = element("input", { type: "number", min: 0, step: 1, value: 0, ariaLabel: "Number of the frame" });
    this.summary = element("p", { className: "hint" });
    this.summary.setAttribute("role", "status");
    this.slowest = element("div", { className: "buttons" });
    this.bar = element("div", { id: "replay", className: "replay", hidden: true },
      element("div", { className: "replay-frame" }, this.frame, this.number, element("span", { className: "replay-count" })),
      this.summary, this.slowest);
    this.bar.setAttribute("role", "group");
    this.bar.ariaLabel = "Recording";
    document.getElementById("lanes").before(this.bar);
    this.frame.addEventListener("input", () => this.#drag());
    this.frame.addEventListener("change", () => {
      this.#dragging = false;
    });
    this.number.addEventListener("change", () => this.go(Number(this.number.value)));
  }

  /** Set the recording of the server, also after a restart. */
  offer(hello) {
    const { replay } = hello;
    this.has = Boolean(replay);
    if (!replay) return;
    this.scene = replay.name;
    this.frame.max = this.number.max = replay.frames - 1;
    this.bar.querySelector(".replay-count").textContent = `of ${replay.frames.toLocaleString("en")} frames`;
    const buttons = replay.slowest.map(([number, spent]) => {
      const button = element("button", { type: "button", textContent: `${number}: ${milliseconds(spent)}` });
      button.addEventListener("click", () => this.go(number));
      return button;
    });
    this.slowest.replaceChildren(element("span", { className: "hint", textContent: "Slowest frames of the program" }), ...buttons);
  }

  /** Show or hide it with its scene. */
  show(state) {
    this.bar.hidden = !this.has || state.scene !== this.scene;
  }

  /** Go to a frame and pause. */
  go(number) {
    if (this.#page.state.playing) this.#page.change({ playing: false });
    this.#page.wire.send("seek", { frame: Math.min(Math.max(Math.round(number) || 0, 0), Number(this.frame.max)) });
  }

  #drag() {
    this.#dragging = true;
    this.number.value = this.frame.value;
    clearTimeout(this.#timer);
    const wait = Math.max(0, this.#asked + EVERY - performance.now());
    this.#timer = setTimeout(() => {
      this.#asked = performance.now();
      this.go(Number(this.frame.value));
    }, wait);
  }

  /** Show what the program did in this frame. */
  tell(words) {
    if (!this.#dragging) this.frame.value = words.frame;
    if (document.activeElement !== this.number && !this.#dragging) this.number.value = words.frame;
    const calls = words.calls.map(([name, times, spent]) => `${name}${times > 1 ? ` × ${times.toLocaleString("en")}` : ""} ${milliseconds(spent)}`);
    const changes = [[words.moved, "moved"], [words.added, "added"], [words.removed, "removed"]].filter(([count]) => count);
    const found = words.found === null ? [] : [foundText(words)];
    this.summary.textContent = [
      `Frame ${words.frame}: ${words.bodies.toLocaleString("en")} bodies`,
      ...changes.map(([count, what]) => `${count.toLocaleString("en")} ${what}`),
      ...found,
      `the program took ${milliseconds(words.milliseconds)}${calls.length ? `: ${calls.join(", ")}` : ""}`,
    ].join("; ");
  }
}
