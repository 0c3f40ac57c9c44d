// A query box in a tree: the nodes that were visited, the balls that were tested, and the margin of one that moves.

import { colour } from "./palette.js";
import { FOLLOWED } from "./steps.js";

const LIT = 16; // units that balls move while the leaf is lit into which one was put

/** Draws the nodes as the first `end` tests have found them. */
export function drawVisits(context, { root, nodes }, query, place, shade, end) {
  const tested = new Set([root]);
  const visited = new Set([root]);
  for (const { node, child, hit } of query.tests.slice(0, end)) {
    if (!node.level) continue;
    tested.add(child);
    if (hit) visited.add(child);
  }
  context.save();
  context.strokeStyle = context.fillStyle = colour(shade);
  // Those that nobody looked at lie below.
  for (const node of [...nodes].sort((a, b) => visited.has(a) - visited.has(b))) {
    const [left, top, right, bottom] = onScreen(node, place);
    const isLit = visited.has(node);
    context.globalAlpha = node.level ? 0.05 : 0.2;
    if (isLit) context.fillRect(left, top, right - left, bottom - top);
    context.globalAlpha = isLit ? 1 : tested.has(node) ? 0.75 : 0.3;
    context.lineWidth = isLit ? (node.level ? 4 - 1.3 * node.depth : 2.5) : 1;
    context.setLineDash(isLit ? [] : [5, 4]);
    context.strokeRect(left, top, right - left, bottom - top);
  }
  context.restore();
}

/** The margin of the followed ball, which is dashed, and its leaf, lit for a while after the ball was put into it. */
export function drawMargin(context, tree, boxes, place, shade) {
  const framed = ([left, top, right, bottom]) => [(left - place.left) * place.scale, (top - place.top) * place.scale, (right - left) * place.scale, (bottom - top) * place.scale];
  context.save();
  context.strokeStyle = context.fillStyle = colour(shade);
  context.globalAlpha = Math.max(1 - tree.since / LIT, 0) * 0.6;
  context.fillRect(...framed(tree.leafOf(FOLLOWED).box));
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  context.strokeStyle = colour("ink");
  context.strokeRect(...framed(boxes.subarray(4 * FOLLOWED, 4 * FOLLOWED + 4)));
  context.setLineDash([5, 4]);
  context.strokeRect(...framed(tree.margins.subarray(4 * FOLLOWED, 4 * FOLLOWED + 4)));
  context.restore();
}

/** Each depth a little further in, so that boxes that share an edge can be told apart. */
function onScreen({ box, depth }, { left, top, scale, width, height }) {
  const inset = 2 + 2 * depth;
  return [
    Math.max((box[0] - left) * scale, inset), Math.max((box[1] - top) * scale, inset),
    Math.min((box[2] - left) * scale, width - inset), Math.min((box[3] - top) * scale, height - inset),
  ];
}

/** A line from the middle of the query box to each ball that it was tested with. */
export function drawBallTests(context, query, centers, { left, top, scale }, end) {
  const made = query.tests.slice(0, end).filter(({ node }) => !node.level);
  const path = new Path2D();
  for (const { child } of made) {
    path.moveTo((query.middle[0] - left) * scale, (query.middle[1] - top) * scale);
    path.lineTo((centers[2 * child] - left) * scale, (centers[2 * child + 1] - top) * scale);
  }
  context.save();
  context.strokeStyle = colour("test");
  context.globalAlpha = 0.75;
  context.lineWidth = 1.4;
  context.stroke(path);
  context.restore();
}
