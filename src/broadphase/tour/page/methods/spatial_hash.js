// Spatial hash: cells without borders.  A formula turns a cell into the number of a slot in a table.

import { Search } from "./search.js";

// Two large primes, multiplied as whole numbers of any length.
const [PRIME_X, PRIME_Y, LOW_BITS] = [1640531513n, 2654435789n, 0x7fffffffn];

/** The slot of a cell; cells that are far from each other may share one. */
const slotOf = (x, y, slots) =>
  Number((((BigInt(x) & LOW_BITS) * PRIME_X) ^ ((BigInt(y) & LOW_BITS) * PRIME_Y)) % BigInt(slots));

/** `slots`: how many the table has; best a prime. */
export function spatialHash(boxes, { cellSize, slots, keep = true }) {
  /** `strangers`: which tests were of two boxes that share a slot and no cell; the first is 1. */
  const search = Object.assign(new Search(boxes, keep), { strangers: [] });
  const cellOf = (value) => Math.floor(value * (1 / cellSize));
  const table = new Map();
  const cells = new Map();
  for (let i = 0; i < search.count; i++) {
    for (let y = cellOf(boxes[4 * i + 1]); y <= cellOf(boxes[4 * i + 3]); y++) {
      for (let x = cellOf(boxes[4 * i]); x <= cellOf(boxes[4 * i + 2]); x++) {
        const name = `${x} ${y}`;
        if (!cells.has(name)) cells.set(name, { x, y, slot: slotOf(x, y, slots), balls: [] });
        const { slot, balls } = cells.get(name);
        balls.push(i);
        if (!table.has(slot)) table.set(slot, []);
        // A ball of which two cells share a slot is added to it once.
        if (table.get(slot).at(-1) !== i) table.get(slot).push(i);
      }
    }
  }
  const testsOf = new Map();
  for (const slot of [...table.keys()].sort((a, b) => a - b)) {
    const balls = table.get(slot);
    const before = search.made;
    for (let a = 0; a < balls.length; a++) {
      for (let b = a + 1; b < balls.length; b++) {
        const [i, j] = [balls[a], balls[b]];
        // As in a grid: the slot with the top left corner of their overlap reports a pair.
        const [left, top, right, bottom] = [0, 1, 2, 3].map((side) => cellOf((side < 2 ? Math.max : Math.min)(boxes[4 * i + side], boxes[4 * j + side])));
        const hit = search.test(i, j);
        if (left > right || top > bottom) search.strangers.push(search.made);
        if (!hit) continue;
        if (slotOf(left, top, slots) === slot) search.found(i, j);
      }
    }
    testsOf.set(slot, search.made - before);
  }
  /** The balls in each slot in use, and how many tests were made there. */
  return Object.assign(search, { cellSize, cells: [...cells.values()], table, testsOf, slots, used: table.size });
}
