// A recording: which frame is shown, what the program did in it, and the frames that took longest.

const EVERY = 120; // milliseconds between two frames that are asked for while the slider is dragged

const milliseconds = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;

function element(name, fields = {}, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

/** What the program was given. A world tells of contacts that are listened for, not of all boxes that overlap. */
function toldOfFound({ found, listened }) {
  if (listened === false) return "nobody listened for contacts";
  const count = found.toLocaleString("en");
  return listened ? `${count} ${found === 1 ? "contact" : "contacts"} listened for` : `${count} ${found === 1 ? "pair" : "pairs"} given to the program`;
}

/** The bar above the lanes; there only where the server has a recording, and shown only with its scene. */
export class ReplayBar {
  #page;
  #asked = 0;
  #timer = 0;
  #dragging = false;

  constructor(page) {
    this.#page = page;
    this.frame = element("input", { type: "range", className: "wide", min: 0, step: 1, value: 0, ariaLabel: "Frame of the recording" });
    this.number = element("input", { type: "number", min: 0, step: 1, value: 0, ariaLabel: "Number of the frame" });
    this.told = element("p", { className: "hint" });
    this.told.setAttribute("role", "status");
    this.slowest = element("div", { className: "buttons" });
    this.bar = element("div", { id: "replay", className: "replay", hidden: true },
      element("div", { className: "replay-frame" }, this.frame, this.number, element("span", { className: "replay-count" })),
      this.told, this.slowest);
    this.bar.setAttribute("role", "group");
    this.bar.ariaLabel = "Recording";
    document.getElementById("lanes").before(this.bar);
    this.frame.addEventListener("input", () => this.#drag());
    this.frame.addEventListener("change", () => {
      this.#dragging = false;
    });
    this.number.addEventListener("change", () => this.go(Number(this.number.value)));
  }

  /** What the server has; again when it was started anew. */
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

  /** With its scene it is there. */
  show(state) {
    this.bar.hidden = !this.has || state.scene !== this.scene;
  }

  /** To a frame, and stop there. */
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

  /** What the program did in the frame that is shown. */
  tell(words) {
    if (!this.#dragging) this.frame.value = words.frame;
    if (document.activeElement !== this.number && !this.#dragging) this.number.value = words.frame;
    const calls = words.calls.map(([name, times, spent]) => `${name}${times > 1 ? ` × ${times.toLocaleString("en")}` : ""} ${milliseconds(spent)}`);
    const changes = [[words.moved, "moved"], [words.added, "added"], [words.removed, "removed"]].filter(([count]) => count);
    const found = words.found === null ? [] : [toldOfFound(words)];
    this.told.textContent = [
      `Frame ${words.frame}: ${words.bodies.toLocaleString("en")} bodies`,
      ...changes.map(([count, what]) => `${count.toLocaleString("en")} ${what}`),
      ...found,
      `the program took ${milliseconds(words.milliseconds)}${calls.length ? `: ${calls.join(", ")}` : ""}`,
    ].join("; ");
  }
}
