// One picture of the tour: the balls as one method sees them, and the pointer that drags a ball or the query box.

import { drawBodies } from "./bodies.js";
import * as details from "./details.js";
import * as overlay from "./overlays.js";
import { canvasFont, colour, make, named, sample, sharp, whole } from "./palette.js";
import { lineOf, sweptCopy, testsAt } from "./picture.js";
import { drawBallTests, drawMargin, drawVisits } from "./query.js";
import { drawSkips, skipsOf } from "./skips.js";

const REACH = 18; // pixels beside the ball that still grab it
const FAR = 8; // units that an arrow key moves the ball
const RIM = 2.5; // pixels from the border, at which the boxes of a tree are clipped

export class View {
  /** `hand(ball, place)` is called with where a ball, or the box, shall be. */
  constructor(method, alone, hand) {
    this.method = method;
    this.alone = alone;
    this.hand = hand;
    this.element = make("div", { className: "view" });
    this.canvas = make("canvas", { className: "room", tabIndex: 0 });
    this.canvas.setAttribute("role", "application");
    this.detail = make("canvas", { className: "detail" });
    this.detail.setAttribute("role", "img");
    this.words = make("p", { className: "whose" }, sample(method), named(method), make("span"));
    if (!alone) this.element.append(this.words);
    this.element.append(this.canvas);
    this.picture = null;
    this.held = null; // the ball, and how far its middle is from the pointer
    this.#listen();
  }

  /** Draw a picture, one lane of it, and the first tests; a sweep line is on its way from the edge `end` to the next. */
  draw(picture, lane, end, played) {
    const own = picture.lanes[lane];
    const width = this.canvas.clientWidth;
    if (!width) return;
    const [left, top, wide, high] = picture.window;
    this.picture = picture;
    const { query } = picture.state;
    const what = query ? "query box" : "marked ball";
    this.canvas.setAttribute("aria-label", `The balls as ${named(this.method)} sees them. Arrow keys move the ${what}${query ? "" : ", N marks the next"}.`);
    const height = Math.round((width * high) / wide);
    this.canvas.style.aspectRatio = `${wide} / ${high}`;
    const place = { left, top, scale: width / wide, width, height };
    const world = { halves: picture.halves, round: true };
    const context = sharp(this.canvas, width, height, true);
    const shade = `method-${this.method}`;
    const swept = this.alone && own.copies ? sweptCopy(own, end, picture.marked) : null;
    const line = own.sweep ? lineOf(own, played) : null;
    const below = (on) => {
      if (query) drawVisits(on, picture.state.results.box_tree, query, place, shade, end);
      if (query && picture.state.motion) drawMargin(on, picture.state.results.box_tree, picture.state.boxes, place, shade);
      if (own.nodes) overlay.drawNodes(on, picture.isPart ? own.nodes : within(own.nodes, picture.window, RIM / place.scale), place, shade);
      if (line) drawSweepLine(on, line, own.order[0], place);
      if (swept) overlay.drawSweep(on, own.strips, { ...swept, box: picture.state.boxes.subarray(4 * swept.ball, 4 * swept.ball + 4) }, place);
    };
    drawStage(context, { world, frame: picture, own, place, shade, end: testsAt(own, end), line }, below);
    if (own.cells && this.alone) overlay.writeCells(context, own.cells, place, shade, this.method === "spatial_hash");
    if (query) drawBallTests(context, query, picture.centers, place, end);
    if (line) drawOpen(context, picture, own.order, line, place);
    if (this.alone && !query && (!line || end >= own.played)) {
      const ball = line ? picture.marked : ballOf(picture, own, end);
      const corners = own.cells ? overlay.cornersOf(own.cells, place) : own.strips ? overlay.labelsOf(context, own.strips, picture, place) : [];
      drawSkips(context, picture, ball, skipsOf(picture, ball), place, corners.map((corner) => corner.slice(0, 4)));
    }
    if (picture.state.options.once === "marks") overlay.drawMarks(context, picture.state.results[this.method], picture.state.boxes, place, shade);
    if (picture.state.options.once) details.writeFinds(context, own.finds, picture, place, overlay.cornersOf(own.cells, place));
    if (picture.state.options.bullets) drawBullets(context, picture, place);
    drawMark(context, picture.handle, place);
    this.#drawDetail(picture, own, world, place, end, swept, line);
  }

