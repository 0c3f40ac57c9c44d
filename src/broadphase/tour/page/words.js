// The names of the sliders, numbers and colours of each step.

import { statesOf, TOUCH, touches } from "./bodies.js";
import { pairsAmong } from "./methods/brute_force.js";
import { sortAndSweep } from "./methods/sort_and_sweep.js";
import { comparesOf } from "./methods/strips.js";
import { make, whole } from "./palette.js";
import { lineOf, testsAt } from "./picture.js";
import { entriesOf } from "./steps.js";

const CURES = {
  nothing: "none",
  set: "a set of reported pairs",
  owner: "an owner cell",
  marks: "marked copies",
};
const WAYS = {
  together: "both lists as one",
  each: "each bullet with each enemy",
  sorted: "both lists, sorted",
  cells: "bullets in enemies’ cells",
};

/** `bars`: what the bars of all values count, tests first.  `counts`: what is shown one after the other, if not tests.
 * `weigh`: of what the reader says how many tests it counts as; else `weights` say it, one for all bars or one each.  `wrong`: the
 * bar that finds pairs twice.  `names`: of the bars, if not the values.  `shade`: of what is not tests, if not the method's. */
export const SLIDERS = {
  all: { label: "Number of balls", text: (value) => `${value} balls` },
  sorted: { label: "Layout", text: (value) => `${{ 1: "spread", 0: "one column", y: "one column" }[value] ?? `${Math.round(100 * value)} % as wide`}, by ${value === "y" ? "top" : "left"} edge`, counts: "edge" },
  kept: { label: "Movement per frame", text: (value) => ({ 0: "not at all", 1: "hardly", 3: "a little", 10: "a third of a ball’s width", 30: "a ball’s width" })[value], counts: "swap" },
  cells: { label: "Width of a cell", text: (value) => `${value}, balls 20 to 36`, bars: ["tests", "entries in cells"], weigh: "An entry counts as" },
  twice: { label: "Cure", text: (value) => CURES[value], bars: ["tests", "checks of the cure, by what they cost"], weights: [0, 2, 0.2, 0.15], wrong: 0, names: ["none", "set", "owner", "marks"] },
  slots: { label: "Slots in the table", text: (value) => (value === 1 ? "1 slot" : `${value} slots`), bars: ["tests of balls that share a cell", "tests for nothing: only the slot is shared"], weights: 1, shade: "soft" },
  tree: { label: "Number of balls", text: (value) => `${value} balls`, bars: ["tests of the query"] },
  strips: { label: "Number of strips", text: (value) => (value === 1 ? "1 strip" : `${value} strips`), bars: ["steps, of sixteen comparisons each", "extra copies, 2 steps each"], weights: 2 },
  lists: { label: "Compared", text: (value) => WAYS[value], bars: ["tests", "comparisons to sort; entries and looks into cells"], weigh: "Each of the others counts as", names: ["everything", "each", "sorted", "cells"] },
  together: { label: "Number of balls", text: (value) => `${whole(value)} balls` },
};

export const sliderText = (step, slider) => SLIDERS[step.name].text(step.values[slider]);

/** The numbers beside the picture: a name, a number and its meaning; `end` of `total` tests are drawn, `work` is the
 * average over the layouts, where a step has several, and `all` counts the tests of all frames so far. */
export function figuresOf(step, picture, end, total, work, all) {
  if (picture.state.query) return figuresOfQuery(picture.state, end, total);
  const { count } = picture.state.balls;
  const result = picture.state.results[step.methods[0]];
  const made = step.name === "kept" ? result.tests.length / 2 : result.made;
  const found = [];
  const number = picture.found ?? picture.pairs;
  const pairs = { name: number === 1 ? "pair found" : "pairs found", figure: whole(number), meaning: "whose boxes overlap", kind: "hit" };
  if (step.methods.length > 1) return [{ ...pairs, meaning: picture.found === undefined ? "whose boxes overlap; each method finds the same" : "by brute force so far; at the end each method has found the same" }];
  found.push({ name: made === 1 ? "test" : "tests", figure: soFar(testsAt(picture.lanes[0], end), made), meaning: testedPairs(result.tests, count, made), kind: "test" });
  const own = OWN_FIGURES[step.name]?.(result, count, { work, all, end, picture }) ?? [];
  found.push(...[own].flat().map((one) => ({ kind: "own", ...one })));
  if (step.name === "twice") return [...found, { ...pairs, name: "pairs reported", figure: whole(result.finds.filter(({ at, isReported }) => isReported && at <= end).length), meaning: "to the program" }];
  const touching = touchingPairs(picture);
  pairs.meaning = `whose boxes overlap${step.name === "kept" ? " now" : ""}; ${whole(touching)} ${touching === 1 ? "touches" : "touch"} as balls`;
  found.push(pairs);
  return found;
}

