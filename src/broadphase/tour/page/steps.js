// The steps of the tour: the methods, the slider, and for each of its values the balls and the options of the methods.
//
// The words of the steps are in index.html.

import { MovingTree, queryTree } from "./methods/box_tree.js";
import { pairsAmong } from "./methods/brute_force.js";
import { METHODS } from "./methods/all.js";
import { comparesOf } from "./methods/strips.js";
import { twoLists, WAYS } from "./methods/two_lists.js";
import { ballsIn, boxesOf, moved, squeezed, withBalls, withBullets } from "./scene.js";

/** The width of a cell with the least work in the step about cells; later steps use it. */
const BEST_CELL = 60;
const [FEW, SOME] = [24, 200];
const [BULLETS, ENEMIES] = [12, 36];
const [QUERY_WIDTH, QUERY_HEIGHT] = [190, 130];
const STRIP = 260; // high, as the engine makes them among thousands of such balls
const A_LITTLE = 2; // that all balls move in a frame of the last step
const LAYOUTS = 40; // over which the work of a grid is averaged: where the lines of one grid fall is chance
/** Pairs on the corner of four cells, on the border of two, and within one. */
const ON_BORDERS = [[0, [237, 176]], [1, [256, 194]], [2, [118, 90]], [3, [134, 104]], [4, [322, 263]], [5, [338, 268]]];
const MOST_PLAYED = 96; // balls whose tests are shown one after the other, beside those of other methods
const MOST_KEPT = 200; // with more balls, the tests of every pair are counted and not kept
const MOST_COMPARED = 3072; // with more balls, the tests of every pair are only calculated

export const STEPS = [
  { name: "all", methods: ["brute_force"], values: [3, 6, 9, 12, 16, 20, 24], start: 6, make: (count) => ({ balls: ballsIn(count) }) },
  {
    name: "sorted", methods: ["sort_and_sweep"], values: [1, 0.8, 0.6, 0.4, 0.25, 0.1, 0, "y"], start: 0,
    make: (share) => ({ balls: squeezed(ballsIn(FEW), share === "y" ? 0 : share), options: { axis: share === "y" ? 1 : 0 } }),
  },
  {
    name: "kept", methods: ["sweep_and_prune"], values: [0, 1, 3, 10, 30], start: 1, frames: 8,
    make: (far, frame) => ({ balls: moved(ballsIn(FEW), far * (frame + 1)), before: moved(ballsIn(FEW), far * frame) }),
  },
  {
    name: "cells", methods: ["uniform_grid"], values: [18, 24, 30, 40, 60, 90, 135, 300], start: 6, layouts: LAYOUTS,
    make: (cellSize, frame, layout) => {
      const balls = ballsIn(FEW, layout);
      return { balls, options: { cellSize, bounds: [0, 0, balls.width, balls.height] } };
    },
  },
  {
    name: "twice", methods: ["uniform_grid"], values: ["nothing", "set", "owner", "marks"], start: 0, extra: ({ asked }) => asked,
    make: (once) => {
      const balls = withBalls(ballsIn(FEW), ON_BORDERS);
      return { balls, options: { cellSize: BEST_CELL, bounds: [0, 0, balls.width, balls.height], once } };
    },
  },
  {
    name: "slots", methods: ["spatial_hash"], values: [1, 2, 3, 5, 11, 17, 37, 67, 127], start: 4,
    work: ({ made, strangers }) => made - strangers.length, extra: ({ strangers }) => strangers.length,
    make: (slots) => ({ balls: ballsIn(FEW), options: { cellSize: BEST_CELL, slots } }),
  },
  {
    name: "tree", methods: ["box_tree"], values: [24, 48, 96, 192, 384, 768], start: 2, hasQuery: true,
    make: (count) => {
      const balls = ballsIn(count);
      // Not in the middle of the query box, where its lines begin.
      return { balls: withBalls(balls, [[0, [balls.width / 2 + 19, balls.height / 2 + 21]]]) };
    },
  },
  {
    name: "strips", methods: ["strips"], values: [1, 2, 4, 8, 16], start: 1, work: comparesOf, extra: ({ copies, count }) => copies.length - count,
    make: (strips) => {
      const balls = ballsIn(SOME);
      // Not in the middle, where a border is.
      return { balls: withBalls(balls, [[0, [0.4 * balls.width, 0.44 * balls.height]]]), options: { strips } };
    },
  },
  {
    name: "lists", methods: ["uniform_grid"], values: Object.keys(WAYS), start: 0, search: twoLists, extra: ({ entries, sorting = 0 }) => entries + sorting,
    make: (way) => {
      const balls = withBullets(ballsIn(BULLETS + ENEMIES), BULLETS);
      // Three of them hit.
      const hits = [0, 1, 2].map((bullet) => [bullet, [0, 1].map((axis) => balls.centers[2 * (BULLETS + bullet) + axis] + 9)]);
      return { balls: withBalls(balls, hits), options: { bullets: BULLETS, way, cellSize: BEST_CELL } };
    },
  },
  {
    name: "together", methods: Object.keys(METHODS), values: [10, 20, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288], start: 1, frames: 8, mostPlayed: MOST_PLAYED,
    make: (count, frame) => {
      const balls = moved(ballsIn(count), -A_LITTLE * frame);
      const bounds = [0, 0, balls.width, balls.height];
      const strips = Math.max(1, Math.round(balls.height / STRIP));
      return { balls, before: moved(ballsIn(count), -A_LITTLE * (frame - 1)), options: { axis: 0, cellSize: BEST_CELL, bounds, slots: nextPrime(10 * count), strips } };
    },
  },
];
for (const step of STEPS) {
  step.frames ??= 1;
  step.layouts ??= 1;
  step.work ??= ({ made }) => made;
  step.extra ??= entriesOf;
}

