// A query box in a tree: the nodes that were visited, and the balls that were tested.

import { colour } from "./palette.js";

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
