// Below the picture of a method: the pairs of brute force, the intervals of the sweep, the edges that swap.

import { isTested } from "./methods/sweep_and_prune.js";
import { canvasFont, colour, sharp, whole } from "./palette.js";

const HEAD = 22; // pixels for the title

/** One bar per pair: pairs that were compared, and pairs whose boxes overlap. */
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
  title(context, "Each bar is a pair: compared, or found to overlap", width);
}

/** The balls in sorted order, a bar for the extent of each along the axis, and how far each looks; the sweep line crosses the bars of the
 * open ones. */
export function drawIntervals(canvas, width, height, order, frame, world, place, line) {
  const context = cleared(canvas, width, height);
  const [axis, count] = order;
  const ids = order.subarray(2, 2 + count);
  const stops = order.subarray(2 + count);
  const tall = height - HEAD - 6;
  const step = (axis ? width - 16 : tall) / count;
  const at = (value) => (axis ? ((value - place.top) * tall) / place.height : value - place.left) * place.scale;
  /** A rectangle along the axis and across it, in the order of the balls. */
  const fill = (from, row, long, thick) => (axis ? context.fillRect(8 + row, HEAD + from, thick, long) : context.fillRect(from, HEAD + row, long, thick));
  const edge = (k, side) => at(frame.centers[2 * ids[k] + axis] + side * world.halves[2 * ids[k] + axis]);
  const thick = Math.max(step * 0.55, 1.5);
  const open = [];
  ids.forEach((ball, k) => {
    const row = k * step;
    const isOpen = line.open.includes(ball);
    if (isOpen) open.push(k + 1);
    // The boxes that this one reaches start before it ends; its sweep goes down to the last of them.
    context.fillStyle = colour("test");
    if (stops[k] > k + 1) fill(edge(k, 1) - 1, row, 2, (stops[k] - k - 1) * step + thick);
    context.fillStyle = colour("method-sort_and_sweep");
    context.globalAlpha = isOpen ? 1 : 0.4;
    fill(edge(k, -1), row, Math.max(edge(k, 1) - edge(k, -1), 1), thick);
    context.globalAlpha = 1;
  });
  context.fillStyle = colour("test");
  fill(at(line.at) - 1.25, -4, 2.5, axis ? width : height - HEAD + 4);
  const listed = open.length > 12 ? `${open.length} boxes` : open.join(", ") || "none";
  title(context, `Sorted by ${axis ? "top" : "left"} edge. Open balls: ${listed}`, width);
}

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
    const made = swaps ? swaps.subarray(0, 3 * (end ?? all)) : [];
    slopes(context, then, goal, top + HEAD + 10, height / 2 - HEAD - 26, width, current && current[0] === axis ? current : null);
    drawCrossings(context, then, goal, made, axis, [top + HEAD + 10, height / 2 - HEAD - 26, width]);
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

/** A mark where the lines of two edges cross: filled where a near and a far edge passed each other, which is a test, blue
 * where the boxes are apart on this axis now, vermilion where they overlap on it; empty where nothing had to be tested. */
