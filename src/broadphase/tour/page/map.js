// The map of who wins: which method answers a frame fastest, and what the default takes, as measured by
// benchmarks/who_wins.py (map.json).
//
// Rows are numbers of boxes, columns the share that moves; what the frame asks for, the spread of sizes and the
// layout are chosen above.  The chosen cell shows all indexes and one line of Python.

import { make } from "./palette.js";

const SAME = 1.1; // times the best: nobody would notice the difference

const WORDS = {
  ask: { title: "Every frame asks for", pairs: "all pairs", changes: "what changed", queries: "100 queries" },
  spread: { title: "Sizes", 1: "all the same", 10: "up to 10 ×", 1000: "up to 1,000 ×" },
  layout: { title: "Layout", uniform: "spread evenly", clumped: "ten crowds", line: "one line" },
};
const ANSWERS = {
  pairs: "pairs = index.pairs()  # rows of two ids",
  changes: "began, stayed, ended = index.changes()",
  queries: "found = index.query_box(queries)  # rows (query, id)",
};

/** A program with an index, whole but for the reader's arrays. */
export function programWith(index, { ask, share }) {
  return [
    "import broadphase as bp", "",
    `index = bp.${index}()`,
    "ids = index.insert_many(boxes)  # rows [min_x, min_y, max_x, max_y]",
    "# In each frame:",
    ...(share ? [share === 1 ? "index.update(boxes)" : "index.move_many(ids[moved], boxes[moved])  # which rows have moved"] : []),
    ANSWERS[ask],
  ].join("\n");
}

export const REASONS = {
  auto: {
    pairs: "It returns the last pairs, asks its tree or sweeps strips, whichever is quickest here.",
    changes: "It asks its tree or finds all pairs again by strips, whichever is quickest here.",
    queries: "A query visits only the nodes of its tree that it overlaps.",
  },
  brute_force: "So few boxes are compared with each other before anything could be sorted.",
  sort_and_sweep: "Few boxes share a place on the axis, and only what has moved is put back in order.",
  sweep_and_prune: "It keeps the pairs, and its cost follows the edges that pass each other: few do here.",
  uniform_grid: "Arithmetic finds the cells of a box, so that entering all of them again in each frame costs little.",
  spatial_hash: "Arithmetic finds the slots of a box, wherever it is, and empty space costs nothing.",
  box_tree: {
    pairs: "A move within a margin changes nothing in the tree.",
    changes: "A move within a margin changes nothing in the tree, and only what moved is searched again.",
    queries: "A query visits only the nodes that it overlaps, and a move within a margin changes none.",
  },
  strips: {
    pairs: "It bins all boxes again in every frame and compares sixteen at once, so it does not matter how many move.",
    changes: "So much moves that finding all pairs again is faster than following the changes.",
    queries: "Its tree answers queries; few moves leave the tree as it is.",
  },
};

const shareWords = (share) => (share === 0 ? "nothing moves" : share === 1 ? "all move" : `${share * 100} % move`);
const numberWords = (n) => n.toLocaleString("en");
export const timesWords = (times, most = 20) => (times === null ? `more than ${Math.floor(most)} ×` : `${times < 10 ? times.toFixed(1) : Math.round(times)} ×`);

/** How a time compares with another, in words that a name follows; both are times the best. */
export function comparedWords(times, other) {
  if (times === null || other === null) return times === null ? "far longer than" : "far less time than";
  const percent = Math.round(100 * Math.abs(times / other - 1));
  if (percent < 1) return "as long as";
  if (times > 2 * other) return `${timesWords(times / other)} the time of`;
  return `${percent} % ${times > other ? "longer" : "less time"} than`;
}

/** The colour of a method; of an index that has none, that of "auto". */
const shadeOf = (method) => `var(--method-${method}, var(--method-auto))`;

export const timeWords = (ms) => (ms < 0.1 ? `${Number((1e3 * ms).toPrecision(2))} µs` : ms < 1e3 ? `${Number(ms.toPrecision(2))} ms` : `${Number((ms / 1e3).toPrecision(2))} s`);

