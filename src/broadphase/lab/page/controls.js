// The form: from the state to the controls and back.

import { short, whole } from "./palette.js";
import { stripsOf } from "./state.js";

// Sliders have steps; each step multiplies the value by a factor.
const COUNT_STEPS = 1000;
const CELL_STEP = 2 ** (1 / 10);
const SLOT_STEP = 10 ** (1 / 33);
const SPEEDS = [0.2, 60];

const countOf = (step, hello) => {
  const value = hello.fewest * (hello.most / hello.fewest) ** (step / COUNT_STEPS);
  return Math.round(Number(value.toPrecision(value < 100 ? 2 : 3)));
};
const stepOfCount = (count, hello) =>
  Math.round((COUNT_STEPS * Math.log(count / hello.fewest)) / Math.log(hello.most / hello.fewest));
const rateOf = (step) => SPEEDS[0] * (SPEEDS[1] / SPEEDS[0]) ** (step / 100);
const stepOfRate = (rate) => Math.round((100 * Math.log(rate / SPEEDS[0])) / Math.log(SPEEDS[1] / SPEEDS[0]));

// As many digits as in the URL, so that a link shows the same cells.
const rounded = (value) => Number(value.toPrecision(4));

const isCells = (method) => method === "uniform_grid" || method === "spatial_hash";

export class Controls {
  /** `change(fields)` is called with what the user has changed. */
  constructor(hello, change) {
    this.hello = hello;
    this.find = (id) => document.getElementById(id);
    const { find } = this;
    find("scene").replaceChildren(...hello.scenes.map((scene) => new Option(scene.title, scene.name)));
    find("scene").addEventListener("change", () => change({ scene: find("scene").value, file: "" }));
    find("count").addEventListener("input", () => change({ count: countOf(Number(find("count").value), hello) }));
    this.#number("count", "count-number", hello.fewest, hello.most, change);
    this.#number("seed", "seed", 0, 2147483647, change);
    this.#offerFiles(hello);
    find("speed").addEventListener("input", () => change({ rate: Number(rateOf(Number(find("speed").value)).toPrecision(3)) }));
    find("show-tests").addEventListener("change", (event) => change({ tests: event.target.checked }));
    find("show-structure").addEventListener("change", (event) => change({ structure: event.target.checked }));
    find("cell").addEventListener("input", () => change({ cell: rounded(CELL_STEP ** Number(find("cell").value)) }));
    find("cell-auto").addEventListener("change", (event) => change({ cell: event.target.checked ? null : 1 }));
    find("slots").addEventListener("input", () => change({ slots: rounded(SLOT_STEP ** Number(find("slots").value)) }));
    find("slots-auto").addEventListener("change", (event) => change({ slots: event.target.checked ? null : 10 }));
    find("strips").addEventListener("input", () => change({ strips: Number(find("strips").value) }));
    find("strips-auto").addEventListener("change", (event) => change({ strips: event.target.checked ? null : 8 }));
    find("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  /** Only files that the server can read. */
  #offerFiles(hello) {
    const { find } = this;
    const kinds = [["CSV", ".csv"], [".npy", ".npy"], ["Parquet", ".parquet"], ["Arrow", ".arrow"], ["GeoJSON", ".geojson"]];
    const names = kinds.filter(([, ending]) => hello.endings.includes(ending)).map(([name]) => name);
    find("file").accept = hello.endings.join(",");
    find("file-note").textContent = `${names.slice(0, -1).join(", ")} or ${names.at(-1)}, up to ${hello.largest_file >> 20} MB.`;
  }

  /** A field for a whole number; a wrong value is reported and corrected. */
  #number(name, id, low, high, change) {
    const field = this.find(id);
    const note = this.find(`${name}-note`);
    const usual = note.textContent;
    field.addEventListener("change", () => {
      const value = field.value.trim() === "" ? NaN : Math.round(Number(field.value));
      const kept = Number.isFinite(value) ? Math.min(Math.max(value, low), high) : this.state[name];
      const wrong = kept !== value;
      note.textContent = wrong ? `A whole number from ${whole(low)} to ${whole(high)}; it is now ${whole(kept)}.` : usual;
      note.classList.toggle("wrong", wrong);
      note.hidden = !note.textContent;
      field.value = kept;
      if (kept !== this.state[name]) change({ [name]: kept });
    });
  }

