// Two other trees of the same balls, drawn small: a quadtree, whose squares split where boxes are, and the cuts of a k-d tree.

import { canvasFont, colour, sharp } from "./palette.js";

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

function drawQuadtree(canvas, balls, boxes, query) {
  const { context, rectangle } = stage(canvas, balls);
  const side = Math.max(balls.width, balls.height);
  const meets = ([left, top, right, bottom]) => left <= query[2] && query[0] <= right && top <= query[3] && query[1] <= bottom;
  let [visited, tested, all] = [0, 0, 0];
  const draw = ({ area, ids, quarters }) => {
    all += 1;
    context.strokeStyle = context.fillStyle = colour("method-box_tree");
    context.strokeRect(...rectangle(area));
    if (meets(area)) {
      visited += 1;
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
  canvas.setAttribute("aria-label", `A quadtree of the same balls: the query visits ${visited} of ${all} squares and tests ${tested} of ${balls.count} boxes, here blue; the smallest of these squares are tinted.`);
}

function drawKdTree(canvas, balls, place) {
  const { context, scale, rectangle } = stage(canvas, balls);
  const tree = kdTree(balls.centers, [...Array(balls.count).keys()], [0, 0, balls.width, balls.height]);
  const { id, distance, visited } = nearest(balls.centers, tree, place);
  const dot = ([x, y], size) => {
    context.beginPath();
    context.arc(x * scale, y * scale, size, 0, 2 * Math.PI);
  };
  const draw = (part) => {
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
  canvas.setAttribute("aria-label", `A k-d tree of the middles of the same balls: the nearest is found in ${visited.length} of its parts, here tinted.`);
}

/** Draw both for the balls and the query of a state. */
export function drawCuts([first, second], { balls, boxes, query }) {
  if (!first.clientWidth) return;
  drawQuadtree(first, balls, boxes, query.box);
  drawKdTree(second, balls, query.middle);
}
