// Uniform grid: every box is added to each cell that it touches; only boxes in the same cell are compared.

import { Search } from "./search.js";

/** `bounds` are left, top, right and bottom of the grid; what lies beyond is added to the cells at its edge. */
export function uniformGrid(boxes, { cellSize, bounds, keep = true }) {
  const search = new Search(boxes, keep);
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
  const inOrder = [...cells.keys()].sort((a, b) => a - b).map((number) => cells.get(number));
  for (const { x, y, balls } of inOrder) {
    for (let a = 0; a < balls.length; a++) {
      for (let b = a + 1; b < balls.length; b++) {
        const [i, j] = [balls[a], balls[b]];
        if (!search.test(i, j)) continue;
        // Two balls may share several cells: the cell with the top left corner of their overlap reports them.
        const left = cellOf(Math.max(boxes[4 * i], boxes[4 * j]), 0);
        const top = cellOf(Math.max(boxes[4 * i + 1], boxes[4 * j + 1]), 1);
        if (left === x && top === y) search.found(i, j);
      }
    }
  }
  /** The cells that hold balls, row by row. */
  return Object.assign(search, { cellSize, cells: inOrder, used: inOrder.length });
}
