// A picture written pixel by pixel: a canvas without a graphics card takes far longer for thousands of small shapes.
// All lengths are pixels of the picture.  Colours are `packed`, opaque; an opacity is a whole number up to 256.

import { channels, colour } from "./palette.js";

const RIM = 1.5; // pixels
export const ALL = 256; // the opacity that hides what lies below

export class Picture {
  width = 0;
  height = 0;
  pixels = new Int32Array(0); // signed: half of all colours would be numbers that are slow to hand on
  #content = null;
  #below = null;

  /** Empty, and as large as a canvas; `below(context)` may draw what it begins with, as on that canvas. */
  begin(context, shade, below) {
    const { width, height } = context.canvas;
    if (below) {
      this.#take(this.#drawn(context, context.getTransform(), below));
    } else {
      if (this.width !== width || this.height !== height || !this.#content) this.#take(new ImageData(width, height));
      this.pixels.fill(shade);
    }
  }

  #take(content) {
    this.#content = content;
    this.width = content.width;
    this.height = content.height;
    this.pixels = new Int32Array(content.data.buffer);
  }

  #drawn({ canvas }, transform, below) {
    this.#below ??= document.createElement("canvas").getContext("2d", { alpha: false, willReadFrequently: true });
    const context = this.#below;
    [context.canvas.width, context.canvas.height] = [canvas.width, canvas.height];
    context.fillStyle = colour("stage");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(transform);
    below(context);
    return context.getImageData(0, 0, canvas.width, canvas.height);
  }

  /** Puts it in place of what a canvas of the same size shows. */
  show(context) {
    context.putImageData(this.#content, 0, 0);
  }

  /** Lays another picture over it that began with nothing. */
  lay({ pixels: above }) {
    const { pixels } = this;
    for (let at = 0; at < above.length; at++) {
      const own = above[at];
      if (own) pixels[at] = own >>> 24 === 255 ? own : mixed(pixels[at], own, own >>> 24);
    }
  }

  /** A disc or a rectangle and its edge, never less than a pixel. */
  body(x, y, wide, high, round, edge, inside) {
    const { pixels, width } = this;
    const hollow = Math.min(wide, high) > 2.5;
    const tall = high - RIM;
    const top = Math.max(Math.floor(y - high + 0.5), 0);
    const bottom = Math.min(Math.max(Math.floor(y + high + 0.5), top + 1), this.height);
    const from = hollow ? Math.floor(y - tall + 0.5) : bottom;
    const to = hollow ? Math.floor(y + tall + 0.5) : bottom;
    const curved = round && high > 1;
    for (let row = top; row < bottom; row++) {
      const up = row + 0.5 - y;
      const reach = curved ? wide * half(up / high) : wide;
      const left = Math.max(Math.floor(x - reach + 0.5), 0);
      const right = Math.min(Math.max(Math.floor(x + reach + 0.5), left + 1), width);
      let at = row * width + left;
      const end = row * width + right;
      if (row >= from && row < to) {
        const core = round ? (wide - RIM) * half(up / tall) : wide - RIM;
        const begin = row * width + Math.max(Math.floor(x - core + 0.5), left);
        const stop = Math.min(row * width + Math.floor(x + core + 0.5), end);
        while (at < begin) pixels[at++] = edge;
        while (at < stop) pixels[at++] = inside;
      }
      while (at < end) pixels[at++] = edge;
    }
  }

  /** A rectangle that may let through what lies below, its edges as soft as a canvas draws them. */
  veil(x, y, u, v, shade, opacity) {
    const { pixels } = this;
    const left = Math.max(x, 0);
    const top = Math.max(y, 0);
    const right = Math.min(u, this.width);
    const bottom = Math.min(v, this.height);
    const first = Math.floor(left);
    const last = Math.ceil(right) - 1;
    if (last < first) return;
    const begin = Math.min(first + 1, right) - left;
    const end = right - last;
    for (let row = Math.floor(top); row < bottom; row++) {
      const share = opacity * (Math.min(row + 1, bottom) - Math.max(row, top));
      const start = row * this.width;
      const full = Math.round(share);
      pixels[start + first] = mixed(pixels[start + first], shade, Math.round(share * begin));
      if (last > first) pixels[start + last] = mixed(pixels[start + last], shade, Math.round(share * end));
      const stop = start + last;
      // Written one by one: so few pixels are written before `fill` has begun.
      if (full === ALL) for (let at = start + first + 1; at < stop; at++) pixels[at] = shade;
      else for (let at = start + first + 1; at < stop; at++) pixels[at] = mixed(pixels[at], shade, full);
    }
  }

  /** A line as wide as a pixel. */
  tolerance(x, y, u, v, shade, opacity) {
    if (Math.abs(v - y) > Math.abs(u - x)) this.#along(y, x, v, u, this.width, 1, this.height, this.width, shade, opacity);
    else this.#along(x, y, u, v, 1, this.width, this.width, this.height, shade, opacity);
  }

  /** Steps along the axis on which the line is longer; at each it lies on two pixels of the other one. */
  #along(x, y, u, v, step, side, far, most, shade, opacity) {
    const { pixels } = this;
    const slope = (v - y) / (u - x);
    const begin = Math.max(Math.ceil(Math.min(x, u) - 0.5), 0);
    const end = Math.min(Math.ceil(Math.max(x, u) - 0.5), far);
    let middle = y + (begin + 0.5 - x) * slope - 0.5;
    for (let at = begin; at < end; at++, middle += slope) {
      const low = Math.floor(middle);
      const lower = Math.round(opacity * (middle - low));
      const place = at * step + low * side;
      if (low >= 0 && low < most) pixels[place] = mixed(pixels[place], shade, opacity - lower);
      if (low >= -1 && low < most - 1) pixels[place + side] = mixed(pixels[place + side], shade, lower);
    }
  }

  /** A line of any width, dashed where `dash` is no 0; where there was nothing, its edges let something through. */
  line(x, y, u, v, thick, dash, shade, opacity) {
    const far = Math.hypot(u - x, v - y);
    if (!far) return;
    const { pixels, width } = this;
    const steep = Math.abs(v - y) > Math.abs(u - x);
    const along = (u - x) / far;
    const across = (v - y) / far;
    // From column to column, where it is steep from row to row: there it is so wide, and a little wider.
    const begin = steep ? y : x;
    const from = steep ? x : y;
    const slope = steep ? along / across : across / along;
    const wide = (thick / 2 + 0.75) / Math.abs(steep ? across : along);
    const low = Math.max(Math.floor(Math.min(begin, steep ? v : u) - thick / 2), 0);
    const high = Math.min(Math.ceil(Math.max(begin, steep ? v : u) + thick / 2), steep ? this.height : width);
    const most = steep ? width : this.height;
    for (let major = low; major < high; major++) {
      const middle = from + (major + 0.5 - begin) * slope;
      const stop = Math.min(Math.ceil(middle + wide), most);
      for (let minor = Math.max(Math.floor(middle - wide), 0); minor < stop; minor++) {
        const dx = (steep ? minor : major) + 0.5 - x;
        const dy = (steep ? major : minor) + 0.5 - y;
        const covered = share(thick / 2 - Math.abs(dy * along - dx * across)) * drawn(dx * along + dy * across, far, dash);
        const at = steep ? major * width + minor : minor * width + major;
        if (covered) pixels[at] = laid(pixels[at], shade, Math.round(opacity * covered));
      }
    }
  }
}

