// The page of a recording: frames to step through.  Everything it shows is in the page.
"use strict";

(() => {
  const find = (id) => document.getElementById(id);
  const whole = (value) => Math.round(value).toLocaleString("en");
  const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;
  const median = (values) => {
    const sorted = Float64Array.from(values).sort();
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };

  const data = JSON.parse(find("data").textContent);
  const frameCount = data.bodies.length;
  const methods = Object.keys(data.tests);

  // ---- colours: those of the style sheet, light or dark as the system is

  const system = matchMedia("(prefers-color-scheme: dark)");
  const colours = new Map();
  const colour = (name) => {
    if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    return colours.get(name);
  };
  /** A colour as the bytes of a pixel. */
  const packed = (name) => {
    const value = Number.parseInt(colour(name).slice(1), 16);
    return 0xff000000 | ((value & 255) << 16) | (value & 0xff00) | (value >> 16);
  };
  const applyTheme = () => {
    document.documentElement.dataset.theme = system.matches ? "dark" : "light";
    colours.clear();
  };

  // ---- frames: blocks of bytes, in which each frame is the difference from the one before

  const STATIC = 1;
  const SENSOR = 2;
  const OVERLAPS = 4;
  const KIND = 3; // the bit at which the kind begins
  const [BOX, CIRCLE, OUTLINE] = [0, 1, 2];
  const MOST_BLOCKS = 4; // decoded ones that are kept

  const elements = document.querySelectorAll("script.block");
  const firstOf = []; // the first drawn frame of each block
  data.blocks.reduce((first, size) => {
    firstOf.push(first);
    return first + size;
  }, 0);
  const decoded = new Map(); // promises of the frames of a block, the oldest first

  /** The frames of a block. */
  function framesOf(block) {
    const kept = decoded.get(block) ?? inflated(elements[block].textContent).then((bytes) => decode(bytes, data.blocks[block]));
    decoded.delete(block);
    decoded.set(block, kept);
    if (decoded.size > MOST_BLOCKS) decoded.delete(decoded.keys().next().value);
    return kept;
  }

  async function inflated(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function decode(bytes, count) {
    const view = new DataView(bytes.buffer);
    let at = 0;
    const number = () => {
      at += 4;
      return view.getInt32(at - 4, true);
    };
    /** Numbers of which first the lowest bytes of all come, last the highest; the sign is the lowest bit. */
    const numbers = (length) => {
      const values = new Int32Array(length);
      const [first, second, third, fourth] = [0, 1, 2, 3].map((byte) => at + byte * length);
      for (let k = 0; k < length; k++) {
        const value = bytes[first + k] | (bytes[second + k] << 8) | (bytes[third + k] << 16) | (bytes[fourth + k] << 24);
        values[k] = (value >>> 1) ^ -(value & 1);
      }
      at += 4 * length;
      return values;
    };
    const sums = (values) => {
      for (let k = 1; k < values.length; k++) values[k] += values[k - 1];
      return values;
    };
    const frames = [];
    let before = { ids: new Int32Array(0), columns: Array.from({ length: 6 }, () => new Int32Array(0)), tiles: [] };
    for (let k = 0; k < count; k++) {
      const [bodies, lines, tiles] = [number(), number(), number()];
      const ids = sums(numbers(bodies));
      const columns = Array.from({ length: 6 }, () => numbers(bodies));
      for (let row = 0, old = 0; row < bodies; row++) {
        while (old < before.ids.length && before.ids[old] < ids[row]) old += 1;
        if (before.ids[old] !== ids[row]) continue;
        for (let column = 0; column < 6; column++) columns[column][row] += before.columns[column][old];
      }
      const first = sums(numbers(lines));
      const second = numbers(lines).map((far, line) => first[line] + far);
      before = { ids, columns, first, second, tiles: tiles < 0 ? before.tiles : numbers(4 * tiles) };
      frames.push(before);
    }
    return frames;
  }

  const blockOf = (drawn) => {
    let block = firstOf.length - 1;
    while (firstOf[block] > drawn) block -= 1;
    return block;
  };

  // ---- the picture

  const FEW = 4000; // bodies that are drawn as shapes; more are written as pixels
  const SMALL = 4; // pixels; smaller bodies are filled, of larger ones among many the edge is drawn
  const MOST_LINES = 4000;
  const CROWD = 6; // pixels around a crowd
  const [ZOOM, FINEST, FARTHEST] = [1.3, 1e7, 1e-3];

  const canvas = find("picture");
  const context = canvas.getContext("2d", { alpha: false });
  const camera = { x: 0, y: 0, zoom: 1 }; // the middle, in units of the world
  const size = { width: 0, height: 0, ratio: 1 };
  let shown = null; // the frame that is drawn
  let chosen = null; // the id of a body

  const fitted = () => {
    const [left, top, right, bottom] = data.region;
    return Math.min(size.width / (right - left), size.height / (bottom - top));
  };
  const scale = () => fitted() * camera.zoom;
  /** Of a number of steps, the pixel. */
  const place = () => {
    const unit = scale() * size.ratio;
    const [width, height] = [size.width * size.ratio, size.height * size.ratio];
    return {
      step: data.step * unit,
      x: (data.origin[0] - camera.x) * unit + width / 2,
      y: (data.origin[1] - camera.y) * unit + height / 2,
      width, height,
    };
  };
  function showAll() {
    const [left, top, right, bottom] = data.region;
    Object.assign(camera, { x: (left + right) / 2, y: (top + bottom) / 2, zoom: 1 });
  }
  function showBox([left, top, right, bottom], share) {
    Object.assign(camera, { x: (left + right) / 2, y: (top + bottom) / 2 });
    const across = Math.max((right - left) / size.width, (bottom - top) / size.height, 1e-12);
    camera.zoom = Math.min(Math.max(share / across / fitted(), 1), FINEST);
  }
  function zoomAt(factor, x, y) {
    const before = scale();
    camera.zoom = Math.min(Math.max(camera.zoom * factor, FARTHEST), FINEST);
    const now = scale();
    camera.x += (x - size.width / 2) * (1 / before - 1 / now);
    camera.y += (y - size.height / 2) * (1 / before - 1 / now);
  }

  /** The rows of what the picture shows, those that overlap another last. */
  function rowsInView({ columns: [left, top, wide, high, bits] }, at) {
    const apart = [];
    const meeting = [];
    for (let row = 0; row < left.length; row++) {
      const x = at.x + left[row] * at.step;
      const y = at.y + top[row] * at.step;
      if (x > at.width || y > at.height || x + wide[row] * at.step < 0 || y + high[row] * at.step < 0) continue;
      (bits[row] & OVERLAPS ? meeting : apart).push(row);
    }
    return [apart, meeting];
  }

  function draw() {
    if (!shown || !size.width) return;
    const at = place();
    const [apart, meeting] = rowsInView(shown, at);
    const count = apart.length + meeting.length;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colour("stage");
    context.fillRect(0, 0, at.width, at.height);
    drawTiles(at);
    if (count > FEW) writePixels(at, [apart, meeting]);
    else {
      drawBodies(at, apart, "body");
      drawBodies(at, meeting, "hit");
    }
    const lines = drawLines(at);
    drawPeriod(at);
    drawCrowd(at);
    drawChosen(at);
    const outside = shown.ids.length - count;
    find("note").textContent = [
      outside ? `${whole(count)} of ${plural(shown.ids.length, "body", "bodies")} are in view.` : "",
      lines.left ? `One of ${whole(lines.left)} lines between overlapping boxes is drawn.` : "",
      data.dim === 3 ? "Seen from above." : "",
    ].filter(Boolean).join(" ");
    canvas.setAttribute("aria-label", `${plural(shown.ids.length, "body", "bodies")} of frame ${numberOf(now)}. Arrow keys move the picture.`);
  }

  function drawTiles(at) {
    const { tiles } = shown;
    context.fillStyle = colour("line");
    for (let k = 0; k < tiles.length; k += 4) {
      const [left, top] = [Math.floor(at.x + tiles[k] * at.step), Math.floor(at.y + tiles[k + 1] * at.step)];
      const [right, bottom] = [Math.ceil(at.x + tiles[k + 2] * at.step), Math.ceil(at.y + tiles[k + 3] * at.step)];
      context.fillRect(left, top, right - left, bottom - top);
    }
  }

  function drawBodies(at, rows, name) {
    const [left, top, wide, high, bits] = shown.columns;
    const [fixed, moving, sensors] = [new Path2D(), new Path2D(), new Path2D()];
    const grown = []; // outlines with round corners
    for (const row of rows) {
      const path = bits[row] & SENSOR ? sensors : bits[row] & STATIC ? fixed : moving;
      const kind = bits[row] >> KIND;
      // Far outside, but not so far that the canvas runs out of digits.
      const near = (value) => Math.min(Math.max(value, -1e5), 1e5);
      const [x, y] = [at.x + left[row] * at.step, at.y + top[row] * at.step];
      const [width, height] = [Math.max(wide[row] * at.step, 1), Math.max(high[row] * at.step, 1)];
      if (kind === BOX) path.rect(near(x), near(y), near(x + width) - near(x), near(y + height) - near(y));
      else if (kind === CIRCLE) {
        path.moveTo(x + width, y + height / 2);
        path.arc(x + width / 2, y + height / 2, width / 2, 0, 2 * Math.PI);
      } else {
        const { radius, corners } = data.outlines[kind - OUTLINE];
        const outline = radius ? new Path2D() : path;
        corners.forEach(([dx, dy], k) => outline[k ? "lineTo" : "moveTo"](x + dx * at.step, y + dy * at.step));
        outline.closePath();
        if (radius) grown.push([outline, 2 * radius * at.step]);
      }
    }
    context.lineJoin = context.lineCap = "round";
    for (const [outline, width] of grown) {
      for (const [shade, more] of [[name, 2 * size.ratio], [`${name}-fill`, 0]]) {
        context.strokeStyle = context.fillStyle = colour(shade);
        context.lineWidth = width + more;
        context.stroke(outline);
      }
      context.fill(outline);
    }
    context.lineWidth = 1.5 * size.ratio;
    context.strokeStyle = colour(name);
    context.fillStyle = colour(name === "hit" ? "hit-fill" : "box");
    context.fill(fixed);
    context.stroke(fixed);
    context.fillStyle = colour(`${name}-fill`);
    context.fill(moving);
    context.stroke(moving);
    context.setLineDash([4 * size.ratio, 3 * size.ratio]);
    context.stroke(sensors);
    context.setLineDash([]);
  }

  /** Many bodies, written straight into the picture: paths of them would take a second. */
  function writePixels(at, parts) {
    const [width, height] = [canvas.width, canvas.height];
    const layer = Object.assign(document.createElement("canvas"), { width, height });
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const [left, top, wide, high, bits] = shown.columns;
    const least = size.ratio > 1 ? 2 : 1;
    parts.forEach((rows, part) => {
      const [edge, inside, still] = [part ? "hit" : "body", part ? "hit-fill" : "body-fill", part ? "hit-fill" : "box"].map(packed);
      for (const row of rows) {
        const x = Math.floor(at.x + left[row] * at.step);
        const y = Math.floor(at.y + top[row] * at.step);
        const across = Math.max(Math.round(wide[row] * at.step), least);
        const down = Math.max(Math.round(high[row] * at.step), least);
        const [from, to] = [Math.max(x, 0), Math.min(x + across, width)];
        const [begin, end] = [Math.max(y, 0), Math.min(y + down, height)];
        const isSmall = across < SMALL || down < SMALL;
        const isFilled = !isSmall && across * down <= 400;
        for (let line = begin; line < end; line++) {
          const start = line * width;
          if (isSmall || line === y || line === y + down - 1) pixels.fill(edge, start + from, start + to);
          else {
            if (isFilled) pixels.fill(bits[row] & STATIC ? still : inside, start + from, start + to);
            if (x >= 0 && x < width) pixels[start + x] = edge;
            if (x + across <= width && x + across > 0) pixels[start + x + across - 1] = edge;
          }
        }
      }
    });
    layer.getContext("2d").putImageData(image, 0, 0);
    context.drawImage(layer, 0, 0);
  }

  /** Whether the bodies touch, as far as circles tell: the lines of those of which only the boxes overlap are dashed. */
  function areApart([left, top, wide, high, bits], one, other) {
    if (bits[one] >> KIND !== CIRCLE || bits[other] >> KIND !== CIRCLE) return false;
    const across = left[one] + wide[one] / 2 - left[other] - wide[other] / 2;
    const down = top[one] + high[one] / 2 - top[other] - high[other] / 2;
    return Math.hypot(across, down) > (wide[one] + wide[other]) / 2 + 1;
  }

  function drawLines(at) {
    const { columns, first, second } = shown;
    const [left, top, wide, high] = columns;
    const middle = (row) => [at.x + (left[row] + wide[row] / 2) * at.step, at.y + (top[row] + high[row] / 2) * at.step];
    const inView = ([x, y]) => x >= 0 && y >= 0 && x <= at.width && y <= at.height;
    const seen = [];
    for (let line = 0; line < first.length; line++) {
      const ends = [middle(first[line]), middle(second[line])];
      if (inView(ends[0]) || inView(ends[1])) seen.push([line, ...ends]);
    }
    const every = Math.ceil(seen.length / MOST_LINES) || 1;
    const paths = [new Path2D(), new Path2D()];
    for (let k = 0; k < seen.length; k += every) {
      const [line, from, to] = seen[k];
      const path = paths[areApart(columns, first[line], second[line]) ? 1 : 0];
      path.moveTo(...from);
      path.lineTo(...to);
    }
    context.strokeStyle = colour("hit");
    context.lineWidth = (seen.length > 500 ? 1 : 2) * size.ratio;
    context.stroke(paths[0]);
    context.setLineDash([3 * size.ratio, 3 * size.ratio]);
    context.stroke(paths[1]);
    context.setLineDash([]);
    const kept = Math.max(1, Math.round(data.overlaps[numberOf(now)] / Math.max(first.length, 1)));
    return { left: every * kept > 1 ? every * kept : 0 };
  }

  const onScreen = ([left, top, right, bottom], at) => {
    const unit = at.step / data.step;
    const [x, y] = [at.x + (left - data.origin[0]) * unit, at.y + (top - data.origin[1]) * unit];
    return [x, y, (right - left) * unit, (bottom - top) * unit];
  };

  function drawPeriod(at) {
    if (!data.period) return;
    const [wide, high] = data.period;
    const [x, y, width, height] = onScreen([0, 0, wide ?? 0, high ?? 0], at);
    context.strokeStyle = colour("field-line");
    context.lineWidth = size.ratio;
    context.setLineDash([8 * size.ratio, 5 * size.ratio]);
    context.beginPath();
    for (const along of wide ? [x, x + width] : []) {
      context.moveTo(along, 0);
      context.lineTo(along, at.height);
    }
    for (const along of high ? [y, y + height] : []) {
      context.moveTo(0, along);
      context.lineTo(at.width, along);
    }
    context.stroke();
    context.setLineDash([]);
  }

  const busyAt = (number) => data.busiest.find(({ begin, end }) => number >= begin && number < end);

  function drawCrowd(at) {
    const crowd = busyAt(numberOf(now))?.crowd;
    find("crowd").disabled = !crowd;
    find("crowd").textContent = crowd ? "Zoom to the crowd" : "No crowd in this frame";
    if (crowd) frameAround(onScreen(crowd, at), 2.5);
  }

  function drawChosen(at) {
    const row = chosen === null ? -1 : rowOf(chosen);
    if (row < 0) return;
    const [left, top, wide, high] = shown.columns.map((column) => column[row]);
    frameAround([at.x + left * at.step, at.y + top * at.step, wide * at.step, high * at.step], 2.5);
  }

  function frameAround([x, y, width, height], thick) {
    const far = CROWD * size.ratio;
    for (const [shade, line] of [["stage", thick + 3], ["ink", thick]]) {
      context.strokeStyle = colour(shade);
      context.lineWidth = line * size.ratio;
      context.strokeRect(x - far, y - far, width + 2 * far, height + 2 * far);
    }
  }

  // ---- a body

  /** The row of an id, or -1: the ids ascend. */
  function rowOf(id) {
    let [low, high] = [0, shown.ids.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shown.ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    return shown.ids[low] === id ? low : -1;
  }

  /** The smallest body at a place of the canvas, which others may hide, or -1. */
  function rowAt(x, y) {
    const at = place();
    const [u, v] = [(x * size.ratio - at.x) / at.step, (y * size.ratio - at.y) / at.step];
    const reach = (3 * size.ratio) / at.step;
    const [left, top, wide, high] = shown.columns;
    let [best, least] = [-1, Infinity];
    for (let row = 0; row < left.length; row++) {
      const isIn = u >= left[row] - reach && v >= top[row] - reach && u <= left[row] + wide[row] + reach && v <= top[row] + high[row] + reach;
      if (isIn && wide[row] * high[row] < least) [best, least] = [row, wide[row] * high[row]];
    }
    return best;
  }

  function describe() {
    const row = chosen === null ? -1 : rowOf(chosen);
    if (chosen === null) find("about").textContent = "Click a body, or find it by its id.";
    else if (row < 0) find("about").textContent = `There is no body ${chosen} in this frame.`;
    else {
      const [left, top, wide, high, bits, tag] = shown.columns.map((column) => column[row]);
      const value = (steps, axis) => Number(((axis === null ? 0 : data.origin[axis]) + steps * data.step).toPrecision(5));
      const kind = bits >> KIND;
      const what = [bits & STATIC ? "static" : "", bits & SENSOR ? "sensor" : "", ["box", "circle"][kind] ?? "polygon"].filter(Boolean).join(" ");
      const name = data.tags[tag] ? ` (${data.tags[tag]})` : "";
      const meets = bits & OVERLAPS ? "its box overlaps another" : "its box overlaps no other";
      find("about").textContent = `Body ${chosen}${name}: ${what} at ${value(left, 0)}, ${value(top, 1)}, ${value(wide, null)} wide, ${value(high, null)} high; ${meets}.`;
    }
  }

  // ---- the curve: tests, overlaps, bodies and the time of the program, each to its own scale

  const curve = find("curve");
  const HEAD = 15; // pixels for the words above a row
  let drawnCurve = null; // all but the line of this frame

  const seriesOf = () => [
    ["tests", data.tests[find("method").value], "test", whole],
    ["overlaps", data.overlaps, "hit", whole],
    ["bodies", data.bodies, "body", whole],
    ["ms in the program", data.milliseconds, "soft", (value) => Number(value.toPrecision(3)).toLocaleString("en")],
  ];
  const RIM = 8; // pixels: that of the slider below
  const across = (number) => RIM + (number / Math.max(frameCount - 1, 1)) * (curve.clientWidth - 2 * RIM);

  function drawCurve() {
    const [width, height] = [curve.clientWidth, curve.clientHeight];
    if (!width) return;
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const drawing = curve.getContext("2d");
    if (!drawnCurve) {
      drawnCurve = document.createElement("canvas");
      [drawnCurve.width, drawnCurve.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      [curve.width, curve.height] = [drawnCurve.width, drawnCurve.height];
      const on = drawnCurve.getContext("2d");
      on.scale(ratio, ratio);
      drawRows(on, width, height);
    }
    drawing.clearRect(0, 0, curve.width, curve.height);
    drawing.drawImage(drawnCurve, 0, 0);
    drawing.fillStyle = colour("ink");
    drawing.fillRect(Math.round((across(numberOf(now)) - 1) * ratio), 0, Math.round(2 * ratio), curve.height);
    drawing.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawWords(drawing, height);
    drawing.resetTransform();
  }

  /** What each row shows, on a plate over the line of this frame. */
  function drawWords(on, height) {
    const series = seriesOf();
    on.font = `13px ${colour("plain")}`;
    on.textBaseline = "top";
    series.forEach(([name, values, , written], row) => {
      const words = `${name}, at most ${written(values.reduce((highest, value) => Math.max(highest, value), 0))}`;
      const top = (row * height) / series.length;
      on.fillStyle = colour("page");
      on.globalAlpha = 0.85;
      on.fillRect(RIM, top, on.measureText(words).width + 4, HEAD);
      on.globalAlpha = 1;
      on.fillStyle = colour("soft");
      on.fillText(words, RIM + 2, top + 1);
    });
  }

  function drawRows(on, width, height) {
    const series = seriesOf();
    const each = height / series.length;
    on.fillStyle = colour("tint");
    for (const { begin, end } of data.busiest) on.fillRect(across(begin) - 2, 0, across(end - 1) - across(begin) + 4, height);
    const wide = (width - 2 * RIM) / Math.max(frameCount - 1, 1);
    const thick = Math.max(wide - (wide > 3 ? 1 : 0), 2);
    series.forEach(([, values, shade], row) => {
      const floor = (row + 1) * each - 1;
      const most = values.reduce((highest, value) => Math.max(highest, value), 0);
      on.fillStyle = colour("line");
      on.fillRect(RIM, floor, width - 2 * RIM, 1);
      // Of many frames a column is as high as the one with the most in it, so that none is hidden.
      const columns = new Map();
      values.forEach((value, number) => {
        const x = wide > 1 ? across(number) : Math.floor(across(number));
        columns.set(x, Math.max(columns.get(x) ?? 0, value));
      });
      on.fillStyle = colour(shade);
      for (const [x, value] of columns) {
        if (value) on.fillRect(x - thick / 2, floor, thick, -Math.max((value / most) * (each - HEAD - 2), 1));
      }
    });
  }

  /** What a reader hears in place of the curve. */
  function nameCurve() {
    const [[, tests]] = seriesOf();
    const peak = tests.reduce((best, value, number) => (value > tests[best] ? number : best), 0);
    curve.setAttribute("aria-label", `Tests, overlaps, bodies and milliseconds of ${plural(frameCount, "frame")}. Frame ${peak} has the most tests of ${named(find("method").value)}, ${whole(tests[peak])}.`);
  }

  // ---- going from frame to frame

  const named = (method) => method.replaceAll("_", " ");
  const numberOf = (drawn) => data.drawn[drawn];
  let now = 0; // the place of the frame among those that are drawn
  let asked = 0;
  let playing = false;
  let clock = 0;
  let queued = false;

  /** The place among the drawn frames that is nearest to a frame. */
  function nearest(number) {
    let [low, high] = [0, data.drawn.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.drawn[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low && number - data.drawn[low - 1] < data.drawn[low] - number ? low - 1 : low;
  }

  async function go(drawn) {
    const wanted = Math.min(Math.max(drawn, 0), data.drawn.length - 1);
    const ticket = ++asked;
    const block = blockOf(wanted);
    const frames = await framesOf(block);
    if (ticket !== asked) return; // another frame is wanted by now
    now = wanted;
    shown = frames[wanted - firstOf[block]];
    redraw();
    if (playing && block + 1 < firstOf.length) framesOf(block + 1);
  }

  function redraw() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => {
      queued = false;
      draw();
      drawCurve();
      write();
      replay.drawn += 1;
    });
  }

  function write() {
    const number = numberOf(now);
    find("frame").value = now;
    find("frame").setAttribute("aria-valuetext", `frame ${number} of 0 to ${frameCount - 1}`);
    find("title").textContent = `Frame ${whole(number)} of 0 to ${whole(frameCount - 1)}`;
    const busy = data.busiest.find(({ peak }) => peak === number);
    const tests = data.tests[find("method").value][number];
    const plain = [
      plural(data.bodies[number], "body", "bodies"),
      `${plural(tests, "test")}${compared(tests, usual[find("method").value])}`,
      `${plural(data.overlaps[number], "overlap")}${compared(data.overlaps[number], usualOverlaps)}`,
    ].join("; ");
    find("sentence").textContent = busy ? `${busy.text.replace(/^Frame \d+: /, "")}.` : `${plain}.`;
    find("first").disabled = find("back").disabled = now === 0;
    find("last").disabled = find("on").disabled = now === data.drawn.length - 1;
    find("play").textContent = playing ? "Pause" : "Play";
    const inside = busyAt(number);
    find("busiest").querySelectorAll("button").forEach((button, k) => {
      if (data.busiest[k] === inside) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    rows("tests", methods.map((method) => [named(method), whole(data.tests[method][number]), whole(usual[method])]), (k) => {
      const method = methods[k];
      return data.tests[method][number] >= 2 * Math.max(usual[method], 1);
    });
    writeProgram(number);
    describe();
    if (!playing) {
      try {
        history.replaceState(null, "", `#${number}`);
      } catch {
        // Some browsers allow no address to a page that is a file.
      }
    }
  }

  function writeProgram(number) {
    const found = data.found[number];
    const what = data.kind === "world" ? plural(found ?? 0, "contact") : plural(found ?? 0, "pair");
    const said = found === null ? (data.kind === "world" ? "no listener for contacts" : "no pairs asked for") : `${what} found`;
    const changes = [["moved", data.moved], ["added", data.added], ["removed", data.removed]].map(([name, counts]) => `${whole(counts[number])} ${name}`);
    find("did").textContent = `${changes.join(", ")}; ${said}; ${data.milliseconds[number].toFixed(3)} ms in all calls.`;
    find("calls").hidden = !data.calls[number].length;
    rows("calls", data.calls[number].map(([name, times, spent]) => [name, whole(times), spent.toFixed(3)]));
  }

  function rows(table, lines, isMuch = () => false) {
    find(table).tBodies[0].replaceChildren(...lines.map((line, k) => {
      const row = document.createElement("tr");
      row.append(...line.map((text, column) => {
        const cell = document.createElement(column ? "td" : "th");
        if (!column) cell.scope = "row";
        if (column === 1 && isMuch(k)) cell.className = "much";
        cell.textContent = text;
        return cell;
      }));
      return row;
    }));
  }

  /** How a count compares with the median; nothing where it is about as usual. */
  function compared(count, middle) {
    if (!middle || count < 2 * middle) return "";
    const times = count / middle;
    return `, ${times.toLocaleString("en", { maximumFractionDigits: times < 10 ? 1 : 0 })} times the median`;
  }

  const usualOverlaps = median(data.overlaps);
  const usual = Object.fromEntries(methods.map((method) => [method, median(data.tests[method])]));

  function play(wanted) {
    playing = wanted;
    clock = 0;
    if (!playing) {
      redraw();
      return;
    }
    if (now === data.drawn.length - 1) go(0).then(tick);
    else tick();
  }

  function tick() {
    requestAnimationFrame(async (time) => {
      if (!playing) return;
      const pause = 1000 / Number(find("speed").value);
      if (!clock) clock = time;
      const due = Math.floor((time - clock) / pause);
      if (due > 0) {
        clock = Math.max(clock + due * pause, time - pause);
        // A slow machine leaves frames out, but never many.
        await go(now + Math.min(due, 4));
        if (now === data.drawn.length - 1) {
          play(false);
          return;
        }
      }
      tick();
    });
  }

  function step(drawn) {
    if (playing) play(false);
    return go(drawn);
  }

  const nextBusy = () => {
    const starts = data.busiest.map(({ peak }) => peak).sort((a, b) => a - b);
    if (starts.length) step(nearest(starts.find((peak) => peak > numberOf(now)) ?? starts[0]));
  };

  // ---- the page

  function fill() {
    const most = data.bodies.reduce((highest, count) => Math.max(highest, count), 0);
    const part = data.drawn.length < frameCount ? `; ${whole(data.drawn.length)} of them are drawn` : "";
    const damage = data.damage ? `; then ${data.damage}` : "";
    find("facts").textContent = `${plural(frameCount, "frame")} of ${data.kind === "world" ? "a world" : `an index (${data.index})`}, up to ${plural(most, "body", "bodies")}${part}${damage}`;
    find("frame").max = data.drawn.length - 1;
    find("method").replaceChildren(...methods.map((method) => new Option(named(method), method)));
    if (methods.includes(data.index)) find("method").value = data.index;
    find("scratch").hidden = !["auto", "sweep_and_prune"].some((method) => methods.includes(method));
    find("none").hidden = data.busiest.length > 0;
    find("busiest").replaceChildren(...data.busiest.map(({ begin, peak, end, times, text }) => {
      const [item, button, strong] = ["li", "button", "strong"].map((tag) => document.createElement(tag));
      button.type = "button";
      strong.textContent = `${end - begin > 1 ? `Frames ${whole(begin)} to ${whole(end - 1)}` : `Frame ${whole(peak)}`}, ${times.toFixed(1)} times the median. `;
      button.append(strong, `${text}.`);
      button.addEventListener("click", () => step(nearest(peak)));
      item.append(button);
      return item;
    }));
    nameCurve();
  }

  function resize() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    Object.assign(size, { width: canvas.clientWidth, height: canvas.clientHeight, ratio });
    [canvas.width, canvas.height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    drawnCurve = null;
    redraw();
  }

  function listen() {
    find("frame").addEventListener("input", () => step(Number(find("frame").value)));
    find("first").addEventListener("click", () => step(0));
    find("last").addEventListener("click", () => step(data.drawn.length - 1));
    find("back").addEventListener("click", () => step(now - 1));
    find("on").addEventListener("click", () => step(now + 1));
    find("play").addEventListener("click", () => play(!playing));
    find("method").addEventListener("change", () => {
      drawnCurve = null;
      nameCurve();
      redraw();
    });
    const zoom = (factor) => {
      zoomAt(factor, size.width / 2, size.height / 2);
      redraw();
    };
    find("in").addEventListener("click", () => zoom(ZOOM));
    find("out").addEventListener("click", () => zoom(1 / ZOOM));
    find("all").addEventListener("click", () => {
      showAll();
      redraw();
    });
    find("crowd").addEventListener("click", () => {
      showBox(busyAt(numberOf(now)).crowd, 0.4);
      redraw();
    });
    find("find").addEventListener("submit", (event) => {
      event.preventDefault();
      const id = find("body").value.trim();
      chosen = /^\d+$/.test(id) ? Number(id) : null;
      const row = chosen === null ? -1 : rowOf(chosen);
      if (row >= 0) {
        const [left, top, wide, high] = shown.columns.map((column) => column[row] * data.step);
        Object.assign(camera, { x: data.origin[0] + left + wide / 2, y: data.origin[1] + top + high / 2 });
      }
      redraw();
    });
    listenToPointer();
    listenToCurve();
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
      if (event.target.closest("input[inputmode], select")) return;
      const isSlider = event.target === find("frame");
      const isButton = event.target.closest("button");
      const isPicture = event.target === canvas;
      const far = 40 / scale();
      const keys = {
        ...(isSlider ? {} : { Home: () => step(0), End: () => step(data.drawn.length - 1) }),
        ...(isSlider || isPicture ? {} : { ArrowLeft: () => step(now - 1), ArrowRight: () => step(now + 1) }),
        ...(isButton ? {} : { " ": () => play(!playing) }),
        b: nextBusy, "+": () => zoom(ZOOM), "=": () => zoom(ZOOM), "-": () => zoom(1 / ZOOM), 0: () => find("all").click(),
        ...(isPicture ? Object.fromEntries([["ArrowLeft", -far, 0], ["ArrowRight", far, 0], ["ArrowUp", 0, -far], ["ArrowDown", 0, far]].map(([key, dx, dy]) => [key, () => {
          camera.x += dx;
          camera.y += dy;
          redraw();
        }])) : {}),
      };
      if (!(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    });
    system.addEventListener("change", () => {
      applyTheme();
      drawnCurve = null;
      redraw();
    });
    new ResizeObserver(resize).observe(find("page"));
    window.addEventListener("hashchange", () => step(nearest(Number(location.hash.slice(1)) || 0)));
  }

  function listenToPointer() {
    const held = new Map(); // where each finger is
    const middle = () => {
      const places = [...held.values()];
      const [x, y] = [0, 1].map((axis) => places.reduce((sum, at) => sum + at[axis], 0) / places.length);
      const wide = places.length > 1 ? Math.hypot(places[0][0] - places[1][0], places[0][1] - places[1][1]) : 0;
      return [x, y, wide];
    };
    const where = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, where(event));
      moved = 0;
      canvas.classList.add("moving");
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held.has(event.pointerId)) return;
      const before = middle();
      held.set(event.pointerId, where(event));
      const after = middle();
      moved += Math.hypot(after[0] - before[0], after[1] - before[1]);
      camera.x -= (after[0] - before[0]) / scale();
      camera.y -= (after[1] - before[1]) / scale();
      if (before[2] && after[2]) zoomAt(after[2] / before[2], after[0], after[1]);
      redraw();
    });
    const end = (event) => {
      if (!held.delete(event.pointerId)) return;
      if (!held.size) canvas.classList.remove("moving");
      if (event.type !== "pointerup" || moved > 4 || held.size || !shown) return;
      const row = rowAt(...where(event));
      chosen = row < 0 ? null : shown.ids[row];
      find("body").value = chosen ?? "";
      redraw();
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      zoomAt(Math.exp(-event.deltaY / 400), ...where(event));
      redraw();
    }, { passive: false });
  }

  function listenToCurve() {
    const goTo = (event) => {
      const box = curve.getBoundingClientRect();
      const share = (event.clientX - box.left - RIM) / (box.width - 2 * RIM);
      step(nearest(Math.round(share * (frameCount - 1))));
    };
    curve.addEventListener("pointerdown", (event) => {
      curve.setPointerCapture(event.pointerId);
      goTo(event);
    });
    curve.addEventListener("pointermove", (event) => {
      if (event.buttons) goTo(event);
    });
  }

  // For tests and the console.
  const replay = { data, camera, go, nearest, drawn: 0, get frame() { return shown; }, get number() { return numberOf(now); }, get playing() { return playing; } };
  globalThis.replay = replay;

  const fail = (message) => {
    find("problem").textContent = message;
    find("problem").hidden = false;
  };
  if (!globalThis.DecompressionStream) {
    fail("This browser cannot unpack the recording: it takes Chrome from 80, Firefox from 113, or Safari from 16.4 on.");
    return;
  }
  applyTheme();
  find("page").hidden = false;
  fill();
  showAll();
  listen();
  go(nearest(Number(location.hash.slice(1)) || 0)).catch((error) => fail(`The recording in this page cannot be read: ${error.message}`));
})();
