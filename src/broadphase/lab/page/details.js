// Below the picture of a lane: the sorted intervals of the sweep, and the ends that sweep and prune keeps.

import { colour, sharp, whole } from "./palette.js";

export const HEIGHT = 170;

/** Intervals in their order, one line each, with the walk that each begins; what the early way out saved. */
export function drawIntervals(canvas, width, order, frame, world, place, tested) {
  const context = sharp(canvas, width, HEIGHT);
  context.clearRect(0, 0, width, HEIGHT);
  const [axis, count] = order;
  const ids = order.subarray(2, 2 + count);
  const stops = order.subarray(2 + count);
  const step = (HEIGHT - 26) / count;
  const at = (value) => (axis ? ((value - place.top) * width) / place.height : value - place.left) * place.scale;
  const edge = (k, side) => at(frame.centers[2 * ids[k] + axis] + side * world.halves[2 * ids[k] + axis]);
  const bars = new Path2D();
  const walks = new Path2D();
  for (let k = 0; k < count; k++) {
    const y = 20 + k * step;
    const left = edge(k, -1);
    const right = edge(k, 1);
    bars.rect(left, y, Math.max(right - left, 1), Math.max(step * 0.7, 0.5));
    // The boxes that this one reaches begin left of its right end: its walk goes down to the last of them.
    if (stops[k] > k + 1) walks.rect(right - 0.5, y, 1, (stops[k] - k - 1) * step + step * 0.7);
  }
  context.fillStyle = colour("series-1");
  context.fill(walks);
  context.fillStyle = colour("series-0");
  context.fill(bars);
  if (tested !== null) mark(context, ids, stops, edge, step, tested);
  title(context, `${axis ? "y" : "x"} intervals in order; a line down from a right end is the walk of that body`, width);
}

/** The body whose walk is under way in slow motion. */
function mark(context, ids, stops, edge, step, tested) {
  let k = 0;
  for (let left = tested; k < ids.length; k++) {
    const walk = Math.max(stops[k] - k - 1, 0);
    if (left < walk) break;
    left -= walk;
  }
  if (k >= ids.length) return;
  const y = 20 + k * step;
  context.strokeStyle = colour("hit");
  context.lineWidth = 2;
  context.strokeRect(edge(k, -1), y - 1, Math.max(edge(k, 1) - edge(k, -1), 2), step * 0.7 + 2);
}

export function savedText(order, tests) {
  const count = order[1];
  const all = (count * (count - 1)) / 2;
  const saved = all - tests;
  const share = all ? ((100 * saved) / all).toFixed(saved && saved < all ? 1 : 0) : 0;
  return `Sorted along ${order[0] ? "y" : "x"}. The early way out saved ${whole(saved)} of ${whole(all)} tests (${share} %).`;
}

/** The order of the ends before (above) and now (below); lines that cross are ends that have swapped. */
export function drawEnds(canvas, width, ends, before) {
  const context = sharp(canvas, width, HEIGHT);
  context.clearRect(0, 0, width, HEIGHT);
  const items = 2 * ends[0];
  let swaps = 0;
  for (let axis = 0; axis < 2; axis++) {
    const now = ends.subarray(1 + axis * items, 1 + (axis + 1) * items);
    const then = before && before[0] === ends[0] ? before.subarray(1 + axis * items, 1 + (axis + 1) * items) : now;
    swaps += slopes(context, then, now, 12 + axis * (HEIGHT / 2), width);
    context.fillStyle = colour("soft");
    context.font = "11px system-ui, sans-serif";
    context.fillText(`ends along ${axis ? "y" : "x"}: order before above, now below`, 8, 11 + axis * (HEIGHT / 2));
  }
  return swaps;
}

function slopes(context, then, now, top, width) {
  const place = new Int32Array(now.length);
  now.forEach((item, k) => { place[item] = k; });
  const step = (width - 16) / Math.max(now.length - 1, 1);
  const [high, low] = [top + 10, top + HEIGHT / 2 - 20];
  const moved = new Path2D();
  const stayed = new Path2D();
  let farthest = -1;
  let swaps = 0;
  then.forEach((item, k) => {
    const goal = place[item];
    const path = goal === k ? stayed : moved;
    path.moveTo(8 + k * step, high);
    path.lineTo(8 + goal * step, low);
    if (goal < farthest) swaps++;
    farthest = Math.max(farthest, goal);
  });
  context.lineWidth = Math.min(1, Math.max(step, 0.4));
  context.strokeStyle = colour("body");
  context.globalAlpha = 0.6;
  context.stroke(stayed);
  context.globalAlpha = 1;
  context.lineWidth = 1.6;
  context.strokeStyle = colour("hit");
  context.stroke(moved);
  ticks(context, now, low, step);
  return swaps;
}

/** Lower ends point up, upper ends down. */
function ticks(context, items, y, step) {
  if (step < 3) return;
  context.fillStyle = colour("series-0");
  items.forEach((item, k) => {
    const x = 8 + k * step;
    const tip = item & 1 ? y + 8 : y + 2;
    const foot = item & 1 ? y + 2 : y + 8;
    context.beginPath();
    context.moveTo(x, tip);
    context.lineTo(x - Math.min(step / 2, 3), foot);
    context.lineTo(x + Math.min(step / 2, 3), foot);
    context.fill();
  });
}

function title(context, text, width) {
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  context.fillStyle = colour("soft");
  context.fillText(text, 8, 13, width - 16);
}
