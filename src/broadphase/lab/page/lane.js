// One method on the page: its picture, its numbers, and the pointer in the picture.

import { drawEnds, drawIntervals, drawPairs, ENDS_HEIGHT, intervalsHeight } from "./details.js";
import { sample } from "./growth.js";
import { noteOf } from "./notes.js";
import * as overlay from "./overlays.js";
import { colour, milliseconds, named, readable, sharp, whole } from "./palette.js";
import { drawStage } from "./stage.js";

const REACH = 14; // pixels
const KEPT = 31; // the number of single times whose median is shown
const LOWEST = 180; // pixels
export const WARMING = 3; // frames after a change, in which indexes are built and code is loaded

export class Lane {
  /** `page` has the camera and the world, and receives what the pointer does. */
  constructor(page, number, methods) {
    this.page = page;
    this.number = number;
    this.element = document.getElementById("lane-template").content.firstElementChild.cloneNode(true);
    const find = (selector) => this.element.querySelector(selector);
    this.canvas = find(".scene");
    this.detail = find(".detail");
    this.note = find(".note");
    this.verdict = find(".verdict");
    this.waiting = find(".waiting");
    this.select = find(".method");
    this.numbers = Object.fromEntries([...this.element.querySelectorAll("[data-number]")].map((cell) => [cell.dataset.number, cell]));
    for (const name of methods) this.select.add(new Option(named(name), name));
    this.cross = null;
    this.reset();
    this.select.addEventListener("change", () => page.changeMethod(number, this.select.value));
    find(".remove").addEventListener("click", () => page.removeLane(number));
    this.key = find(".key");
    // Reading a width in every frame would force a layout in every frame.
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
    this.key.replaceChildren(sample(method));
  }

  /** Clear what belongs to the frames before. */
  reset() {
    for (const cell of Object.values(this.numbers)) cell.textContent = "–";
    this.seconds = NaN;
    this.seen = 0;
    this.times = [];
    this.report = null;
    this.verdict.hidden = true;
    this.note.textContent = "";
  }

  /** The method, or the one that "auto" has chosen. */
  get method() {
    return this.report?.name ?? this.select.value;
  }

  get size() {
    const width = this.width || this.canvas.clientWidth;
    const [left, top, right, bottom] = this.page.camera.bounds;
    const aspect = Math.max((bottom - top) / Math.max(right - left, 1e-12), 0.05);
    const most = Math.round(window.innerHeight * 0.62);
    return [width, Math.max(Math.min(Math.round(width * Math.min(aspect, 0.75)), most), LOWEST)];
  }

  get place() {
    const [width, height] = this.size;
    const scale = this.page.camera.scale(width, height);
    const [left, top] = this.page.camera.toWorld(0, 0, width, height);
    return { left, top, scale, width, height };
  }

  /** `share`: how much of the frame is shown, in slow motion. */
  draw(frame, share) {
    const own = frame.lanes[this.number] ?? {};
    const { place } = this;
    shape(this.canvas, place.width, place.height);
    const context = sharp(this.canvas, place.width, place.height, true);
    const { world } = this.page;
    const shade = `method-${this.method}`;
    const end = Math.ceil((share * (own.tests?.length ?? 0)) / 2);
    const hits = frame.hits && frame.hits.length < 8000 && world.halves.length < 12000 ? frame.hits : null;
    drawStage(context, { world, frame, own, place, shade, end, hits });
    if (own.nodes) overlay.drawNodes(context, own.nodes, place, shade);
    if (own.cells) overlay.writeCells(context, own.cells, place, shade, false);
    const crowd = this.page.replay.crowdOf(frame.frame);
    if (crowd) overlay.drawCrowd(context, crowd, place);
    if (this.cross) this.#drawCross(context, place);
    this.#drawDetail(frame, own, place, share);
  }

