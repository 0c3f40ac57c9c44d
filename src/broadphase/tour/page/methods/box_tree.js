// Box tree: a box around up to sixteen neighbours, and a larger box around up to sixteen such boxes.

import { overlap, Search } from "./search.js";

const MOST = 16; // children of a node
const LEAST = 5; // of a node that is not the root
const BINS = 64;

// ---- building: halve the balls until sixteen are left, then gather the parts, sixteen at a time

const least = (values) => values.reduce((a, b) => Math.min(a, b));
const most = (values) => values.reduce((a, b) => Math.max(a, b));

/** For each axis the centres, and the bits of the same numbers as whole numbers, whose order is the same. */
function keysOf(boxes) {
  return [0, 1].map((axis) => {
    const centres = Float32Array.from({ length: boxes.length / 4 }, (_, i) => boxes[4 * i + axis] / 2 + boxes[4 * i + 2 + axis] / 2);
    return { centres, keys: new Int32Array(centres.buffer) };
  });
}

/** A key that leaves 3/8 to 5/8 of the balls on either side, found by counting and not by sorting. */
function middleOf(keys) {
  const half = keys.length >> 1;
  const slack = keys.length >> 3;
  let [smallest, largest, below] = [least(keys), most(keys), 0];
  while (smallest < largest) {
    let shift = (largest >> 1) - (smallest >> 1) < BINS / 2 ? 0 : 1;
    while ((largest >> shift) - (smallest >> shift) >= BINS) shift += 1;
    const first = smallest >> shift;
    const counts = new Array(BINS + 1).fill(0);
    for (const key of keys) if (smallest <= key && key <= largest) counts[(key >> shift) - first] += 1;
    let bin = 0;
    while (below + counts[bin] <= half) below += counts[bin++];
    if (below >= half - slack) return { key: (first + bin) << shift, ties: 0 };
    if (below + counts[bin] <= half + slack) return { key: (first + bin + 1) << shift, ties: 0 };
    smallest = Math.max(smallest, (first + bin) << shift);
    largest = Math.min(largest, ((first + bin + 1) << shift) - 1);
  }
  return { key: smallest, ties: half - below };
}

/** Halves the balls across the axis on which they are spread most, until parts of sixteen are left. */
function divide(balls, axes) {
  if (balls.length <= MOST) return { balls };
  const spreads = axes.map(({ centres }) => most(balls.map((i) => centres[i])) - least(balls.map((i) => centres[i])));
  const { keys } = axes[spreads[1] > spreads[0] ? 1 : 0];
  let { key, ties } = middleOf(balls.map((i) => keys[i]));
  const [first, second] = [[], []];
  for (const i of balls) (keys[i] < key || (keys[i] === key && ties-- > 0) ? first : second).push(i);
  return { halves: [divide(first, axes), divide(second, axes)] };
}

/** Gathers what lies below a part, as long as it fits into one node; else its halves become nodes. */
function gather(part, isLowest, makeNode) {
  const list = part.balls && isLowest ? [...part.balls] : [];
  if (part.node) list.push(part.node);
  part.node = null;
  if (part.balls) return { list, isCut: false };
  const halves = part.halves.map((half) => gather(half, isLowest, makeNode));
  const isCut = halves.some((half) => half.isCut) || list.length + halves[0].list.length + halves[1].list.length > MOST;
  halves.forEach((half, k) => {
    if (isCut && half.list.length >= LEAST) part.halves[k].node = makeNode(half.list);
    else list.push(...half.list);
  });
  return { list, isCut };
}

function build(boxes) {
  const whole = divide(Array.from({ length: boxes.length / 4 }, (_, i) => i), keysOf(boxes));
  for (let level = 0; ; level++) {
    let made = 0;
    const makeNode = (children) => {
      made += 1;
      const node = { level, children, box: null };
      const parts = children.map((child) => (level ? child.box : boxes.slice(4 * child, 4 * child + 4)));
      const side = (at, of) => of(parts.map((box) => box[at]));
      node.box = [side(0, least), side(1, least), side(2, most), side(3, most)];
      return node;
    };
    const { list } = gather(whole, level === 0, makeNode);
    if (list.length) whole.node = makeNode(list);
    if (made <= 1) return whole.node;
  }
}

// ---- searching: where two boxes do not overlap, nothing inside them does

const meet = (a, b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];

