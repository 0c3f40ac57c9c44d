// The figure on the page of a method: a few boxes, and the lines of the page's Python, one step after the other.
//
// `STEPS` follows docs/methods/ideas.py line by line: each step names a part of the line that it is in.  The tests
// hold the boxes that are compared, and their order, against the Python.

import { METHODS } from "../tour/methods/all.js";
import { colour, forget, sharp, whole } from "../tour/palette.js";

const [WIDTH, HEIGHT] = [480, 300];
const [CELL, SLOTS, STRIP] = [60, 31, 75];
const COLUMNS = WIDTH / CELL + 1;
const PACE = 260; // milliseconds for each step

// ---- the methods, as in ideas.py

const meet = (a, b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
const cellsOf = (box) => {
  const [left, top, right, bottom] = box.map((value) => Math.floor(value / CELL));
  return Array.from({ length: bottom - top + 1 }, (_, y) =>
    Array.from({ length: right - left + 1 }, (_, x) => [left + x, top + y])).flat();
};
const cellArea = ([x, y]) => [x * CELL, y * CELL, (x + 1) * CELL, (y + 1) * CELL];
const TEST = "if overlap(boxes[i], boxes[j])";
const ADD = "pairs.add(";

/** The steps of a test: the line that makes it, and those that report the pair. */
function* test(boxes, i, j, more = {}, isFirst = true) {
  const hit = meet(boxes[i], boxes[j]);
  yield { line: TEST, i, j, test: true, ...more };
  if (hit && isFirst) yield { line: ADD, i, j, hit: true, ...more };
}

function* sweep(boxes, members, more, isFirst = () => true) {
  for (const [at, i] of members.entries()) {
    for (const j of members.slice(at + 1)) {
      const edge = boxes[i][2];
      if (boxes[j][0] > edge) {
        yield { line: "break", i, j, edge, ...more };
        break;
      }
      yield* test(boxes, i, j, { edge, ...more }, isFirst(i, j));
    }
  }
}

export const STEPS = {
  *brute_force(boxes) {
    for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) yield* test(boxes, i, j);
  },

  *sort_and_sweep(boxes) {
    const order = boxes.map((_, i) => i).sort((i, j) => boxes[i][0] - boxes[j][0]);
    yield { line: "order = sorted(" };
    yield* sweep(boxes, order, {});
  },

  *sweep_and_prune(boxes, before) {
    for (const axis of [0, 1]) {
      const at = (all, [i, far]) => all[i][axis + 2 * far];
      const isBefore = (all, a, b) => at(all, a) < at(all, b) || (at(all, a) === at(all, b) && a[1] < b[1]);
      const row = boxes.flatMap((_, i) => [[i, 0], [i, 1]]);
      row.sort((a, b) => (isBefore(before, a, b) ? -1 : isBefore(before, b, a) ? 1 : 0));
      yield { line: "place = [", axis };
      for (let start = 1; start < row.length; start++) {
        for (let k = start; k > 0 && isBefore(boxes, row[k], row[k - 1]); k--) {
          const [one, other] = [row[k - 1], row[k]];
          [row[k - 1], row[k]] = [other, one];
          const [i, j] = [one[0], other[0]].sort((a, b) => a - b);
          const edges = [one, other].map((edge) => at(boxes, edge));
          yield { line: "order[at - 1], order[at] =", i, j, axis, edges };
          if (one[1] === other[1]) {
            yield { line: "continue", i, j, axis, edges };
            continue;
          }
          yield { line: TEST, i, j, test: true, axis, edges };
          const hit = meet(boxes[i], boxes[j]);
          yield { line: hit ? ADD : "pairs.discard(", i, j, hit, lost: !hit, axis, edges };
        }
      }
    }
  },

  *uniform_grid(boxes) {
    const cells = new Map();
    for (const [i, box] of boxes.entries()) {
      for (const cell of cellsOf(box)) {
        yield { line: "cells[y * columns + x].append(i)", i, area: cellArea(cell) };
        const number = cell[1] * COLUMNS + cell[0];
        cells.set(number, [...(cells.get(number) ?? []), i]);
      }
    }
    for (const number of [...cells.keys()].sort((a, b) => a - b)) {
      const cell = [number % COLUMNS, Math.floor(number / COLUMNS)];
      yield* together(boxes, cells.get(number), { area: cellArea(cell) }, (x, y) => y * COLUMNS + x === number);
    }
  },

  *spatial_hash(boxes) {
    const table = new Map();
    const areas = new Map();
    for (const [i, box] of boxes.entries()) {
      for (const cell of cellsOf(box)) {
        const slot = Number(((BigInt(cell[0]) * 1640531513n) ^ (BigInt(cell[1]) * 2654435789n)) % BigInt(SLOTS));
        const members = table.get(slot) ?? [];
        if (!areas.has(slot)) areas.set(slot, new Map());
        areas.get(slot).set(String(cell), cellArea(cell));
        if (!members.includes(i)) {
          yield { line: "table[slot].append(i)", i, area: cellArea(cell) };
          table.set(slot, [...members, i]);
        }
      }
    }
    for (const [slot, members] of table) yield* together(boxes, members, { areas: [...areas.get(slot).values()] });
  },

  *box_tree(boxes) {
    const nodeAround = (members) => {
      const bounds = [0, 1, 2, 3].map((side) => (side < 2 ? Math.min : Math.max)(...members.map((i) => boxes[i][side])));
      if (members.length <= 4) return { bounds, members, halves: [] };
      const axis = bounds[2] - bounds[0] > bounds[3] - bounds[1] ? 0 : 1;
      const inOrder = [...members].sort((i, j) => boxes[i][axis] + boxes[i][axis + 2] - boxes[j][axis] - boxes[j][axis + 2]);
      const half = Math.floor(members.length / 2);
      return { bounds, members: [], halves: [nodeAround(inOrder.slice(0, half)), nodeAround(inOrder.slice(half))] };
    };
    const root = nodeAround(boxes.map((_, i) => i));
    yield { line: "root = node_around(", area: root.bounds };
    for (const [i, box] of boxes.entries()) {
      const waiting = [root];
      while (waiting.length) {
        const { bounds, members, halves } = waiting.pop();
        yield { line: "if not overlap(bounds, box)", i, test: true, area: bounds };
        if (!meet(bounds, box)) {
          yield { line: "continue", i, area: bounds };
          continue;
        }
        waiting.push(...halves);
        for (const j of members) {
          if (i >= j) continue;
          yield { line: "if i < j and overlap(box, boxes[j])", i, j, test: true, area: bounds };
          if (meet(box, boxes[j])) yield { line: ADD, i, j, hit: true, area: bounds };
        }
      }
    }
  },

  *strips(boxes) {
    const rows = new Map();
    for (const [i, box] of boxes.entries()) {
      for (let row = Math.floor(box[1] / STRIP); row <= Math.floor(box[3] / STRIP); row++) {
        yield { line: "rows[row].append(i)", i, area: [0, row * STRIP, WIDTH, (row + 1) * STRIP] };
        rows.set(row, [...(rows.get(row) ?? []), i]);
      }
    }
    for (const [row, members] of rows) {
      const area = [0, row * STRIP, WIDTH, (row + 1) * STRIP];
      members.sort((i, j) => boxes[i][0] - boxes[j][0]);
      yield { line: "members.sort(", area };
      yield* sweep(boxes, members, { area }, (i, j) => row === Math.floor(Math.max(boxes[i][1], boxes[j][1]) / STRIP));
    }
  },
};