/** The cells of the data, found by the value on each axis. */
class Data {
  constructor({ axes, methods, auto, classes, cells }) {
    Object.assign(this, { axes, methods, auto, classes, cells });
  }

  /** All indexes in a state, the fastest first: the name and how many times the best, null if more than 20.
      None if the state was not measured. */
  ranked(state) {
    const at = Object.entries(this.axes).reduce((sum, [axis, values]) => sum * values.length + values.indexOf(state[axis]), 0);
    if (!this.cells[at]) return { ms: null, ranked: [] };
    const [ms, ...times] = this.cells[at];
    const ranked = this.methods.map((method, k) => ({ method, times: times[k] }));
    ranked.sort((a, b) => (a.times ?? Infinity) - (b.times ?? Infinity));
    return { ms, ranked };
  }

  /** The default, how many times the best it takes, and the single methods, the fastest first. */
  split(state) {
    const { ranked } = this.ranked(state);
    return { ofDefault: ranked.find(({ method }) => method === this.auto), singles: ranked.filter(({ method }) => method !== this.auto) };
  }
}

/** Sentences about a state that was measured, and the Python for it. */
function advice(data, state) {
  const { ms } = data.ranked(state);
  const { ofDefault, singles: [best, ...others] } = data.split(state);
  const equal = others.filter(({ times }) => times !== null && times <= SAME * best.times).map(({ method }) => data.classes[method]);
  const rests = state.share === 0 && state.ask !== "queries";
  const reason = rests ? "Nothing has moved, so what the last frame found is returned." : (REASONS[best.method]?.[state.ask] ?? REASONS[best.method]);
  return {
    best,
    sentence: `${reason ? `${reason} ` : ""}A frame takes ${timeWords(ms * best.times)}${equal.length ? `; ${equal.join(" and ")} ${equal.length > 1 ? "are" : "is"} as fast within 10 %` : ""}.`,
    auto: `The default, bp.make_index(), makes an ${data.classes[data.auto]}${ofDefault ? `, which takes ${comparedWords(ofDefault.times, best.times)} ${data.classes[best.method]}` : "; it was not measured"}.`,
    code: programWith(data.classes[best.method], state),
  };
}