/** All pairs: two nodes that overlap are replaced by their children that do. */
export function boxTree(boxes, { keep = true } = {}) {
  const search = new Search(boxes, keep);
  const root = build(boxes);
  const boxOf = (child, level) => (level ? child.box : boxes.subarray(4 * child, 4 * child + 4));
  const join = (a, b) => {
    const isSame = a === b;
    if (a.level || !isSame) search.made += a.children.length;
    a.children.forEach((one, at) => {
      if (!isSame && !meet(boxOf(one, a.level), b.box)) return;
      for (const other of isSame ? a.children.slice(a.level ? at : at + 1) : b.children) {
        if (!a.level) {
          if (search.test(one, other)) search.found(one, other);
        } else if (meet(one.box, other.box)) {
          join(one, other);
        }
      }
    });
  };
  if (root) join(root, root);
  const nodes = listed(root);
  return Object.assign(search, { root, nodes, used: nodes.length });
}

/** All nodes below one and itself, with their depths. */
function listed(node, depth = 0) {
  if (!node) return [];
  Object.assign(node, { depth });
  return [node, ...(node.level ? node.children.flatMap((child) => listed(child, depth + 1)) : [])];
}

// ---- motion: each ball has a margin, and only one that leaves it is taken out and put in again

const area = ([left, top, right, bottom]) => (right - left) * (bottom - top);
const union = (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];

export class MovingTree {
  /** How often balls moved, and how often one was put in again. */
  moves = 0;
  reinserted = 0;

  constructor(boxes, margin) {
    this.grow = (box) => box.map((value, side) => value + (side < 2 ? -margin : margin));
    this.margins = boxes.map((value, at) => value + (at % 4 < 2 ? -margin : margin));
    this.#build();
  }

  #build() {
    Object.assign(this, { root: build(this.margins) });
    this.nodes = listed(this.root);
  }

  #boxOf(ball) {
    return this.margins.subarray(4 * ball, 4 * ball + 4);
  }

  /** The leaf of a ball. */
  leafOf(ball) {
    return this.nodes.find(({ level, children }) => !level && children.includes(ball));
  }

  /** Follow all boxes to where they are now; returns the balls that left their margins. */
  update(boxes) {
    const left = [];
    for (let ball = 0; ball < boxes.length / 4; ball++) {
      const [box, margin] = [boxes.subarray(4 * ball, 4 * ball + 4), this.#boxOf(ball)];
      if (box[0] >= margin[0] && box[1] >= margin[1] && box[2] <= margin[2] && box[3] <= margin[3]) continue;
      left.push(ball);
      const { children } = this.leafOf(ball);
      children.splice(children.indexOf(ball), 1);
      margin.set(this.grow(box));
      this.#insert(this.root, ball);
      this.#fit(this.root);
      this.nodes = listed(this.root);
      if (this.nodes.some((node) => node.children.length > MOST)) this.#build();
    }
    this.moves += boxes.length / 4;
    this.reinserted += left.length;
    return left;
  }

  /** Put a ball into the leaf that grows least; a full one is halved. */
  #insert(node, ball) {
    const growth = ({ box }) => area(union(box, this.#boxOf(ball))) - area(box);
    const best = node.level ? node.children.reduce((least, child) => (growth(child) < growth(least) ? child : least)) : node;
    if (best.level) {
      this.#insert(best, ball);
      return;
    }
    best.children.push(ball);
    if (best === node || best.children.length <= MOST) return;
    const axis = best.box[2] - best.box[0] < best.box[3] - best.box[1] ? 1 : 0;
    best.children.sort((a, b) => this.#boxOf(a)[axis] - this.#boxOf(b)[axis]);
    node.children.push({ level: 0, children: best.children.splice(MOST / 2), box: best.box });
  }

  /** Boxes of nodes around their children; empty leaves are dropped. */
  #fit(node) {
    if (node.level) node.children = node.children.filter((child) => this.#fit(child));
    const boxes = node.level ? node.children.map(({ box }) => box) : node.children.map((ball) => [...this.#boxOf(ball)]);
    if (boxes.length) node.box = boxes.reduce(union);
    return boxes.length > 0;
  }
}

/** The balls whose boxes overlap a box: a node is visited only if its own box overlaps it. */
export function queryTree({ root }, boxes, box) {
  /** In the order made: the child that was tested, of which node it is, and whether it overlaps. */
  const tests = [];
  const visited = [];
  const balls = [];
  const visit = (node) => {
    visited.push(node);
    const inside = node.children.filter((child) => {
      const hit = meet(node.level ? child.box : boxes.subarray(4 * child, 4 * child + 4), box);
      tests.push({ node, child, hit });
      return hit;
    });
    if (node.level) inside.forEach(visit);
    else balls.push(...inside);
  };
  if (root) visit(root);
  return { made: tests.length, tests, visited, balls: balls.sort((a, b) => a - b) };
}
