// What a state of the tour looks like: what the searches returned, in the form that the drawing functions take.

import { sweepOf } from "./methods/sort_and_sweep.js";
import { LANES } from "./methods/strips.js";
import { testsOf } from "./methods/sweep_and_prune.js";
import { stateOf } from "./steps.js";

const NOT_SHOWN = -1;
const MOST_SHOWN = [960, 600]; // the part of the last step's world that is drawn: among thousands of balls all is noise

/** `places` are those of dragged balls, the last one marked; `window` is what the picture shows of the world: left, top,
 * width, height. */
export function pictureOf(step, slider, frame, places, motion = 0) {
  const { balls } = step.make(step.values[slider], frame);
  const window = windowOf(step, balls);
  const state = stateOf(step, slider, frame, places.map(([ball, place]) => [ball, within(place, window)]), true, 0, motion);
  const shown = shownIn(window, state.boxes);
  const isPart = shown.length < balls.count;
  const numbers = new Int32Array(balls.count).fill(NOT_SHOWN);
  shown.forEach((ball, number) => { numbers[ball] = number; });
  const renumbered = (list) => {
    if (!isPart) return Uint32Array.from(list);
    const kept = [];
    for (let at = 0; at < list.length; at += 2) {
      const i = numbers[list[at]];
      const j = numbers[list[at + 1]];
      if (i !== NOT_SHOWN && j !== NOT_SHOWN) kept.push(i, j);
    }
    return Uint32Array.from(kept);
  };
  const centers = Float32Array.from(shown.flatMap((ball) => [state.balls.centers[2 * ball], state.balls.centers[2 * ball + 1]]));
  const halves = Float32Array.from(shown.flatMap((ball) => [state.balls.radii[ball], state.balls.radii[ball]]));
  const pairs = Object.values(state.results).find((result) => result.pairs)?.pairs ?? [];
  const dragged = places.at(-1)?.[0];
  const marked = dragged < balls.count ? dragged : 0;
  return {
    state, window, isPart, marked, shown, centers, halves, pairs: pairs.length / 2,
    hits: state.query ? [] : renumbered(pairs),
    handle: state.query ? handleOfBox(state.query.box) : handleOfBall(state.balls, marked),
    lanes: step.methods.map((method) => laneOf(method, state, { count: shown.length, numbers, renumbered, isPart, window, isAlone: step.methods.length === 1 })),
  };
}

function windowOf(step, { width, height }) {
  const [wide, high] = step.methods.length > 1 ? [Math.min(MOST_SHOWN[0], width), Math.min(MOST_SHOWN[1], height)] : [width, height];
  return [(width - wide) / 2, (height - high) / 2, wide, high];
}

const within = (place, [left, top, wide, high]) => [
  Math.min(Math.max(place[0], left), left + wide), Math.min(Math.max(place[1], top), top + high),
];

function shownIn([left, top, wide, high], boxes) {
  const shown = [];
  for (let i = 0; i < boxes.length / 4; i++) {
    const isInside = boxes[4 * i] < left + wide && boxes[4 * i + 2] > left && boxes[4 * i + 1] < top + high && boxes[4 * i + 3] > top;
    if (isInside) shown.push(i);
  }
  return shown;
}

const handleOfBall = ({ centers, radii }, ball) => ({ x: centers[2 * ball], y: centers[2 * ball + 1], wide: radii[ball], high: radii[ball] });
const handleOfBox = ([left, top, right, bottom]) => ({
  x: (left + right) / 2, y: (top + bottom) / 2, wide: (right - left) / 2, high: (bottom - top) / 2, isBox: true,
});

