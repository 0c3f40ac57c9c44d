// The balls that one ball is not compared with, in grey, and the reason.

import { canvasFont, colour } from "./palette.js";

const [MOST_LINES, MOST_WORDS] = [12, 4]; // to the nearest
const NARROW = 480; // pixels: in a narrower picture, half of the words
const HIGH = 16; // pixels that a word is high

/** The reason why `i` is not compared with `j`. */
function reasonOf({ state, lanes: [own] }, i, j) {
  const [boxes, { options }, axis] = [state.boxes, state, own.order?.[0] ?? 0];
  const beyond = boxes[4 * j + axis] > boxes[4 * i + 2 + axis] ? "starts after the end" : "ends before the start";
  if (options.way) return isBullet(options, i) === isBullet(options, j) ? "the same list" : options.way === "cells" ? "other cell" : beyond;
  if (own.order) return beyond;
  if (own.swaps) return "no edges passed";
  if (own.slots) return "other slot";
  if (own.copies) {
    const stripsOf = (ball) => own.copies.filter((copy) => copy.ball === ball).map(({ strip }) => strip);
    const others = stripsOf(j);
    return stripsOf(i).some((strip) => others.includes(strip)) ? beyond : "other strip";
  }
  return "other cell";
}

const isBullet = ({ bullets }, ball) => ball < bullets;

/** `{ball, reason}` of all balls that a search never compares with this one, the nearest first: along the order, where
 * there is one. */
export function skipsOf(picture, ball) {
  const { centers, lanes: [own] } = picture;
  const tested = new Set([ball]);
  for (let at = 0; at < own.tests.length; at += 2) {
    if (own.tests[at] === ball) tested.add(own.tests[at + 1]);
    else if (own.tests[at + 1] === ball) tested.add(own.tests[at]);
  }
  const far = (other) => Math.hypot(...[0, 1].map((axis) => ((own.order?.[0] ?? axis) === axis ? centers[2 * other + axis] - centers[2 * ball + axis] : 0)));
  const others = Array.from({ length: centers.length / 2 }, (_, other) => other).filter((other) => !tested.has(other));
  return others.sort((a, b) => far(a) - far(b)).map((other) => ({ ball: other, reason: reasonOf(picture, ball, other) }));
}

/** Grey lines from a ball to the nearest that are skipped, and words at some, off the balls, the lines of tests, and the `corners` of
 * cells, where their numbers are: left, top, right, bottom on the screen. */
export function drawSkips(context, { centers, halves, lanes: [{ tests }] }, from, skips, { left, top, scale, width, height }, corners) {
  const at = (ball) => [(centers[2 * ball] - left) * scale, (centers[2 * ball + 1] - top) * scale];
  const [x, y] = at(from);
  context.save();
  context.strokeStyle = context.fillStyle = colour("soft");
  context.setLineDash([2, 5]);
  context.lineWidth = 1.2;
  context.beginPath();
  for (const { ball } of skips.slice(0, MOST_LINES)) {
    context.moveTo(x, y);
    context.lineTo(...at(ball));
  }
  context.stroke();
  context.setLineDash([]);
  context.font = canvasFont(0.85);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = colour("stage");
  const taken = [...Array(centers.length / 2).keys()].map((ball) => around(at(ball), halves[2 * ball] * scale, halves[2 * ball + 1] * scale));
  taken.push(...corners.map((corner) => [...corner]));
  const lines = Array.from({ length: tests.length / 2 }, (_, test) => [at(tests[2 * test]), at(tests[2 * test + 1])]);
  let written = 0;
  for (const { ball, reason } of skips.slice(0, MOST_LINES)) {
    if (written === (width < NARROW ? MOST_WORDS / 2 : MOST_WORDS)) break;
    const [wide, high] = [context.measureText(reason).width / 2 + 3, HIGH / 2];
    const [u, v] = at(ball);
    const [beside, beyond] = [halves[2 * ball] * scale + wide + 2, halves[2 * ball + 1] * scale + high + 2];
    // Below, above, or beside the ball, where nothing else is; else its line says enough.
    const free = [[u, v + beyond], [u, v - beyond], [u + beside, v], [u - beside, v]].find(([a, b]) => {
      const box = around([a, b], wide, high);
      return box[0] >= 0 && box[1] >= 0 && box[2] <= width && box[3] <= height && !taken.some((other) => meet(box, other)) && !lines.some((line) => crosses(line, box));
    });
    if (!free) continue;
    taken.push(around(free, wide, high));
    written += 1;
    context.strokeText(reason, ...free);
    context.fillText(reason, ...free);
  }
  context.restore();
}

const around = ([x, y], wide, high) => [x - wide, y - high, x + wide, y + high];
/** Whether a line from one place to another crosses a box. */
function crosses([start, stop], box) {
  let [from, to] = [0, 1];
  for (const axis of [0, 1]) {
    const way = stop[axis] - start[axis] || 1e-9;
    const [enter, leave] = [box[axis], box[2 + axis]].map((edge) => (edge - start[axis]) / way).sort((a, b) => a - b);
    [from, to] = [Math.max(from, enter), Math.min(to, leave)];
  }
  return from <= to;
}
const meet = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
