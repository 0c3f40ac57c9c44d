// The bodies as shapes.

import { colour } from "./palette.js";

const TURN = 2 * Math.PI;

// Boxes are drawn around so many round bodies, if they are so large (pixels).
const MOST_BOXED = 1200;
const BOXED = 4;

const APART = 0; // no box overlaps this one
const BOXES = 1; // boxes overlap, the bodies do not touch
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
  const { hits } = frame;
  for (let at = 0; at < hits.length; at += 2) {
    const state = touches(world, frame.centers, hits[at], hits[at + 1]) ? TOUCH : BOXES;
    states[hits[at]] = Math.max(states[hits[at]], state);
    states[hits[at + 1]] = Math.max(states[hits[at + 1]], state);
  }
  frame.states = states;
  return states;
}

/** How large the first bodies are on average, in pixels from the middle to the edge. */
function typicalOf(world, count, place) {
  const some = Math.min(count, 64);
  let typical = 0;
  for (let i = 0; i < some; i++) typical += Math.max(world.halves[2 * i], world.halves[2 * i + 1]);
  return (typical / some) * place.scale;
}

export function drawBodies(context, world, frame, place) {
  const { centers } = frame;
  const states = statesOf(frame, world);
  const typical = typicalOf(world, states.length, place);
  const count = centers.length / 2;
  const paths = [new Path2D(), new Path2D()]; // apart, touching
  const boxes = [new Path2D(), new Path2D()];
  const boxed = world.round && typical >= BOXED && count <= MOST_BOXED;
  for (let i = 0; i < count; i++) {
    const x = (centers[2 * i] - place.left) * place.scale;
    const y = (centers[2 * i + 1] - place.top) * place.scale;
    const wide = Math.max(world.halves[2 * i] * place.scale, 0.6);
    const high = Math.max(world.halves[2 * i + 1] * place.scale, 0.6);
    if (x + wide < 0 || y + high < 0 || x - wide > place.width || y - high > place.height) continue;
    const path = paths[states[i] === TOUCH ? 1 : 0];
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
  fill(context, paths[0], "body-fill", "body", line);
  fill(context, paths[1], "hit-fill", "hit", typical < 5 ? 1.2 : 2);
  if (boxed) {
    fill(context, boxes[0], null, "box", 1);
    fill(context, boxes[1], null, "hit", 1.5);
  }
}

function fill(context, path, inside, edge, width) {
  context.save();
  if (inside) {
    context.globalAlpha = 0.8;
    context.fillStyle = colour(inside);
    context.fill(path);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colour(edge);
  context.lineWidth = width;
  context.stroke(path);
  context.restore();
}
