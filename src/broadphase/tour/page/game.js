// The end of the tour: some questions about the reader's game, and what the map says of it: index, code and time.

import { comparedWords, programWith, REASONS, timeWords } from "./map.js";
import { make, named } from "./palette.js";

const [SAME, LITTLE] = [1.15, 0.1]; // times the best, milliseconds a frame: what no choice by hand is worth
const FRAME = 1000 / 60; // milliseconds

const QUESTIONS = {
  n: { title: "How many things are there?", words: (n) => `${n === 100 ? "up to " : ""}${n.toLocaleString("en")}` },
  share: { title: "How many of them move in a frame?", 0: "none", 0.01: "1 in 100", 0.1: "1 in 10", 1: "all" },
  spread: { title: "How different are their sizes?", 1: "one size", 10: "up to 10 ×", 1000: "up to 1,000 ×" },
  layout: { title: "Where are they?", uniform: "spread evenly, or one crowd", clumped: "in several crowds", line: "along a line" },
  ask: { title: "What does each frame ask?", pairs: "what touches what", changes: "what has begun or ended", queries: "what is near 100 places" },
};

/** What answers a state of the map fastest, with its `ms`: a single method, or the default where it is faster by more than anybody
 * would give away; and whether the default does as well.  Null if nothing was measured. */
function winnerOf(data, state) {
  const { ms, ranked } = data.ranked(state);
  if (!ranked.length) return null;
  const { ofDefault, singles: [fastest] } = data.split(state);
  const close = state.share ? SAME : 1 / SAME; // at rest all but repeat what they have found
  const isDefault = Boolean(ofDefault?.times) && ofDefault.times * close < (fastest.times ?? Infinity);
  const { method, times } = isDefault ? ofDefault : fastest;
  const takesDefault = isDefault || (Boolean(ofDefault?.times) && (ofDefault.times <= SAME * times || ms * (ofDefault.times - times) <= LITTLE));
  return { method, times, ms: ms * times, isDefault, takesDefault, ofDefault, fastest };
}

/** Sentences about the time. */
function sentencesFor(data, state, { method, times, ms, isDefault, takesDefault, ofDefault, fastest }) {
  const reason = REASONS[method][state.ask] ?? REASONS[method];
  const compared = isDefault
    ? `${sentence(fastest.method)}, the fastest single method here, takes ${comparedWords(fastest.times, times)} the default.`
    : ofDefault ? `The default, bp.make_index(), takes ${comparedWords(ofDefault.times, times)} ${named(method)}${takesDefault ? ": take it, since it stays fast when the scene changes" : ""}.` : "";
  return [reason, `A frame takes about ${timeWords(ms)}, ${shareOf(ms)}.`, compared].filter(Boolean);
}

/** The name of a method, as a sentence begins. */
const sentence = (method) => named(method).replace(/^./, (first) => first.toUpperCase());

const shareOf = (ms) => {
  const share = (100 * ms) / FRAME;
  return share > 100 ? "more than a whole frame at 60 per second" : `${share < 1 ? "less than 1" : Math.round(share)} % of a frame at 60 per second`;
};

export class YourGame {
  constructor(element, map) {
    this.map = map;
    this.answer = make("div", { className: "map-detail" });
    this.answer.setAttribute("aria-live", "polite");
    element.classList.add("who-wins", "your-game");
    const form = make("div", { className: "map-choices" }, ...Object.keys(QUESTIONS).map((axis) => this.#question(axis)));
    element.replaceChildren(make("div", { className: "map-body" }, form, this.answer));
    element.game = this; // for tests and the console
    map.listen(() => this.draw());
    this.draw();
  }

  /** Show a scene: what is asked, how many boxes, the share that moves, the spread of sizes and the layout. */
  show(scene) {
    const [ask, n, share, spread, layout] = scene.split(" ");
    this.map.choose({ ask, n: Number(n), share: Number(share), spread: Number(spread), layout });
    this.answer.scrollIntoView({ block: "nearest" });
  }

  #question(axis) {
    const { title, words = (value) => QUESTIONS[axis][value] } = QUESTIONS[axis];
    const options = this.map.data.axes[axis].map((value) => {
      const input = make("input", { type: "radio", name: `game-${axis}`, value });
      input.addEventListener("change", () => this.map.choose({ [axis]: value }));
      return make("label", {}, input, make("span", {}, words(value)));
    });
    return make("fieldset", {}, make("legend", {}, title), ...options);
  }

  draw() {
    const { data, state } = this.map;
    for (const [axis, value] of Object.entries(state)) {
      document.querySelectorAll(`input[name=game-${axis}]`).forEach((input) => { input.checked = input.value === String(value); });
    }
    const won = winnerOf(data, state);
    if (!won) {
      this.answer.replaceChildren(make("p", {}, "This was not measured."));
      return;
    }
    this.answer.replaceChildren(
      make("h3", {}, won.isDefault ? "The default" : sentence(won.method)),
      ...sentencesFor(data, state, won).map((words) => make("p", {}, words)),
      make("pre", { tabIndex: 0 }, make("code", {}, programWith(won.takesDefault ? "make_index" : data.classes[won.method], state))),
    );
  }
}