  #drawDetail(picture, own, world, place, end, swept, line) {
    const detail = this.alone && this.#detailOf(picture, own, world, place, end, swept, line);
    this.detail.hidden = !detail;
    if (!detail) return;
    const [label, draw] = detail;
    this.detail.setAttribute("aria-label", label);
    draw(this.detail, this.detail.clientWidth, this.detail.clientHeight);
  }

  /** What it shows, and how it is drawn. */
  #detailOf(picture, own, world, place, end, swept, line) {
    const count = picture.centers.length / 2;
    if (line) {
      return ["The sorted intervals, the sweep line, and how far each ball looks",
        (...canvas) => details.drawIntervals(...canvas, own.order, picture, world, place, line)];
    }
    if (own.ends) {
      return ["The order of the edges, before and now",
        (...canvas) => details.drawEnds(...canvas, own.ends, own.before, own.swaps, end)];
    }
    if (own.slots) {
      return ["For each slot its balls and the tests among them",
        (...canvas) => details.drawSlots(...canvas, own.slots, `method-${this.method}`)];
    }
    if (own.finds) {
      const finds = own.finds.filter((find) => find.at <= end);
      return ["For each pair the cells in which it is found, and where it is reported",
        (...canvas) => details.drawFinds(...canvas, finds, `method-${this.method}`)];
    }
    if (swept) {
      return ["One strip in order, and the sixteen boxes that are compared at once",
        (...canvas) => details.drawLanes(...canvas, { ...swept, copies: own.copies }, picture, place)];
    }
    if (this.method === "brute_force") {
      return ["Every pair of balls as a bar",
        (...canvas) => details.drawPairs(...canvas, own.tests, picture.hits, count, end)];
    }
    return null;
  }

  /** Counts beside the name of the method, if there are several pictures: `end` of `tests` are shown, and `all` were made in all
   * frames so far. */
  write(end, tests, all) {
    const key = [end, tests, all].join();
    if (this.words.dataset.key === key) return;
    this.words.dataset.key = key;
    const figure = make("strong", {}, end < tests ? `${whole(end)} of ${whole(tests)}` : whole(tests));
    const noun = this.method === "sweep_and_prune" ? "swap" : "test";
    this.words.lastChild.replaceChildren(figure, tests === 1 ? ` ${noun}` : ` ${noun}s`, all > tests ? `, ${whole(all)} in all` : "");
  }

  // ---- pointer and keyboard

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      const ball = event.button ? null : this.#under(event);
      if (ball === null) return;
      canvas.setPointerCapture(event.pointerId);
      const [x, y] = this.#where(event);
      const middle = this.#middle(ball);
      this.held = { ball, dx: middle[0] - x, dy: middle[1] - y };
      canvas.classList.add("holding");
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.held) this.hand(this.held.ball, this.#goal(event));
      else canvas.classList.toggle("over", this.#under(event) !== null);
    });
    const end = (event) => {
      if (!this.held) return;
      if (event.type === "pointerup") this.hand(this.held.ball, this.#goal(event));
      this.held = null;
      canvas.classList.remove("holding");
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    // A finger on a ball drags it; anywhere else it scrolls the page.
    canvas.addEventListener("touchstart", (event) => {
      if (event.touches.length === 1 && this.#under(event.touches[0]) !== null) event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      const isNext = event.key === "n" && !this.picture?.state.query;
      if ((!way && !isNext) || !this.picture || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const { marked, shown, handle } = this.picture;
      const far = event.shiftKey ? FAR / 4 : FAR;
      const next = shown[(shown.indexOf(marked) + 1) % shown.length];
      if (way) this.hand(marked, [handle.x + way[0] * far, handle.y + way[1] * far]);
      else this.hand(next, this.#middle(next));
    });
  }

  /** Where the pointer is in the world. */
  #where(event) {
    const box = this.canvas.getBoundingClientRect();
    const [left, top, wide, high] = this.picture.window;
    return [left + ((event.clientX - box.left) * wide) / box.width, top + ((event.clientY - box.top) * high) / box.height];
  }

  #goal(event) {
    const [x, y] = this.#where(event);
    return [x + this.held.dx, y + this.held.dy];
  }

  /** The middle of a ball, or of the query box. */
  #middle(ball) {
    const { handle, state } = this.picture;
    return handle.isBox ? [handle.x, handle.y] : [...state.balls.centers.slice(2 * ball, 2 * ball + 2)];
  }

  /** What the pointer would drag: a ball, 0 for the query box, or null. */
  #under(event) {
    if (!this.picture) return null;
    const { handle, marked, shown, state, window } = this.picture;
    const [x, y] = this.#where(event);
    const reach = (REACH * window[2]) / this.canvas.clientWidth;
    if (handle.isBox) {
      const isInside = Math.abs(x - handle.x) <= handle.wide + reach / 2 && Math.abs(y - handle.y) <= handle.high + reach / 2;
      return isInside ? 0 : null;
    }
    const beside = (ball) => Math.hypot(x - state.balls.centers[2 * ball], y - state.balls.centers[2 * ball + 1]) - state.balls.radii[ball];
    if (beside(marked) <= 0) return marked;
    const nearest = shown.reduce((best, ball) => (beside(ball) < beside(best) ? ball : best), marked);
    return beside(nearest) <= reach ? nearest : null;
  }
}

