// Drawn small: how a box tree finds all pairs, and two other trees of the same balls, a quadtree, whose squares split where boxes are,
// and the cuts of a k-d tree.

import { boxTree, queryTree } from "./methods/box_tree.js";
import { pairsAmong } from "./methods/brute_force.js";
import { canvasFont, colour, sharp, whole } from "./palette.js";

const [MOST_BOXES, MOST_POINTS, DEEPEST] = [4, 4, 6];

/** Squares with the boxes that stay in them: those that none of their quarters holds whole. */
function quadtree(boxes, ids, area, depth = 0) {
  const [left, top, right, bottom] = area;
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const square = { area, ids, quarters: [] };
  if (ids.length <= MOST_BOXES || depth === DEEPEST) return square;
  const quarters = [[left, top, x, y], [x, top, right, y], [left, y, x, bottom], [x, y, right, bottom]];
  const inside = (id, [a, b, c, d]) => boxes[4 * id] >= a && boxes[4 * id + 1] >= b && boxes[4 * id + 2] <= c && boxes[4 * id + 3] <= d;
  square.quarters = quarters.map((quarter) => quadtree(boxes, ids.filter((id) => inside(id, quarter)), quarter, depth + 1));
  square.ids = ids.filter((id) => !quarters.some((quarter) => inside(id, quarter)));
  return square;
}

/** Parts that are cut at the middle point, along x and y in turns. */
function kdTree(points, ids, area, axis = 0) {
  if (ids.length <= MOST_POINTS) return { area, ids };
  const sorted = [...ids].sort((a, b) => points[2 * a + axis] - points[2 * b + axis]);
  const half = sorted.length >> 1;
  const cut = points[2 * sorted[half] + axis];
  const sides = [[sorted.slice(0, half), 2 + axis], [sorted.slice(half), axis]].map(([part, side]) => kdTree(points, part, area.map((edge, at) => (at === side ? cut : edge)), 1 - axis));
  return { area, ids: [], axis, cut, sides };
}

const far = (points, id, [x, y]) => Math.hypot(points[2 * id] - x, points[2 * id + 1] - y);

/** The point nearest to a place, and the parts that were visited for it. */
function nearest(points, part, place, found = { id: null, distance: Infinity, visited: [] }) {
  if (!part.sides) {
    found.visited.push(part);
    for (const id of part.ids) if (far(points, id, place) < found.distance) Object.assign(found, { id, distance: far(points, id, place) });
    return found;
  }
  const near = place[part.axis] < part.cut ? 0 : 1;
  nearest(points, part.sides[near], place, found);
  if (Math.abs(place[part.axis] - part.cut) < found.distance) nearest(points, part.sides[1 - near], place, found);
  return found;
}

function stage(canvas, { width, height }) {
  const scale = canvas.clientWidth / width;
  const context = sharp(canvas, canvas.clientWidth, canvas.clientHeight);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  context.lineWidth = 1;
  context.font = canvasFont(0.9, 650);
  const rectangle = ([left, top, right, bottom]) => [left * scale, top * scale, (right - left) * scale, (bottom - top) * scale];
  return { context, scale, rectangle };
}

/** Say what a picture shows, below it and to those who do not see it. */
function say(canvas, what, words) {
  canvas.setAttribute("aria-label", `${what} ${words}`);
  canvas.nextElementSibling.textContent = words;
}

/** The leaves, and a line between each two that overlap. */
function drawPairs(canvas, balls, boxes, tree) {
  const { context, rectangle } = stage(canvas, balls);
  const leaves = tree.nodes.filter(({ level }) => !level).map(({ box }) => box);
  const middle = ([left, top, right, bottom]) => rectangle([(left + right) / 2, (top + bottom) / 2, 0, 0]).slice(0, 2);
  context.setLineDash([5, 4]);
  context.strokeStyle = colour("method-box_tree");
  for (const leaf of leaves) context.strokeRect(...rectangle(leaf));
  context.setLineDash([]);
  context.strokeStyle = context.fillStyle = colour("test");
  context.lineWidth = 1.5;
  let met = 0;
  leaves.forEach((one, at) => {
    context.fillRect(...middle(one).map((place) => place - 2.5), 5, 5);
    for (const other of leaves.slice(at + 1)) {
      if (!meets(one, other)) continue;
      met += 1;
      context.beginPath();
      context.moveTo(...middle(one));
      context.lineTo(...middle(other));
      context.stroke();
    }
  });
  const each = Array.from({ length: balls.count }, (_, ball) => queryTree(tree, boxes, boxes.subarray(4 * ball, 4 * ball + 4)).made).reduce((sum, made) => sum + made, 0);
  say(canvas, "The leaves of the tree.", `${whole(balls.count)} balls in ${whole(leaves.length)} leaves; ${whole(met)} ${met === 1 ? "pair" : "pairs"} of leaves overlap: ${whole(boxTree(boxes, { keep: false }).made)} tests from the largest node down, ${whole(each)} where each ball asks, ${whole(pairsAmong(balls.count))} without a tree.`);
}

