// What a method sees of the world: cells, strips, nodes, and the pairs that it compares.

import { colour, whole } from "./palette.js";

const FULLEST = 0.5; // how dark the fullest cell is
const SHADES = 12;
const SMALLEST_NUMBER = 17; // pixels that a cell needs to have its number written into it

export function drawTiles(context, tiles, place) {
  if (!tiles) return;
  context.fillStyle = colour("tile");
  for (let at = 0; at < tiles.length; at += 4) {
    const left = Math.floor((tiles[at] - place.left) * place.scale);
    const top = Math.floor((tiles[at + 1] - place.top) * place.scale);
    const right = Math.ceil((tiles[at + 2] - place.left) * place.scale);
    const bottom = Math.ceil((tiles[at + 3] - place.top) * place.scale);
    context.fillRect(left, top, right - left, bottom - top);
  }
}

/** Cells, the fuller the darker; a slot that distant cells share is hatched. */
export function drawCells(context, cells, place) {
  let most = 1;
  for (let at = 0; at < cells.length; at += 7) most = Math.max(most, cells[at + 4]);
  // One path for each shade and each width of line: a call for every cell would be slow.
  const shades = Array.from({ length: SHADES + 1 }, () => new Path2D());
  const outlines = Array.from({ length: 4 }, () => new Path2D());
  const shared = new Path2D();
  for (let at = 0; at < cells.length; at += 7) {
    const box = onScreen(cells, at, place);
    if (!box) continue;
    shades[Math.ceil((SHADES * cells[at + 4]) / most)].rect(...box);
    outlines[Math.min(cells[at + 5], 3)].rect(...box);
    if (cells[at + 6] > 0) hatch(shared, ...box);
  }
  context.save();
  context.fillStyle = context.strokeStyle = colour("cell");
  shades.forEach((path, shade) => {
    context.globalAlpha = (FULLEST * shade) / SHADES;
    context.fill(path);
  });
  context.globalAlpha = 0.45;
  outlines.forEach((path, level) => {
    context.lineWidth = 0.8 + 0.7 * level;
    context.stroke(path);
  });
  context.globalAlpha = 0.8;
  context.strokeStyle = colour("shared");
  context.lineWidth = 1;
  context.stroke(shared);
  context.restore();
}

export function writeCounts(context, cells, place) {
  context.save();
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = colour("stage");
  context.fillStyle = colour("cell");
  for (let at = 0; at < cells.length; at += 7) {
    const box = onScreen(cells, at, place);
    if (!box || Math.min(box[2], box[3]) < SMALLEST_NUMBER || box[2] > place.width * 2) continue;
    const size = Math.min(Math.max(box[3] * 0.32, 9), 15);
    context.font = `600 ${size}px system-ui, sans-serif`;
    const text = cells[at + 6] > 0 ? `${cells[at + 4]}+${cells[at + 6]}` : String(cells[at + 4]);
    if (context.measureText(text).width > box[2] - 3) continue;
    context.strokeText(text, box[0] + box[2] / 2, box[1] + box[3] / 2);
    context.fillText(text, box[0] + box[2] / 2, box[1] + box[3] / 2);
  }
  context.restore();
}

function hatch(path, left, top, width, height) {
  const step = 6;
  for (let along = step; along < width + height; along += step) {
    path.moveTo(left + Math.min(along, width), top + Math.max(along - width, 0));
    path.lineTo(left + Math.max(along - height, 0), top + Math.min(along, height));
  }
}

/** Nodes by depth: the root in the first colour, leaves dashed. */
export function drawNodes(context, nodes, place) {
  context.save();
  for (let at = 0; at < nodes.length; at += 6) {
    const box = onScreen(nodes, at, place);
    if (!box) continue;
    const depth = nodes[at + 4];
    context.strokeStyle = colour(`depth-${Math.min(depth, 4)}`);
    context.lineWidth = Math.max(3 - depth, 1);
    context.setLineDash(nodes[at + 5] ? [5, 3] : []);
    // Each depth a little further in, so that boxes that share an edge can be told apart.
    context.strokeRect(box[0] + depth, box[1] + depth, Math.max(box[2] - 2 * depth, 1), Math.max(box[3] - 2 * depth, 1));
  }
  context.restore();
}

export function stripsOf(strips) {
  const count = strips.length / 2;
  return { swept: strips[0], count, borders: strips.subarray(1, count), copies: strips.subarray(count) };
}

