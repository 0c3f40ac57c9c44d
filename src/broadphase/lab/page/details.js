// Below the picture of a method: the pairs of brute force, the intervals of the sweep, the edges that swap.

import { canvasFont, colour, sharp, whole } from "./palette.js";

const HEAD = 22; // pixels for the title
const FINEST = 5; // pixels that a row needs to be distinct

/** One square per pair: pairs that were compared, and pairs whose boxes overlap. */
export function drawPairs(canvas, width, height, tests, hits, count, end) {
  const context = cleared(canvas, width, height);
  const high = (height - HEAD - 4) / (count - 1);
  const wide = Math.min((width - 16) / (count - 1), 5 * high);
  const left = 8;
  const at = (i, j) => [left + (j - 1) * wide, HEAD + i * high];
  const gap = high > 4 ? 1 : 0;
  const bricks = (pairs, shade, most, least) => {
    const path = new Path2D();
    for (let k = 0; k < 2 * most; k += 2) {
      const [x, y] = at(Math.min(pairs[k], pairs[k + 1]), Math.max(pairs[k], pairs[k + 1]));
      path.rect(x, y, Math.max(wide - gap, least), Math.max(high - gap, least));
    }
    context.fillStyle = colour(shade);
    context.fill(path);
  };
  const frame = new Path2D();
  for (let i = 0; i < count - 1; i++) frame.rect(...at(i, i + 1), wide * (count - 1 - i) - gap, high - gap);
  context.fillStyle = colour("tint");
  context.fill(frame);
  bricks(tests, "test", Math.min(end, tests.length / 2), 0);
  bricks(hits, "hit", hits.length / 2, 4);
  title(context, "Each square is a pair: compared, or found to overlap", width);
}

/** The preferred height of the intervals. */
export const intervalsHeight = (count) => Math.min(HEAD + 8 + 7 * count, 230);

/** Sorted intervals, one bar each, and the sweep from each; if there are many, a sample. */
export function drawIntervals(canvas, width, height, order, frame, world, place, end) {
  const context = cleared(canvas, width, height);
  const [axis, count] = order;
  const ids = order.subarray(2, 2 + count);
  const stops = order.subarray(2 + count);
  const every = Math.max(1, Math.ceil((count * FINEST) / (height - HEAD - 6)));
  const step = (height - HEAD - 6) / Math.ceil(count / every);
  const at = (value) => (axis ? ((value - place.top) * width) / place.height : value - place.left) * place.scale;
  const edge = (k, side) => at(frame.centers[2 * ids[k] + axis] + side * world.halves[2 * ids[k] + axis]);
  const bars = new Path2D();
  const walks = new Path2D();
  const thick = Math.max(step * 0.55, 1.5);
  for (let row = 0; row * every < count; row++) {
    const k = row * every;
    const y = HEAD + row * step;
    const left = edge(k, -1);
    bars.rect(left, y, Math.max(edge(k, 1) - left, 1), thick);
    // The boxes that this one reaches start left of its right end; its sweep goes down to the last of them.
    const down = (stops[k] - k - 1) / every;
    if (down > 0) walks.rect(edge(k, 1) - 1, y, 2, down * step + thick);
  }
  context.fillStyle = colour("test");
  context.fill(walks);
  context.fillStyle = colour("method-sort_and_sweep");
  context.fill(bars);
  if (end !== null) mark(context, ids, stops, edge, { step, every, thick }, end);
  const some = every > 1 ? `, every ${every}th drawn` : "";
  title(context, `Sorted along ${axis ? "y" : "x"}${some}. A line down: how far that body is swept`, width);
}

/** The body that is being swept. */
function mark(context, ids, stops, edge, { step, every, thick }, end) {
  let k = 0;
  for (let left = end - 1; k < ids.length; k++) {
    const walk = Math.max(stops[k] - k - 1, 0);
    if (left < walk) break;
    left -= walk;
  }
  if (k >= ids.length) return;
  const y = HEAD + Math.floor(k / every) * step;
  context.strokeStyle = colour("ink");
  context.lineWidth = 2;
  context.strokeRect(edge(k, -1) - 2, y - 2, Math.max(edge(k, 1) - edge(k, -1), 2) + 4, thick + 4);
}