/** How many pairs are compared, some of them several times. */
function testedPairs(tests, count, made) {
  const compared = new Set();
  for (let at = 0; at < tests.length; at += 2) compared.add(count * Math.min(tests[at], tests[at + 1]) + Math.max(tests[at], tests[at + 1]));
  const all = whole(pairsAmong(count));
  return compared.size < made ? `${whole(compared.size)} of ${all} pairs, some more than once` : `comparisons of two boxes; there are ${all} pairs`;
}

/** A count that grows while the tests are shown one after the other. */
const soFar = (end, all) => (end < all ? `${whole(end)} of ${whole(all)}` : whole(all));

const OWN_FIGURES = {
  sorted: ({ sorting }, count, { end, picture }) => [
    { name: "open", figure: whole(lineOf(picture.lanes[0], end).open.length), meaning: "boxes in the set: the line is between their edges" },
    { name: "to sort", figure: whole(sorting), meaning: "comparisons of two edges, before the first test" },
  ],
  kept: (result, count, { all, end, picture }) => {
    const { made } = result;
    const anew = sortAndSweep(picture.state.boxes, { keep: false });
    return [
      { name: "swaps", figure: soFar(end, made), meaning: `${whole(all - made + end)} in all frames so far` },
      { name: "looks + swaps + tests", figure: whole(4 * count + made + testsAt(result, made)), meaning: `as against ${whole(anew.sorting + anew.made)} if sorted anew` },
    ];
  },
  twice: ({ finds }, count, { end }) => ({ name: "times found", figure: whole(finds.filter(({ at }) => at <= end).length), meaning: "overlaps, in all cells together" }),
  lists: ({ entries, cells, sorting }) => (sorting ? { name: "to sort", figure: whole(sorting), meaning: "comparisons of two edges, before the first test" } : cells ? { name: "entries", figure: whole(entries), meaning: "of enemies into cells, and looks of bullets into cells" } : null),
  cells: (result, count, { work }) => ({ name: "entries", figure: whole(entriesOf(result)), meaning: `${(entriesOf(result) / count).toFixed(1)} per ball; the bar averages forty layouts: ${work.entries.toFixed(1)} entries and ${work.tests.toFixed(1)} tests` }),
  slots: ({ table, cells, strangers }, count, { end }) => [
    { name: "for nothing", figure: soFar(strangers.filter((at) => at <= end).length, strangers.length), meaning: "tests of balls that share a slot, but no cell", kind: "test" },
    { name: "slots in use", figure: whole(table.size), meaning: `for ${whole(cells.length)} cells that hold balls` },
  ],
  strips: (result, count) => [
    { name: "steps", figure: whole(comparesOf(result)), meaning: "each compares a box with the next sixteen", kind: "test" },
    { name: "extra copies", figure: whole(result.copies.length - count), meaning: `besides one of each of the ${whole(count)} balls` },
  ],
};

function figuresOfQuery({ query, balls, results, motion }, end, total) {
  const made = query.tests.slice(0, end);
  const visited = 1 + made.filter(({ node, hit }) => node.level && hit).length;
  const found = made.filter(({ node, hit }) => !node.level && hit).length;
  const { nodes, reinserted, moves } = results.box_tree;
  const put = motion ? [{ name: "put in again", figure: whole(reinserted), meaning: `of ${whole(moves)} moves: these left a margin; the others changed nothing in the tree`, kind: "own" }] : [];
  return [
    { name: "tests", figure: soFar(end, total), meaning: `with nodes and with balls; without the tree, ${whole(balls.count)}`, kind: "test" },
    { name: "nodes visited", figure: `${whole(visited)} of ${whole(nodes.length)}`, meaning: `on ${whole(nodes[0].level + 1)} ${nodes[0].level ? "levels" : "level"}; the others are skipped`, kind: "own" },
    { name: found === 1 ? "ball found" : "balls found", figure: whole(found), meaning: "whose boxes overlap the query box", kind: "hit" },
    ...put,
  ];
}

