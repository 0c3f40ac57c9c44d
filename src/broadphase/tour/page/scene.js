// The balls of the tour, the same on every visit: spread evenly, and a few touch.
//
// All lengths are multiples of 1/16, so that they are the same numbers in 32 bits.

const [WIDTH, HEIGHT, BALLS, MARGIN] = [480, 300, 24, 6];
const [SMALLEST, LARGEST, HELD, BULLET] = [10, 18, 15, 5];
const SEED = 735;

const rounded = (value) => Math.round(value * 16) / 16;
const between = (value, low, high) => Math.min(Math.max(value, low), high);

/** Random numbers from 0 to 1, the same for the same seed (the generator "mulberry32"). */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` balls in a rectangle that grows with them, so that it is always equally full; fewer than 24 are the first of
 * the 24.  Ball 0 starts in the middle.  The pictures show layout 0. */
export function ballsIn(count, layout = 0) {
  const name = `${count} ${layout}`;
  if (!made.has(name)) made.set(name, makeBalls(count, SEED + 1000 * layout));
  return made.get(name);
}

const made = new Map(); // by count and layout: each is made once

function makeBalls(count, seed) {
  const random = randomNumbers(seed);
  const grown = Math.max(count, BALLS);
  const scale = Math.sqrt(grown / BALLS);
  const [width, height] = [rounded(WIDTH * scale), rounded(HEIGHT * scale)];
  // One ball at a random place in each cell of a raster: no crowds and no pattern.
  const columns = Math.max(1, Math.round(Math.sqrt((grown * width) / height)));
  const rows = Math.ceil(grown / columns);
  const spots = Array.from({ length: columns * rows }, (_, spot) => spot);
  for (let k = spots.length - 1; k > 0; k--) {
    const other = Math.floor(random() * (k + 1));
    [spots[k], spots[other]] = [spots[other], spots[k]];
  }
  const balls = { count, width, height, radii: new Float64Array(count), centers: new Float64Array(2 * count) };
  for (let i = 0; i < count; i++) {
    const radius = i ? rounded(SMALLEST + random() * (LARGEST - SMALLEST)) : HELD;
    const low = radius + MARGIN;
    const x = ((spots[i] % columns) + random()) * (width / columns);
    const y = (Math.floor(spots[i] / columns) + random()) * (height / rows);
    balls.radii[i] = radius;
    balls.centers[2 * i] = i ? rounded(between(x, low, width - low)) : rounded(width / 2);
    balls.centers[2 * i + 1] = i ? rounded(between(y, low, height - low)) : rounded(height / 2);
  }
  return balls;
}

/** The same balls pushed together sideways: `share` 1 leaves them in place, 0 puts them into one column. */
export function squeezed(balls, share) {
  const middle = rounded(balls.width / 2);
  return { ...balls, centers: balls.centers.map((value, at) => (at % 2 ? value : middle + rounded((value - middle) * share))) };
}

/** The same balls, each moved by about `far` in its own direction and reflected by the walls; ball 0 stays. */
export function moved(balls, far) {
  const random = randomNumbers(SEED + 1);
  const { width, height, radii } = balls;
  const centers = balls.centers.slice();
  for (let i = 0; i < balls.count; i++) {
    const [angle, speed] = [2 * Math.PI * random(), i ? 0.5 + random() : 0];
    const low = radii[i] + MARGIN;
    const reflected = (value, side) => {
      const span = side - 2 * low;
      const there = (((value - low) % (2 * span)) + 2 * span) % (2 * span);
      return rounded(low + (there > span ? 2 * span - there : there));
    };
    centers[2 * i] = reflected(centers[2 * i] + far * speed * Math.cos(angle), width);
    centers[2 * i + 1] = reflected(centers[2 * i + 1] + far * speed * Math.sin(angle), height);
  }
  return { ...balls, centers };
}

/** The same balls with some at other places, inside the walls: `[[ball, [x, y]], ...]`. */
export function withBalls(balls, places) {
  const centers = balls.centers.slice();
  for (const [ball, [x, y]] of places) {
    if (ball >= balls.count) continue;
    const radius = balls.radii[ball];
    centers[2 * ball] = rounded(between(x, radius, balls.width - radius));
    centers[2 * ball + 1] = rounded(between(y, radius, balls.height - radius));
  }
  return { ...balls, centers };
}

/** The same balls, of which the first are bullets: small. */
export const withBullets = (balls, bullets) => ({ ...balls, radii: balls.radii.map((radius, ball) => (ball < bullets ? BULLET : radius)) });

/** Four numbers each: left, top, right, bottom. */
export function boxesOf({ count, centers, radii }) {
  const boxes = new Float64Array(4 * count);
  for (let i = 0; i < count; i++) {
    for (const axis of [0, 1]) {
      boxes[4 * i + axis] = centers[2 * i + axis] - radii[i];
      boxes[4 * i + 2 + axis] = centers[2 * i + axis] + radii[i];
    }
  }
  return boxes;
}
