// The names of the sliders, numbers and colours of each step.

import { statesOf, touches } from "./bodies.js";
import { whole } from "./palette.js";

export const SLIDERS = {
  all: { label: "Number of balls", text: (value) => `${value} balls` },
  sorted: { label: "Push the balls together sideways", text: (value) => (value === 1 ? "not pushed" : value === 0 ? "in one column" : `${Math.round(100 * value)} % as wide`) },
  kept: { label: "How far the balls move per frame", text: (value) => (value === 0 ? "not at all" : value === 30 ? "one ball’s width" : value < 3 ? "hardly" : value < 10 ? "a little" : "far"), counts: "swap" },
  cells: { label: "Width of a cell", text: (value) => `${value}; a ball is 20 to 36 wide`, noun: "entries in cells" },
  slots: { label: "Slots in the table", text: (value) => (value === 1 ? "1 slot" : `${value} slots`) },
  tree: { label: "Number of balls", text: (value) => `${value} balls`, drawn: "test of two balls" },
  strips: { label: "Number of strips", text: (value) => (value === 1 ? "1 strip: the whole picture" : `${value} strips`), noun: "copies in strips" },
  together: { label: "Number of balls", text: (value) => `${whole(value)} balls` },
};

export const sliderText = (step, slider) => SLIDERS[step.name].text(step.values[slider]);

/** The numbers below the picture: a name, a number and its meaning. */
export function figuresOf(step, picture, end, total) {
  const count = picture.centers.length / 2;
  const pairs = (count * (count - 1)) / 2;
  const [tests, , all, cells, swaps, , copies] = picture.lanes[0].numbers;
  const made = end < total && total === tests && !SLIDERS[step.name].counts ? `${whole(end)} of ${whole(tests)}` : whole(tests);
  const overlaps = picture.partly ? picture.hits.length / 2 : all;
  const found = [];
  if (step.methods.length === 1) {
    found.push({ name: tests === 1 ? "test" : "tests", figure: made, meaning: `comparisons of two boxes; there are ${whole(pairs)} pairs`, kind: "test" });
  }
  if (step.name === "kept") found.push({ name: "swaps", figure: whole(swaps), meaning: "edges that passed each other", kind: "own" });
  if (step.name === "cells") found.push({ name: "cells per ball", figure: copies.toFixed(1), meaning: "that each ball touches, on average", kind: "own" });
  if (step.name === "slots") found.push({ name: "slots in use", figure: whole(cells), meaning: `for ${whole((picture.lanes[0].cells?.length ?? 0) / 8)} cells that hold balls`, kind: "own" });
  if (step.name === "tree") found.push({ name: "levels", figure: whole(levels(picture.lanes[0].nodes)), meaning: `${whole(cells)} ${cells === 1 ? "box" : "boxes"} in the tree; ${whole(tests - total)} ${tests - total === 1 ? "test is" : "tests are"} with ${cells === 1 ? "it" : "them"} and not drawn`, kind: "own" });
  if (step.name === "strips") found.push({ name: "copies per ball", figure: copies.toFixed(1), meaning: "one in each strip that it touches", kind: "own" });
  const touching = touchingPairs(picture);
  found.push({ name: overlaps === 1 ? "pair found" : "pairs found", figure: whole(overlaps), meaning: `whose boxes overlap; of these, ${whole(touching)} ${touching === 1 ? "touches" : "touch"} as balls`, kind: "hit" });
  return found;
}

/** The picture with the pairs that the first tests have found, or with all if the step does not count tests. */
export function foundSoFar(step, picture, end) {
  const { tests } = picture.lanes[0];
  if (SLIDERS[step.name].counts || !tests || !picture.hits) return picture;
  const count = picture.centers.length / 2;
  const keyOf = (list, at) => Math.min(list[at], list[at + 1]) * count + Math.max(list[at], list[at + 1]);
  const made = new Set();
  for (let at = 0; at < 2 * end; at += 2) made.add(keyOf(tests, at));
  const hits = [];
  for (let at = 0; at < picture.hits.length; at += 2) if (made.has(keyOf(picture.hits, at))) hits.push(picture.hits[at], picture.hits[at + 1]);
  return { ...picture, hits, states: null, partly: true };
}

function levels(nodes) {
  let deepest = 0;
  for (let at = 4; at < (nodes?.length ?? 0); at += 6) deepest = Math.max(deepest, nodes[at]);
  return deepest + 1;
}

function touchingPairs(picture) {
  const world = { halves: picture.halves, round: true };
  statesOf(picture, world);
  let count = 0;
  const hits = picture.hits ?? [];
  for (let at = 0; at < hits.length; at += 2) if (touches(world, picture.centers, hits[at], hits[at + 1])) count += 1;
  return count;
}

const LEGENDS = {
  sorted: [["bar own", "width of a ball, sorted"]],
  kept: [["bar own", "edges that swap"]],
  cells: [["cell own", "cell with balls; fuller cells are darker"]],
  slots: [["cell own", "cell with its slot"], ["hatched own", "slot shared with another cell"]],
  tree: [["root own", "root"], ["leaf own", "leaf"]],
  strips: [["border own", "border"], ["copy own", "copy in a later strip"]],
};

/** The colours of a step, as items of a list. */
export function legendOf(step) {
  const items = [
    ["marked", "drag this ball"], ["body", "ball and its box"], ["test", "test"], ["boxes", "boxes overlap"], ["hit", "balls touch"],
    ...(LEGENDS[step.name] ?? []),
  ];
  return items.map(([kind, text]) => {
    const item = document.createElement("li");
    const swatch = document.createElement("span");
    swatch.className = `swatch ${kind}`;
    swatch.style.setProperty("--own", `var(--method-${step.methods[0]})`);
    item.append(swatch, text);
    return item;
  });
}