function drawCrossings(context, then, now, swaps, axis, [high, tall, width]) {
  const step = (width - 24) / Math.max(now.length - 1, 1);
  const [from, to] = [then, now].map((row) => new Map(row.map((edge, k) => [edge, k])));
  const size = Math.min(Math.max(step * 0.35, 2), 4.5);
  context.lineWidth = 1.3;
  for (let at = 0; at < swaps.length; at += 3) {
    const [edge, other] = [swaps[at + 1], swaps[at + 2]];
    if (swaps[at] !== axis || edge >> 1 === other >> 1) continue;
    const gap = from.get(other) - from.get(edge);
    const share = gap / (gap - (to.get(other) - to.get(edge)));
    if (!(share >= 0 && share <= 1)) continue; // they passed back
    const x = 12 + step * (from.get(edge) + share * (to.get(edge) - from.get(edge)));
    const isMixed = isTested(edge, other);
    const [near, far] = edge & 1 ? [other, edge] : [edge, other];
    context.strokeStyle = context.fillStyle = colour(!isMixed ? "soft" : to.get(near) < to.get(far) ? "hit" : "test");
    context.beginPath();
    if (edge & 1 && other & 1) context.rect(x - size, high + share * tall - size, 2 * size, 2 * size); // two far edges
    else context.arc(x, high + share * tall, size, 0, 2 * Math.PI);
    if (isMixed) context.fill();
    else {
      context.save();
      context.fillStyle = colour("stage");
      context.fill();
      context.restore();
      context.stroke();
    }
  }
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

const AROUND = [2, 2]; // rows before the copy that is swept, and after its sixteen lanes
const READABLE = 9.5; // pixels that a row with words needs
const NUMBERS = 26; // pixels at the left, for the numbers of the rows

/** One strip around the copy that is swept: the next sixteen copies in order, which are compared with it at once. */
export function drawLanes(canvas, width, height, { copies, at, tests, lanes }, frame, place) {
  const context = cleared(canvas, width, height);
  const own = copies[at];
  const onScreen = (value) => ((value - place.left) * place.scale * width) / place.width;
  const top = HEAD + 2;
  const each = (height - top - 4) / (AROUND[0] + 1 + lanes + AROUND[1]);
  context.fillStyle = colour("test-tint");
  context.fillRect(0, top + (AROUND[0] + 1) * each - 2, width, lanes * each);
  // How far the sweep goes.
  const end = onScreen(frame.centers[2 * own.ball] + frame.halves[2 * own.ball]);
  context.strokeStyle = colour("ink");
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(end, top);
  context.lineTo(end, height - 4);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = colour("test-tint");
  context.font = canvasFont(0.8);
  context.textBaseline = "middle";
  const words = [];
  for (let row = -AROUND[0]; row <= lanes + AROUND[1]; row++) {
    const copy = copies[at + row];
    if (copy?.strip !== own.strip) continue;
    const y = top + (AROUND[0] + row) * each;
    const [x, wide] = [frame.centers[2 * copy.ball], frame.halves[2 * copy.ball]];
    const isTested = row > 0 && row <= tests;
    const hit = isTested && isPair(frame.hits, own.ball, copy.ball);
    context.fillStyle = colour(row === 0 ? "ink" : hit ? "hit" : isTested ? "test" : "box");
    context.globalAlpha = row === 0 || isTested ? 1 : 0.55;
    context.fillRect(onScreen(x - wide), y, onScreen(x + wide) - onScreen(x - wide), each - 3);
    context.globalAlpha = 1;
    if (row < 1 || row > lanes) continue;
    context.fillStyle = colour("soft");
    context.textAlign = "right";
    for (const write of each > READABLE || row % 2 ? ["strokeText", "fillText"] : []) context[write](String(row), 20, y + each / 2 - 1);
    const text = hit ? "overlap" : isTested ? "tested" : row === tests + 1 ? "starts beyond: stop" : "";
    words.push([text, onScreen(x - wide), onScreen(x + wide), y + each / 2 - 1, isTested]);
  }
  // Beside its bar and the line, where no number is; from below, so that the stop is named where there is no room for all.
  let last = Infinity;
  for (const [text, from, to, y, isTested] of words.reverse()) {
    if (!text || last - y < READABLE) continue;
    last = y;
    const wide = context.measureText(text).width;
    const right = Math.max(to, end) + 6;
    const isRight = right + wide < width || from - 6 - wide < NUMBERS;
    context.textAlign = isRight ? "left" : "right";
    context.fillStyle = colour(isTested ? "ink" : "soft");
    const x = isRight ? Math.max(right, NUMBERS) : Math.max(from - 6, 0);
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.lineWidth = 1;
  title(context, "One strip, sorted. Tinted: the sixteen boxes of one step", width);
}

function isPair(hits, i, j) {
  for (let at = 0; at < hits.length; at += 2) {
    if ((hits[at] === i && hits[at + 1] === j) || (hits[at] === j && hits[at + 1] === i)) return true;
  }
  return false;
}

/** A row for each pair that was found: a square for each cell in which it was found, filled where it was reported. */
export function drawFinds(canvas, width, height, finds, shade) {
  const context = cleared(canvas, width, height);
  title(context, "Cells where each pair is found; filled: reported", width);
  const rows = rowsOf(finds);
  const each = Math.min((height - HEAD - 4) / Math.max(rows.length, 1), 34);
  const size = each * 0.62;
  const column = Math.min(size + 44, (width - 98) / Math.max(...rows.map(({ length }) => length), 1)); // left of the words
  context.textBaseline = "middle";
  rows.forEach((found, row) => {
    const y = HEAD + 4 + row * each;
    context.textAlign = "left";
    context.font = canvasFont(0.95, 700);
    context.fillStyle = colour("hit");
    context.fillText(letterOf(row), 8, y + size / 2);
    found.forEach(({ x: across, y: line, isReported }, k) => {
      const x = 34 + k * column;
      context.strokeStyle = context.fillStyle = colour(isReported ? shade : "soft");
      context.lineWidth = 1.5;
      context.setLineDash(isReported ? [] : [3, 3]);
      if (isReported) context.fillRect(x, y, size, size);
      context.strokeRect(x, y, size, size);
      context.font = canvasFont(0.85);
      context.fillStyle = colour("soft");
      context.fillText(`${across}, ${line}`, x + size + 5, y + size / 2);
    });
    context.setLineDash([]);
    const reported = found.filter(({ isReported }) => isReported).length;
    context.textAlign = "right";
    context.font = canvasFont(0.95, 700);
    context.fillStyle = colour(reported > 1 ? "bad" : "ink");
    context.fillText(reported === 1 ? "once" : `${whole(reported)} times`, width - 8, y + size / 2);
  });
}

/** The letter of each pair, in the picture, off the `corners` of cells, where their numbers are. */
export function writeFinds(context, finds, { centers }, { left, top, scale }, corners) {
  context.save();
  context.font = canvasFont(1.1, 700);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = colour("stage");
  context.fillStyle = colour("hit");
  const taken = [...corners];
  const isFree = ([x, y]) => !taken.some((box) => x + 7 > box[0] && x - 7 < box[2] && y + 10 > box[1] && y - 10 < box[3]);
  rowsOf(finds).forEach(([{ i, j }], row) => {
    const [x, y] = [0, 1].map((axis) => (centers[2 * i + axis] + centers[2 * j + axis]) / 2);
    const [across, down] = [(x - left) * scale, (y - top) * scale];
    const around = [[0, -24], [24, 0], [0, 24], [-24, 0], [30, -30], [30, 30], [-30, 30], [-30, -30]].map(([dx, dy]) => [across + dx, down + dy]);
    const place = around.find(isFree) ?? around[0];
    taken.push([place[0] - 7, place[1] - 10, place[0] + 7, place[1] + 10]);
    context.strokeText(letterOf(row), ...place);
    context.fillText(letterOf(row), ...place);
  });
  context.restore();
}

/** The finds of each pair. */
function rowsOf(finds) {
  const rows = new Map();
  for (const found of finds) {
    const name = `${found.i} ${found.j}`;
    rows.set(name, [...(rows.get(name) ?? []), found]);
  }
  return [...rows.values()];
}
const letterOf = (row) => String.fromCharCode(97 + (row % 26));

/** For each slot of a table how many balls it holds and how many tests that takes. */
export function drawSlots(canvas, width, height, slots, shade) {
  const context = cleared(canvas, width, height);
  const step = (width - 16) / slots.length;
  const most = Math.max(...slots.map(({ balls, tests }) => Math.max(balls, tests)), 1);
  const bottom = height - 20;
  const tall = bottom - HEAD - 14;
  const gap = step > 8 ? step * 0.12 : 0;
  const bar = (x, wide, value, name) => {
    context.fillStyle = colour(name);
    const high = (value / most) * tall;
    context.fillRect(x, bottom - high, wide, high);
    if (wide < 22 || !value) return;
    context.font = canvasFont(0.85, 700);
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.fillText(whole(value), x + wide / 2, bottom - high - 3);
  };
  slots.forEach(({ balls, tests }, slot) => {
    const x = 8 + slot * step + gap;
    const wide = (step - 2 * gap) / 2;
    bar(x, wide, balls, shade);
    bar(x + wide, wide, tests, "test");
    if (step < 24 && slot % Math.ceil(24 / step)) return;
    context.fillStyle = colour("soft");
    context.font = canvasFont(0.85);
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.fillText(String(slot), x + wide, height - 6);
  });
  context.strokeStyle = colour("line");
  context.beginPath();
  context.moveTo(8, bottom + 0.5);
  context.lineTo(width - 8, bottom + 0.5);
  context.stroke();
  title(context, "Each slot: its balls, and the tests among them", width);
}
