// The source of the pictures of the tour: the engine, with one request per picture, or a recording.

import { Recording } from "./recording.js";
import { decode } from "./wire.js";

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer;
}

/** The steps and the source of their pictures. */
export async function open() {
  const described = await (await fetched("tour/steps.json")).json();
  return { steps: described.steps, source: described.recorded ? new Recorded(described.steps) : new Live() };
}

/** The engine makes each picture on request; the ball may be anywhere. */
class Live {
  recorded = false;

  async load() {}

  async picture(step, slider, frame, place, timed = false) {
    const asked = new URLSearchParams({ step: step.name, slider, frame });
    if (place) {
      asked.set("x", place[0]);
      asked.set("y", place[1]);
    }
    if (timed) asked.set("timed", 1);
    return decode(await (await fetched(`tour/frame?${asked}`)).arrayBuffer());
  }

  /** The place of the ball after a key press. */
  beside(step, slider, place, by) {
    return [place[0] + by[0], place[1] + by[1]];
  }
}

/** One file per step has every picture for its slider, its frames and the recorded places. */
class Recorded {
  recorded = true;
  #files = new Map();
  #places = new Map();

  constructor(steps) {
    for (const step of steps) this.#files.set(step.name, null);
  }

  /** Fetches a step once; its pictures are then in memory. */
  async load(step) {
    if (!this.#files.get(step.name)) {
      this.#files.set(step.name, fetched(`tour/${step.name}.bin`).then(async (answer) => new Recording(await answer.arrayBuffer())));
    }
    return this.#files.get(step.name);
  }

  async picture(step, slider, frame, place) {
    const recording = await this.load(step);
    const places = this.places(step, slider);
    const at = closest(places, place ?? step.sizes[slider].map((side) => side / 2));
    return recording.picture((slider * step.frames + frame) * places.length + at);
  }

  /** All recorded places of the ball, row by row. */
  places(step, slider) {
    const key = `${step.name} ${slider}`;
    if (!this.#places.has(key)) this.#places.set(key, placesOf(step, slider));
    return this.#places.get(key);
  }

  /** The next recorded place in that direction. */
  beside(step, slider, place, by) {
    const [columns, rows] = step.places;
    const places = this.places(step, slider);
    const at = closest(places, place);
    const column = Math.min(Math.max((at % columns) + Math.sign(by[0]), 0), columns - 1);
    const row = Math.min(Math.max(Math.floor(at / columns) + Math.sign(by[1]), 0), rows - 1);
    return places[row * columns + column];
  }
}

function placesOf(step, slider) {
  const [columns, rows] = step.places;
  const [width, height] = step.sizes[slider];
  const at = (k, count, side) => step.edge + (k * (side - 2 * step.edge)) / (count - 1);
  return Array.from({ length: columns * rows }, (_, k) => [at(k % columns, columns, width), at(Math.floor(k / columns), rows, height)]);
}

function closest(places, [x, y]) {
  let best = 0;
  let least = Infinity;
  places.forEach(([u, v], number) => {
    const far = (u - x) ** 2 + (v - y) ** 2;
    if (far < least) {
      least = far;
      best = number;
    }
  });
  return best;
}
