// Line charts on a canvas: running ones, and ones with logarithmic axes.

import { canvasFont, colour, sharp, short, styleOf, whole } from "./palette.js";

const [FAINT, BAND] = [0.3, 0.14]; // how dark a line beyond the chosen count is, and what lies between two lines
const MARGIN = { left: 62, right: 12, top: 10, bottom: 26 };

/** A ceiling just above a value: 1, 2 or 5 times a power of ten. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find((factor) => factor * power >= value) * power;
}

/** A high quantile of the values: a rare spike must not flatten everything else. */
function highest(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (!sorted.length) return 0;
  const usual = sorted[Math.floor((sorted.length - 1) * 0.98)];
  const most = sorted[sorted.length - 1];
  return most > 2 * usual && usual > 0 ? usual : most;
}

class Plot {
  constructor(canvas) {
    this.canvas = canvas;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    this.context = sharp(canvas, this.width, this.height);
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.font = canvasFont(0.95);
  }

  x(share) {
    return MARGIN.left + share * (this.width - MARGIN.left - MARGIN.right);
  }

  y(share) {
    return this.height - MARGIN.bottom - share * (this.height - MARGIN.top - MARGIN.bottom);
  }

  /** A line across with its number, if it has one. */
  across(share, text) {
    const { context } = this;
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.x(0), Math.round(this.y(share)) + 0.5);
    context.lineTo(this.x(1), Math.round(this.y(share)) + 0.5);
    context.stroke();
    context.fillStyle = colour("soft");
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(text, MARGIN.left - 6, this.y(share));
  }

  below(share, text, align = "center") {
    this.context.fillStyle = colour("soft");
    this.context.textAlign = align;
    this.context.textBaseline = "top";
    this.context.fillText(text, this.x(share), this.height - MARGIN.bottom + 6);
  }

  /** A line through points `[x, y]`, in shares of the axes; a missing value interrupts it. */
  line(points, name, dots = false, opacity = 1) {
    const { context } = this;
    const style = styleOf(name);
    context.save();
    context.globalAlpha = opacity;
    context.strokeStyle = context.fillStyle = colour(style.colour);
    context.lineWidth = style.width;
    context.lineJoin = "round";
    context.setLineDash(style.dash);
    context.beginPath();
    let pen = false;
    for (const [x, y] of points) {
      // Values above the scale are drawn at its edge.
      const at = Math.min(y, 1.02);
      if (Number.isFinite(y)) {
        if (pen) context.lineTo(this.x(x), this.y(at));
        else context.moveTo(this.x(x), this.y(at));
      }
      pen = Number.isFinite(y);
    }
    context.stroke();
    if (dots) {
      for (const [x, y] of points) {
        context.beginPath();
        context.arc(this.x(x), this.y(y), 3, 0, 2 * Math.PI);
        context.fill();
      }
    }
    context.restore();
  }

  /** The area between two lines through points `[x, y, upper y]`. */
  band(points, name) {
    const { context } = this;
    context.save();
    context.fillStyle = colour(styleOf(name).colour);
    context.globalAlpha = BAND;
    context.beginPath();
    for (const [x, y] of points) context.lineTo(this.x(x), this.y(y));
    for (const [x, , upper] of points.toReversed()) context.lineTo(this.x(x), this.y(Math.min(upper, 1.02)));
    context.fill();
    context.restore();
  }

  /** A line from bottom to top. */
  upright(share) {
    const { context } = this;
    context.save();
    context.strokeStyle = colour("field-line");
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(this.x(share), this.y(0));
    context.lineTo(this.x(share), this.y(1));
    context.stroke();
    context.restore();
  }

  empty(text) {
    this.context.fillStyle = colour("soft");
    this.context.textAlign = "center";
    this.context.textBaseline = "middle";
    this.context.fillText(text, this.width / 2, this.height / 2);
  }
}

/** The last values of some series. */
export class Running {
  #series = [];
  #ceiling = 0;

  constructor(canvas, length = 240) {
    this.canvas = canvas;
    this.length = length;
  }

  clear(count) {
    this.#series = Array.from({ length: count }, () => []);
    this.#ceiling = 0;
  }

  push(values) {
    values.forEach((value, k) => {
      const series = this.#series[k];
      series?.push(value);
      if (series?.length > this.length) series.shift();
    });
  }

