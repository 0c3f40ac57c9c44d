// Sweep and prune: the edges of all boxes stay sorted on both axes, and the pairs are kept between frames.
//
// An edge is a number: twice the ball for the near edge (left or top), one more for the far edge.

import { overlap, Search } from "./search.js";
import { sortAndSweep } from "./sort_and_sweep.js";

/** Whether two edges that pass each other can begin or end a pair: a near one and a far one, of two balls. */
export const isTested = (edge, other) => edge >> 1 !== other >> 1 && ((edge ^ other) & 1) === 1;

/** How many of the first swaps needed a test. */
export function testsOf(swaps, end) {
  let tests = 0;
  for (let at = 0; at < 3 * end; at += 3) if (isTested(swaps[at + 1], swaps[at + 2])) tests += 1;
  return tests;
}

export class SweepAndPrune {
  constructor(boxes) {
    this.boxes = boxes.slice();
    this.count = boxes.length / 4;
    this.edges = [0, 1].map((axis) =>
      Array.from({ length: 2 * this.count }, (_, edge) => edge)
        .sort((a, b) => (this.#comesFirst(a, b, axis) ? -1 : this.#comesFirst(b, a, axis) ? 1 : a - b)));
    this.places = this.edges.map((row) => {
      const places = new Int32Array(row.length);
      row.forEach((edge, place) => { places[edge] = place; });
      return places;
    });
    const first = sortAndSweep(boxes, { keep: false }).pairs;
    this.pairs = new Set();
    for (let at = 0; at < first.length; at += 2) this.pairs.add(this.#key(first[at], first[at + 1]));
  }

  /** Where an edge is on an axis. */
  #at(edge, axis) {
    return this.boxes[4 * (edge >> 1) + 2 * (edge & 1) + axis];
  }

  /** Of edges at the same place, near ones come first: boxes that only touch overlap. */
  #comesFirst(a, b, axis) {
    const [here, there] = [this.#at(a, axis), this.#at(b, axis)];
    return here < there || (here === there && (a & 1) < (b & 1));
  }

  #key(i, j) {
    return Math.min(i, j) * this.count + Math.max(i, j);
  }

  /** Move all boxes to where they are now; returns what that took. */
  update(boxes, { keep = true } = {}) {
    const search = new Search(this.boxes, keep);
    /** Three numbers each: axis, the edge that moves, the edge that it passes. */
    search.swaps = [];
    for (let i = 0; i < this.count; i++) {
      const before = this.boxes.slice(4 * i, 4 * i + 4);
      this.boxes.set(boxes.subarray(4 * i, 4 * i + 4), 4 * i);
      for (const axis of [0, 1]) {
        // A box that moves right moves its far edge first, so that its near edge does not pass it.
        const far = this.boxes[4 * i + 2 + axis] > before[2 + axis];
        for (const end of far ? [1, 0] : [0, 1]) {
          if (this.boxes[4 * i + 2 * end + axis] !== before[2 * end + axis]) this.#settle(2 * i + end, axis, search);
        }
      }
    }
    search.pairs = [...this.pairs].sort((a, b) => a - b).flatMap((key) => [Math.floor(key / this.count), key % this.count]);
    return search;
  }

  /** Swap an edge with its neighbours until it is in order. */
  #settle(edge, axis, search) {
    const [row, places] = [this.edges[axis], this.places[axis]];
    let place = places[edge];
    const down = place > 0 && this.#comesFirst(edge, row[place - 1], axis);
    const step = down ? -1 : 1;
    for (; place + step >= 0 && place + step < row.length; place += step) {
      const other = row[place + step];
      if (!(down ? this.#comesFirst(edge, other, axis) : this.#comesFirst(other, edge, axis))) break;
      row[place] = other;
      places[other] = place;
      search.made += 1; // what is shown and counted is swaps; some need a test
      if (search.keep) search.swaps.push(axis, edge, other);
      this.#look(edge, other, search);
    }
    row[place] = edge;
    places[edge] = place;
  }

  /** Two edges have swapped: only a near edge and a far edge can begin or end a pair. */
  #look(edge, other, search) {
    if (!isTested(edge, other)) return;
    const [i, j] = [edge >> 1, other >> 1];
    if (search.keep) search.tests.push(i, j);
    if (overlap(this.boxes, i, j)) this.pairs.add(this.#key(i, j));
    else this.pairs.delete(this.#key(i, j));
  }
}

/** One frame: from the boxes before to the boxes now. */
export function sweepAndPrune(boxes, { before = boxes, keep = true } = {}) {
  const kept = new SweepAndPrune(before);
  const edgesBefore = kept.edges.map((row) => row.slice());
  return Object.assign(kept.update(boxes, { keep }), { edges: kept.edges, edgesBefore });
}