  #drawDetail(frame, own, place, share) {
    const count = frame.centers.length / 2;
    const all = own.tests && own.numbers[8] === 1;
    const pairs = this.method === "brute_force" && all && count > 1;
    const hidden = !(own.order || own.ends || pairs);
    if (this.detail.hidden !== hidden) this.detail.hidden = hidden;
    if (hidden) return;
    const { width } = this;
    const done = (total) => (share < 1 && all ? Math.ceil(share * total) : null);
    if (own.order) {
      const height = Math.max(intervalsHeight(count), 120);
      shape(this.detail, width, height);
      drawIntervals(this.detail, width, height, own.order, frame, this.page.world, place, done((own.tests?.length ?? 0) / 2));
      this.detail.setAttribute("aria-label", "The sorted intervals of the sweep");
    } else if (own.ends) {
      shape(this.detail, width, ENDS_HEIGHT);
      drawEnds(this.detail, width, ENDS_HEIGHT, own.ends, own.before, own.swaps, own.swaps ? done(own.swaps.length / 3) : null);
      this.detail.setAttribute("aria-label", "The order of the edges, before and now");
    } else {
      shape(this.detail, width, 150);
      drawPairs(this.detail, width, 150, own.tests, frame.hits ?? [], count, done(own.tests.length / 2) ?? Infinity);
      this.detail.setAttribute("aria-label", "Every pair of bodies, those compared and those found");
    }
  }

  /** Handles a frame that has just arrived, also if it is never drawn. */
  count(frame) {
    const own = frame.lanes[this.number];
    if (!own || own.ofFrame[0] !== frame.frame) return;
    this.seen += 1;
    // Single times of the first frames do not count: they build the index and may load code.
    if (this.seen > WARMING) this.times.push(own.numbers[5]);
    if (this.times.length > KEPT) this.times.shift();
    const steady = own.numbers[9];
    this.seconds = Number.isFinite(steady) ? steady : median(this.times);
  }

  /** Writes the numbers of a frame. */
  write(frame) {
    const own = frame.lanes[this.number];
    const late = !own || own.ofFrame[0] !== frame.frame;
    this.waiting.hidden = !late;
    if (late) {
      this.waiting.textContent = `${named(this.method)} is still at work on ${own ? `a frame after frame ${whole(own.ofFrame[0])}` : "its first frame"}; the others go on.`;
    }
    if (!own) return;
    const [tests, candidates, overlaps] = own.numbers;
    const copies = own.numbers[6];
    this.#put("tests", whole(tests));
    this.#put("candidates", whole(candidates), Number.isFinite(candidates) && candidates !== tests);
    this.#put("overlaps", whole(overlaps));
    this.#put("copies", Number.isFinite(copies) ? copies.toFixed(1) : "–", Number.isFinite(copies));
    this.#put("time", milliseconds(this.seconds));
    this.note.textContent = noteOf(this, own);
  }

  #put(name, text, shown = true) {
    this.numbers[name].textContent = text;
    const box = this.numbers[name].parentElement;
    if (box.hidden === shown) box.hidden = !shown;
  }

  /** The verdict of the engine on the cells. */
  tell(report) {
    if (!report) return;
    this.report = report;
    const { cells } = report;
    this.verdict.hidden = !cells;
    if (!cells) return;
    this.verdict.dataset.verdict = cells.verdict;
    const strong = document.createElement("strong");
    strong.textContent = cells.verdict;
    this.verdict.replaceChildren(strong, `Cells of ${readable(cells.cell_size)}: ${cells.reason}.`);
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

  // ---- pointer and keyboard

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
      if (fingers.size === 1) mode = this.#take(...where(event)) ? "hold" : event.pointerType === "mouse" ? "pan" : "";
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
    // The wheel and a finger scroll the page; Ctrl and the wheel, or two fingers, zoom.
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.page.camera.zoomAt(Math.exp(-event.deltaY * 0.0015), ...where(event), ...this.size);
      this.page.redraw();
    }, { passive: false });
    canvas.addEventListener("touchstart", (event) => {
      const reach = REACH / this.place.scale;
      const onBody = () => this.page.isNear(...this.#world(...where(event.touches[0])), reach);
      if (event.touches.length > 1 || onBody()) event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.#letGo());
  }

  #world(x, y) {
    return this.page.camera.toWorld(x, y, ...this.size);
  }

  /** Grab the body at a point of the picture, if there is one. */
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

/** A shape and not a height, so that a canvas keeps it on paper too. */
function shape(canvas, width, height) {
  const wanted = `${width} / ${height}`;
  if (canvas.style.aspectRatio !== wanted) canvas.style.aspectRatio = wanted;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