  show(state) {
    const { find, hello } = this;
    this.state = state;
    const scene = hello.scenes.find((one) => one.name === state.scene);
    this.#showFile(state, scene);
    this.#showCount();
    this.#write("seed", state.seed);
    find("speed").value = stepOfRate(state.rate);
    find("speed-text").value = `${short(state.rate)} frames per second`;
    find("show-tests").checked = state.tests;
    find("show-structure").checked = state.structure;
    find("play").textContent = state.playing ? "Pause" : "Play";
    find("cells-group").hidden = !state.methods.some(isCells);
    find("table-group").hidden = !state.methods.includes("spatial_hash");
    this.#showCells(state);
    this.#showStrips(state);
  }

  /** The number of bodies of a file or a recording, in place of the slider's. */
  tellCount(count) {
    this.held = count;
    this.#showCount();
  }

  #showCount() {
    const { find, hello, state } = this;
    const isGiven = state.scene === hello.file || state.scene === hello.replay?.name;
    const count = (isGiven && this.held) || state.count;
    find("count").value = stepOfCount(count, hello);
    find("count").setAttribute("aria-valuetext", whole(count));
    this.#write("count-number", count);
  }

  /** A field with the focus keeps its text until it loses the focus. */
  #write(id, value) {
    const field = this.find(id);
    if (document.activeElement !== field) field.value = value;
  }

  #showStrips(state) {
    const { find } = this;
    const strips = stripsOf(state);
    find("strips-group").hidden = !state.methods.includes("strips");
    find("strips").value = strips ?? 1;
    find("strips-auto").checked = strips === null;
    find("strips-text").value = strips === null ? "auto" : String(strips);
  }

  #showFile(state, scene) {
    const { find, hello } = this;
    const isFile = state.scene === hello.file;
    const own = find("scene").querySelector(`option[value="${hello.file}"]`);
    if (isFile && !own) find("scene").add(new Option("Your own boxes", hello.file));
    else if (!isFile && own && !state.file) own.remove();
    find("scene").value = state.scene;
    find("about").textContent = scene ? scene.about : "Boxes from your file. They stand still until you drag one.";
    for (const id of ["count", "count-number", "seed"]) find(id).disabled = isFile || state.scene === hello.replay?.name;
  }

  #showCells(state) {
    const { find } = this;
    const cell = Math.round(Math.log(state.cell ?? 1) / Math.log(CELL_STEP));
    find("cell").value = cell;
    find("cell-auto").checked = state.cell === null;
    find("cell-text").value = state.cell === null ? "auto" : `× ${short(state.cell)}`;
    find("cell").setAttribute("aria-valuetext", state.cell === null ? "auto" : `${short(state.cell)} times the suggested size`);
    find("slots").value = Math.round(Math.log(state.slots ?? 10) / Math.log(SLOT_STEP));
    find("slots-auto").checked = state.slots === null;
    find("slots-text").value = state.slots === null ? "auto" : `${short(state.slots)} per body`;
    find("slots").setAttribute("aria-valuetext", `${short(state.slots ?? 10)} slots per body`);
  }

  /** Say what is not drawn because there is too much of it. */
  showLimits(scene) {
    const left = [];
    if (!scene.traced) left.push(`every test (up to ${whole(scene.most_traced)} bodies)`);
    if (!scene.structured) left.push("cells, strips, boxes and orders (up to 5,000)");
    this.find("limits").textContent = left.length ? `Too many bodies to draw ${left.join(" and ")}; they are still counted.` : "";
  }
}
