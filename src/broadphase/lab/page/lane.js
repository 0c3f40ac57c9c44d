// One method on the page: its picture, its numbers, and the hand that reaches into the picture.

import { drawBodies } from "./bodies.js";
import { HEIGHT, drawEnds, drawIntervals, savedText } from "./details.js";
import { sample } from "./growth.js";
import * as overlay from "./overlays.js";
import { colour, milliseconds, named, several, sharp, whole } from "./palette.js";

const REACH = 14; // pixels
const SMOOTH = 0.12;
export const WARMING = 3; // frames after a change, in which indexes are built and code is loaded

export class Lane {
  /** `page` gives camera, world, and takes what the hand does. */
  constructor(page, number, methods) {
    this.page = page;
    this.number = number;
    this.element = document.getElementById("lane-template").content.firstElementChild.cloneNode(true);
    const find = (selector) => this.element.querySelector(selector);
    this.canvas = find(".scene");
    this.detail = find(".detail");
    this.note = find(".note");
    this.verdict = find(".verdict");
    this.select = find(".method");
    this.numbers = Object.fromEntries([...this.element.querySelectorAll("[data-number]")].map((cell) => [cell.dataset.number, cell]));
    for (const name of methods) this.select.add(new Option(named(name), name));
    this.seconds = NaN;
    this.seen = 0;
    this.ends = null;
    this.cross = null;
    this.select.addEventListener("change", () => page.changeMethod(number, this.select.value));
    find(".remove").addEventListener("click", () => page.removeLane(number));
    this.key = find(".key");
    // Asking the page for a width in every frame would make it lay itself out in every frame.
    this.width = 0;
    new ResizeObserver(() => {
      this.width = this.canvas.clientWidth;
      page.redraw();
    }).observe(find(".stage"));
    this.#listen();
  }

  show(method, removable) {
    this.select.value = method;
    this.element.querySelector(".remove").hidden = !removable;
    this.element.setAttribute("aria-label", named(method));
    this.key.replaceChildren(sample(this.number));
  }

  /** Forget what belongs to the frames before. */
  reset() {
    this.seconds = NaN;
    this.seen = 0;
    this.ends = null;
    this.report = null;
    this.verdict.hidden = true;
    this.note.textContent = "";
  }

  get size() {
    const width = this.width || this.canvas.clientWidth;
    return [width, Math.max(Math.min(Math.round(width * 0.75), Math.round(window.innerHeight * 0.62)), 220)];
  }

  get place() {
    const [width, height] = this.size;
    const scale = this.page.camera.scale(width, height);
    const [left, top] = this.page.camera.toWorld(0, 0, width, height);
    return { left, top, scale, width, height };
  }

  draw(frame, share) {
    const own = frame.lanes[this.number];
    const { place } = this;
    setHeight(this.canvas, place.height);
    const context = sharp(this.canvas, place.width, place.height);
    context.clearRect(0, 0, place.width, place.height);
    const { world } = this.page;
    overlay.drawTiles(context, world.tiles, place);
    if (own.cells) overlay.drawCells(context, own.cells, place);
    drawBodies(context, world, frame, place);
    if (own.tests) overlay.drawTests(context, own.tests, frame, place, share);
    if (frame.hits && frame.hits.length < 8000 && world.halves.length < 12000) overlay.drawHits(context, frame.hits, frame, place);
    if (own.nodes) overlay.drawNodes(context, own.nodes, place);
    if (own.strips) overlay.drawStrips(context, own.strips, frame, own.classBits, place);
    if (own.cells) overlay.writeCounts(context, own.cells, place);
    if (this.cross) this.#drawCross(context, place);
    this.#drawDetail(frame, own, place, share);
  }

