// What a method sees of the world: cells, strips, nodes, and the pairs that it compares.

import { touches } from "./bodies.js";
import { canvasFont, colour, whole } from "./palette.js";

export const CELL = 8; // numbers a cell
const FULLEST = 0.42; // how dark the fullest cell is
const SHADES = 12;
const MANY = 500; // cells
const BUNDLE = 48; // lines a path: one path of thousands takes far longer than many of a few

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

/** Cells, the fuller the darker; a slot that distant cells share is hatched.  Larger cells for larger bodies are
 * only dotted: they lie over the others. */
export function drawCells(context, cells, place, shade) {
  let most = 1;
  for (let at = 0; at < cells.length; at += CELL) if (!cells[at + 5]) most = Math.max(most, cells[at + 4]);
  if (cells.length > MANY * CELL) drawManyCells(context, cells, place, shade, most);
  else drawFewCells(context, cells, place, shade, most);
}

/** Single rectangles with a gap in place of an outline: paths of thousands of outlines take a frame to draw. */
function drawManyCells(context, cells, place, shade, most) {
  context.save();
  context.fillStyle = colour(shade);
  for (let at = 0; at < cells.length; at += CELL) {
    const box = cells[at + 5] ? null : onScreen(cells, at, place);
    if (!box) continue;
    context.globalAlpha = 0.12 + (FULLEST * cells[at + 4]) / most;
    context.fillRect(box[0] + 0.5, box[1] + 0.5, box[2] - 1, box[3] - 1);
    if (!cells[at + 6]) continue;
    context.globalAlpha = 0.8;
    context.fillRect(box[0] + 1, box[1] + 1, Math.min(box[2] - 2, 4), Math.min(box[3] - 2, 4));
  }
  context.restore();
}

function drawFewCells(context, cells, place, shade, most) {
  // One path for each shade: a call for every cell would be slow.
  const shades = Array.from({ length: SHADES + 1 }, () => new Path2D());
  const [outlines, above, shared] = [new Path2D(), new Path2D(), new Path2D()];
  for (let at = 0; at < cells.length; at += CELL) {
    const box = onScreen(cells, at, place);
    if (!box) continue;
    if (cells[at + 5]) {
      above.rect(...box);
      continue;
    }
    shades[Math.ceil((SHADES * cells[at + 4]) / most)].rect(...box);
    outlines.rect(...box);
    if (cells[at + 6] > 0) hatch(shared, ...box);
  }
  context.save();
  context.fillStyle = context.strokeStyle = colour(shade);
  shades.forEach((path, number) => {
    context.globalAlpha = (FULLEST * number) / SHADES;
    context.fill(path);
  });
  context.globalAlpha = 0.75;
  context.lineWidth = 1;
  context.stroke(outlines);
  context.globalAlpha = 0.45;
  context.stroke(shared);
  context.globalAlpha = 0.9;
  context.setLineDash([1, 5]);
  context.stroke(above);
  context.restore();
}

