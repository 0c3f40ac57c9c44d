// The balls that one ball is not compared with, in grey, and the reason.

import { canvasFont, colour } from "./palette.js";

const [MOST_LINES, MOST_WORDS] = [12, 4]; // to the nearest
const ROOM = [120, 18]; // pixels that the words of one ball take

/** The reason why `i` is not compared with `j`. */
function reasonOf({ state, lanes: [own] }, i, j) {
  const [boxes, { options }] = [state.boxes, state];
  const beyond = boxes[4 * j] > boxes[4 * i + 2] ? "starts after the end" : "ends before the start";
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
  const far = (other) => Math.hypot(centers[2 * other] - centers[2 * ball], own.order ? 0 : centers[2 * other + 1] - centers[2 * ball + 1]);
  const others = Array.from({ length: centers.length / 2 }, (_, other) => other).filter((other) => !tested.has(other));
  return others.sort((a, b) => far(a) - far(b)).map((other) => ({ ball: other, reason: reasonOf(picture, ball, other) }));
}

/** Grey lines from a ball to the nearest that are skipped, and words at some. */
export function drawSkips(context, { centers, halves }, from, skips, { left, top, scale, width, height }) {
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
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.lineWidth = 3.5;
  context.strokeStyle = colour("stage");
  const written = [];
  for (const { ball, reason } of skips.slice(0, MOST_LINES)) {
    const [u, v] = at(ball);
    if (written.length === MOST_WORDS || written.some(([a, b]) => Math.abs(a - u) < ROOM[0] && Math.abs(b - v) < ROOM[1])) continue;
    written.push([u, v]);
    const half = context.measureText(reason).width / 2 + 4;
    const below = v + halves[2 * ball + 1] * scale + 2;
    const place = [Math.min(Math.max(u, half), width - half), below + ROOM[1] < height ? below : 2 * v - below - ROOM[1]];
    context.strokeText(reason, ...place);
    context.fillText(reason, ...place);
  }
  context.restore();
}
