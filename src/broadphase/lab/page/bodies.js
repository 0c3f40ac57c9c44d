// The bodies: as shapes where they can be seen, as pixels where they are dust.

import { channels, colour } from "./palette.js";

// So many bodies, so small (pixels from the middle to the edge), are quicker drawn pixel by pixel.
const MANY = 600;
const SMALL = 12;
const TURN = 2 * Math.PI;

/** 1 for every body with a partner. */
export function hitBodies(frame, count) {
  if (frame.hitBodies) return frame.hitBodies;
  const hit = new Uint8Array(count);
  for (const body of frame.hits ?? []) hit[body] = 1;
  return hit;
}

export function drawBodies(context, world, frame, place) {
  const { centers } = frame;
  const { halves } = world;
  let typical = 0;
  const count = centers.length / 2;
  for (let i = 0; i < Math.min(count, 64); i++) typical += Math.max(halves[2 * i], halves[2 * i + 1]);
  typical = (typical / Math.min(count, 64)) * place.scale;
  const hit = hitBodies(frame, count);
  if (typical < SMALL && count > MANY) drawPixels(context, world, centers, hit, place);
  else drawShapes(context, world, centers, hit, place, typical);
}

function drawShapes(context, world, centers, hit, place, typical) {
  const count = centers.length / 2;
  const paths = [new Path2D(), new Path2D(), new Path2D()]; // body, hit, static
  for (let i = 0; i < count; i++) {
    const x = (centers[2 * i] - place.left) * place.scale;
    const y = (centers[2 * i + 1] - place.top) * place.scale;
    const wide = Math.max(world.halves[2 * i] * place.scale, 0.6);
    const high = Math.max(world.halves[2 * i + 1] * place.scale, 0.6);
    if (x + wide < 0 || y + high < 0 || x - wide > place.width || y - high > place.height) continue;
    const path = paths[hit[i] ? 1 : world.still[i] ? 2 : 0];
    if (world.round) {
      path.moveTo(x + wide, y);
      path.arc(x, y, wide, 0, TURN);
    } else {
      // Far outside, but not so far that the canvas runs out of digits.
      const left = Math.max(x - wide, -9999);
      const top = Math.max(y - high, -9999);
      path.rect(left, top, Math.min(x + wide, 19999) - left, Math.min(y + high, 19999) - top);
    }
  }
  const line = typical < 5 ? 1 : 1.5;
  fill(context, paths[2], null, "static", line, [3, 2]);
  fill(context, paths[0], "body-fill", "body", line, []);
  fill(context, paths[1], "hit-fill", "hit", typical < 5 ? 1.2 : 2.4, []);
}

function fill(context, path, inside, edge, width, dash) {
  context.save();
  if (inside) {
    context.globalAlpha = 0.75;
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
function drawPixels(context, world, centers, hit, place) {
  const ratio = context.getTransform().a;
  const width = context.canvas.width;
  const height = context.canvas.height;
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
      if (hit[i] !== turn) continue;
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
  context.save();
  context.resetTransform();
  context.drawImage(dust, 0, 0);
  context.restore();
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