/** The pairs of one cell or slot; `isHere` says whether the cell with the corner of the overlap is this one. */
function* together(boxes, members, more, isHere = () => true) {
  for (const [at, i] of members.entries()) {
    for (const j of members.slice(at + 1)) {
      const [x, y] = [0, 1].map((axis) => Math.floor(Math.max(boxes[i][axis], boxes[j][axis]) / CELL));
      yield* test(boxes, i, j, more, isHere(x, y));
    }
  }
}

// ---- the scenes: one that suits the method, and one on which it fails

function randomOf(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Boxes of `[width, height]` within an area, anywhere in it. */
function scattered(count, [width, height], [left, top, right, bottom] = [4, 4, WIDTH - 4, HEIGHT - 4], seed = 5) {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => {
    const [x, y] = [left + random() * (right - left - width), top + random() * (bottom - top - height)].map(Math.round);
    return [x, y, x + width, y + height];
  });
}

const EVEN = scattered(24, [36, 36]);
const shifted = (boxes, far) => {
  const random = randomOf(9);
  return boxes.map((box) => {
    const [x, y] = [Math.round((2 * random() - 1) * far), Math.round((2 * random() - 1) * far)];
    const [dx, dy] = [Math.min(Math.max(x, -box[0]), WIDTH - box[2]), Math.min(Math.max(y, -box[1]), HEIGHT - box[3])];
    return [box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy];
  });
};

