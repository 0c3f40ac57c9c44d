// The frames between the wire and the screen: those that are not drawn yet, and how many have been.

const RATED = 2000; // milliseconds over which drawn frames are counted
const KEPT = 200;

// They come evenly from the engine and unevenly over the wire: of two that come between two pictures, one would never
// be drawn and the picture after next would show nothing new (46 of 60 frames a second were drawn).  So the later one
// waits for the next picture.
const MOST = 2; // of more, the oldest are never drawn: a picture is not older than so many pictures

export class Flow {
  #waiting = [];

  put(frame) {
    this.#waiting.push(frame);
    if (this.#waiting.length > MOST) this.#waiting.shift();
  }

  /** The one that is to be drawn now, if there is a new one. */
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

/** How many frames a second are drawn, which may be fewer than are wished for. */
export class Pace {
  #drawnAt = [];

  mark() {
    this.#drawnAt.push(performance.now());
    if (this.#drawnAt.length > KEPT) this.#drawnAt.shift();
  }

  told(now) {
    const recent = this.#drawnAt.filter((when) => when > now - RATED);
    if (recent.length < 3) return "";
    const rate = ((recent.length - 1) * 1000) / (recent[recent.length - 1] - recent[0]);
    return ` · ${rate < 10 ? rate.toFixed(1) : Math.round(rate)} drawn a second`;
  }
}