/** How many frames a value of the slider has: many balls have one. */
export const framesOf = (step, slider) => (step.values[slider] > step.mostPlayed ? 1 : step.frames);

/** The least prime number that is not less. */
export function nextPrime(number) {
  const isPrime = (n) => {
    for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
    return true;
  };
  while (!isPrime(number)) number += 1;
  return number;
}

const trees = new Map(); // by number of balls: of balls at rest, and of balls that move
const [MARGIN, TICK] = [15, 0.25]; // of a ball, and what balls move between two looks at the margins
/** The ball whose margin is drawn. */
export const FOLLOWED = 1;

/** The tree of balls that have moved, and what became of the followed one: it depends on the motion alone. */
function treeAfter(start, motion) {
  const ticks = Math.floor(motion / TICK);
  let kept = trees.get(`${start.count} moving`);
  if (!kept || kept.ticks > ticks) kept = { ticks: 0, tree: new MovingTree(boxesOf(start), MARGIN), since: Infinity };
  trees.set(`${start.count} moving`, kept);
  for (; kept.ticks < ticks; kept.since += TICK) {
    kept.ticks += 1;
    if (kept.tree.update(boxesOf(moved(start, kept.ticks * TICK))).includes(FOLLOWED)) kept.since = 0;
  }
  return Object.assign(kept.tree, { since: kept.since });
}

/** What one state of a step shows; `places` are those of dragged balls, `[[ball, [x, y]], ...]`, of ball 0 also the
 * middle of the query box.
 *
 * Returns the balls, their boxes, the options, and for each method what its search returned, with its tests one by one
 * if they are `kept`.  All balls have moved by `motion`, in a step whose frames do not move them themselves. */
export function stateOf(step, slider, frame = 0, places = [], kept = true, layout = 0, motion = 0) {
  const { balls: start, before, options: own = {} } = step.make(step.values[slider], frame, layout);
  const made = motion && !before ? moved(start, step.hasQuery ? Math.floor(motion / TICK) * TICK : motion) : start;
  const balls = step.hasQuery ? made : withBalls(made, places);
  const boxes = boxesOf(balls);
  const options = { ...own, before: before && boxesOf(withBalls(before, places)) };
  if (step.hasQuery) {
    if (!trees.has(balls.count)) trees.set(balls.count, METHODS.box_tree(boxesOf(start)));
    const tree = motion ? treeAfter(start, motion) : trees.get(balls.count);
    return { balls, boxes, options, motion, results: { box_tree: tree }, query: queryOf(tree, balls, boxes, new Map(places).get(0)) };
  }
  const results = {};
  for (const method of step.methods) {
    const isAll = method === "brute_force";
    if (isAll && balls.count > MOST_COMPARED) results[method] = { made: pairsAmong(balls.count), tests: [] };
    else results[method] = (step.search ?? METHODS[method])(boxes, { ...options, keep: kept && !(isAll && balls.count > MOST_KEPT) });
  }
  return { balls, boxes, options, results, query: null };
}

/** The tests and entries, or what else there is to do, of a value of the slider, averaged over the layouts of the step, of which the
 * first has dragged and moved balls. */
export function workOf(step, slider, places = [], motion = 0) {
  const work = { tests: 0, entries: 0 };
  for (let layout = 0; layout < step.layouts; layout++) {
    const { tests, entries } = countsOf(step, slider, layout ? [] : places, layout, layout ? 0 : motion);
    work.tests += tests / step.layouts;
    work.entries += entries / step.layouts;
  }
  return work;
}

const counted = new Map(); // of layouts that are not shown, by step, value and layout: dragging does not change them

function countsOf(step, slider, places, layout, motion) {
  const name = `${step.name} ${slider} ${layout}`;
  if (counted.has(name)) return counted.get(name);
  const { results, query } = stateOf(step, slider, 0, places, false, layout, motion);
  const result = results[step.methods[0]];
  const counts = { tests: step.work(query ?? result), entries: step.extra(result) };
  if (layout) counted.set(name, counts);
  return counts;
}

/** How often balls were entered: into cells, slots or strips; of finds, how often the cure was asked. */
export function entriesOf({ cells, table, copies, entries }) {
  if (entries !== undefined) return entries;
  if (copies) return copies.length;
  const lists = table ? [...table.values()] : (cells ?? []).map(({ balls }) => balls);
  return lists.reduce((sum, balls) => sum + balls.length, 0);
}

function queryOf(tree, balls, boxes, place) {
  const inside = (at, side, size) => Math.min(Math.max(Math.round(at), size / 2), side - size / 2);
  const [x, y] = place ?? [balls.width / 2, balls.height / 2];
  const middle = [inside(x, balls.width, QUERY_WIDTH), inside(y, balls.height, QUERY_HEIGHT)];
  const box = [middle[0] - QUERY_WIDTH / 2, middle[1] - QUERY_HEIGHT / 2, middle[0] + QUERY_WIDTH / 2, middle[1] + QUERY_HEIGHT / 2];
  return { box, middle, ...queryTree(tree, boxes, box) };
}