/** For each method what suits it and what does not: the boxes now and, if they move, before. */
export const SCENES = {
  brute_force: [{ now: scattered(8, [60, 60]) }, { now: scattered(120, [16, 16]) }],
  sort_and_sweep: [{ now: EVEN }, { now: scattered(24, [36, 9], [215, 4, 265, HEIGHT - 4]) }],
  sweep_and_prune: [{ now: shifted(EVEN, 7), before: EVEN }, { now: shifted(EVEN, 160), before: EVEN }],
  uniform_grid: [{ now: EVEN }, { now: [...scattered(22, [4, 4], [182, 122, 238, 178]), [20, 20, 60, 60], [400, 230, 440, 270]] }],
  spatial_hash: [{ now: EVEN }, { now: scattered(24, [200, 130]) }],
  box_tree: [{ now: scattered(96, [14, 14]) }, { now: [...scattered(12, [300, 3]), ...scattered(12, [3, 200], undefined, 8)] }],
  strips: [{ now: EVEN }, { now: scattered(60, [300, 4]) }],
};

const flat = (boxes) => Float32Array.from(boxes.flat());
const OPTIONS = { cellSize: CELL, bounds: [0, 0, WIDTH, HEIGHT], slots: SLOTS, strips: HEIGHT / STRIP, axis: 0 };

/** The pairs as the engine's method finds them: keys of two numbers. */
function pairsOf(method, boxes, before) {
  const { pairs } = METHODS[method](flat(boxes), { ...OPTIONS, before: flat(before) });
  return new Set(Array.from({ length: pairs.length / 2 }, (_, k) => `${pairs[2 * k]} ${pairs[2 * k + 1]}`));
}

// ---- the figure

