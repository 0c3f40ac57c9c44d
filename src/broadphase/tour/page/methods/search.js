// What all methods share: the test of two boxes, and the record of one search.
//
// Boxes are four numbers each, one box after the other: left, top, right, bottom.

/** Whether two boxes overlap; boxes that only touch do. */
export const overlap = (boxes, i, j) =>
  boxes[4 * i] <= boxes[4 * j + 2] && boxes[4 * j] <= boxes[4 * i + 2] &&
  boxes[4 * i + 1] <= boxes[4 * j + 3] && boxes[4 * j + 1] <= boxes[4 * i + 3];

/** Counts the tests of a search and collects its pairs. */
export class Search {
  made = 0;
  /** The tests in the order in which they were made: two balls each.  Empty unless they are kept. */
  tests = [];
  /** The pairs that overlap: two balls each, the lower number first. */
  pairs = [];

  constructor(boxes, keep = true) {
    this.boxes = boxes;
    this.keep = keep;
    this.count = boxes.length / 4;
  }

  test(i, j) {
    this.made += 1;
    if (this.keep) this.tests.push(i, j);
    return overlap(this.boxes, i, j);
  }

  found(i, j) {
    this.pairs.push(Math.min(i, j), Math.max(i, j));
  }
}
