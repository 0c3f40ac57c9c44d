// Sort and sweep: sort the boxes by their left edge; each looks only to its right, and stops early.

import { Search } from "./search.js";

/** `axis` 0 sorts by the left edge, `axis` 1 by the top edge. */
export function sortAndSweep(boxes, { axis = 0, keep = true } = {}) {
  const search = new Search(boxes, keep);
  const low = (i) => boxes[4 * i + axis];
  const high = (i) => boxes[4 * i + 2 + axis];
  let sorting = 0;
  const order = Array.from({ length: search.count }, (_, i) => i).sort((i, j) => {
    sorting += 1;
    return low(i) - low(j);
  });
  const stops = [];
  order.forEach((i, at) => {
    let next = at + 1;
    // No box from the first one beyond the end of box i can overlap it.
    while (next < order.length && low(order[next]) <= high(i)) {
      if (search.test(i, order[next])) search.found(i, order[next]);
      next += 1;
    }
    stops.push(next);
  });
  /** The balls in order, for each place in the order the first later one that the sweep did not reach, and how many
   * comparisons of two edges it took to sort. */
  return Object.assign(search, { axis, order, stops, sorting });
}
