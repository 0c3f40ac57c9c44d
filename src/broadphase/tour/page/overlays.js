// What a method sees of the world: cells, strips, nodes, and the pairs that it compares.

import { touches } from "./bodies.js";
import { canvasFont, colour, whole } from "./palette.js";

const CELL = 7; // numbers a cell
const FULLEST = 0.42; // how dark the fullest cell is
const SHADES = 12;
const MOST_COPIED = 4000; // numbers: two a body
const COPY = 0.22; // how dark a copy is
const MARK = 5; // pixels that the mark of a copy is thick
// Pixels; the first where only the boxes overlap, the second where the bodies touch.
const HIT_WIDTHS = [1.8, 2.5];
const HIT_DASH = 3;
const BUNDLE = 48; // lines a path: one path of thousands takes far longer than many of a few

/** Cells, the fuller the darker; a slot that distant cells share is hatched. */
export function drawCells(context, cells, place, shade) {
  let most = 1;
  for (let at = 0; at < cells.length; at += CELL) most = Math.max(most, cells[at + 4]);
  // One path for each shade: a call for every cell would be slow.
  const shades = Array.from({ length: SHADES + 1 }, () => new Path2D());
  const [outlines, shared] = [new Path2D(), new Path2D()];
  for (let at = 0; at < cells.length; at += CELL) {
    const box = onScreen(cells, at, place);
    if (!box) continue;
    shades[Math.ceil((SHADES * cells[at + 4]) / most)].rect(...box);
    outlines.rect(...box);
    if (cells[at + 5] > 0) hatch(shared, ...box);
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
    const box = onScreen(cells, at, place);
    if (!box || Math.min(box[2], box[3]) < 18 || box[2] > place.width * 2) continue;
    context.font = canvasFont(Math.min(Math.max(box[3] * 0.026, 0.85), 1.15), 700);
    const others = cells[at + 5] > 0 ? `+${cells[at + 5]}` : "";
    const text = slots ? String(cells[at + 6]) : `${cells[at + 4]}${others}`;
    if (context.measureText(text).width > box[2] - 3) continue;
    // In the corner, so that it does not lie under a ball more often than need be.
    const [x, y] = [Math.max(box[0], 0) + context.measureText(text).width / 2 + 4, Math.max(box[1], 0) + Math.min(11, box[3] / 2)];
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
  context.restore();
}

/** Where the numbers of cells are: left, top, right, bottom on the screen. */
export function cornersOf(cells, place) {
  const corners = [];
  for (let at = 0; at < cells.length; at += CELL) {
    const box = onScreen(cells, at, place);
    if (box) corners.push([Math.max(box[0], 0), Math.max(box[1], 0), Math.max(box[0], 0) + 22, Math.max(box[1], 0) + 20]);
  }
  return corners;
}

/** The marks of copies in cells: a bar at the left of a cell where a ball began in an earlier column, one at the top where it began in
 * an earlier row. */
export function drawMarks(context, { cells, cellSize }, boxes, place, shade) {
  context.save();
  context.fillStyle = colour(shade);
  for (const { x, y, balls } of cells) {
    const corner = [x * cellSize, y * cellSize];
    for (const ball of balls) {
      const box = boxes.subarray(4 * ball, 4 * ball + 4);
      for (const axis of [0, 1]) {
        if (box[axis] >= corner[axis]) continue;
        // Along the side of the cell, as far as the ball's box goes.
        const [from, to] = [Math.max(box[1 - axis], corner[1 - axis]), Math.min(box[3 - axis], corner[1 - axis] + cellSize)];
        const [across, along, length] = [(corner[axis] - (axis ? place.top : place.left)) * place.scale, (from - (axis ? place.left : place.top)) * place.scale, (to - from) * place.scale];
        if (axis) context.fillRect(along, across, length, MARK);
        else context.fillRect(across, along, MARK, length);
      }
    }
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

/** Where the borders of strips are on the screen. */
function edgesOf({ swept, borders }, place) {
  const from = swept === 0 ? place.top : place.left;
  return Array.from(borders, (border) => (border - from) * place.scale);
}

/** Borders between strips; `copies` are those of `copiesOf`, unless they are drawn already. */
export function drawStrips(context, strips, copies, place, shade) {
  const cut = stripsOf(strips);
  const rows = cut.swept === 0;
  const edges = edgesOf(cut, place);
  context.save();
  context.strokeStyle = context.fillStyle = colour(shade);
  context.lineWidth = 1.5;
  context.setLineDash([8, 5]);
  context.beginPath();
  for (const at of edges) {
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
  for (const [boxes, opacity] of copies ?? []) {
    const path = new Path2D();
    for (const box of boxes) path.rect(...box);
    context.globalAlpha = opacity;
    context.fill(path);
  }
  context.restore();
}

/** Where a box goes on in a later strip, its copy there has the bit: two such copies make no pair.  It is tinted,
 * and marked at the border: two lists of rectangles with how dark they are. */
export function copiesOf(strips, classBits, frame, world, place) {
  if (!classBits || frame.centers.length > MOST_COPIED) return null;
  const cut = stripsOf(strips);
  const rows = cut.swept === 0;
  const edges = edgesOf(cut, place);
  const parts = [];
  const marks = [];
  for (let at = 0; at < classBits.length; at += 3) {
    const [strip, body] = [classBits[at], classBits[at + 1]];
    const x = (frame.centers[2 * body] - place.left) * place.scale;
    const y = (frame.centers[2 * body + 1] - place.top) * place.scale;
    const wide = world.halves[2 * body] * place.scale;
    const high = world.halves[2 * body + 1] * place.scale;
    const border = edges[strip - 1];
    const end = Math.min(edges[strip] ?? Infinity, rows ? y + high : x + wide);
    parts.push(rows ? [x - wide, border, 2 * wide, end - border] : [border, y - high, end - border, 2 * high]);
    marks.push(rows ? [x - 4, border + 1, 8, 4] : [border + 1, y - 4, 4, 8]);
  }
  return [[parts, COPY], [marks, 1]];
}

/** How far one copy is swept: the part of its strip in which another copy must start to be compared with it. */
export function drawSweep(context, strips, { strip, box }, place) {
  const edges = edgesOf(stripsOf(strips), place);
  const [top, bottom] = [edges[strip - 1] ?? 0, edges[strip] ?? place.height];
  const [left, right] = [box[0], box[2]].map((x) => (x - place.left) * place.scale);
  context.save();
  context.fillStyle = context.strokeStyle = colour("test");
  context.globalAlpha = 0.18;
  context.fillRect(left, top, right - left, bottom - top);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(right, top);
  context.lineTo(right, bottom);
  context.stroke();
  context.restore();
}

/** Borders of strips, and where in each its number is written, as far left as no ball is: left, top, right, bottom, and the number. */
export function labelsOf(context, strips, { centers, halves }, place) {
  const { swept, count, copies, borders } = stripsOf(strips);
  const edges = edgesOf({ swept, borders }, place);
  const size = swept === 0 ? [place.width, place.height] : [place.height, place.width]; // along a strip and across
  const turned = (box) => (swept === 0 ? box : [box[1], box[0], box[3], box[2]]);
  const bodies = Array.from({ length: centers.length / 2 }, (_, body) => [-1, 1].flatMap((side) => [0, 1].map((axis) =>
    (centers[2 * body + axis] + side * halves[2 * body + axis] - (axis ? place.top : place.left)) * place.scale)));
  const labels = edges.map((edge) => turned([0, edge - 1, size[0], edge + 1]));
  context.font = canvasFont(1, 700);
  for (let strip = 0; strip < count && count > 1; strip++) {
    const [low, high] = [Math.max(edges[strip - 1] ?? 0, 0), Math.min(edges[strip] ?? Infinity, size[1])];
    const text = whole(copies[strip]);
    const [wide, tall] = swept === 0 ? [context.measureText(text).width + 4, 18] : [18, context.measureText(text).width + 4];
    if (high - low < tall + 2) continue; // it would lie on a border
    for (let at = 4; at < size[0] - wide; at += 8) {
      const box = turned([at, (low + high - tall) / 2, at + wide, (low + high + tall) / 2]);
      if (bodies.some((body) => body[0] < box[2] && box[0] < body[2] && body[1] < box[3] && box[1] < body[3])) continue;
      labels.push([...box, text]);
      break;
    }
  }
  return labels;
}

/** In each strip how many copies lie in it. */
export function writeCopies(context, strips, frame, place, shade) {
  const labels = labelsOf(context, strips, frame, place).filter(([, , , , text]) => text);
  context.save();
  context.font = canvasFont(1, 700);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = colour("stage");
  context.fillStyle = colour(shade);
  for (const [left, top, right, bottom, text] of labels) {
    for (const write of ["strokeText", "fillText"]) context[write](text, (left + right) / 2, (top + bottom) / 2);
  }
  context.restore();
}

/** Lines between the bodies that were compared, the first `end` of them. */
export function drawTests(context, tests, frame, place, end) {
  const count = Math.min(end, tests.length / 2);
  const { opacity, width } = testLines(count);
  const { centers } = frame;
  const { left, top, scale } = place;
  context.save();
  context.strokeStyle = colour("test");
  context.globalAlpha = opacity;
  context.lineWidth = width;
  for (let begin = 0; begin < count; begin += BUNDLE) {
    context.beginPath();
    for (let pair = begin; pair < Math.min(begin + BUNDLE, count); pair++) {
      const [i, j] = [2 * tests[2 * pair], 2 * tests[2 * pair + 1]];
      context.moveTo((centers[i] - left) * scale, (centers[i + 1] - top) * scale);
      context.lineTo((centers[j] - left) * scale, (centers[j + 1] - top) * scale);
    }
    context.stroke();
  }
  context.restore();
}

/** How so many lines are drawn: many must not become one blot, and a few must be seen. */
const testLines = (count) => ({
  opacity: Math.min(0.9, Math.max(0.04, 6 / Math.sqrt(count + 1))),
  width: count < 400 ? 1.4 : 1,
});

/** Tests that have just been made: thick. */
export function markTests(context, tests, frame, place) {
  const at = (body) => [(frame.centers[2 * body] - place.left) * place.scale, (frame.centers[2 * body + 1] - place.top) * place.scale];
  context.save();
  context.strokeStyle = context.fillStyle = colour("test");
  context.lineWidth = 4;
  for (let test = 0; test < tests.length; test += 2) {
    const ends = [at(tests[test]), at(tests[test + 1])];
    context.beginPath();
    context.moveTo(...ends[0]);
    context.lineTo(...ends[1]);
    context.stroke();
    for (const end of ends) {
      context.beginPath();
      context.arc(...end, 5.5, 0, 2 * Math.PI);
      context.fill();
    }
  }
  context.restore();
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
  context.lineWidth = HIT_WIDTHS[1];
  context.stroke(paths[1]);
  context.lineWidth = HIT_WIDTHS[0];
  context.setLineDash([HIT_DASH, HIT_DASH]);
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