const meets = ([left, top, right, bottom], other) => left <= other[2] && other[0] <= right && top <= other[3] && other[1] <= bottom;

function drawSquares(canvas, balls, boxes, { box: query, made }) {
  const { context, rectangle } = stage(canvas, balls);
  const side = Math.max(balls.width, balls.height);
  let [looks, tested] = [1, 0];
  const draw = ({ area, ids, quarters }) => {
    context.strokeStyle = context.fillStyle = colour("method-box_tree");
    context.strokeRect(...rectangle(area));
    if (meets(area, query)) {
      looks += quarters.length;
      tested += ids.length;
      context.globalAlpha = 0.22;
      if (!quarters.length) context.fillRect(...rectangle(area));
      context.globalAlpha = 1;
      context.strokeStyle = colour("test");
      for (const id of ids) context.strokeRect(...rectangle(boxes.subarray(4 * id, 4 * id + 4)));
    } else {
      context.strokeStyle = colour("box");
      for (const id of ids) context.strokeRect(...rectangle(boxes.subarray(4 * id, 4 * id + 4)));
    }
    quarters.forEach(draw);
  };
  draw(quadtree(boxes, [...Array(balls.count).keys()], [0, 0, side, side]));
  context.strokeStyle = colour("ink");
  context.lineWidth = 2.5;
  context.strokeRect(...rectangle(query));
  say(canvas, "A quadtree of the same balls.", `The query is tested with ${whole(looks)} squares and ${whole(tested)} of ${whole(balls.count)} boxes: ${whole(looks + tested)} tests. The box tree above makes ${whole(made)}.`);
}

function drawKdTree(canvas, balls, [left, top]) {
  const place = [left, top]; // at the middle it would lie under the nearest
  const { context, scale, rectangle } = stage(canvas, balls);
  const tree = kdTree(balls.centers, [...Array(balls.count).keys()], [0, 0, balls.width, balls.height]);
  const { id, distance, visited } = nearest(balls.centers, tree, place);
  const dot = ([x, y], size) => {
    context.beginPath();
    context.arc(x * scale, y * scale, size, 0, 2 * Math.PI);
  };
  let parts = 0;
  const draw = (part) => {
    if (!part.sides) parts += 1;
    context.strokeStyle = context.fillStyle = colour("method-box_tree");
    context.strokeRect(...rectangle(part.area));
    context.globalAlpha = 0.22;
    if (visited.includes(part)) context.fillRect(...rectangle(part.area));
    context.globalAlpha = 1;
    context.fillStyle = colour(visited.includes(part) ? "test" : "body");
    for (const one of part.ids) {
      dot(balls.centers.subarray(2 * one, 2 * one + 2), 2.5);
      context.fill();
    }
    part.sides?.forEach(draw);
  };
  draw(tree);
  context.strokeStyle = context.fillStyle = colour("ink");
  dot(place, distance * scale); // nothing farther can be nearer
  context.setLineDash([3, 3]);
  context.stroke();
  context.setLineDash([]);
  context.fillText("×", place[0] * scale - 4, place[1] * scale + 4);
  context.strokeStyle = colour("hit");
  context.lineWidth = 2;
  dot(balls.centers.subarray(2 * id, 2 * id + 2), 5);
  context.stroke();
  say(canvas, "A k-d tree of the middles of the same balls.", `The nearest point is found in ${whole(visited.length)} of ${whole(parts)} parts: ${whole(visited.reduce((sum, { ids }) => sum + ids.length, 0))} of ${whole(balls.count)} points are measured.`);
}

/** Draw all three for the balls and the query of a state. */
export function drawCuts([pairs, quadtree, kd], { balls, boxes, query, results }) {
  if (!pairs.clientWidth) return;
  drawPairs(pairs, balls, boxes, results.box_tree);
  drawSquares(quadtree, balls, boxes, query);
  drawKdTree(kd, balls, query.box);
}