/** In each cell how many bodies it holds, or the number of its slot. */
export function writeCells(context, cells, place, shade, slots) {
  context.save();
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = colour("stage");
  context.fillStyle = colour(shade);
  for (let at = 0; at < cells.length; at += CELL) {
    const box = cells[at + 5] ? null : onScreen(cells, at, place);
    if (!box || Math.min(box[2], box[3]) < 18 || box[2] > place.width * 2) continue;
    context.font = canvasFont(Math.min(Math.max(box[3] * 0.026, 0.85), 1.15), 700);
    const others = cells[at + 6] > 0 ? `+${cells[at + 6]}` : "";
    const text = slots ? String(cells[at + 7]) : `${cells[at + 4]}${others}`;
    if (context.measureText(text).width > box[2] - 3) continue;
    // In the corner, so that it does not lie under a ball more often than need be.
    const [x, y] = [Math.max(box[0], 0) + context.measureText(text).width / 2 + 4, Math.max(box[1], 0) + Math.min(11, box[3] / 2)];
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.restore();
}

function hatch(path, left, top, width, height) {
  const step = 7;
  for (let along = step; along < width + height; along += step) {
    path.moveTo(left + Math.min(along, width), top + Math.max(along - width, 0));
    path.lineTo(left + Math.max(along - height, 0), top + Math.min(along, height));
  }
}

/** Nodes: the root thick, each level thinner, leaves dashed. */
export function drawNodes(context, nodes, place, shade) {
  context.save();
  context.strokeStyle = context.fillStyle = colour(shade);
  for (let at = 0; at < nodes.length; at += 6) {
    const box = onScreen(nodes, at, place);
    if (!box) continue;
    const depth = nodes[at + 4];
    const leaf = nodes[at + 5];
    context.globalAlpha = 0.07;
    if (leaf) context.fillRect(...box);
    context.globalAlpha = 1;
    context.lineWidth = Math.max(4 - 1.5 * depth, 1.3);
    context.setLineDash(leaf ? [6, 4] : []);
    // Each depth a little further in, so that boxes that share an edge can be told apart.
    const inset = 3 * depth;
    context.strokeRect(box[0] + inset, box[1] + inset, Math.max(box[2] - 2 * inset, 1), Math.max(box[3] - 2 * inset, 1));
  }
  context.restore();
}

export function stripsOf(strips) {
  const count = strips.length / 2;
  return { swept: strips[0], count, borders: strips.subarray(1, count), copies: strips.subarray(count) };
}

/** Borders between strips; what lies in a later strip than the body began in is tinted and marked. */
export function drawStrips(context, strips, frame, world, classBits, place, shade) {
  const { swept, count, borders, copies } = stripsOf(strips);
  const rows = swept === 0;
  context.save();
  context.strokeStyle = context.fillStyle = colour(shade);
  context.lineWidth = 1.5;
  context.setLineDash([8, 5]);
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
  drawCopies(context, edges, rows, frame, world, classBits, place);
  if (count > 1) writeCopies(context, edges, rows, count, copies, place);
  context.restore();
}

/** Where a box goes on in a later strip, its copy there has the bit: two such copies make no pair. */
function drawCopies(context, edges, rows, frame, world, classBits, place) {
  if (!classBits || frame.centers.length > 4000) return;
  const parts = new Path2D();
  const marks = new Path2D();
  for (let at = 0; at < classBits.length; at += 3) {
    if (!classBits[at + 2]) continue;
    const [strip, body] = [classBits[at], classBits[at + 1]];
    const x = (frame.centers[2 * body] - place.left) * place.scale;
    const y = (frame.centers[2 * body + 1] - place.top) * place.scale;
    const wide = world.halves[2 * body] * place.scale;
    const high = world.halves[2 * body + 1] * place.scale;
    const border = edges[strip - 1];
    const end = Math.min(edges[strip] ?? Infinity, rows ? y + high : x + wide);
    if (rows) parts.rect(x - wide, border, 2 * wide, end - border);
    else parts.rect(border, y - high, end - border, 2 * high);
    if (rows) marks.rect(x - 4, border + 1, 8, 4);
    else marks.rect(border + 1, y - 4, 4, 8);
  }
  context.globalAlpha = 0.22;
  context.fill(parts);
  context.globalAlpha = 1;
  context.fill(marks);
}

function writeCopies(context, edges, rows, count, copies, place) {
  context.font = canvasFont(1, 700);
  context.textBaseline = "middle";
  context.lineWidth = 4;
  context.lineJoin = "round";
  context.strokeStyle = colour("stage");
  for (let strip = 0; strip < count; strip++) {
    const low = Math.max(strip ? edges[strip - 1] : 0, 0);
    const high = Math.min(strip < count - 1 ? edges[strip] : Infinity, rows ? place.height : place.width);
    if (high - low < (rows ? 14 : 28)) continue;
    const [x, y] = rows ? [6, (low + high) / 2] : [(low + high) / 2 - 8, 10];
    context.strokeText(whole(copies[strip]), x, y);
    context.fillText(whole(copies[strip]), x, y);
  }
}

/** Lines between the bodies that were compared, the first `end` of them; the last one bold while more follow. */
export function drawTests(context, tests, frame, place, end) {
  const count = Math.min(end, tests.length / 2);
  const at = (body) => [
    (frame.centers[2 * body] - place.left) * place.scale,
    (frame.centers[2 * body + 1] - place.top) * place.scale,
  ];
  const centers = frame.centers;
  const { left, top, scale } = place;
  context.save();
  context.strokeStyle = colour("test");
  // Many lines must not become one blot, and a few must be seen.
  context.globalAlpha = Math.min(0.9, Math.max(0.04, 6 / Math.sqrt(count + 1)));
  context.lineWidth = count < 400 ? 1.4 : 1;
  for (let begin = 0; begin < count; begin += BUNDLE) {
    context.beginPath();
    for (let pair = begin; pair < Math.min(begin + BUNDLE, count); pair++) {
      const [i, j] = [2 * tests[2 * pair], 2 * tests[2 * pair + 1]];
      context.moveTo((centers[i] - left) * scale, (centers[i + 1] - top) * scale);
      context.lineTo((centers[j] - left) * scale, (centers[j + 1] - top) * scale);
    }
    context.stroke();
  }
  if (count && 2 * count < tests.length) drawCurrent(context, tests, count - 1, at);
  context.restore();
}

function drawCurrent(context, tests, pair, at) {
  const [x, y] = at(tests[2 * pair]);
  const [u, v] = at(tests[2 * pair + 1]);
  context.globalAlpha = 1;
  context.lineWidth = 4;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(u, v);
  context.stroke();
  context.fillStyle = context.strokeStyle;
  for (const [left, top] of [[x, y], [u, v]]) {
    context.beginPath();
    context.arc(left, top, 5.5, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Pairs whose boxes overlap: a line where the bodies touch, a dashed one where only the boxes do. */
export function drawHits(context, hits, frame, world, place) {
  const paths = [new Path2D(), new Path2D()];
  for (let at = 0; at < hits.length; at += 2) {
    const [i, j] = [hits[at], hits[at + 1]];
    const path = paths[touches(world, frame.centers, i, j) ? 1 : 0];
    path.moveTo((frame.centers[2 * i] - place.left) * place.scale, (frame.centers[2 * i + 1] - place.top) * place.scale);
    path.lineTo((frame.centers[2 * j] - place.left) * place.scale, (frame.centers[2 * j + 1] - place.top) * place.scale);
  }
  context.save();
  context.strokeStyle = colour("hit");
  context.lineWidth = 2.5;
  context.stroke(paths[1]);
  context.lineWidth = 1.8;
  context.setLineDash([3, 3]);
  context.stroke(paths[0]);
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
