// The dungeon on a canvas: keys or a finger go to the worker, and what it returns is drawn.

const [WIDTH, HEIGHT, TILE] = [960, 640, 32];
const KINDS = [["#8e7468", 9], ["#e2decc", 11], ["#ce5442", 10], ["#709454", 23]]; // rat, skeleton, imp, ogre: colour, radius
const ITEMS = { food: "#d6423e", key: "#f6c644", gold: "#f6c644", gem: "#5cccf0", stairs: "#c8c8d2", amulet: "#ff9ae0" };
const [FLOOR, WALL, TOP, DOOR, HERO, FIRE, INK] = ["#6a625e", "#424862", "#626a88", "#926238", "#3a9468", "#ff9640", "#fafaf5"];
const KEYS = {
  ArrowLeft: "left", KeyA: "left", ArrowRight: "right", KeyD: "right", ArrowUp: "up", KeyW: "up", ArrowDown: "down", KeyS: "down", Space: "shoot", Enter: "again",
};

class Dungeon {
  held = new Set();
  finger = null;
  solid = [];
  doors = new Set();

  constructor(element, own) {
    this.canvas = element.querySelector("canvas");
    this.words = element.querySelector("p");
    this.context = this.canvas.getContext("2d");
    this.worker = new Worker(new URL("dungeon-worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => this.#take(data);
    this.worker.onerror = ({ message }) => this.#take({ failed: message });
    const here = (name) => new URL(name, import.meta.url).href;
    this.worker.postMessage({ pyodide: new URL(own.pyodide, location.href).href, wheel: here(own.wheel), game: here("dungeon.zip"), script: here("dungeon.py") });
    this.#listen();
    this.canvas.focus({ preventScroll: true });
  }

  #take({ status, failed, told, milliseconds }) {
    if (status) this.words.textContent = status;
    if (failed !== undefined) this.words.textContent = `It could not be started: ${failed || "the page has no network, or the browser forbids it"}.`;
    if (!told) return;
    this.state = JSON.parse(told);
    this.frames = (this.frames ?? 0) + 1;
    const { solid, doors, line } = this.state;
    if (solid) [this.solid, this.doors] = [solid, new Set(doors.map(String))];
    if (this.frames % 10 === 1) this.words.textContent = `${line} The frame took ${milliseconds.toFixed(1)} ms.`;
    requestAnimationFrame(() => this.#draw());
  }

  // ---- hands

  #listen() {
    const { canvas } = this;
    const key = (event) => {
      const name = KEYS[event.code];
      if (!name) return;
      event.preventDefault();
      if (event.type === "keydown") this.held.add(name);
      else this.held.delete(name);
      this.#tell();
    };
    for (const type of ["keydown", "keyup"]) canvas.addEventListener(type, key);
    canvas.addEventListener("blur", () => {
      this.held.clear();
      this.#tell();
    });
    const point = (event) => {
      const { left, top, width } = canvas.getBoundingClientRect();
      this.finger = event.buttons || event.type === "pointerdown" ? [(event.clientX - left) * WIDTH / width, (event.clientY - top) * WIDTH / width] : null;
      this.#tell();
    };
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) canvas.addEventListener(type, point);
  }

  #tell() {
    const has = (name) => Number(this.held.has(name));
    let [x, y, shoots] = [has("right") - has("left"), has("down") - has("up"), this.held.has("shoot")];
    if (this.finger && this.camera) {
      const way = [0, 1].map((axis) => this.finger[axis] + this.camera[axis] - this.state.hero[axis]);
      const far = Math.hypot(...way);
      if (far > 20) [x, y, shoots] = [way[0] / far, way[1] / far, true];
    }
    this.worker.postMessage({ x, y, shoots, again: this.held.has("again") || Boolean(this.finger) });
  }

  // ---- drawing

  #draw() {
    const { context, solid, state: { hero, monsters, arrows, fires, items, state, message } } = this;
    const size = [solid[0].length * TILE, solid.length * TILE];
    this.camera = [WIDTH, HEIGHT].map((wide, axis) => Math.round(Math.min(Math.max(hero[axis] - wide / 2, 0), Math.max(size[axis] - wide, 0))));
    const [left, top] = this.camera;
    context.fillStyle = "#14161c";
    context.fillRect(0, 0, WIDTH, HEIGHT);
    context.save();
    context.translate(-left, -top);
    for (let row = Math.floor(top / TILE); row <= (top + HEIGHT) / TILE && row < solid.length; row++) {
      for (let column = Math.floor(left / TILE); column <= (left + WIDTH) / TILE && column < solid[0].length; column++) {
        const isDoor = this.doors.has(`${column},${row}`);
        context.fillStyle = isDoor ? DOOR : solid[row][column] ? WALL : FLOOR;
        context.fillRect(column * TILE, row * TILE, TILE, TILE);
        context.fillStyle = TOP;
        if (solid[row][column] && !isDoor) context.fillRect(column * TILE, row * TILE, TILE, 4);
      }
    }
    for (const [kind, x, y] of items) this.#disc(x, y, kind === "stairs" ? 12 : 7, ITEMS[kind]);
    for (const [kind, x, y, flash] of monsters) {
      const [colour, radius] = KINDS[kind];
      this.#disc(x, y, radius, flash ? "#ffffff" : colour);
      this.#eyes(x, y, radius, Math.atan2(hero[1] - y, hero[0] - x));
    }
    context.strokeStyle = INK;
    context.lineWidth = 2;
    for (const [x, y, dx, dy] of arrows) {
      context.beginPath();
      context.moveTo(x - dx, y - dy);
      context.lineTo(x + dx, y + dy);
      context.stroke();
    }
    for (const [x, y] of fires) this.#disc(x, y, 5, FIRE);
    if (hero[4] % 8 < 4) {
      this.#disc(hero[0], hero[1], 12, HERO);
      this.#eyes(hero[0], hero[1], 12, Math.atan2(hero[3], hero[2]));
    }
    context.restore();
    this.#lamp(hero[0] - left, hero[1] - top);
    const words = { dead: "You died. Enter, or a tap, starts again.", won: "The amulet is yours. Enter starts again." }[state] ?? message;
    context.fillStyle = INK;
    context.font = "bold 28px system-ui, sans-serif";
    context.textAlign = "center";
    context.fillText(words, WIDTH / 2, 120);
  }

  #disc(x, y, radius, colour) {
    const { context } = this;
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }

  #eyes(x, y, radius, angle) {
    for (const side of [-0.5, 0.5]) {
      this.#disc(x + radius * 0.55 * Math.cos(angle + side), y + radius * 0.55 * Math.sin(angle + side), radius / 5, "#1a1820");
    }
  }

  #lamp(x, y) {
    const { context } = this;
    const light = context.createRadialGradient(x, y, 60, x, y, 420);
    light.addColorStop(0, "rgba(8, 8, 14, 0)");
    light.addColorStop(1, "rgba(8, 8, 14, 0.85)");
    context.fillStyle = light;
    context.fillRect(0, 0, WIDTH, HEIGHT);
  }
}

const element = document.querySelector("#dungeon");
const own = document.querySelector("script[data-wheel]")?.dataset;
if (element && own) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-primary", textContent: "Play in this page" });
  element.querySelector("p").replaceChildren(button, ` ${own.weight ?? ""}`);
  button.addEventListener("click", () => {
    element.querySelector("img")?.remove();
    element.querySelector("canvas").hidden = false;
    element.game = new Dungeon(element, own); // the property is for tests and the console
  });
}
