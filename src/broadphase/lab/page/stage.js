// The picture of one method: its data structure, the bodies, and what it compared and found.

import { drawBodies, typicalOf } from "./bodies.js";
import { drawDust, isDust } from "./dust.js";
import * as overlay from "./overlays.js";
import { colour } from "./palette.js";

/** `what`: world, frame, own (what the frame says of the method), place, shade (the method's colour), end (how many
 * comparisons have been made), hits (null: not drawn).  `below(context)` may draw more below the bodies. */
export function drawStage(context, what, below = null) {
  const { world, frame, own, place, shade, end } = what;
  const count = frame.centers.length / 2;
  const dust = isDust(count, typicalOf(world, count, place));
  const copies = own.strips ? overlay.copiesOf(own.strips, own.classBits, frame, world, place) : null;
  const cells = dust && own.cells && overlay.isMany(own.cells) ? null : own.cells;
  const drawBelow = (on) => {
    overlay.drawTiles(on, world.tiles, place);
    if (cells) overlay.drawCells(on, cells, place, shade);
    below?.(on);
  };
  if (dust) {
    drawDust(context, { ...what, copies }, cells || below || world.tiles?.length ? drawBelow : null);
  } else {
    context.fillStyle = colour("stage");
    context.fillRect(0, 0, place.width, place.height);
    drawBelow(context);
    drawBodies(context, world, frame, place);
  }
  if (own.strips) overlay.drawStrips(context, own.strips, dust ? null : copies, place, shade);
  if (own.tests && !dust) overlay.drawTests(context, own.tests, frame, place, end);
  if (own.tests) overlay.markTest(context, own.tests, frame, place, end);
  if (what.hits && !dust) overlay.drawHits(context, what.hits, frame, world, place);
}
