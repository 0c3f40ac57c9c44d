// Strips: cut the world into horizontal strips, and sweep each from left to right.
//
// A ball on a border gets a copy in each strip that it touches.  A strip is not sorted exactly: its copies are counted
// into narrow buckets, and a copy is tested up to the end of the bucket in which it ends.

import { Search } from "./search.js";

export const LANES = 16; // boxes that a processor compares at once
const [FEWEST_BUCKETS, MOST_BUCKETS] = [16, 2 ** 15];

/** How a line from the lowest to the highest value is cut into equal parts. */
function ruler(lowest, highest, parts) {
  const half = highest / 2 - lowest / 2;
  if (!(half > 0)) return () => 0;
  const scale = parts / half;
  return (value) => Math.trunc(Math.min(Math.max((value / 2 - lowest / 2) * scale, 0), parts - 1));
}

function range(count, value) {
  let [lowest, highest] = [Infinity, -Infinity];
  for (let i = 0; i < count; i++) [lowest, highest] = [Math.min(lowest, value(i)), Math.max(highest, value(i))];
  return [lowest, highest];
}

/** `strips`: how many. */
export function strips(boxes, { strips: cut, keep = true }) {
  const search = new Search(boxes, keep);
  const { count } = search;
  const [left, top, right, bottom] = [0, 1, 2, 3].map((side) => (i) => boxes[4 * i + side]);
  const [highest, lowest] = [range(count, top)[0], range(count, bottom)[1]];
  const stripOf = ruler(highest, lowest, cut);
  let buckets = FEWEST_BUCKETS;
  while (buckets < Math.floor(count / cut) + 1 && buckets < MOST_BUCKETS) buckets *= 2;
  const [start, end] = range(count, left);
  const bucketOf = ruler(start, end, buckets);

  const copies = [];
  for (let i = 0; i < count; i++) {
    const first = stripOf(top(i));
    for (let strip = first; strip <= stripOf(bottom(i)); strip++) {
      copies.push({
        ball: i, strip,
        isContinued: strip > first, // the ball starts in an earlier strip
        bucket: strip * buckets + bucketOf(left(i)),
        reach: strip * buckets + bucketOf(right(i)), // the last bucket in which a partner can start
      });
    }
  }
  copies.sort((a, b) => a.bucket - b.bucket);
  copies.forEach((copy, at) => {
    let next = at + 1;
    for (; next < copies.length && copies[next].bucket <= copy.reach; next++) {
      const other = copies[next];
      const hit = search.test(copy.ball, other.ball);
      // Two balls that both start in an earlier strip met there already.
      if (hit && !(copy.isContinued && other.isContinued)) search.found(copy.ball, other.ball);
    }
    copy.stop = next;
  });
  const borders = Array.from({ length: cut - 1 }, (_, k) => highest + ((k + 1) * (lowest - highest)) / cut);
  /** The copies strip by strip, each with the place at which its sweep stopped; the borders, and
   * from where to where the buckets lie. */
  return Object.assign(search, { copies, borders, start, end, buckets, used: cut });
}

/** How many times a processor compares one box with the next sixteen. */
export const comparesOf = ({ copies }) =>
  copies.reduce((sum, { stop }, at) => sum + Math.ceil((stop - at - 1) / LANES), 0);