  /** `names`: the name of each series. */
  draw(names) {
    const plot = new Plot(this.canvas);
    const most = highest(this.#series.flat());
    if (!(most > 0)) {
      plot.empty(this.#series[0]?.length ? "nothing to count so far" : "waiting for the first frame");
      return;
    }
    // The maximum shrinks only when it is far too large, so that the chart does not jump.
    const wanted = ceiling(most * 1.05);
    if (wanted > this.#ceiling || wanted * 2.5 < this.#ceiling) this.#ceiling = wanted;
    for (const share of [0, 0.5, 1]) plot.across(share, short(share * this.#ceiling));
    plot.below(0, `${this.length} frames ago`, "left");
    plot.below(1, "now", "right");
    this.#series.forEach((series, k) => {
      const behind = this.length - series.length;
      plot.line(series.map((value, at) => [(behind + at) / (this.length - 1), value / this.#ceiling]), names[k]);
    });
  }
}

/** `{method, points: {count, value, upper}}` on logarithmic axes; up to `upper`, where there is one, lies a band.
 * With `now`, lines are faint beyond that count. */
export function drawGrowth(canvas, series, unit, now = Infinity) {
  const plot = new Plot(canvas);
  const all = series.flatMap((one) => one.points).filter((point) => point.value > 0);
  if (!all.length) {
    plot.empty("nothing measured yet");
    return;
  }
  const range = (values) => [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)) + 1e-9)];
  const [left, right] = range(all.map((point) => point.count));
  let [bottom, top] = range(all.map((point) => point.value));
  if (top === bottom) top += 1;
  const every = Math.ceil((top - bottom) / 6);
  for (let power = bottom; power <= top; power++) {
    plot.across((power - bottom) / (top - bottom), (power - bottom) % every ? "" : `${short(10 ** power)}${unit}`);
  }
  for (let power = left; power <= right; power++) {
    plot.below((power - left) / (right - left), short(10 ** power), power === left ? "left" : power === right ? "right" : "center");
  }
  const across = (count) => (Math.log10(count) - left) / (right - left);
  const up = (value) => (Math.log10(value) - bottom) / (top - bottom);
  if (Number.isFinite(now)) plot.upright(across(now));
  for (const one of series) {
    const points = one.points.filter((point) => point.value > 0);
    const shares = points.map(({ count, value, upper }) => [across(count), up(value), up(upper)]);
    const reached = shares.slice(0, points.filter(({ count }) => count <= now).length);
    if (points.some(({ upper }) => upper)) plot.band(shares, one.method);
    if (reached.length < shares.length) plot.line(shares, one.method, false, FAINT);
    plot.line(reached, one.method, true);
  }
}

const WORK = { inset: 8, row: 40, head: 17 }; // pixels; the inset is that of a slider's thumb
const KINDS = [["tests", 2, "test"], ["overlaps", 1, "hit"], ["bodies", 0, "body"]];

/** The work of each frame of a recording, one row for tests, overlaps and bodies each, to its own scale.  A column is as
 * high as the frame with the most in it, so that no frame is hidden.  `counts[k]` is `[bodies, overlaps, tests]`. */
export function drawTimeline(canvas, counts, frames, now) {
  const height = KINDS.length * WORK.row;
  canvas.style.height = `${height}px`;
  const width = canvas.clientWidth;
  const context = sharp(canvas, width, height);
  context.clearRect(0, 0, width, height);
  const wide = (width - 2 * WORK.inset) / Math.max(frames - 1, 1);
  const at = (frame) => WORK.inset + frame * wide;
  context.fillStyle = colour("ink");
  context.fillRect(at(now) - 1, 0, 2, height);
  KINDS.forEach(([name, column, shade], row) => {
    const most = counts.reduce((highest, one) => Math.max(highest, one[column]), 0);
    const floor = (row + 1) * WORK.row - 1;
    context.fillStyle = colour("line");
    context.fillRect(WORK.inset, floor, width - 2 * WORK.inset, 1);
    context.fillStyle = colour(shade);
    const columns = new Float64Array(Math.ceil(width) + 1);
    counts.forEach((one, frame) => {
      const x = Math.floor(at(frame));
      columns[x] = Math.max(columns[x], one[column] / Math.max(most, 1));
    });
    const thick = Math.max(Math.floor(wide), 2);
    columns.forEach((share, x) => context.fillRect(x - Math.floor(thick / 2), floor, thick, -share * (WORK.row - WORK.head)));
    context.font = canvasFont(0.95);
    context.textBaseline = "top";
    context.textAlign = "left";
    context.fillStyle = colour("soft");
    context.fillText(`${name}, at most ${whole(most)}`, WORK.inset + 5, row * WORK.row + 2);
  });
}

/** The frame at a place of the timeline. */
export const frameAt = (x, width, frames) =>
  Math.min(Math.max(Math.round(((x - WORK.inset) / (width - 2 * WORK.inset)) * (frames - 1)), 0), frames - 1);