class WinnerMap {
  constructor(element, data, start) {
    this.data = data;
    this.state = { ask: "pairs", n: 10_000, share: 0.1, spread: 1, layout: "uniform", ...start };
    this.rows = make("div", { className: "map-choices" }, ...Object.keys(WORDS).map((axis) => this.#choice(axis)));
    this.table = make("table", { className: "map-cells" });
    this.detail = make("div", { className: "map-detail" });
    element.classList.add("who-wins");
    element.replaceChildren(this.rows, make("div", { className: "map-body" }, this.#wrapped(), this.detail));
    this.#fill();
    this.draw();
  }

  #wrapped() {
    const note = make("p", { className: "map-note" }, "Each cell names the fastest single method, and how many times as long the default takes, which is made of several. Measured with about two pairs per box; moving boxes move by a tenth of their size.");
    return make("div", {}, this.table, note);
  }

  #choice(axis) {
    const { title, ...words } = WORDS[axis];
    const options = this.data.axes[axis].map((value) => {
      const input = make("input", { type: "radio", name: `map-${axis}`, value, checked: this.state[axis] === value });
      input.addEventListener("change", () => this.choose({ [axis]: value }));
      return make("label", {}, input, make("span", {}, words[value]));
    });
    return make("fieldset", {}, make("legend", {}, title), ...options);
  }

  #fill() {
    const { n: numbers, share: shares } = this.data.axes;
    this.table.append(make("caption", { className: "visually-hidden" }, "The fastest single method by number of boxes and share that moves"));
    const head = make("tr", {}, make("th", { scope: "col" }, "Boxes"), ...shares.map((share) => make("th", { scope: "col" }, shareWords(share))));
    this.table.append(make("thead", {}, head));
    this.buttons = [];
    const rows = numbers.map((n, row) => make("tr", {}, make("th", { scope: "row" }, numberWords(n)), ...shares.map((share, column) => {
      const button = make("button", { type: "button" });
      Object.assign(button.dataset, { n, share });
      const choose = () => this.choose({ n, share });
      for (const event of ["click", "focus", "pointerenter"]) button.addEventListener(event, choose);
      button.addEventListener("keydown", (event) => this.#key(event, row, column));
      this.buttons.push(button);
      return make("td", {}, button);
    })));
    this.table.append(make("tbody", {}, ...rows));
  }

  #key(event, row, column) {
    const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
    if (down === undefined) return;
    event.preventDefault();
    const columns = this.data.axes.share.length;
    const next = this.buttons[(row + down) * columns + column + right];
    if (column + right >= 0 && column + right < columns) next?.focus();
  }

  choose(change) {
    Object.assign(this.state, change);
    for (const input of this.rows.querySelectorAll("input")) input.checked = input.value === String(this.state[input.name.slice("map-".length)]);
    this.draw();
    this.changed?.();
  }

  /** Call a function whenever another state is chosen. */
  listen(changed) {
    this.changed = changed;
  }

  draw() {
    for (const button of this.buttons) this.#drawCell(button);
    const { state, data } = this;
    const { ranked } = data.ranked(state);
    const where = `${numberWords(state.n)} boxes, ${shareWords(state.share)}`;
    if (!ranked.length) {
      this.detail.replaceChildren(make("h3", {}, `${where}: not measured`));
      return;
    }
    const { best, sentence, auto, code } = advice(data, state);
    const bars = ranked.map(({ method, times: ofBest }) => {
      const times = ofBest && ofBest / best.times;
      const bar = make("span", { className: times === null ? "bar over" : "bar" });
      bar.style.inlineSize = `${(100 * (times ?? 20)) / 20}%`;
      bar.style.setProperty("--own", shadeOf(method));
      const name = make("span", { className: "name" }, data.classes[method]);
      const row = make("li", {}, name, make("span", { className: "track" }, bar), make("span", { className: "times" }, timesWords(times, 20 / best.times)));
      row.dataset.method = method;
      return row;
    });
    this.detail.replaceChildren(
      make("h3", {}, `${where}: ${data.classes[best.method]}`),
      make("p", { className: "sentence" }, sentence),
      make("pre", { tabIndex: 0 }, make("code", {}, code)),
      make("p", { className: "map-note" }, `Time of a frame, times that of ${data.classes[best.method]}:`),
      make("ol", { className: "bars" }, ...bars),
      make("p", { className: "map-note" }, auto),
    );
  }

  #drawCell(button) {
    const state = { ...this.state, n: Number(button.dataset.n), share: Number(button.dataset.share) };
    const isChosen = state.n === this.state.n && state.share === this.state.share;
    const { ofDefault, singles: [best] } = this.data.split(state);
    button.setAttribute("aria-pressed", isChosen);
    button.tabIndex = isChosen ? 0 : -1;
    if (!best) {
      delete button.dataset.winner;
      button.style.removeProperty("--own");
      button.replaceChildren(make("small", {}, "not measured"));
      return;
    }
    button.dataset.winner = best.method;
    button.style.setProperty("--own", shadeOf(best.method));
    const words = this.data.classes[best.method].split(/(?=[A-Z])/).flatMap((word) => [word, make("wbr")]);
    button.replaceChildren(make("strong", {}, ...words), " ", make("small", {}, ofDefault ? `default ${timesWords(ofDefault.times && ofDefault.times / best.times).replace(/^1\.0 ×$/, "equal").replaceAll(" ", "\u00a0")}` : ""));
  }
}

const here = (name) => new URL(name, import.meta.url);

/** Show the map in an element; `start` are values of its axes to begin with. */
export async function mountMap(element, start = {}) {
  const styled = new Promise((done, fail) => {
    document.head.append(make("link", { rel: "stylesheet", href: here("map.css"), onload: done, onerror: fail }));
  });
  const [answer] = await Promise.all([fetch(here("map.json")), styled]);
  if (!answer.ok) throw new Error(`map.json could not be loaded (${answer.status})`);
  const map = new WinnerMap(element, new Data(await answer.json()), start);
  element.map = map; // for tests and the console
  return map;
}
