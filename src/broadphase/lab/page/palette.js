// Colours come from the style sheet, so that light and dark are said in one place; and numbers for people.

let colours = null;

export function forget() {
  colours = null;
}

export function colour(name) {
  colours ??= new Map();
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

/** Red, green and blue of a `#rrggbb` colour. */
export function channels(name) {
  const value = Number.parseInt(colour(name).slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

// Lines differ in their dashes too, so that nothing hangs on colour alone.
export const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 4], [12, 4], [1, 4], [6, 2, 1, 2, 1, 2]];

export const named = (method) => method.replaceAll("_", " ");

export function whole(value) {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en") : "–";
}

export const several = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

export function short(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toPrecision(3)} G`;
  if (size >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  if (size >= 1e4) return `${Math.round(value / 1e3)} k`;
  if (size >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(size < 10 ? 2 : 3)));
}

export function milliseconds(seconds) {
  const value = seconds * 1e3;
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** A canvas as sharp as the screen: its context, and its size in CSS pixels. */
export function sharp(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const wide = Math.round(width * ratio);
  const high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
