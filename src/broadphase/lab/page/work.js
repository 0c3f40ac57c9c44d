// The work of a frame for every value of a slider: tests and entries.

import { canvasFont, colour, sharp, whole } from "./palette.js";

const HEIGHT = 150;

const FAINT = 0.4; // how dark the bars of other values are

/** `works[k]` is `{tests, entries}`, `texts[k]` its label; that of `now` is strong. */
export function drawWork(canvas, works, texts, now, method, noun) {
  canvas.style.height = `${HEIGHT}px`;
  const width = canvas.clientWidth;
  const context = sharp(canvas, width, HEIGHT);
  context.clearRect(0, 0, width, HEIGHT);
  const [left, top, bottom] = [8, 26, 24];
  const step = (width - 2 * left) / texts.length;
  const most = Math.max(...works.map((one) => one.tests + one.entries), 1);
  const tall = HEIGHT - top - bottom;
  words(context, noun, method);
  works.forEach((one, k) => {
    const x = left + k * step + step * 0.12;
    const wide = step * 0.76;
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.font = canvasFont(0.95, k === now ? 700 : 400);
    context.fillStyle = colour(k === now ? "ink" : "soft");
    context.fillText(texts[k], x + wide / 2, HEIGHT - 7);
    const [tests, entries] = [(one.tests / most) * (tall - 14), (one.entries / most) * (tall - 14)];
    context.fillText(whole(one.tests + one.entries), x + wide / 2, HEIGHT - bottom - tests - entries - 5);
    context.globalAlpha = k === now ? 1 : FAINT;
    context.fillStyle = colour("test");
    context.fillRect(x, HEIGHT - bottom - tests, wide, tests);
    context.fillStyle = colour(`method-${method}`);
    context.fillRect(x, HEIGHT - bottom - tests - entries - (tests ? 1 : 0), wide, entries);
    context.globalAlpha = 1;
  });
  const label = works.map((one, k) => `${texts[k]}: ${one.tests} tests and ${one.entries} ${noun}`);
  canvas.setAttribute("aria-label", `Work of each value. ${label.join("; ")}.`);
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