/** Borders between strips; a mark on every copy whose class bit is set. */
export function drawStrips(context, strips, frame, classBits, place) {
  const { swept, count, borders, copies } = stripsOf(strips);
  const rows = swept === 0;
  context.save();
  context.strokeStyle = colour("series-2");
  context.lineWidth = 1.5;
  context.setLineDash([8, 4]);
  context.beginPath();
  const edges = [];
  for (const border of borders) {
    const at = (border - (rows ? place.top : place.left)) * place.scale;
    edges.push(at);
    if (rows) {
      context.moveTo(0, at);
      context.lineTo(place.width, at);
    } else {
      context.moveTo(at, 0);
      context.lineTo(at, place.height);
    }
  }
  context.stroke();
  context.setLineDash([]);
  drawMarks(context, edges, rows, frame, classBits, place);
  writeCopies(context, edges, rows, count, copies, place);
  context.restore();
}

/** Where a box goes on in a later strip, its copy there has the bit: two such copies make no pair. */
function drawMarks(context, edges, rows, frame, classBits, place) {
  if (!classBits || frame.centers.length > 4000) return;
  context.fillStyle = colour("shared");
  for (let at = 0; at < classBits.length; at += 3) {
    if (!classBits[at + 2]) continue;
    const body = classBits[at + 1];
    const x = (frame.centers[2 * body] - place.left) * place.scale;
    const y = (frame.centers[2 * body + 1] - place.top) * place.scale;
    const border = edges[classBits[at] - 1];
    if (rows) context.fillRect(x - 3, border + 1, 6, 4);
    else context.fillRect(border + 1, y - 3, 4, 6);
  }
}

function writeCopies(context, edges, rows, count, copies, place) {
  context.font = "600 11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.lineWidth = 3;
  context.strokeStyle = colour("stage");
  context.fillStyle = colour("cell");
  for (let strip = 0; strip < count; strip++) {
    const low = Math.max(strip ? edges[strip - 1] : 0, 0);
    const high = Math.min(strip < count - 1 ? edges[strip] : Infinity, rows ? place.height : place.width);
    if (high - low < (rows ? 13 : 26)) continue;
    const [x, y] = rows ? [5, (low + high) / 2] : [(low + high) / 2 - 8, 9];
    context.strokeText(whole(copies[strip]), x, y);
    context.fillText(whole(copies[strip]), x, y);
  }
}

/** Lines between the bodies that were compared, up to a share of them; the last one bold. */
export function drawTests(context, tests, frame, place, share) {
  const count = tests.length / 2;
  const end = share >= 1 ? count : Math.max(1, Math.round(count * share));
  const at = (body) => [
    (frame.centers[2 * body] - place.left) * place.scale,
    (frame.centers[2 * body + 1] - place.top) * place.scale,
  ];
  const path = new Path2D();
  for (let pair = 0; pair < end; pair++) {
    path.moveTo(...at(tests[2 * pair]));
    path.lineTo(...at(tests[2 * pair + 1]));
  }
  context.save();
  context.strokeStyle = colour("test");
  // Many lines must not become one blot.
  context.globalAlpha = Math.min(0.65, Math.max(0.05, 40 / Math.sqrt(count + 1) / 10));
  context.lineWidth = 1;
  context.stroke(path);
  if (share < 1 && count) drawCurrent(context, tests, end - 1, at);
  context.restore();
}

function drawCurrent(context, tests, pair, at) {
  const [x, y] = at(tests[2 * pair]);
  const [u, v] = at(tests[2 * pair + 1]);
  context.globalAlpha = 1;
  context.lineWidth = 3.5;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(u, v);
  context.stroke();
  context.lineWidth = 2;
  context.beginPath();
  for (const [left, top] of [[x, y], [u, v]]) {
    context.moveTo(left + 9, top);
    context.arc(left, top, 9, 0, 2 * Math.PI);
  }
  context.stroke();
}

export function drawHits(context, hits, frame, place) {
  const path = new Path2D();
  for (let at = 0; at < hits.length; at += 2) {
    const [i, j] = [hits[at], hits[at + 1]];
    path.moveTo((frame.centers[2 * i] - place.left) * place.scale, (frame.centers[2 * i + 1] - place.top) * place.scale);
    path.lineTo((frame.centers[2 * j] - place.left) * place.scale, (frame.centers[2 * j + 1] - place.top) * place.scale);
  }
  context.save();
  context.strokeStyle = colour("hit");
  context.lineWidth = 2.5;
  context.stroke(path);
  context.restore();
}

/** Left, top, width and height on the screen; null outside it. */
function onScreen(rows, at, place) {
  const left = Math.max((rows[at] - place.left) * place.scale, -50);
  const top = Math.max((rows[at + 1] - place.top) * place.scale, -50);
  const right = Math.min((rows[at + 2] - place.left) * place.scale, place.width + 50);
  const bottom = Math.min((rows[at + 3] - place.top) * place.scale, place.height + 50);
  return right < left || bottom < top ? null : [left, top, right - left, bottom - top];
}