  #drawDetail(frame, own, place, share) {
    const hidden = !(own.order || own.ends);
    if (this.detail.hidden !== hidden) this.detail.hidden = hidden;
    if (hidden) return;
    setHeight(this.detail, HEIGHT);
    if (own.order) {
      const tested = share < 1 && own.tests ? Math.round((share * own.tests.length) / 2) : null;
      drawIntervals(this.detail, this.width, own.order, frame, this.page.world, place, tested);
      this.detail.setAttribute("aria-label", "The sorted intervals of the sweep");
    } else {
      drawEnds(this.detail, this.width, own.ends, this.ends?.before);
      this.detail.setAttribute("aria-label", "The order of the ends, before and now");
    }
  }

  /** Takes in a frame that has just come, also if it is never drawn. */
  count(frame) {
    const own = frame.lanes[this.number];
    const seconds = own.numbers[5];
    this.seen += 1;
    // The first frames build the index and may load code: what comes after them counts.
    this.seconds = this.seen > WARMING ? this.seconds + SMOOTH * (seconds - this.seconds) : seconds;
    if (own.ends && this.ends?.frame !== frame.frame) {
      this.ends = { before: this.ends?.now ?? null, now: own.ends, frame: frame.frame };
    }
  }

  /** Writes the numbers of a frame. */
  write(frame) {
    const own = frame.lanes[this.number];
    const [tests, candidates, overlaps, cells, swaps] = own.numbers;
    this.numbers.tests.textContent = whole(tests);
    this.numbers.candidates.textContent = whole(candidates);
    this.numbers.overlaps.textContent = whole(overlaps);
    this.numbers.time.textContent = milliseconds(this.seconds);
    this.note.textContent = this.#noteOf(own, tests, cells, swaps);
  }

  #noteOf(own, tests, cells, swaps) {
    const method = this.report?.name ?? this.select.value;
    const chosen = this.select.value === "auto" ? `auto has made a ${named(method)}. ` : "";
    switch (method) {
      case "brute_force":
        return `${chosen}Every body with every other.`;
      case "sort_and_sweep":
        return `${own.order ? savedText(own.order, tests) : "Sorted along one axis."} ${several(swaps, "step")} brought last frame's order up to date.`;
      case "sweep_and_prune":
        return swaps
          ? `The ends kept from the frame before were sorted with ${several(swaps, "swap")}.`
          : "Nothing has swapped, or so much moved that all was sorted and searched anew: this method wants scenes in which little moves.";
      case "uniform_grid":
        return `${several(cells, "cell")} in use.`;
      case "spatial_hash":
        return `${several(cells, "slot")} in use. Hatched: distant cells share the slot; the number behind + is theirs.`;
      case "box_tree":
        return `${chosen}${several(cells, "node")}, the root outermost; dashed ones are leaves. Tests count bounds of nodes too.`;
      case "strips":
        return own.strips
          ? `${several(cells, "strip")}, each swept along ${own.strips[0] ? "y" : "x"}; at the edge how many copies lie in each. A mark is a class bit: the body began in an earlier strip.`
          : `${several(cells, "strip")}.`;
      default:
        return "";
    }
  }

  /** What the engine says about the cells. */
  tell(report) {
    this.report = report;
    const { cells } = report;
    this.verdict.hidden = !cells;
    if (!cells) return;
    this.verdict.dataset.verdict = cells.verdict;
    const strong = document.createElement("strong");
    strong.textContent = cells.verdict;
    this.verdict.replaceChildren(strong, `Cells of ${cells.size.toPrecision(3)}: ${cells.reason}.`);
    if (report.name === "spatial_hash") {
      this.verdict.append(` ${whole(cells.used)} of ${whole(cells.places)} slots in use.`);
    }
  }

  #drawCross(context, place) {
    const [x, y] = this.page.camera.toScreen(...this.cross, place.width, place.height);
    context.save();
    context.strokeStyle = colour("ink");
    context.lineWidth = 2;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [0, 1]]) {
      for (const side of [-1, 1]) {
        context.moveTo(x + side * dx * 5, y + side * dy * 5);
        context.lineTo(x + side * dx * 14, y + side * dy * 14);
      }
    }
    context.stroke();
    context.restore();
  }

  // ---- the hand

  #listen() {
    const { canvas } = this;
    const fingers = new Map();
    let mode = "";
    const where = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, where(event));
      if (fingers.size === 1) mode = this.#take(...where(event)) ? "hold" : "pan";
      else if (mode !== "hold") mode = "pinch";
      canvas.classList.add("holding");
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return;
      const [x, y] = where(event);
      const [u, v] = fingers.get(event.pointerId);
      if (mode === "hold") this.page.point("drag", ...this.#world(x, y));
      else if (mode === "pan") this.page.camera.pan(x - u, y - v, ...this.size);
      else this.#pinch(fingers, event.pointerId, x, y);
      fingers.set(event.pointerId, [x, y]);
      this.page.redraw();
    });
    const end = (event) => {
      if (!fingers.delete(event.pointerId) || fingers.size) return;
      if (mode === "hold") this.page.point("release", ...this.#world(...where(event)));
      mode = "";
      canvas.classList.remove("holding");
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.page.camera.zoomAt(Math.exp(-event.deltaY * 0.0015), ...where(event), ...this.size);
      this.page.redraw();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.#letGo());
  }

  #world(x, y) {
    return this.page.camera.toWorld(x, y, ...this.size);
  }

  /** Take hold of the body at a point of the picture, if there is one. */
  #take(x, y) {
    const reach = REACH / this.place.scale;
    const at = this.#world(x, y);
    if (!this.page.isNear(...at, reach)) return false;
    this.page.point("grab", ...at, reach);
    return true;
  }

  #pinch(fingers, moving, x, y) {
    const other = [...fingers].find(([id]) => id !== moving)?.[1];
    if (!other) return;
    const before = Math.hypot(other[0] - fingers.get(moving)[0], other[1] - fingers.get(moving)[1]);
    const after = Math.hypot(other[0] - x, other[1] - y);
    if (before > 4) this.page.camera.zoomAt(after / before, (x + other[0]) / 2, (y + other[1]) / 2, ...this.size);
  }

  #key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const [width, height] = this.size;
    if (steps) {
      const far = (event.shiftKey ? 4 : 16) / this.place.scale;
      this.cross ??= this.#world(width / 2, height / 2);
      this.cross = [this.cross[0] + steps[0] * far, this.cross[1] + steps[1] * far];
      if (this.holding) this.page.point("drag", ...this.cross);
    } else if (event.key === "Enter") {
      this.cross ??= this.#world(width / 2, height / 2);
      if (this.holding) this.#letGo();
      else this.holding = this.#take(...this.page.camera.toScreen(...this.cross, width, height));
    } else if (event.key === "+" || event.key === "-") {
      this.page.camera.zoomAt(event.key === "+" ? 1.25 : 0.8, width / 2, height / 2, width, height);
    } else {
      return;
    }
    event.preventDefault();
    this.page.redraw();
  }

  #letGo() {
    if (this.holding) this.page.point("release", ...this.cross);
    this.holding = false;
  }
}

function setHeight(canvas, height) {
  const wanted = `${height}px`;
  if (canvas.style.height !== wanted) canvas.style.height = wanted;
}
