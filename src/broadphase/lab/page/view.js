// One picture of the tour: the balls as one method sees them, and the pointer that drags the marked ball.

import { drawEnds, drawIntervals, drawPairs, ENDS_HEIGHT, intervalsHeight } from "./details.js";
import * as overlay from "./overlays.js";
import { colour, named, sharp, whole } from "./palette.js";
import { sample } from "./growth.js";
import { drawStage } from "./stage.js";

const REACH = 18; // pixels beside the ball that still grab it
const FAR = 8; // units that an arrow key moves the ball
const RIM = 2.5; // pixels from the border, at which the boxes of a tree are clipped

export class View {
  /** `hand(place, phase)` is called with the target of the marked ball. */
  constructor(method, alone, hand) {
    this.method = method;
    this.alone = alone;
    this.hand = hand;
    this.element = document.createElement("div");
    this.element.className = "view";
    this.canvas = document.createElement("canvas");
    this.canvas.className = "room";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `The balls as ${named(method)} sees them. Arrow keys move the marked ball.`);
    this.detail = document.createElement("canvas");
    this.detail.className = "detail";
    this.detail.setAttribute("role", "img");
    this.words = document.createElement("p");
    this.words.className = "whose";
    if (!alone) this.element.append(this.words);
    this.element.append(this.canvas, this.detail);
    this.room = [480, 300];
    this.ball = null;
    this.held = false;
    this.#listen();
  }

  /** Draw a frame of the source, one lane of it, and the first tests. */
  draw(frame, lane, room, end, places) {
    this.room = room;
    const own = frame.lanes[lane];
    const width = this.canvas.clientWidth;
    if (!width || !own) return;
    const height = Math.round((width * room[1]) / room[0]);
    this.canvas.style.aspectRatio = `${room[0]} / ${room[1]}`;
    const place = { left: 0, top: 0, scale: width / room[0], width, height };
    this.ball = [frame.centers[0], frame.centers[1]];
    this.radius = frame.halves[0];
    const world = { halves: frame.halves, still: new Uint8Array(frame.centers.length / 2), round: true };
    const context = sharp(this.canvas, width, height, true);
    const shade = `method-${this.method}`;
    const below = own.nodes ? (on) => overlay.drawNodes(on, within(own.nodes, room, RIM / place.scale), place, shade) : null;
    drawStage(context, { world, frame, own, place, shade, end, hits: frame.hits }, below);
    if (own.cells && this.alone) overlay.writeCells(context, own.cells, place, shade, this.method === "spatial_hash");
    if (this.held && places) drawPlaces(context, places, place);
    drawMark(context, this.ball, this.radius, place);
    this.#drawDetail(frame, own, world, place, end);
  }

  #drawDetail(frame, own, world, place, end) {
    const detail = this.alone && this.#detailOf(own, frame);
    this.detail.hidden = !detail;
    if (!detail) return;
    const [height, draw, label] = detail;
    this.detail.style.height = `${height}px`;
    this.detail.setAttribute("aria-label", label);
    draw(this.detail, this.detail.clientWidth, height, { world, place, end });
  }

  #detailOf(own, frame) {
    const count = frame.centers.length / 2;
    if (own.order) {
      return [intervalsHeight(count), (canvas, width, height, { world, place, end }) =>
        drawIntervals(canvas, width, height, own.order, frame, world, place, 2 * end < (own.tests?.length ?? 0) ? end : null),
      "The sorted intervals and how far each ball looks"];
    }
    if (own.ends) {
      return [ENDS_HEIGHT, (canvas, width, height, { end }) =>
        drawEnds(canvas, width, height, own.ends, own.before, own.swaps, end), "The order of the edges, before and now"];
    }
    if (this.method === "brute_force" && own.tests) {
      return [150, (canvas, width, height, { end }) =>
        drawPairs(canvas, width, height, own.tests, frame.hits ?? [], count, end), "Every pair of balls as a square"];
    }
    return null;
  }

  /** The name of the method, if there are several pictures. */
  write(tests) {
    if (this.words.dataset.tests === String(tests)) return;
    this.words.dataset.tests = tests;
    const figure = document.createElement("strong");
    figure.textContent = whole(tests);
    this.words.replaceChildren(sample(this.method), `${named(this.method)} `, figure, tests === 1 ? " test" : " tests");
  }

  // ---- pointer and keyboard

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button || !this.#isOver(event)) return;
      canvas.setPointerCapture(event.pointerId);
      this.held = true;
      canvas.classList.add("holding");
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.held) this.hand(this.#where(event));
      else canvas.classList.toggle("over", this.#isOver(event));
    });
    const end = (event) => {
      if (!this.held) return;
      this.held = false;
      canvas.classList.remove("holding");
      // The place of the pointer, because the picture may lag behind.
      if (event.type === "pointerup") this.hand(this.#where(event));
      else this.hand(this.ball);
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    // A finger on the ball drags it; anywhere else it scrolls the page.
    canvas.addEventListener("touchstart", (event) => {
      if (event.touches.length === 1 && this.#isOver(event.touches[0])) event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!way || !this.ball || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      this.hand(this.ball, way.map((side) => side * (event.shiftKey ? FAR / 4 : FAR)));
    });
  }

  #where(event) {
    const box = this.canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * this.room[0]) / box.width, ((event.clientY - box.top) * this.room[1]) / box.height];
  }

  #isOver(event) {
    if (!this.ball) return false;
    const [x, y] = this.#where(event);
    const reach = (REACH * this.room[0]) / this.canvas.clientWidth;
    return Math.hypot(x - this.ball[0], y - this.ball[1]) <= this.radius + reach;
  }
}

/** Boxes of a tree, clipped at the border. */
function within(nodes, room, rim) {
  return nodes.map((value, at) => (at % 6 < 4 ? Math.min(Math.max(value, rim), room[at % 2] - rim) : value));
}

/** The ball that can be dragged: a ring and a cross of arrows. */
function drawMark(context, [x, y], radius, place) {
  const [u, v] = [x * place.scale, y * place.scale];
  const size = Math.max(radius * place.scale, 7);
  context.save();
  context.strokeStyle = context.fillStyle = colour("ink");
  context.lineWidth = 3;
  context.beginPath();
  context.arc(u, v, size, 0, 2 * Math.PI);
  context.stroke();
  if (size > 10) {
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
  context.restore();
}

/** The recorded places of the ball. */
function drawPlaces(context, places, place) {
  const dots = new Path2D();
  for (const [x, y] of places) dots.rect(x * place.scale - 1, y * place.scale - 1, 2, 2);
  context.fillStyle = colour("soft");
  context.fill(dots);
}
