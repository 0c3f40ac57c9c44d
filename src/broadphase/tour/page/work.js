// The work of a frame for every value of a slider: tests and entries.

import { canvasFont, colour, sharp, whole } from "./palette.js";

const FAINT = 0.4; // how dark the bars of other values are

/** `works[k]` is `{tests, entries}`, `texts[k]` its label; that of `now` is strong.  `nouns` name tests and, if any are
 * counted, entries; an entry of bar `k` counts as `weightOf(k)` tests; the bar `wrong` gives a wrong result. */
export function drawWork(canvas, works, texts, now, shade, nouns, weightOf, wrong) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const context = sharp(canvas, width, height);
  context.clearRect(0, 0, width, height);
  const [left, bottom] = [8, 24];
  const top = 10 + words(context, nouns, shade, width);
  const step = (width - 2 * left) / texts.length;
  context.font = canvasFont(0.95);
  const sums = works.map((one, k) => one.tests + weightOf(k) * one.entries);
  const widest = Math.max(...sums.map((sum) => context.measureText(whole(sum)).width));
  const size = 0.95 * Math.min(1, step / (widest + 4)); // so that no two numbers meet
  const most = Math.max(...sums, 1);
  const tall = height - top - bottom;
  works.forEach((one, k) => {
    const x = left + k * step + step * 0.12;
    const wide = step * 0.76;
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.font = canvasFont(0.95, k === now ? 700 : 400);
    context.fillStyle = colour(k === now ? "ink" : "soft");
    context.fillText(texts[k], x + wide / 2, height - 7);
    const [tests, entries] = [(one.tests / most) * (tall - 14), ((weightOf(k) * one.entries) / most) * (tall - 14)];
    if (k === wrong) context.fillStyle = colour("bad");
    context.font = canvasFont(size, k === now ? 700 : 400);
    context.fillText(k === wrong ? "wrong" : whole(sums[k]), x + wide / 2, height - bottom - tests - entries - 5);
    context.globalAlpha = k === now ? 1 : FAINT;
    context.fillStyle = colour("test");
    context.fillRect(x, height - bottom - tests, wide, tests);
    context.fillStyle = colour(shade);
    context.fillRect(x, height - bottom - tests - entries - (tests ? 1 : 0), wide, entries);
    context.globalAlpha = 1;
  });
  const label = works.map((one, k) => `${texts[k]}: ${[one.tests, one.entries].slice(0, nouns.length).map((count, at) => `${whole(count)} ${nouns[at]}`).join(" and ")}`);
  canvas.setAttribute("aria-label", `Work of each value. ${label.join("; ")}.`);
}

/** What the colours mean, in a second line where the first is full; returns how high they are. */
function words(context, nouns, shade, width) {
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.font = canvasFont(0.95);
  let [x, y] = [8, 16];
  for (const [at, text] of nouns.entries()) {
    if (at && x + 16 + context.measureText(text).width > width) [x, y] = [8, 32];
    context.fillStyle = colour(at ? shade : "test");
    context.fillRect(x, y - 10, 11, 11);
    context.fillStyle = colour("soft");
    context.fillText(text, x + 16, y);
    x += 34 + context.measureText(text).width;
  }
  return y;
}
