// Every pair: each box is compared with every later one.

import { Search } from "./search.js";

export function bruteForce(boxes, { keep = true } = {}) {
  const search = new Search(boxes, keep);
  for (let i = 0; i < search.count; i++) {
    for (let j = i + 1; j < search.count; j++) {
      if (search.test(i, j)) search.found(i, j);
    }
  }
  return search;
}

/** How many pairs there are, and so how many tests that takes. */
export const pairsAmong = (count) => (count * (count - 1)) / 2;
