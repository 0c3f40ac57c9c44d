// Uniform grid: every box is added to each cell that it touches; only boxes in the same cell are compared.

import { Search } from "./search.js";

/** `bounds` are left, top, right and bottom of the grid; what lies beyond is added to the cells at its edge.  Two boxes
 * that share several cells are found in each; `once` is what is done so that their pair is reported once. */
export function uniformGrid(boxes, { cellSize, bounds, once = "owner", keep = true }) {
  /** How often the cure was asked, and each find of a pair: its cell, the two balls, whether
   * it was reported, and after how many tests. */
  const search = Object.assign(new Search(boxes, keep), { asked: 0, finds: [] });
  const last = [0, 1].map((axis) => Math.floor((bounds[2 + axis] - bounds[axis]) / cellSize));
  const cellOf = (value, axis) => {
    const cell = (value - bounds[axis]) * (1 / cellSize);
    return Math.floor(Math.min(Math.max(cell, 0), last[axis]));
  };
  const cells = new Map();
  for (let i = 0; i < search.count; i++) {
    for (let y = cellOf(boxes[4 * i + 1], 1); y <= cellOf(boxes[4 * i + 3], 1); y++) {
      for (let x = cellOf(boxes[4 * i], 0); x <= cellOf(boxes[4 * i + 2], 0); x++) {
        const number = y * (last[0] + 1) + x;
        if (!cells.has(number)) cells.set(number, { x, y, balls: [] });
        cells.get(number).balls.push(i);
      }
    }
  }
  const reported = new Set();
  const isNew = (i, j) => reported.size < reported.add(i * search.count + j).size;
  /** Whether a cell is the first that both cover: it has the top left corner of their overlap. */
  const isFirst = (i, j, x, y) =>
    cellOf(Math.max(boxes[4 * i], boxes[4 * j]), 0) === x && cellOf(Math.max(boxes[4 * i + 1], boxes[4 * j + 1]), 1) === y;
  const inOrder = [...cells.keys()].sort((a, b) => a - b).map((number) => cells.get(number));
  for (const { x, y, balls } of inOrder) {
    for (let a = 0; a < balls.length; a++) {
      for (let b = a + 1; b < balls.length; b++) {
        const [i, j] = [balls[a], balls[b]];
        // Of marked copies, two that both began in an earlier column, or row, are not even tested.
        if (once === "marks" && ++search.asked && !isFirst(i, j, x, y)) continue;
        if (!search.test(i, j)) continue;
        if (once === "set" || once === "owner") search.asked += 1;
        const isReported = once === "set" ? isNew(i, j) : once === "owner" ? isFirst(i, j, x, y) : true;
        if (isReported) search.found(i, j);
        if (keep) search.finds.push({ x, y, i, j, isReported, at: search.made });
      }
    }
  }
  /** The cells that hold balls, row by row. */
  return Object.assign(search, { cellSize, cells: inOrder, used: inOrder.length });
}