/** The ball whose turn it is, or the marked one. */
const ballOf = (picture, own, end) => (end > 0 && end < own.made && !own.swaps ? own.tests[2 * (end - 1)] : picture.marked);

/** The line that sweeps over the balls, along x or y. */
function drawSweepLine(context, { at }, axis, place) {
  context.save();
  if (axis) context.transform(0, 1, 1, 0, 0, 0); // x and y change places
  context.strokeStyle = colour("test");
  context.lineWidth = 2.5;
  context.beginPath();
  context.moveTo((at - (axis ? place.top : place.left)) * place.scale, 0);
  context.lineTo((at - (axis ? place.top : place.left)) * place.scale, axis ? place.width : place.height);
  context.stroke();
  context.restore();
}

/** A frame around each box in the set of open ones, and the place of every ball in the order. */
function drawOpen(context, { centers, halves, marked }, order, { open }, { left, top, scale }) {
  context.save();
  context.strokeStyle = context.fillStyle = colour("method-sort_and_sweep");
  context.lineWidth = 3;
  for (const ball of open) {
    const [x, y, wide, high] = [centers[2 * ball], centers[2 * ball + 1], halves[2 * ball], halves[2 * ball + 1]];
    const box = [(x - wide - left) * scale, (y - high - top) * scale, 2 * wide * scale, 2 * high * scale];
    context.globalAlpha = 0.25;
    context.fillRect(...box);
    context.globalAlpha = 1;
    context.strokeRect(...box);
  }
  context.font = canvasFont(0.85, 650);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = colour("stage");
  context.fillStyle = colour("ink");
  const taken = [];
  order.subarray(2, 2 + order[1]).forEach((ball, place) => {
    const [x, y, wide] = [(centers[2 * ball] - left) * scale, (centers[2 * ball + 1] - top) * scale, halves[2 * ball] * scale + 9];
    // There is a cross on the marked one; beside its ball where another number is.
    const isFree = ([u, v]) => !taken.some(([a, b]) => Math.abs(u - a) < 17 && Math.abs(v - b) < 13);
    const at = [...(ball === marked ? [] : [[x, y]]), ...[1, 2, 3].flatMap((far) => [[x + far * wide, y], [x - far * wide, y]])].find(isFree);
    if (!at) return;
    taken.push(at);
    context.strokeText(String(place + 1), ...at);
    context.fillText(String(place + 1), ...at);
  });
  context.restore();
}