function make(tag, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

/** The lines of the page's code, each in an element of its own. */
function linesOf(blocks) {
  return [...blocks].flatMap((block) => {
    const lines = block.innerHTML.replace(/\n$/, "").split("\n");
    block.innerHTML = lines.map((line) => `<span class="code-line">${line}\n</span>`).join("");
    for (const line of block.children) line.style.setProperty("--indent", line.textContent.search(/\S|$/));
    return [...block.children];
  });
}

class Figure {
  constructor(element, blocks) {
    this.method = element.dataset.method;
    this.lines = linesOf(blocks);
    this.canvas = make("canvas", { tabIndex: 0, role: "img" });
    this.scrub = make("input", { type: "range", min: 0, step: 1 });
    this.scrub.setAttribute("aria-label", "Steps made so far");
    this.play = make("button", { type: "button", className: "play" }, "Play");
    const back = make("button", { type: "button", ariaLabel: "One step back" }, "◀");
    const on = make("button", { type: "button", ariaLabel: "One step forward" }, "▶");
    this.line = make("p", { className: "line" }); // where the code is below the figure, and not beside it
    this.counts = make("p", { className: "counts" });
    this.counts.setAttribute("aria-live", "off");
    const choices = ["A scene that suits it", "Where it fails"].map((words, k) => {
      const input = make("input", { type: "radio", name: "scene", checked: k === 0 });
      input.addEventListener("change", () => this.open(k));
      return make("label", {}, input, ` ${words}`);
    });
    const legend = make("legend", { className: "visually-hidden" }, "Scene");
    element.replaceChildren(
      make("fieldset", {}, legend, ...choices), this.canvas,
      make("div", { className: "turns" }, back, this.play, on, this.scrub), this.line, this.counts,
    );
    back.addEventListener("click", () => this.goTo(this.at - 1));
    on.addEventListener("click", () => this.goTo(this.at + 1));
    this.play.addEventListener("click", () => this.#toggle());
    this.scrub.addEventListener("input", () => this.goTo(Number(this.scrub.value)));
    this.#listenToHands();
    new ResizeObserver(() => this.draw()).observe(element);
    new MutationObserver(() => {
      forget();
      this.draw();
    }).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.open(0);
  }

  open(scene) {
    const { now, before = now } = SCENES[this.method][scene];
    this.boxes = now.map((box) => [...box]);
    this.before = before;
    this.search();
    this.goTo(0);
  }

  /** Make all steps for the boxes as they are. */
  search() {
    this.steps = [...STEPS[this.method](this.boxes, this.before)];
    this.expected = pairsOf(this.method, this.boxes, this.before);
    this.kept = this.method === "sweep_and_prune" ? pairsOf("brute_force", this.before, this.before) : new Set();
    this.scrub.max = this.steps.length;
  }

  goTo(at, isPlaying = false) {
    if (!isPlaying) this.#pause();
    this.at = Math.min(Math.max(at, 0), this.steps.length);
    this.draw();
  }

  #toggle() {
    if (this.timer) {
      this.#pause();
      return;
    }
    if (this.at === this.steps.length) this.at = 0;
    this.play.textContent = "Pause";
    const pace = Math.min(PACE, 20_000 / this.steps.length); // the longest takes twenty seconds
    this.timer = setInterval(() => {
      this.goTo(this.at + 1, true);
      if (this.at === this.steps.length) this.#pause();
    }, pace);
  }

  #pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  // ---- hands: a box is dragged, or the first one moved by the arrow keys

  #listenToHands() {
    let [held, last] = [null, null];
    const place = (event) => {
      const { left, top, width } = this.canvas.getBoundingClientRect();
      return [(event.clientX - left) * WIDTH / width, (event.clientY - top) * WIDTH / width];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = place(event);
      const near = this.boxes.map((box, i) => [Math.max(box[0] - x, x - box[2], box[1] - y, y - box[3]), i]).sort((a, b) => a[0] - b[0])[0];
      if (near[0] > 8) return;
      [held, last] = [near[1], [x, y]];
      this.canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (held === null) return;
      const [x, y] = place(event);
      const [dx, dy] = [Math.round(x - last[0]), Math.round(y - last[1])];
      last = [last[0] + dx, last[1] + dy];
      this.move(held, dx, dy);
    });
    for (const event of ["pointerup", "pointercancel"]) this.canvas.addEventListener(event, () => { held = null; });
    this.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-8, 0], ArrowRight: [8, 0], ArrowUp: [0, -8], ArrowDown: [0, 8] }[event.key];
      if (!by) return;
      event.preventDefault();
      this.move(0, ...by);
    });
  }

  move(i, dx, dy) {
    const box = this.boxes[i];
    const x = Math.min(Math.max(dx, -box[0]), WIDTH - box[2]);
    const y = Math.min(Math.max(dy, -box[1]), HEIGHT - box[3]);
    this.boxes[i] = [box[0] + x, box[1] + y, box[2] + x, box[3] + y];
    this.search();
    this.goTo(this.steps.length);
  }

  // ---- drawing

  /** The pairs found and the tests made so far. */
  soFar() {
    const found = new Set(this.kept);
    let tests = 0;
    for (const { test: isTest, hit, lost, i, j } of this.steps.slice(0, this.at)) {
      const key = `${Math.min(i, j)} ${Math.max(i, j)}`;
      if (isTest) tests += 1;
      if (hit) found.add(key);
      if (lost) found.delete(key);
    }
    return { found, tests };
  }

  draw() {
    const step = this.steps[this.at - 1];
    const { found, tests } = this.soFar();
    this.#mark(step);
    this.#paint(step, found);
    this.scrub.value = this.at;
    const all = this.steps.filter((one) => one.test).length;
    const n = this.boxes.length;
    const every = (n * (n - 1)) / 2;
    this.scrub.setAttribute("aria-valuetext", `step ${this.at} of ${this.steps.length}`);
    this.counts.replaceChildren(
      make("strong", { className: "tests" }, whole(tests)), ` of ${whole(all)} tests `,
      make("strong", { className: "found" }, whole(found.size)), this.kept.size ? ` pairs in the list, ${whole(this.expected.size)} at the end. ` : ` of ${whole(this.expected.size)} pairs. `,
      make("span", {}, `Every pair of ${whole(n)} boxes: ${whole(every)} tests${all > every ? `, fewer than the ${whole(all)} here` : ""}.`),
    );
    this.canvas.setAttribute("aria-label", `${n} boxes; ${tests} tests made, ${found.size} pairs found. Arrow keys move the marked box.`);
  }

  #mark(step) {
    for (const line of this.lines) line.classList.remove("now");
    this.line.textContent = "\u00a0";
    if (!step) return;
    const line = this.lines.find((one) => one.textContent.includes(step.line));
    if (!line) throw new Error(`no line of the code has "${step.line}"`);
    line.classList.add("now");
    this.line.textContent = line.textContent.trim();
  }

  #paint(step, found) {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const context = sharp(this.canvas, width, (width * HEIGHT) / WIDTH);
    const scale = width / WIDTH;
    context.scale(scale, scale);
    context.clearRect(0, 0, WIDTH, HEIGHT);
    const own = colour(`method-${this.method}`);
    this.#paintStructure(context, step, own);
    const touching = new Set([...found].flatMap((key) => key.split(" ").map(Number)));
    for (const [i, [left, top, right, bottom]] of this.boxes.entries()) {
      const isHit = touching.has(i);
      context.fillStyle = colour(isHit ? "hit-fill" : "body-fill");
      context.strokeStyle = colour(isHit ? "hit" : "body");
      context.lineWidth = i === 0 ? 3 : 1.3;
      context.globalAlpha = 0.55;
      context.fillRect(left, top, right - left, bottom - top);
      context.globalAlpha = 1;
      context.strokeRect(left, top, right - left, bottom - top);
    }
    if (step?.i === undefined) return;
    context.strokeStyle = colour(step.hit ? "hit" : "test");
    context.lineWidth = 3;
    const boxes = [step.i, step.j].filter((i) => i !== undefined).map((i) => this.boxes[i]);
    for (const [left, top, right, bottom] of boxes) context.strokeRect(left, top, right - left, bottom - top);
    if (boxes.length < 2) return;
    context.beginPath();
    for (const [left, top, right, bottom] of boxes) context.lineTo((left + right) / 2, (top + bottom) / 2);
    context.stroke();
  }

  #paintStructure(context, step, own) {
    context.strokeStyle = own;
    context.fillStyle = own;
    context.lineWidth = 1;
    const line = (...ends) => {
      context.beginPath();
      context.moveTo(ends[0], ends[1]);
      context.lineTo(ends[2], ends[3]);
      context.stroke();
    };
    const isGrid = ["uniform_grid", "spatial_hash"].includes(this.method);
    context.globalAlpha = 0.5;
    if (isGrid) for (let x = CELL; x < WIDTH; x += CELL) line(x, 0, x, HEIGHT);
    const high = isGrid ? CELL : this.method === "strips" ? STRIP : HEIGHT;
    for (let y = high; y < HEIGHT; y += high) line(0, y, WIDTH, y);
    for (const [left, top, right, bottom] of step?.areas ?? (step?.area ? [step.area] : [])) {
      context.globalAlpha = 0.16;
      context.fillRect(left, top, right - left, bottom - top);
      context.globalAlpha = 1;
      context.strokeRect(left, top, right - left, bottom - top);
    }
    context.globalAlpha = 1;
    context.lineWidth = 2;
    context.setLineDash([6, 4]);
    const [from, to] = step?.area && this.method === "strips" ? [step.area[1], step.area[3]] : [0, HEIGHT];
    if (step?.edge !== undefined) line(step.edge, from, step.edge, to);
    for (const at of step?.edges ?? []) line(...(step.axis ? [0, at, WIDTH, at] : [at, 0, at, HEIGHT]));
    context.setLineDash([]);
  }
}

export function showMethod(element, blocks) {
  element.figure = new Figure(element, blocks); // the property is for tests and the console
}

const [figure, map] = [document.querySelector(".method-figure"), document.querySelector(".who-wins-here")];
if (figure || map) {
  document.head.append(make("link", { rel: "stylesheet", href: new URL("../tour/palette.css", import.meta.url) }));
}
if (figure) window.addEventListener("load", () => showMethod(figure, document.querySelectorAll(".idea pre")));
if (map) import("../tour/map.js").then(({ mountMap }) => mountMap(map));
