// Colours come from the style sheet, so that light and dark are said in one place; numbers for people; and elements.

let colours = null;

export function forget() {
  colours = null;
  size = null;
}

export function colour(name) {
  colours ??= new Map();
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

// Lines differ in their dashes too, so that nothing hangs on colour alone.
const DASHES = {
  brute_force: [], sort_and_sweep: [9, 4], sweep_and_prune: [2, 3], uniform_grid: [12, 3, 2, 3],
  spatial_hash: [5, 4], box_tree: [14, 4], strips: [], auto: [1, 4], overlaps: [],
};

/** The colour and the dashes of a line: a method has the same ones everywhere. */
export const styleOf = (name) => ({
  // An index that has none of its own is drawn as "auto".
  colour: name === "overlaps" ? "hit" : `method-${name in DASHES ? name : "auto"}`,
  dash: DASHES[name] ?? DASHES.auto,
  width: name === "strips" ? 3 : 2,
});

let size = null;

/** A font for canvases; `factor` 1 is the size of small print on the page. */
export function canvasFont(factor = 1, weight = 400) {
  size ??= Number(colour("canvas-size")) || 13;
  return `${weight} ${size * factor}px ${colour("plain")}`;
}

export const named = (method) => method.replaceAll("_", " ");

// Kept: to make one takes longer than to write a thousand numbers.
const grouped = new Intl.NumberFormat("en");

export function whole(value) {
  return Number.isFinite(value) ? grouped.format(Math.round(value)) : "–";
}

export function short(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(3))} G`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (size >= 1e4) return `${Math.round(value / 1e3)} k`;
  if (size >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(size < 10 ? 2 : 3)));
}

/** A canvas as sharp as the screen: its context, which counts in CSS pixels.  What is `opaque` takes the page less
 * to put on the screen, and hides its background. */
export function sharp(canvas, width, height, opaque = false) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d", { alpha: !opaque });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** An element of the page. */
export function make(tag, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

/** A sample of the line of a method. */
export function sample(name) {
  const { colour, dash, width } = styleOf(name);
  const [drawing, line] = ["svg", "line"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  const set = (element, attributes) => { for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value); };
  set(drawing, { class: "sample", viewBox: "0 0 34 6", "aria-hidden": "true" }); // its name stands beside it
  set(line, { x2: 34, y1: 3, y2: 3, "stroke-width": width, "stroke-dasharray": dash.join(" ") });
  line.style.stroke = `var(--${colour})`;
  drawing.append(line);
  return drawing;
}