/** What the method keeps, the bodies, and what it compared and found; `below` is drawn below the bodies. */
function drawStage(context, { world, frame, own, place, shade, end, line }, below) {
  context.fillStyle = colour("stage");
  context.fillRect(0, 0, place.width, place.height);
  if (own.cells) overlay.drawCells(context, own.cells, place, shade);
  below(context);
  drawBodies(context, world, frame, place);
  const copies = own.strips ? overlay.copiesOf(own.strips, own.classBits, frame, world, place) : null;
  if (own.strips) overlay.drawStrips(context, own.strips, copies, place, shade);
  if (own.tests) {
    overlay.drawTests(context, own.tests, frame, place, end);
    // The test that has just been made, while more follow, or all of the box that was put into the set last.
    const [first, last] = line ? [line.before, line.made] : 2 * end < own.tests.length ? [Math.max(end - 1, 0), end] : [0, 0];
    overlay.markTests(context, own.tests.subarray(2 * first, 2 * last), frame, place);
  }
  overlay.drawHits(context, frame.hits, frame, world, place);
  if (own.strips) overlay.writeCopies(context, own.strips, frame, place, shade);
}

/** Boxes of a tree, clipped at the border. */
function within(nodes, [left, top, wide, high], rim) {
  const [low, size] = [[left, top], [wide, high]];
  return nodes.map((value, at) => (at % 6 < 4 ? Math.min(Math.max(value, low[at % 2] + rim), low[at % 2] + size[at % 2] - rim) : value));
}

/** Bullets are filled. */
function drawBullets(context, { centers, halves, state }, { left, top, scale }) {
  context.save();
  context.fillStyle = colour("ink");
  context.beginPath();
  for (let ball = 0; ball < state.options.bullets; ball++) {
    const [x, y] = [(centers[2 * ball] - left) * scale, (centers[2 * ball + 1] - top) * scale];
    context.moveTo(x, y);
    context.arc(x, y, halves[2 * ball] * scale, 0, 2 * Math.PI);
  }
  context.fill();
  context.restore();
}

/** What was dragged last: a ring or a frame, and a cross of arrows. */
function drawMark(context, { x, y, wide, high, isBox }, place) {
  const [u, v] = [(x - place.left) * place.scale, (y - place.top) * place.scale];
  const size = Math.max(wide * place.scale, 7);
  context.save();
  context.strokeStyle = context.fillStyle = colour("ink");
  context.lineWidth = 3;
  if (isBox) {
    context.strokeRect(u - wide * place.scale, v - high * place.scale, 2 * wide * place.scale, 2 * high * place.scale);
    // In a corner: in the middle it would hide balls.
    drawCross(context, u + wide * place.scale - 16, v - high * place.scale + 16, 17);
  } else {
    context.beginPath();
    context.arc(u, v, size, 0, 2 * Math.PI);
    context.stroke();
    if (size > 10) drawCross(context, u, v, size);
  }
  context.restore();
}

function drawCross(context, u, v, size) {
  const tip = size * 0.62;
  const wing = size * 0.2;
  context.beginPath();
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    context.moveTo(u + dx * tip, v + dy * tip);
    context.lineTo(u + dx * (tip - wing) - dy * wing, v + dy * (tip - wing) + dx * wing);
    context.lineTo(u + dx * (tip - wing) + dy * wing, v + dy * (tip - wing) - dx * wing);
    context.closePath();
  }
  context.fill();
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(u - tip + wing, v);
  context.lineTo(u + tip - wing, v);
  context.moveTo(u, v - tip + wing);
  context.lineTo(u, v + tip - wing);
  context.stroke();
}