/** What is drawn of one method. */
function laneOf(method, state, { count, numbers, renumbered, isPart, window, isAlone }) {
  const { results, options } = state;
  const result = results[method];
  const own = { made: result.made };
  if (!state.query) own.tests = method === "brute_force" && isPart ? everyPair(count) : renumbered(result.tests);
  if (result.order) own.order = Uint32Array.from([result.axis, result.order.length, ...result.order, ...result.stops]);
  if (result.order && isAlone) {
    const { edges, tests } = sweepOf(state.boxes, result);
    [own.sweep, own.tests] = [edges, Uint32Array.from(tests)];
  }
  if (result.edges) {
    const listed = (rows) => Uint32Array.from([rows[0].length / 2, ...rows[0], ...rows[1]]);
    [own.ends, own.before, own.swaps] = [listed(result.edges), listed(result.edgesBefore), Uint32Array.from(result.swaps)];
  }
  if (result.cells) own.cells = cellsOf(result, options.bounds ?? [0, 0], window);
  if (result.table) own.slots = Array.from({ length: result.slots }, (_, slot) => ({ balls: result.table.get(slot)?.length ?? 0, tests: result.testsOf.get(slot) ?? 0 }));
  if (result.nodes && !state.query) own.nodes = Float32Array.from(result.nodes.flatMap(({ box, depth, level }) => [...box, depth, level ? 0 : 1]));
  if (result.finds) own.finds = result.finds;
  if (result.copies) Object.assign(own, stripsOf(result, numbers));
  own.played = own.sweep?.length ?? own.made; // what is shown one after the other: edges, swaps or tests
  return own;
}

function everyPair(count) {
  const pairs = [];
  for (let i = 0; i < count; i++) for (let j = i + 1; j < count; j++) pairs.push(i, j);
  return Uint32Array.from(pairs);
}

/** Seven numbers a cell: its corners, balls, balls of other cells in its slot, slot. */
function cellsOf({ cells, cellSize, table }, [left, top], window) {
  const [first, last] = [0, 1].map((end) => [0, 1].map((axis) => Math.floor((window[axis] + end * window[2 + axis] - [left, top][axis]) / cellSize)));
  const shown = cells.filter(({ x, y }) => x >= first[0] && x <= last[0] && y >= first[1] && y <= last[1]);
  return Float32Array.from(shown.flatMap(({ x, y, balls, slot = 0 }) => [
    left + x * cellSize, top + y * cellSize, left + (x + 1) * cellSize, top + (y + 1) * cellSize,
    balls.length, table ? table.get(slot).length - balls.length : 0, slot,
  ]));
}

function stripsOf({ copies, borders }, numbers) {
  const counts = new Array(borders.length + 1).fill(0);
  for (const { strip } of copies) counts[strip] += 1;
  const continued = copies.filter(({ ball, isContinued }) => isContinued && numbers[ball] !== NOT_SHOWN);
  return {
    copies,
    strips: Float32Array.from([0, ...borders, ...counts]),
    classBits: Uint32Array.from(continued.flatMap(({ strip, ball }) => [strip, numbers[ball], 1])),
  };
}

/** How many tests were made in the first `end` edges, swaps or tests. */
export const testsAt = ({ sweep, swaps }, end) => (sweep ? sweep[end - 1]?.made ?? 0 : swaps ? testsOf(swaps, end) : end);

/** The sweep line after `end` edges: where it is, the open boxes, and the last edge. */
export function lineOf({ sweep }, end) {
  const passed = Math.floor(end);
  if (passed >= sweep.length) return sweep.at(-1);
  const last = sweep[passed - 1] ?? { at: 0, open: [], before: 0, made: 0 };
  return { ...last, at: last.at + (end - passed) * (sweep[passed].at - last.at) };
}

/** The copy of which the sweep is drawn: the one that made the last test, or the first of the marked ball. */
export function sweptCopy({ copies, made }, end, marked) {
  let at = copies.findIndex(({ ball, isContinued }) => ball === marked && !isContinued);
  if (end > 0 && end < made) {
    let left = end;
    at = copies.findIndex(({ stop }, place) => (left -= stop - place - 1) <= 0);
  }
  const { strip, ball, stop } = copies[at];
  return { at, strip, ball, tests: stop - at - 1, lanes: LANES };
}