/** Half the width of a circle of radius 1. */
const half = (up) => Math.sqrt(Math.max(1 - up * up, 0));

/** How much of a pixel lies within an edge that is so far away. */
const share = (inside) => Math.min(Math.max(inside + 0.5, 0), 1);

/** How much of a pixel lies between the ends of a line, and on one of its dashes. */
function drawn(at, far, dash) {
  const within = share(Math.min(at, far - at));
  if (!dash) return within;
  const turn = at - Math.floor(at / (2 * dash)) * 2 * dash;
  return within * share(Math.max(Math.min(turn, dash - turn), turn - 2 * dash));
}

const RED_BLUE = 0xff00ff;
const GREEN = 0xff00;
const OPAQUE = 255 << 24;

/** One colour through another: red and blue in one multiplication. */
export function mixed(below, above, opacity) {
  const rest = 256 - opacity;
  const sides = (Math.imul(below & RED_BLUE, rest) + Math.imul(above & RED_BLUE, opacity)) >>> 8;
  const green = (Math.imul(below & GREEN, rest) + Math.imul(above & GREEN, opacity)) >>> 8;
  return (sides & RED_BLUE) | (green & GREEN) | OPAQUE;
}

/** The same, also on what lets something through itself: then more of what hides more remains. */
function laid(below, above, opacity) {
  if (below >>> 24 === 255) return mixed(below, above, opacity);
  return opacity > below >>> 24 ? (above & ~OPAQUE) | (Math.min(opacity, 255) << 24) : below;
}

/** A colour as a pixel has it. */
export function packed(name) {
  const [red, green, blue] = channels(name);
  return (blue << 16) | (green << 8) | red | OPAQUE;
}