/** The picture with what the first tests of a lane have found, or with all if the step does not count tests. */
export function foundSoFar(picture, lane, end) {
  if (picture.state.query) return { ...picture, states: statesOfQuery(picture, end) };
  const own = picture.lanes[lane];
  const [made, { tests }] = [testsAt(own, end), own];
  if (own.swaps || made >= own.made) return picture;
  const count = picture.centers.length / 2;
  const keyOf = (list, at) => Math.min(list[at], list[at + 1]) * count + Math.max(list[at], list[at + 1]);
  const before = new Set();
  for (let at = 0; at < 2 * made; at += 2) before.add(keyOf(tests, at));
  const hits = [];
  for (let at = 0; at < picture.hits.length; at += 2) if (before.has(keyOf(picture.hits, at))) hits.push(picture.hits[at], picture.hits[at + 1]);
  return { ...picture, hits, states: null, found: hits.length / 2 };
}

function statesOfQuery({ state, centers }, end) {
  const states = new Uint8Array(centers.length / 2);
  for (const { node, child, hit } of state.query.tests.slice(0, end)) if (!node.level && hit) states[child] = TOUCH;
  return states;
}

function touchingPairs(picture) {
  const world = { halves: picture.halves, round: true };
  statesOf(picture, world);
  let count = 0;
  const { hits } = picture;
  for (let at = 0; at < hits.length; at += 2) if (touches(world, picture.centers, hits[at], hits[at + 1])) count += 1;
  return count;
}

const LEGENDS = {
  sorted: [["line", "sweep line"], ["open own", "open: the line is between its left and right edge"], ["digits", "place in the order of the left edges"], ["bar own", "extent of a ball; the line crosses the open ones"], ["walk", "how far it looks: down to the last that starts before its right edge"]],
  kept: [["bar own", "edges that swap"], ["dot none", "two near edges [ pass: no test"], ["dot square", "two far edges ] pass: no test"], ["dot test", "a near and a far edge pass: a test, now apart"], ["dot hit", "now overlapping on this axis"]],
  cells: [["cell own", "cell with balls; fuller cells are stronger"]],
  twice: [["cell own", "cell with balls"], ["bars own", "marked copies: began in an earlier column, in an earlier row"]],
  lists: [["bullet", "bullet"], ["cell own", "cell with enemies"]],
  slots: [["cell own", "cell with its slot"], ["hatched own", "slot shared with another cell"], ["bar own", "below: balls in a slot"], ["bar test", "tests in a slot"]],
  tree: [["root own", "node visited"], ["leaf own", "node skipped"], ["margin own", "margin of one ball that moves"], ["cell own", "fading: the leaf that it was just put into"]],
  strips: [["border own", "border"], ["copy own", "copy in a later strip"], ["digits", "in a strip: its balls and copies"], ["sweep", "how far one ball is swept"]],
};

/** The colours of a step, as items of a list. */
export function legendOf(step, slider) {
  const items = step.hasQuery
    ? [["frame", "drag this query box"], ["body", "ball and its box"], ["test", "tested ball"], ["hit", "found"]]
    : [["marked", "dragged last; drag any ball"], ["body", "ball and its box"], ["test", "test"], ["boxes", "boxes overlap"], ["hit", "balls touch"]];
  if (!step.hasQuery && step.methods.length === 1 && step.name !== "all") items.push(["skipped", "skipped, and why"]);
  items.push(...(LEGENDS[step.name] ?? []));
  return items.map(([kind, text]) => {
    const swatch = make("span", { className: `swatch ${kind}` }, kind === "digits" ? step.name === "sorted" ? "7" : "54" : "");
    swatch.style.setProperty("--own", `var(--method-${step.methods[0]})`);
    return make("li", {}, swatch, step.values[slider] === "y" ? text.replaceAll("left", "top").replaceAll("right", "bottom") : text);
  });
}
