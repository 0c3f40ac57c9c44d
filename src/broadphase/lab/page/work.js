// The work of a frame for every slider value that was tried: tests and entries.

import { canvasFont, colour, sharp, whole } from "./palette.js";

const HEIGHT = 150;

/** `tried[k]` is `{tests, entries}` or nothing; `texts[k]` is its label. */
export function drawWork(canvas, tried, texts, now, method, noun) {
  canvas.style.height = `${HEIGHT}px`;
  const width = canvas.clientWidth;
  const context = sharp(canvas, width, HEIGHT);
  context.clearRect(0, 0, width, HEIGHT);
  const [left, top, bottom] = [8, 26, 24];
  const step = (width - 2 * left) / texts.length;
  const most = Math.max(...tried.filter(Boolean).map((one) => one.tests + one.entries), 1);
  const tall = HEIGHT - top - bottom;
  words(context, noun, method);
  texts.forEach((text, k) => {
    const x = left + k * step + step * 0.12;
    const wide = step * 0.76;
    const one = tried[k];
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.font = canvasFont(0.95, k === now ? 700 : 400);
    context.fillStyle = colour(k === now ? "ink" : "soft");
    context.fillText(text, x + wide / 2, HEIGHT - 7);
    if (!one) {
      context.strokeStyle = colour("box");
      context.setLineDash([2, 3]);
      context.strokeRect(x + 0.5, HEIGHT - bottom - 12.5, wide - 1, 12);
      context.setLineDash([]);
      return;
    }
    const [tests, entries] = [(one.tests / most) * (tall - 14), (one.entries / most) * (tall - 14)];
    context.fillStyle = colour("test");
    context.fillRect(x, HEIGHT - bottom - tests, wide, tests);
    context.fillStyle = colour(`method-${method}`);
    context.fillRect(x, HEIGHT - bottom - tests - entries - (tests ? 1 : 0), wide, entries);
    context.fillStyle = colour("ink");
    context.font = canvasFont(0.95, 700);
    context.fillText(whole(one.tests + one.entries), x + wide / 2, HEIGHT - bottom - tests - entries - 5);
  });
  const label = tried.map((one, k) => (one ? `${texts[k]}: ${one.tests} tests and ${one.entries} ${noun}` : "")).filter(Boolean);
  canvas.setAttribute("aria-label", `Work of each size that was tried. ${label.join("; ")}.`);
}

function words(context, noun, method) {
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.font = canvasFont(0.95);
  let x = 8;
  for (const [text, shade] of [["tests", "test"], [noun, `method-${method}`]]) {
    context.fillStyle = colour(shade);
    context.fillRect(x, 6, 11, 11);
    context.fillStyle = colour("soft");
    context.fillText(text, x + 16, 16);
    x += 34 + context.measureText(text).width;
  }
}
