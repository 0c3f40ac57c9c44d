// Two lists: only pairs of one from each are wanted, such as bullets and enemies.  Four ways.

import { Search } from "./search.js";
import { sortAndSweep } from "./sort_and_sweep.js";

/** The first `bullets` boxes are one list, the others the other; `way` is one of `WAYS`. */
export function twoLists(boxes, { bullets, way, cellSize, keep = true }) {
  const search = Object.assign(new Search(boxes, keep), { bullets, entries: 0 });
  WAYS[way](search, boxes, cellSize);
  return search;
}

const isPair = ({ bullets }, i, j) => i < bullets !== j < bullets;

export const WAYS = {
  /** Both lists as one, each with every other; pairs within a list are discarded. */
  together(search) {
    for (let i = 0; i < search.count; i++) {
      for (let j = i + 1; j < search.count; j++) if (search.test(i, j) && isPair(search, i, j)) search.found(i, j);
    }
  },

  /** Each bullet with each enemy. */
  each(search) {
    for (let i = 0; i < search.bullets; i++) {
      for (let j = search.bullets; j < search.count; j++) if (search.test(i, j)) search.found(i, j);
    }
  },

  /** Both lists in one order by the left edge; each steps over those of its own list, and stops early. */
  sorted(search, boxes) {
    const { order, stops, sorting } = sortAndSweep(boxes, { keep: false });
    search.sorting = sorting;
    order.forEach((i, at) => {
      for (const j of order.slice(at + 1, stops[at])) {
        if (isPair(search, i, j) && search.test(i, j)) search.found(i, j);
      }
    });
  },

  /** The enemies are entered into cells; each bullet looks into those that it touches. */
  cells(search, boxes, cellSize) {
    const cellOf = (value) => Math.floor(value / cellSize);
    const cells = new Map();
    for (let i = search.count - 1; i >= 0; i--) { // enemies first
      for (let y = cellOf(boxes[4 * i + 1]); y <= cellOf(boxes[4 * i + 3]); y++) {
        for (let x = cellOf(boxes[4 * i]); x <= cellOf(boxes[4 * i + 2]); x++) {
          const name = `${x} ${y}`;
          search.entries += 1;
          if (i >= search.bullets) cells.set(name, { x, y, balls: [...(cells.get(name)?.balls ?? []), i] });
          else for (const j of cells.get(name)?.balls ?? []) {
            // The first cell that both cover reports them.
            const isFirst = cellOf(Math.max(boxes[4 * i], boxes[4 * j])) === x && cellOf(Math.max(boxes[4 * i + 1], boxes[4 * j + 1])) === y;
            if (search.test(i, j) && isFirst) search.found(i, j);
          }
        }
      }
    }
    Object.assign(search, { cellSize, cells: [...cells.values()] });
  },
};
