// The bodies: as shapes where they can be seen, as pixels where they are dust.

import { channels, colour } from "./palette.js";

// So many bodies, so small (pixels from the middle to the edge), are quicker drawn pixel by pixel.
const MANY = 600;
const SMALL = 12;
const TURN = 2 * Math.PI;

// Boxes are drawn around so many round bodies, if they are so large (pixels).
const MOST_BOXED = 1200;
const BOXED = 4;

export const APART = 0; // no box overlaps this one
export const BOXES = 1; // boxes overlap, the bodies do not touch
export const TOUCH = 2;

/** Whether the bodies of a pair touch: circles are looked at, of everything else the box is all there is. */
export function touches(world, centers, i, j) {
  if (!world.round) return true;
  const far = Math.hypot(centers[2 * i] - centers[2 * j], centers[2 * i + 1] - centers[2 * j + 1]);
  return far <= world.halves[2 * i] + world.halves[2 * j];
}

/** For every body `APART`, `BOXES` or `TOUCH`. */
export function statesOf(frame, world) {
  if (frame.states) return frame.states;
  const states = new Uint8Array(frame.centers.length / 2);
  if (frame.hitBodies) frame.hitBodies.forEach((hit, body) => { states[body] = hit ? TOUCH : APART; });
  const hits = frame.hits ?? [];
  for (let at = 0; at < hits.length; at += 2) {
    const state = touches(world, frame.centers, hits[at], hits[at + 1]) ? TOUCH : BOXES;
    states[hits[at]] = Math.max(states[hits[at]], state);
    states[hits[at + 1]] = Math.max(states[hits[at + 1]], state);
  }
  frame.states = states;
  return states;
}

export function drawBodies(context, world, frame, place) {
  const { centers } = frame;
  const { halves } = world;
  let typical = 0;
  const count = centers.length / 2;
  for (let i = 0; i < Math.min(count, 64); i++) typical += Math.max(halves[2 * i], halves[2 * i + 1]);
  typical = (typical / Math.min(count, 64)) * place.scale;
  const states = statesOf(frame, world);
  if (typical < SMALL && count > MANY) drawPixels(context, world, centers, states, place);
  else drawShapes(context, world, centers, states, place, typical);
  return world.round && typical >= BOXED && count <= MOST_BOXED;
}

function drawShapes(context, world, centers, states, place, typical) {
  const count = centers.length / 2;
  const paths = [new Path2D(), new Path2D(), new Path2D()]; // body, touching, static
  const boxes = [new Path2D(), new Path2D()];
  const boxed = world.round && typical >= BOXED && count <= MOST_BOXED;
  for (let i = 0; i < count; i++) {
    const x = (centers[2 * i] - place.left) * place.scale;
    const y = (centers[2 * i + 1] - place.top) * place.scale;
    const wide = Math.max(world.halves[2 * i] * place.scale, 0.6);
    const high = Math.max(world.halves[2 * i + 1] * place.scale, 0.6);
    if (x + wide < 0 || y + high < 0 || x - wide > place.width || y - high > place.height) continue;
    const path = paths[states[i] === TOUCH ? 1 : world.still[i] ? 2 : 0];
    // Far outside, but not so far that the canvas runs out of digits.
    const left = Math.max(x - wide, -9999);
    const top = Math.max(y - high, -9999);
    const box = [left, top, Math.min(x + wide, 19999) - left, Math.min(y + high, 19999) - top];
    if (boxed) boxes[states[i] === APART ? 0 : 1].rect(...box);
    if (world.round) {
      path.moveTo(x + wide, y);
      path.arc(x, y, wide, 0, TURN);
    } else {
      path.rect(...box);
    }
  }
  const line = typical < 5 ? 1 : 1.5;
  fill(context, paths[2], null, "static", line, [3, 2]);
  fill(context, paths[0], "body-fill", "body", line, []);
  fill(context, paths[1], "hit-fill", "hit", typical < 5 ? 1.2 : 2, []);
  if (boxed) {
    fill(context, boxes[0], null, "box", 1, []);
    fill(context, boxes[1], null, "hit", 1.5, []);
  }
}

function fill(context, path, inside, edge, width, dash) {
  context.save();
  if (inside) {
    context.globalAlpha = 0.8;
    context.fillStyle = colour(inside);
    context.fill(path);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colour(edge);
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke(path);
  context.restore();
}

/** Many bodies, each a few pixels: written straight into a picture, row by row. */
function drawPixels(context, world, centers, states, place) {
  const ratio = context.getTransform().a;
  const width = context.canvas.width;
  const height = context.canvas.height;
  // All lanes show the same place: of one frame the bodies are painted once.
  const key = `${width} ${height} ${ratio} ${place.left} ${place.top} ${place.scale} ${colour("body")}`;
  if (painted.centers !== centers || painted.key !== key) {
    paintAll(width, height, ratio, world, centers, states, place);
    painted = { centers, key };
  }
  context.save();
  context.resetTransform();
  context.drawImage(dust, 0, 0);
  context.restore();
}

let painted = { centers: null, key: "" };

function paintAll(width, height, ratio, world, centers, states, place) {
  const picture = dustPicture(width, height);
  const pixels = new Uint32Array(picture.data.buffer);
  pixels.fill(0);
  const edges = ["body", "hit", "static"].map(packed);
  const insides = ["body-fill", "hit-fill", "static"].map(packed);
  const scale = place.scale * ratio;
  const count = centers.length / 2;
  const { halves, still, round } = world;
  for (let turn = 0; turn < 2; turn++) {
    // Those that overlap come last: they must not be hidden.
    for (let i = 0; i < count; i++) {
      if ((states[i] !== APART ? 1 : 0) !== turn) continue;
      const kind = turn ? 1 : still[i] ? 2 : 0;
      const x = (centers[2 * i] - place.left) * scale;
      const y = (centers[2 * i + 1] - place.top) * scale;
      const wide = halves[2 * i] * scale;
      const high = halves[2 * i + 1] * scale;
      if (x + wide < 0 || y + high < 0 || x - wide > width || y - high > height) continue;
      paint(pixels, width, height, x, y, wide, high, round, edges[kind]);
      if (Math.min(wide, high) > 2.5) paint(pixels, width, height, x, y, wide - 1.5, high - 1.5, round, insides[kind]);
    }
  }
  dust.getContext("2d").putImageData(picture, 0, 0);
}

/** One disc or rectangle, never less than a pixel. */
function paint(pixels, width, height, x, y, wide, high, round, shade) {
  const top = Math.max(Math.floor(y - high + 0.5), 0);
  const bottom = Math.min(Math.max(Math.floor(y + high + 0.5), top + 1), height);
  for (let row = top; row < bottom; row++) {
    const up = (row + 0.5 - y) / high;
    const reach = round && high > 1 ? wide * Math.sqrt(Math.max(1 - up * up, 0)) : wide;
    const left = Math.max(Math.floor(x - reach + 0.5), 0);
    const right = Math.min(Math.max(Math.floor(x + reach + 0.5), left + 1), width);
    pixels.fill(shade, row * width + left, row * width + right);
  }
}

function packed(name) {
  const [red, green, blue] = channels(name);
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

// Laid over what is there already; made once for each size.
const dust = document.createElement("canvas");
let dustPixels = null;

function dustPicture(width, height) {
  if (!dustPixels || dust.width !== width || dust.height !== height) {
    dust.width = width;
    dust.height = height;
    dustPixels = new ImageData(width, height);
  }
  return dustPixels;
}
