// A line chart on a canvas, with logarithmic axes.

import { canvasFont, colour, sharp, short, styleOf } from "./palette.js";

const [FAINT, BAND] = [0.3, 0.14]; // how dark a line beyond the chosen count is, and what lies between two lines
const MARGIN = { left: 62, right: 12, top: 10, bottom: 26 };

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
    for (const [x, , upper] of [...points].reverse()) context.lineTo(this.x(x), this.y(Math.min(upper, 1.02)));
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