export function savedText(order, tests) {
  const count = order[1];
  const all = (count * (count - 1)) / 2;
  const saved = all - tests;
  const share = all ? ((100 * saved) / all).toFixed(saved && saved < all ? 1 : 0) : 0;
  return `Sorted along ${order[0] ? "y" : "x"}. Stopping early saved ${whole(saved)} of ${whole(all)} tests (${share} %).`;
}

export const ENDS_HEIGHT = 210;

/** The order of the edges before (above) and after some of the swaps (below); crossing lines have swapped. */
export function drawEnds(canvas, width, height, ends, before, swaps, end) {
  const context = cleared(canvas, width, height);
  const items = 2 * ends[0];
  const all = swaps ? swaps.length / 3 : 0;
  const current = end !== null && end > 0 && end < all ? swaps.subarray(3 * (end - 1), 3 * end) : null;
  for (let axis = 0; axis < 2; axis++) {
    const now = [...ends.subarray(1 + axis * items, 1 + (axis + 1) * items)];
    const then = before && before[0] === ends[0] ? [...before.subarray(1 + axis * items, 1 + (axis + 1) * items)] : now;
    const goal = end === null || !swaps ? now : swapped(then, swaps, axis, end);
    const top = (axis * height) / 2;
    slopes(context, then, goal, top + HEAD + 10, height / 2 - HEAD - 26, width, current && current[0] === axis ? current : null);
    title(context, axis ? "Along y: before above, now below" : "Along x: before above, now below", width, top);
  }
}

/** The order after the first swaps: each moves one edge past another. */
function swapped(then, swaps, axis, end) {
  const order = [...then];
  for (let at = 0; at < 3 * end; at += 3) {
    if (swaps[at] !== axis) continue;
    const [from, to] = [order.indexOf(swaps[at + 1]), order.indexOf(swaps[at + 2])];
    order.splice(from, 1);
    order.splice(to, 0, swaps[at + 1]);
  }
  return order;
}

function slopes(context, then, now, high, tall, width, current) {
  const place = new Map(now.map((item, k) => [item, k]));
  const step = (width - 24) / Math.max(now.length - 1, 1);
  const low = high + tall;
  const [moved, stayed] = [new Path2D(), new Path2D()];
  then.forEach((item, k) => {
    const goal = place.get(item);
    if (goal === k && step < 2.5) return;
    const path = goal === k ? stayed : moved;
    path.moveTo(12 + k * step, high);
    path.lineTo(12 + goal * step, low);
  });
  context.lineWidth = 1;
  context.strokeStyle = colour("box");
  context.stroke(stayed);
  context.lineWidth = Math.min(2, Math.max(0.45 * step, 0.8));
  context.strokeStyle = colour("method-sweep_and_prune");
  context.stroke(moved);
  brackets(context, then, high - 6, step, null);
  brackets(context, now, low + 7, step, current);
}

/** A near edge is an opening bracket, a far edge a closing bracket. */
function brackets(context, items, y, step, current) {
  if (step < 6) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  items.forEach((item, k) => {
    const hot = current && (item === current[1] || item === current[2]);
    context.font = canvasFont(hot ? 1.25 : 0.9, hot ? 800 : 500);
    context.fillStyle = colour(hot ? "ink" : "soft");
    context.fillText(item & 1 ? "]" : "[", 12 + k * step, y);
  });
}

function cleared(canvas, width, height) {
  const context = sharp(canvas, width, height);
  context.clearRect(0, 0, width, height);
  return context;
}

function title(context, text, width, top = 0) {
  context.font = canvasFont(0.95);
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.fillStyle = colour("soft");
  context.fillText(text, 8, top + 14, width - 16);
}
