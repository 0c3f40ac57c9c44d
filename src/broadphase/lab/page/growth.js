// Time and tests against the number of bodies: measured on request, drawn as results arrive, and stopped.

import { drawGrowth } from "./chart.js";
import { colour, milliseconds, named, styleOf, whole } from "./palette.js";

export class Growth {
  #points = [];
  #find;

  constructor(find, start, stop) {
    this.#find = find;
    find("grow").addEventListener("click", () => {
      this.#points = [];
      this.#running(true);
      start();
    });
    find("grow-stop").addEventListener("click", stop);
  }

  #running(running) {
    this.#find("grow").disabled = running;
    this.#find("grow-stop").disabled = !running;
    this.#find("grow-progress").hidden = !running;
    if (running) this.#find("grow-progress").value = 0;
  }

  /** A message of the server. */
  take(words) {
    const text = this.#find("grow-text");
    if (words.ended) {
      this.#running(false);
      text.textContent = words.stopped ? "Stopped; the results so far are kept." : "Done. A line ends where a frame takes longer than a quarter of a second.";
      return;
    }
    this.#find("grow-progress").value = words.done / words.total;
    if (words.method) {
      this.#points.push(words);
      text.textContent = `${words.done} of ${words.total}: ${named(words.method)} with ${whole(words.count)} bodies`;
    }
    this.draw();
  }

  fail() {
    this.#running(false);
  }

  draw() {
    this.#find("growth-charts").hidden = !this.#points.length;
    if (!this.#points.length) return;
    const methods = [...new Set(this.#points.map((point) => point.method))];
    const series = (value) => methods.map((method) => ({
      method,
      points: this.#points.filter((point) => point.method === method).map((point) => ({ count: point.count, value: value(point) })),
    }));
    drawGrowth(this.#find("growth-time"), series((point) => point.milliseconds), " ms");
    drawGrowth(this.#find("growth-tests"), series((point) => point.tests), "");
    this.#tabulate(methods);
  }

  /** The same as a table, which is the legend of the charts and readable by a screen reader. */
  #tabulate(methods) {
    const place = this.#find("growth-table");
    place.hidden = false;
    const sizes = [...new Set(this.#points.map((point) => point.count))].sort((a, b) => a - b);
    const table = document.createElement("table");
    table.createCaption().textContent = "Milliseconds per frame by number of bodies";
    const head = table.createTHead().insertRow();
    head.append(cell("th", "method"), ...sizes.map((size) => cell("th", whole(size))));
    const body = table.createTBody();
    for (const method of methods) {
      const row = body.insertRow();
      const name = cell("th", "");
      name.scope = "row";
      name.append(sample(method), ` ${named(method)}`);
      row.append(name);
      for (const size of sizes) {
        const found = this.#points.find((point) => point.method === method && point.count === size);
        row.append(cell("td", found ? milliseconds(found.milliseconds / 1e3) : "–"));
      }
    }
    place.replaceChildren(table);
  }
}

function cell(kind, text) {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

/** A sample of the line of a method. */
export function sample(name) {
  const line = document.createElement("canvas");
  line.className = "sample";
  line.ariaHidden = "true"; // its name stands beside it
  line.width = 68;
  line.height = 12;
  requestAnimationFrame(() => paintSample(line, styleOf(name)));
  return line;
}

function paintSample(line, style) {
  const context = line.getContext("2d");
  context.clearRect(0, 0, 68, 12);
  context.strokeStyle = colour(style.colour);
  context.lineWidth = 2 * style.width;
  context.setLineDash(style.dash.map((length) => 2 * length));
  context.beginPath();
  context.moveTo(0, 6);
  context.lineTo(68, 6);
  context.stroke();
}
