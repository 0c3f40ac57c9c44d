// Scenes that move, and the reader's own boxes: the tests of all methods, frame by frame.

import { METHODS } from "./methods/all.js";
import { pairsAmong } from "./methods/brute_force.js";
import { canvasFont, colour, make, named, sample, sharp, whole } from "./palette.js";
import { entriesOf, nextPrime } from "./steps.js";
import { readBoxes } from "./upload.js";

const [WIDTH, HEIGHT, SIDE] = [960, 540, 12];
const MOST_ENTRIES = 2e6; // of boxes in cells
const MOST_CELLS = 512; // across
const CELL = 2.5; // typical boxes
const STRIP = 9; // typical boxes high, as the engine cuts them
const TURN = 1 / 300; // of a crowd in a frame, in radians
const MOST_COMPARED = 3000; // boxes; with more, the tests of every pair are only calculated

/** Random numbers that are the same on every visit. */
function randomNumbers() {
  let state = 735;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A scene: boxes with a middle, a size and a velocity, and how they move in a frame. */
const SCENES = {
  even: {
    title: "Spread evenly",
    make: (random) => ({ x: random() * WIDTH, y: random() * HEIGHT, wide: SIDE, high: SIDE, ...towards(random) }),
    move: bounce,
  },
  crowd: {
    title: "A crowd",
    make: (random) => { // around the middle, half of them the other way
      const [angle, far, way] = [2 * Math.PI * random(), random(), random() < 0.5 ? TURN : -TURN];
      const [x, y] = [0.3 * WIDTH * far * Math.cos(angle), 0.4 * HEIGHT * far * Math.sin(angle)];
      return { x: WIDTH / 2 + x, y: HEIGHT / 2 + y, wide: SIDE, high: SIDE, dx: -0.75 * WIDTH / HEIGHT * y * way, dy: HEIGHT / WIDTH / 0.75 * x * way };
    },
    move(box) { // drawn to the middle: on an ellipse for ever
      box.dx += (WIDTH / 2 - box.x) * TURN ** 2;
      box.dy += (HEIGHT / 2 - box.y) * TURN ** 2;
      box.x += box.dx;
      box.y += box.dy;
    },
  },
  road: {
    title: "A road",
    make: (random) => {
      const lane = Math.floor(random() * 12);
      return { x: random() * 2 * WIDTH, y: (lane + 0.5) * (HEIGHT / 24), wide: SIDE, high: SIDE, dx: (lane < 6 ? -1 : 1) * (0.6 + random()), dy: 0 };
    },
    room: [2 * WIDTH, HEIGHT / 2], // as large as that of the others
    move(box) {
      box.x = (box.x + box.dx + 2 * WIDTH) % (2 * WIDTH);
    },
  },
  sizes: {
    title: "Few large, many small",
    make: (random, k) => {
      const size = k % 40 ? 4 + 8 * random() : 90;
      return { x: random() * WIDTH, y: random() * HEIGHT, wide: size, high: size, ...towards(random) };
    },
    move: bounce,
  },
};

function towards(random) {
  const angle = 2 * Math.PI * random();
  return { dx: Math.cos(angle), dy: Math.sin(angle) };
}

function bounce(box) {
  box.x += box.dx;
  box.y += box.dy;
  if (box.x < 0 || box.x > WIDTH) box.dx = Math.abs(box.dx) * (box.x < 0 ? 1 : -1);
  if (box.y < 0 || box.y > HEIGHT) box.dy = Math.abs(box.dy) * (box.y < 0 ? 1 : -1);
}

export class Moving {
  frame = 0;
  #scene = "even";
  #bodies = [];
  #boxes = new Float64Array(0); // left, top, right, bottom of each
  #before = this.#boxes;
  #owed = 0; // frames of the speed that are not shown yet
  #clock = 0;

  /** `isShown()` tells whether the page is to be seen. */
  constructor(element, isShown) {
    this.isShown = isShown;
    this.playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#build(element);
    this.choose("even");
  }

  #build(element) {
    this.choices = Object.entries(SCENES).map(([name, { title }]) => {
      const input = make("input", { type: "radio", name: "moving-scene", value: name, checked: name === "even" });
      input.addEventListener("change", () => this.choose(name));
      return make("label", {}, input, ` ${title}`);
    });
    this.count = make("input", { type: "range", min: 50, max: 2000, step: 50, value: 400 });
    this.counted = make("output");
    this.count.addEventListener("input", () => this.choose(this.#scene));
    this.speed = make("select", {}, ...[["0.1", "slow"], ["1", "as it is"], ["4", "fast"]].map(([value, text]) => make("option", { value, selected: value === "1" }, text)));
    this.play = make("button", { type: "button", className: "primary" });
    this.play.addEventListener("click", () => this.toggle());
    this.step = make("button", { type: "button" }, "One frame");
    this.step.addEventListener("click", () => this.one());
    this.file = make("input", { type: "file", accept: ".csv,.txt,.tsv,.npy", id: "moving-file" });
    this.file.addEventListener("change", () => this.take(this.file.files[0]));
    this.said = make("p", { className: "caption" }); // of a file
    this.said.setAttribute("role", "status");
    this.found = make("p", { className: "caption" }); // of a frame: it changes too often to be read out
    this.canvas = make("canvas", { className: "moving-room" });
    this.canvas.setAttribute("role", "img");
    this.rows = make("tbody");
    this.controls = make("p", { className: "moving-controls" }, this.play, this.step, make("label", {}, "Speed ", this.speed), make("label", { className: "moving-count" }, "Boxes ", this.count, this.counted));
    element.append(
      make("fieldset", { className: "choices" }, make("legend", {}, "Scene"), ...this.choices),
      make("p", { className: "moving-file" }, make("label", { htmlFor: "moving-file" }, "Your boxes, from a CSV or .npy file "), this.file),
      this.canvas,
      this.controls,
      make("div", { className: "moving-said" }, this.said, this.found),
      make("table", { className: "moving-tests" }, make("caption", {}, "Tests of this frame, and entries into cells or strips"), this.rows),
    );
    element.addEventListener("dragover", (event) => event.preventDefault());
    element.addEventListener("drop", (event) => {
      event.preventDefault();
      this.take(event.dataTransfer.files[0]);
    });
  }

  choose(name) {
    const random = randomNumbers();
    this.#scene = name;
    this.#bodies = Array.from({ length: Number(this.count.value) }, (_, k) => SCENES[name].make(random, k));
    this.bounds = [0, 0, ...(SCENES[name].room ?? [WIDTH, HEIGHT])];
    this.#boxes = this.#boxesNow();
    this.#before = this.#boxes;
    this.note = "";
    this.frame = 0;
    this.#prepare();
    this.draw();
  }

  /** Show the boxes of a file. */
  async take(file) {
    if (!file) return;
    try {
      const { boxes, note } = readBoxes(file.name, await file.arrayBuffer());
      this.#bodies = [];
      for (const choice of this.choices) choice.firstChild.checked = false;
      this.#boxes = this.#before = boxes;
      this.bounds = boundsOf(boxes);
      this.note = `${file.name}: ${whole(boxes.length / 4)} boxes${note ? `; ${note}` : ""}. They stay in this page.`;
      this.frame = 0;
      this.#prepare();
    } catch (error) {
      this.note = `${file.name}: ${error.message}`;
    }
    this.draw();
  }

  #boxesNow() {
    return Float64Array.from(this.#bodies.flatMap(({ x, y, wide, high }) => [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]));
  }

  /** What the methods are given: cells and strips that suit the typical box. */
  #prepare() {
    const boxes = this.#boxes;
    const count = boxes.length / 4;
    const sides = Float64Array.from({ length: count }, (_, k) => Math.max(boxes[4 * k + 2] - boxes[4 * k], boxes[4 * k + 3] - boxes[4 * k + 1])).sort();
    const [left, top, right, bottom] = this.bounds;
    const longest = Math.max(right - left, bottom - top) || 1;
    const typical = sides[count >> 1] || longest / Math.max(Math.sqrt(count), 1);
    const cellSize = Math.max(CELL * typical, longest / MOST_CELLS);
    let entries = 0;
    for (let k = 0; k < count; k++) entries += (1 + (boxes[4 * k + 2] - boxes[4 * k]) / cellSize) * (1 + (boxes[4 * k + 3] - boxes[4 * k + 1]) / cellSize);
    this.hasCells = entries < MOST_ENTRIES;
    this.options = {
      axis: right - left >= bottom - top ? 0 : 1, cellSize, bounds: this.bounds, slots: nextPrime(Math.max(10 * count, 11)),
      strips: Math.min(Math.max(Math.round((bottom - top) / (STRIP * typical)), 1), 256), keep: false,
    };
    this.rows.replaceChildren(...Object.keys(METHODS).map((method) => {
      const bar = make("span", { className: "moving-bar" });
      bar.style.setProperty("--own", `var(--method-${method})`);
      return make("tr", {}, make("th", { scope: "row" }, sample(method), ` ${named(method)}`), make("td", {}, bar), make("td", { className: "moving-number" }));
    }));
  }

  #advance() {
    if (!this.#bodies.length) return;
    this.#before = this.#boxes;
    for (const box of this.#bodies) SCENES[this.#scene].move(box);
    this.#boxes = this.#boxesNow();
    this.frame += 1;
  }

  toggle() {
    this.playing = !this.playing;
    this.#clock = 0;
    this.draw();
  }

  /** Go one frame on and stop there. */
  one() {
    this.playing = false;
    this.#advance();
    this.draw();
  }

  /** Draw the frame and, while it plays, the next. */
  draw() {
    const width = this.canvas.clientWidth;
    this.play.textContent = this.playing ? "Pause" : "Play";
    this.controls.hidden = !this.#bodies.length; // the boxes of a file lie still, and are as many as they are
    const count = this.#boxes.length / 4;
    this.counted.value = whole(count);
    if (width) this.#show(width, this.#count(count));
    if (!this.playing || this.queued || !this.#bodies.length) return;
    this.queued = true;
    requestAnimationFrame((now) => {
      this.queued = false;
      if (!this.isShown()) {
        this.#clock = 0;
        return;
      }
      this.#owed = this.#clock ? Math.min(this.#owed + ((now - this.#clock) / 1000) * 60 * Number(this.speed.value), 4) : 1;
      this.#clock = now;
      for (; this.playing && this.#owed >= 1; this.#owed -= 1) this.#advance();
      this.draw();
    });
  }

  /** The tests of each method, what it enters into cells or strips, and the pairs, which all find. */
  #count(count) {
    let pairs = [];
    const entries = {};
    const tests = Object.entries(METHODS).map(([method, search]) => {
      if (method === "brute_force" && count > MOST_COMPARED) return pairsAmong(count);
      if (!this.hasCells && ["uniform_grid", "spatial_hash"].includes(method)) return null;
      const found = search(this.#boxes, { ...this.options, before: this.#before });
      if (found.pairs) pairs = found.pairs;
      entries[method] = entriesOf(found);
      return found.made;
    });
    return { tests, entries, pairs };
  }

  #show(width, { tests, entries, pairs }) {
    const [left, top, right, bottom] = this.bounds;
    const scale = Math.min(width / Math.max(right - left, 1e-9), (width * HEIGHT) / WIDTH / Math.max(bottom - top, 1e-9));
    const height = Math.round((width * HEIGHT) / WIDTH);
    this.canvas.style.aspectRatio = `${WIDTH} / ${HEIGHT}`;
    const context = sharp(this.canvas, width, height, true);
    context.fillStyle = colour("stage");
    context.fillRect(0, 0, width, height);
    const [x, y] = [(width - (right - left) * scale) / 2 - left * scale, (height - (bottom - top) * scale) / 2 - top * scale];
    const isMet = new Uint8Array(this.#boxes.length / 4);
    for (const box of pairs) isMet[box] = 1;
    for (const [shade, wanted] of [["body", 0], ["hit", 1]]) {
      const path = new Path2D();
      for (let k = 0; k < isMet.length; k++) {
        if (isMet[k] !== wanted) continue;
        const [from, down] = [x + this.#boxes[4 * k] * scale, y + this.#boxes[4 * k + 1] * scale];
        path.rect(from, down, Math.max((this.#boxes[4 * k + 2] - this.#boxes[4 * k]) * scale, 1), Math.max((this.#boxes[4 * k + 3] - this.#boxes[4 * k + 1]) * scale, 1));
      }
      context.fillStyle = colour(`${shade}-fill`);
      context.strokeStyle = colour(shade);
      context.fill(path);
      context.stroke(path);
    }
    context.font = canvasFont();
    const entered = Object.keys(METHODS).map((method) => entries[method] ?? 0);
    const works = tests.map((made, k) => (made ?? 0) + entered[k]);
    const most = Math.max(...works.slice(1), 1); // without brute force, beside which all others would be nothing
    [...this.rows.rows].forEach((row, k) => {
      const bar = row.cells[1].firstChild;
      bar.classList.toggle("broken", works[k] > most);
      bar.style.setProperty("--share", `${(100 * Math.min(works[k], most)) / most}%`);
      bar.style.setProperty("--tests", `${(100 * (tests[k] ?? 0)) / (works[k] || 1)}%`);
      row.cells[2].textContent = tests[k] === null ? "too many cells" : `${whole(tests[k])}${entered[k] ? ` + ${whole(entered[k])}` : ""}`;
    });
    if (this.said.textContent !== this.note) this.said.textContent = this.note;
    this.found.textContent = `${whole(pairs.length / 2)} ${pairs.length === 2 ? "pair overlaps" : "pairs overlap"}. The striped part of a bar counts the entries; a bar with a gap is longer than there is room. Sweep and prune counts its swaps, without the look at each of its edges in every frame.`;
    this.canvas.setAttribute("aria-label", `${whole(isMet.length)} boxes; those that overlap another are filled with vermilion.`);
    this.tests = Object.fromEntries(Object.keys(METHODS).map((method, k) => [method, tests[k]]));
    this.pairs = pairs.length / 2;
  }
}

function boundsOf(boxes) {
  const bounds = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < boxes.length; at += 4) {
    for (const axis of [0, 1]) {
      bounds[axis] = Math.min(bounds[axis], boxes[at + axis]);
      bounds[2 + axis] = Math.max(bounds[2 + axis], boxes[at + 2 + axis]);
    }
  }
  return bounds;
}
