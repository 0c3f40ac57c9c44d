// Strips: cut the world into horizontal strips, and sweep each from left to right, as in sort and sweep.
//
// A ball on a border gets a copy in each strip that it touches.  The engine sorts a strip only roughly, into narrow
// buckets, and tests a copy up to the end of the bucket in which it ends: a few more tests than here.

import { Search } from "./search.js";

export const LANES = 16; // boxes that a processor compares at once

/** `strips`: how many, between the highest and the lowest edge. */
export function strips(boxes, { strips: cut, keep = true }) {
  const search = new Search(boxes, keep);
  const { count } = search;
  const [left, top, right, bottom] = [0, 1, 2, 3].map((side) => (i) => boxes[4 * i + side]);
  let [highest, lowest] = [Infinity, -Infinity];
  for (let i = 0; i < count; i++) [highest, lowest] = [Math.min(highest, top(i)), Math.max(lowest, bottom(i))];
  const high = (lowest - highest) / cut;
  const stripOf = (y) => (high > 0 ? Math.min(Math.floor((y - highest) / high), cut - 1) : 0);

  const copies = [];
  for (let i = 0; i < count; i++) {
    const first = stripOf(top(i));
    // A copy is continued where the ball starts in an earlier strip.
    for (let strip = first; strip <= stripOf(bottom(i)); strip++) copies.push({ ball: i, strip, isContinued: strip > first });
  }
  copies.sort((a, b) => a.strip - b.strip || left(a.ball) - left(b.ball));
  copies.forEach((copy, at) => {
    let next = at + 1;
    for (; copies[next]?.strip === copy.strip && left(copies[next].ball) <= right(copy.ball); next++) {
      const other = copies[next];
      const hit = search.test(copy.ball, other.ball);
      // Two balls that both start in an earlier strip met there already.
      if (hit && !(copy.isContinued && other.isContinued)) search.found(copy.ball, other.ball);
    }
    copy.stop = next;
  });
  const borders = Array.from({ length: cut - 1 }, (_, k) => highest + (k + 1) * high);
  /** The copies strip by strip, each with the place at which its sweep stopped, and the borders. */
  return Object.assign(search, { copies, borders, used: cut });
}

/** How many times a processor compares one box with the next sixteen. */
export const comparesOf = ({ copies }) =>
  copies.reduce((sum, { stop }, at) => sum + Math.ceil((stop - at - 1) / LANES), 0);
