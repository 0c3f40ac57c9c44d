// The steps of the tour: the methods, the slider, and for each of its values the balls and the options of the methods.
//
// The words of the steps are in index.html.

import { queryTree } from "./methods/box_tree.js";
import { pairsAmong } from "./methods/brute_force.js";
import { METHODS } from "./methods/all.js";
import { ballsIn, boxesOf, moved, squeezed, withBall } from "./scene.js";

/** The width of a cell with the least work in the step about cells; later steps use it. */
export const BEST_CELL = 60;
const [FEW, SOME] = [24, 200];
const [QUERY_WIDTH, QUERY_HEIGHT] = [190, 130];
const STRIP = 260; // high, as the engine makes them among thousands of such balls
const A_LITTLE = 2; // that all balls move in a frame of the last step
const LAYOUTS = 40; // over which the work of a grid is averaged: where the lines of one grid fall is chance
const MOST_KEPT = 200; // with more balls, the tests of every pair are counted and not kept
const MOST_COMPARED = 3072; // with more balls, the tests of every pair are only calculated

export const STEPS = [
  { name: "all", methods: ["brute_force"], values: [3, 6, 9, 12, 16, 20, 24], start: 6, make: (count) => ({ balls: ballsIn(count) }) },
  {
    name: "sorted", methods: ["sort_and_sweep"], values: [1, 0.8, 0.6, 0.4, 0.25, 0.1, 0], start: 0,
    make: (share) => ({ balls: squeezed(ballsIn(FEW), share), options: { axis: 0 } }),
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
    name: "slots", methods: ["spatial_hash"], values: [1, 2, 3, 5, 11, 17, 37, 67, 127], start: 4,
    make: (slots) => ({ balls: ballsIn(FEW), options: { cellSize: BEST_CELL, slots } }),
  },
  {
    name: "tree", methods: ["box_tree"], values: [24, 48, 96, 192, 384, 768], start: 2, hasQuery: true,
    make: (count) => ({ balls: ballsIn(count) }),
  },
  {
    name: "strips", methods: ["strips"], values: [1, 2, 4, 8, 16, 32, 64], start: 2,
    make: (strips) => {
      const balls = ballsIn(SOME);
      // Not in the middle, where a border is.
      return { balls: withBall(balls, [0.4 * balls.width, 0.44 * balls.height]), options: { strips } };
    },
  },
  {
    name: "together", methods: Object.keys(METHODS), values: [24, 48, 96, 192, 384, 768, 1536, 3072, 6144, 12288], start: 0,
    make: (count) => {
      const balls = ballsIn(count);
      const bounds = [0, 0, balls.width, balls.height];
      const strips = Math.max(1, Math.round(balls.height / STRIP));
      return { balls, before: moved(balls, A_LITTLE), options: { axis: 0, cellSize: BEST_CELL, bounds, slots: nextPrime(10 * count), strips } };
    },
  },
];
for (const step of STEPS) {
  step.frames ??= 1;
  step.layouts ??= 1;
}

function nextPrime(number) {
  const isPrime = (n) => {
    for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
    return true;
  };
  while (!isPrime(number)) number += 1;
  return number;
}

const trees = new Map(); // by number of balls

/** What one state of a step shows; `place` is where the marked ball is, or the middle of the query box.
 *
 * Returns the balls, their boxes, the options, and for each method what its search returned, with its tests one by one
 * if they are `kept`. */
export function stateOf(step, slider, frame = 0, place = null, kept = true, layout = 0) {
  const { balls: made, before, options: own = {} } = step.make(step.values[slider], frame, layout);
  const balls = step.hasQuery ? made : withBall(made, place);
  const boxes = boxesOf(balls);
  const options = { ...own, before: before && boxesOf(withBall(before, place)) };
  if (step.hasQuery) { // the balls stay where they are, and so does the tree
    if (!trees.has(balls.count)) trees.set(balls.count, METHODS.box_tree(boxes));
    const tree = trees.get(balls.count);
    return { balls, boxes, options, results: { box_tree: tree }, query: queryOf(tree, balls, boxes, place) };
  }
  const results = {};
  for (const method of step.methods) {
    const isAll = method === "brute_force";
    if (isAll && balls.count > MOST_COMPARED) results[method] = { made: pairsAmong(balls.count), tests: [] };
    else results[method] = METHODS[method](boxes, { ...options, keep: kept && !(isAll && balls.count > MOST_KEPT) });
  }
  return { balls, boxes, options, results, query: null };
}

/** The tests and entries of a value of the slider, averaged over the layouts of the step. */
export function workOf(step, slider, place) {
  const work = { tests: 0, entries: 0 };
  for (let layout = 0; layout < step.layouts; layout++) {
    const { results, query } = stateOf(step, slider, 0, place, false, layout);
    const result = results[step.methods[0]];
    work.tests += (query ?? result).made / step.layouts;
    work.entries += entriesOf(result) / step.layouts;
  }
  return work;
}

/** How often balls were entered: into cells, slots or strips. */
export function entriesOf({ cells, table, copies }) {
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
