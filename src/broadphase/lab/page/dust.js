// Many small bodies and all that lies between them, written straight into a picture.

import { APART, statesOf, touches } from "./bodies.js";
import { cellOpacity, CELL, FULL_SLOT, fullest, HIT_WIDTHS, HIT_DASH, isMany, testLines } from "./overlays.js";
import { colour } from "./palette.js";
import { ALL, mixed, packed, Picture } from "./pixels.js";

// So many bodies, so small (pixels from the middle to the edge), are quicker drawn pixel by pixel.
const MANY = 600;
const SMALL = 12;

/** Whether the bodies are drawn as pixels; `typical` is how large one is, in pixels from the middle to the edge. */
export const isDust = (count, typical) => count > MANY && typical < SMALL;

const picture = new Picture();
const bodies = new Picture();
let painted = { centers: null, key: "" };

/** Everything but words and borders; `below(context)` draws what lies below the bodies, unless that is null. */
export function drawDust(context, { world, frame, own, place, shade, end, hits, copies }, below) {
  const ratio = context.getTransform().a;
  const at = { left: place.left, top: place.top, scale: place.scale * ratio, ratio };
  picture.begin(context, packed("stage"), below);
  if (own.cells && isMany(own.cells)) paintCells(own.cells, at, packed(shade), below ? null : packed("stage"));
  layBodies(context, world, frame, hits, at);
  if (copies) paintCopies(copies, ratio, packed(shade));
  if (own.tests) paintTests(own.tests, frame.centers, at, end);
  picture.show(context);
}

/** With a gap in place of an outline; what they lie on has a single colour, unless that is null. */
function paintCells(cells, { left, top, scale, ratio }, shade, ground) {
  const most = fullest(cells);
  const gap = ratio / 2;
  for (let at = 0; at < cells.length; at += CELL) {
    const x = (cells[at] - left) * scale;
    const y = (cells[at + 1] - top) * scale;
    const u = (cells[at + 2] - left) * scale;
    const v = (cells[at + 3] - top) * scale;
    const opacity = Math.round(ALL * cellOpacity(cells[at + 4], most));
    if (ground === null) picture.veil(x + gap, y + gap, u - gap, v - gap, shade, opacity);
    else picture.veil(x + gap, y + gap, u - gap, v - gap, mixed(ground, shade, opacity), ALL);
    if (!cells[at + 5]) continue;
    const ends = [Math.min(u - ratio, x + 5 * ratio), Math.min(v - ratio, y + 5 * ratio)];
    picture.veil(x + ratio, y + ratio, ...ends, shade, ALL * FULL_SLOT);
  }
}

/** The bodies and which overlap. All lanes show the same place: of one frame they are painted once. */
function layBodies(context, world, frame, hits, at) {
  const paint = (on) => {
    paintBodies(on, world, frame.centers, statesOf(frame, world), at);
    if (hits) paintHits(on, hits, world, frame.centers, at);
  };
  if (frame.lanes.length < 2) {
    paint(picture);
    return;
  }
  const { width, height } = context.canvas;
  const key = `${width} ${height} ${at.left} ${at.top} ${at.scale} ${colour("body")}`;
  if (painted.centers !== frame.centers || painted.key !== key) {
    bodies.begin(context, 0, null);
    paint(bodies);
    painted = { centers: frame.centers, key };
  }
  picture.lay(bodies);
}

function paintBodies(on, { halves, still, round }, centers, states, { left, top, scale }) {
  const edges = ["body", "hit", "static"].map(packed);
  const insides = ["body-fill", "hit-fill", "static"].map(packed);
  const { width, height } = on;
  for (let turn = 0; turn < 2; turn++) {
    // Those that overlap come last: they must not be hidden.
    for (let i = 0; i < states.length; i++) {
      if ((states[i] !== APART ? 1 : 0) !== turn) continue;
      const kind = turn ? 1 : still[i] ? 2 : 0;
      const x = (centers[2 * i] - left) * scale;
      const y = (centers[2 * i + 1] - top) * scale;
      const wide = halves[2 * i] * scale;
      const high = halves[2 * i + 1] * scale;
      if (x + wide < 0 || y + high < 0 || x - wide > width || y - high > height) continue;
      on.body(x, y, wide, high, round, edges[kind], insides[kind]);
    }
  }
}

function paintHits(on, hits, world, centers, { left, top, scale, ratio }) {
  const shade = packed("hit");
  for (let at = 0; at < hits.length; at += 2) {
    const [i, j] = [hits[at], hits[at + 1]];
    const x = (centers[2 * i] - left) * scale;
    const y = (centers[2 * i + 1] - top) * scale;
    const u = (centers[2 * j] - left) * scale;
    const v = (centers[2 * j + 1] - top) * scale;
    const [thick, dash] = touches(world, centers, i, j) ? [HIT_WIDTHS[1], 0] : [HIT_WIDTHS[0], HIT_DASH];
    on.line(x, y, u, v, thick * ratio, dash * ratio, shade, ALL);
  }
}

function paintCopies(groups, ratio, shade) {
  for (const [boxes, opacity] of groups) {
    for (const [left, top, wide, high] of boxes) {
      picture.veil(left * ratio, top * ratio, (left + wide) * ratio, (top + high) * ratio, shade, ALL * opacity);
    }
  }
}

function paintTests(tests, centers, { left, top, scale, ratio }, end) {
  const count = Math.min(end, tests.length / 2);
  const { opacity, width } = testLines(count);
  const shade = packed("test");
  const thick = width * ratio;
  const hidden = Math.round(ALL * opacity);
  for (let pair = 0; pair < count; pair++) {
    const [i, j] = [2 * tests[2 * pair], 2 * tests[2 * pair + 1]];
    const x = (centers[i] - left) * scale;
    const y = (centers[i + 1] - top) * scale;
    const u = (centers[j] - left) * scale;
    const v = (centers[j + 1] - top) * scale;
    if (thick === 1) picture.tolerance(x, y, u, v, shade, hidden);
    else picture.line(x, y, u, v, thick, 0, shade, hidden);
  }
}
