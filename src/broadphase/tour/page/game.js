// The end of the tour: some questions about the reader's game, and what the map says of it: index, code and time.

import { comparedWords, programWith, REASONS, timeWords } from "./map.js";
import { make } from "./palette.js";

const [SAME, LITTLE] = [1.15, 0.1]; // times the best, milliseconds a frame: what no choice by hand is worth
const FRAME = 1000 / 60; // milliseconds

const QUESTIONS = {
  n: { title: "How many things are there?", words: (n) => `${n === 100 ? "up to " : ""}${n.toLocaleString("en")}` },
  share: { title: "How many of them move in a frame?", 0: "none", 0.01: "1 in 100", 0.1: "1 in 10", 1: "all" },
  spread: { title: "How different are their sizes?", 1: "one size", 10: "up to 10 ×", 1000: "up to 1,000 ×" },
  layout: { title: "Where are they?", uniform: "spread evenly, or one crowd", clumped: "in several crowds", line: "along a line" },
  ask: { title: "What does each frame ask?", pairs: "what touches what", changes: "what has begun or ended", queries: "what is near 100 places" },
};
const EXTRAS = {
  lists: "Two lists, such as bullets against enemies: only pairs of one with the other count",
  walls: "Walls, or other things that never move",
};

/** The index that suits a state of the map: the default if hardly slower than the best, then the tree, which also answers
 * whatever else is asked; null if nothing was measured. */
function suited(data, state) {
  const { ms, ranked } = data.ranked(state);
  if (!ranked.length) return null;
  const { ofDefault, singles } = data.split(state);
  const isClose = ({ times }, least) => times !== null && (times <= SAME || ms * (times - 1) <= least);
  const one = [[ofDefault, LITTLE], [singles.find(({ method }) => method === "box_tree"), 0]].find(([index, least]) => index && isClose(index, least));
  const { method, times } = one?.[0] ?? ranked[0];
  return { method, times, ms: ms * times, ofDefault, fastest: singles[0] };
}

/** A program that does it, whole but for the reader's arrays. */
function programFor(data, state, { lists, walls }) {
  if (lists) {
    const lines = ["import broadphase as bp", "", "# In each frame, from rows [min_x, min_y, max_x, max_y]:", "hits = bp.join(bullets, enemies)  # rows (bullet, enemy)"];
    if (walls) lines.push("stopped = bp.join(bullets, walls)  # rows (bullet, wall)");
    return lines.join("\n");
  }
  const { method } = suited(data, state);
  return programWith(method === data.auto ? "make_index" : data.classes[method], state, walls);
}

/** Sentences about the time. */
function sentencesFor(data, state, { lists, walls }) {
  if (lists) {
    const all = suited(data, { ...state, ask: "pairs", share: 1 });
    return [
      "No index is needed: bp.join compares the one list with the other, sixteen boxes at a time, and returns only pairs of one with the other.",
      all ? `It takes about as long as all pairs of both lists would, because sorting them is most of the work: ${timeWords(all.ms)} a frame, ${shareOf(all.ms)}.` : "",
    ];
  }
  const { ms, times, ofDefault, method, fastest } = suited(data, state);
  const isDefault = method === data.auto;
  return [
    isDefault ? REASONS[method][state.ask] : REASONS[method][state.ask] ?? REASONS[method],
    `A frame takes about ${timeWords(ms)}, ${shareOf(ms)}.`,
    isDefault ? `${data.classes[fastest.method]}, the fastest single method here, takes ${comparedWords(fastest.times, times)} the default${fastest.times < times ? "; that is little, and the default stays fast when the scene changes" : ""}.` : "",
    !isDefault && ofDefault ? `The default, bp.make_index(), takes ${comparedWords(ofDefault.times, times)} ${data.classes[method]}.` : "",
    walls ? "Pairs of two walls are left out of the answer. The times above are those without static=True." : "",
  ];
}

const shareOf = (ms) => {
  const share = (100 * ms) / FRAME;
  return share > 100 ? "more than a whole frame at 60 per second" : `${share < 1 ? "less than 1" : Math.round(share)} % of a frame at 60 per second`;
};

export class YourGame {
  constructor(element, map) {
    this.map = map;
    this.extras = { lists: false, walls: false };
    this.answer = make("div", { className: "map-detail" });
    this.answer.setAttribute("aria-live", "polite");
    element.classList.add("who-wins", "your-game");
    const form = make("div", { className: "map-choices" }, ...Object.keys(QUESTIONS).map((axis) => this.#question(axis)), this.#extras());
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

  #extras() {
    const boxes = Object.entries(EXTRAS).map(([name, words]) => {
      const input = make("input", { type: "checkbox", name: `game-${name}` });
      input.addEventListener("change", () => {
        this.extras[name] = input.checked;
        if (name === "lists" && input.checked) this.map.choose({ ask: "pairs" });
        this.draw();
      });
      return make("label", { className: "extra" }, input, ` ${words}`);
    });
    return make("div", { className: "extras" }, ...boxes);
  }

  draw() {
    const { data, state } = this.map;
    for (const [axis, value] of Object.entries(state)) {
      document.querySelectorAll(`input[name=game-${axis}]`).forEach((input) => { input.checked = input.value === String(value); });
    }
    const { lists } = this.extras;
    for (const input of document.querySelectorAll("input[name=game-ask]")) input.disabled = lists && input.value !== "pairs";
    const one = suited(data, state);
    if (!one && !lists) {
      this.answer.replaceChildren(make("p", {}, "This was not measured."));
      return;
    }
    const title = lists ? "bp.join" : `${data.classes[one.method]}${one.method === data.auto ? ", the default" : ""}`;
    this.answer.replaceChildren(
      make("h3", {}, title),
      ...sentencesFor(data, state, this.extras).filter(Boolean).map((words) => make("p", {}, words)),
      make("pre", { tabIndex: 0 }, make("code", {}, programFor(data, state, this.extras))),
    );
  }
}
