// A recording: the work of all frames as a timeline, the frame that is shown, and what the program did in it.

import { drawTimeline, frameAt } from "./chart.js";
import { several, whole } from "./palette.js";

const EVERY = 120; // milliseconds between two requests while the slider is dragged

const milliseconds = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
const times = (value) => `${value < 10 ? value.toFixed(1) : whole(value)} times`;

function element(name, fields = {}, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

/** What the program was given. A world reports contacts that have a listener, not all boxes that overlap. */
function foundText({ found, listened }) {
  if (listened === false) return "no listener for contacts";
  return listened ? `${several(found, "contact")} reported to listeners` : `${several(found, "pair")} given to the program`;
}

/** The bar above the lanes; it exists if the server has a recording, and is shown with its scene. */
export class ReplayBar {
  #page;
  #asked = 0;
  #timer = 0;
  #dragging = false;
  #counts = []; // bodies, overlaps and tests of the first frames
  #frames = 0;
  #now = 0;
  #isCounted = false;
  #offers = 0; // counts the servers: answers of the one before are not used
  #crowd = null; // the last one: its frame and its corners

  constructor(page) {
    this.#page = page;
    this.timeline = element("canvas", { className: "timeline", ariaLabel: "Work of each frame" });
    this.timeline.setAttribute("role", "img");
    this.frame = element("input", { type: "range", min: 0, step: 1, value: 0, ariaLabel: "Frame of the recording" });
    this.number = element("input", { type: "number", min: 0, step: 1, value: 0, ariaLabel: "Number of the frame" });
    this.sentence = element("p", { className: "sentence" });
    this.summary = element("p", { className: "hint" });
    this.summary.setAttribute("role", "status");
    this.busiest = element("div", { className: "buttons" });
    this.zoom = element("button", { type: "button", textContent: "Zoom to the crowd", disabled: true });
    this.bar = element("div", { id: "replay", className: "replay", hidden: true },
      element("div", { className: "buttons" }, this.number, element("span", { className: "replay-count" }), this.busiest),
      this.timeline, this.frame,
      element("div", { className: "buttons" }, this.sentence, this.zoom), this.summary);
    this.bar.setAttribute("role", "group");
    this.bar.ariaLabel = "Recording";
    document.getElementById("lanes").before(this.bar);
    this.frame.addEventListener("input", () => this.#drag());
    this.frame.addEventListener("change", () => {
      this.#dragging = false;
    });
    this.number.addEventListener("change", () => this.go(Number(this.number.value)));
    this.zoom.addEventListener("click", () => {
      page.camera.show(this.#crowd.corners);
      page.redraw();
    });
    this.#listen();
  }

  /** Set the recording of the server, also after a restart. */
  offer({ replay }) {
    this.has = Boolean(replay);
    this.#offers += 1;
    if (!replay) return;
    this.scene = replay.name;
    this.#frames = replay.frames;
    this.#counts = [];
    this.#isCounted = false;
    this.frame.max = this.number.max = replay.frames - 1;
    this.bar.querySelector(".replay-count").textContent = `of ${several(replay.frames, "frame")}`;
    this.#count(this.#offers);
  }

  /** Let the server count the work of all frames, some at a time. */
  async #count(offer) {
    let busiest = null;
    while (!busiest) {
      const got = await this.#ask("work", this.#counts.length);
      if (!got || offer !== this.#offers) return;
      this.#counts.push(...got.counts);
      busiest = got.busiest;
      this.busiest.replaceChildren(hint(`Counting the work of each frame: ${whole(this.#counts.length)} of ${whole(this.#frames)}`));
      this.draw();
    }
    this.#isCounted = true;
    this.#offer(busiest);
    this.#explain(this.#now);
  }

  #offer(busiest) {
    const buttons = busiest.map(([begin, peak, end, many]) => {
      const which = end - begin > 1 ? `${begin}–${end - 1}` : String(begin);
      const button = element("button", { type: "button", textContent: `${which}: ${times(many)} the median` });
      button.addEventListener("click", () => this.go(peak));
      return button;
    });
    this.busiest.replaceChildren(hint(busiest.length
      ? "Busiest frames, by tests"
      : "No frame has twice the median number of tests."), ...buttons);
    const [most] = busiest;
    const where = most ? ` Frame ${most[1]} has the most tests, ${times(most[3])} the median.` : "";
    this.timeline.ariaLabel = `Tests, overlaps and bodies of ${several(this.#frames, "frame")}.${where}`;
  }

  /** What the server says of a frame; nothing if it is gone. */
  async #ask(what, frame) {
    try {
      const answer = await fetch(`replay/${what}?frame=${frame}`);
      return answer.ok ? await answer.json() : null;
    } catch {
      return null;
    }
  }

  /** The sentence about a frame, and where its bodies crowd. */
  async #explain(frame) {
    const got = this.#isCounted ? await this.#ask("explain", frame) : null;
    if (!got || frame !== this.#now) return;
    this.sentence.textContent = `${got.text}.`;
    this.#crowd = got.crowd && { frame, corners: got.crowd };
    this.zoom.disabled = !got.crowd;
    this.#page.redraw();
  }

  /** The corners of the crowd in a frame, if it is known and there is one. */
  crowdOf(frame) {
    return !this.bar.hidden && this.#crowd?.frame === frame ? this.#crowd.corners : null;
  }

  /** Show or hide it with its scene. */
  show(state) {
    const hidden = !this.has || state.scene !== this.scene;
    if (hidden === this.bar.hidden) return;
    this.bar.hidden = hidden;
    this.draw();
  }

  draw() {
    if (!this.bar.hidden) drawTimeline(this.timeline, this.#counts, this.#frames, this.#now);
  }

  /** Go to a frame and pause. */
  go(number) {
    if (this.#page.state.playing) this.#page.change({ playing: false });
    this.#page.wire.send("seek", { frame: Math.min(Math.max(Math.round(number) || 0, 0), this.#frames - 1) });
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

  /** The timeline is dragged as the slider is. */
  #listen() {
    const { timeline } = this;
    const to = (event) => {
      this.frame.value = frameAt(event.offsetX, timeline.clientWidth, this.#frames);
      this.#drag();
    };
    timeline.addEventListener("pointerdown", (event) => {
      timeline.setPointerCapture(event.pointerId);
      to(event);
    });
    timeline.addEventListener("pointermove", (event) => event.buttons && to(event));
    timeline.addEventListener("pointerup", () => {
      this.#dragging = false;
    });
  }

  /** Show what the program did in this frame. */
  tell(words) {
    this.#now = words.frame;
    if (!this.#dragging) this.frame.value = words.frame;
    if (document.activeElement !== this.number && !this.#dragging) this.number.value = words.frame;
    const calls = words.calls.map(([name, many, spent]) => `${name}${many > 1 ? ` × ${whole(many)}` : ""} ${milliseconds(spent)}`);
    const changes = [[words.moved, "moved"], [words.added, "added"], [words.removed, "removed"]].filter(([count]) => count);
    const found = words.found === null ? [] : [foundText(words)];
    const did = [
      ...changes.map(([count, what]) => `${whole(count)} ${what}`),
      ...found,
      `${milliseconds(words.milliseconds)}${calls.length ? `: ${calls.join(", ")}` : ""}`,
    ].join("; ");
    this.summary.textContent = `Frame ${words.frame} in the program: ${did}`;
    this.draw();
    this.#explain(words.frame);
  }
}

const hint = (text) => element("span", { className: "hint", textContent: text });
