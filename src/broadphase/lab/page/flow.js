// The frames that have arrived and are not drawn yet, and the rate at which frames are drawn.

const RATED = 2000; // milliseconds over which drawn frames are counted
const KEPT = 200;

// The engine sends frames evenly, but they arrive unevenly.  If two arrive between two pictures, one would never be
// drawn and a later picture would show nothing new (46 of 60 frames per second were drawn).  So the later one waits
// for the next picture.
const MOST = 2; // if more wait, the oldest are dropped, which limits the delay

export class Flow {
  #waiting = [];

  put(frame) {
    this.#waiting.push(frame);
    if (this.#waiting.length > MOST) this.#waiting.shift();
  }

  /** The frame to draw now, if there is a new one. */
  next() {
    return this.#waiting.shift();
  }

  get more() {
    return this.#waiting.length > 0;
  }

  clear() {
    this.#waiting.length = 0;
  }
}

/** How many frames per second are drawn, which may be fewer than requested. */
export class Pace {
  #drawnAt = [];

  mark() {
    this.#drawnAt.push(performance.now());
    if (this.#drawnAt.length > KEPT) this.#drawnAt.shift();
  }

  text(now) {
    const recent = this.#drawnAt.filter((when) => when > now - RATED);
    if (recent.length < 3) return "";
    const rate = ((recent.length - 1) * 1000) / (recent[recent.length - 1] - recent[0]);
    return ` · ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} drawn per second`;
  }
}
