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

/** The same tests from the other side, as a line makes them that sweeps along the axis: where a box begins, it is tested with all
 * boxes in the set of open ones and put into it; where it ends, it is taken out.  `edges` in order, each with its box, the open
 * boxes after it, and how many tests were made before and after it; `tests` are two boxes each. */
export function sweepOf(boxes, { axis, order }) {
  const edges = order.flatMap((ball) => [true, false].map((isFirst) => ({ ball, isFirst, at: boxes[4 * ball + axis + (isFirst ? 0 : 2)] })));
  edges.sort((a, b) => a.at - b.at || b.isFirst - a.isFirst); // boxes that only touch overlap
  const open = new Set();
  const tests = [];
  for (const edge of edges) {
    const before = tests.length / 2;
    if (edge.isFirst) for (const other of open) tests.push(other, edge.ball);
    if (edge.isFirst) open.add(edge.ball);
    else open.delete(edge.ball);
    Object.assign(edge, { open: [...open], before, made: tests.length / 2 });
  }
  return { edges, tests };
}
