// What the page shows, and the URL that restores it.

const DEFAULTS = {
  scene: "balls",
  count: 120,
  seed: 1,
  methods: ["brute_force", "sort_and_sweep"],
  cell: null, // cell size in units of the suggested one; null: the index chooses
  slots: null, // slots of the hash table per body; null: ten
  strips: undefined, // how many; null: the engine chooses; undefined: several, so that the picture shows some
  rate: 60,
  tests: true,
  structure: true,
  playing: true,
  file: "",
};

const STRIPS = 8; // by default
const MOST_CUT = 5000; // bodies; with more, the default is what the engine chooses
const calm = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;

/** The number of strips; null: the engine chooses. */
export const stripsOf = (state) => (state.strips === undefined ? (state.count > MOST_CUT || state.file ? null : STRIPS) : state.strips);

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function numberFrom(text, low, high, otherwise) {
  const value = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(value) ? clamp(value, low, high) : otherwise;
}

function stripsFrom(text) {
  const value = numberFrom(text, 1, 64, undefined);
  return value === undefined ? undefined : Math.round(value);
}

/** The state of a query string; wrong values are ignored. */
export function fromQuery(query, hello) {
  const asked = new URLSearchParams(query);
  const scenes = [...hello.scenes.map((scene) => scene.name), hello.file];
  const methods = (asked.get("methods") ?? "").split(",").filter((name) => hello.methods.includes(name));
  const show = asked.get("show");
  return {
    scene: scenes.includes(asked.get("scene")) ? asked.get("scene") : DEFAULTS.scene,
    count: Math.round(numberFrom(asked.get("n"), hello.fewest, hello.most, DEFAULTS.count)),
    seed: Math.round(numberFrom(asked.get("seed"), 0, 2147483647, DEFAULTS.seed)),
    methods: methods.length ? methods.slice(0, hello.lanes) : [...DEFAULTS.methods],
    cell: numberFrom(asked.get("cell"), 1 / 64, 64, null),
    slots: numberFrom(asked.get("slots"), 0.05, 50, null),
    strips: asked.get("strips") === "auto" ? null : stripsFrom(asked.get("strips")),
    rate: numberFrom(asked.get("fps"), 0.2, 60, DEFAULTS.rate),
    tests: show === null || show.includes("tests"),
    structure: show === null || show.includes("structure"),
    // If the system asks for reduced motion, the scene starts paused.
    playing: asked.get("play") === "1" || (asked.get("play") !== "0" && !calm),
    file: (asked.get("file") ?? "").slice(0, 64),
  };
}

export function toQuery(state) {
  const asked = new URLSearchParams();
  asked.set("scene", state.scene);
  asked.set("n", state.count);
  asked.set("seed", state.seed);
  asked.set("methods", state.methods.join(","));
  if (state.cell !== null) asked.set("cell", Number(state.cell.toPrecision(4)));
  if (state.slots !== null) asked.set("slots", Number(state.slots.toPrecision(4)));
  if (state.strips !== undefined) asked.set("strips", state.strips ?? "auto");
  if (state.rate !== DEFAULTS.rate) asked.set("fps", Number(state.rate.toPrecision(3)));
  const show = [state.tests && "tests", state.structure && "structure"].filter(Boolean);
  if (show.length < 2) asked.set("show", show.join(",") || "none");
  if (!state.playing) asked.set("play", "0");
  if (state.file) asked.set("file", state.file);
  return `?${asked}`.replaceAll("%2C", ",");
}

export const setupOf = (state) => ({
  scene: state.scene,
  count: state.count,
  seed: state.seed,
  methods: state.methods,
  cell_scale: state.cell,
  slots: state.slots,
  strips: stripsOf(state),
  file: state.file,
});
