// Time and tests against the number of bodies: measured on request, drawn as results arrive, and stopped.

import { drawGrowth } from "./chart.js";
import { milliseconds, named, styleOf, whole } from "./palette.js";

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
  const { colour, dash, width } = styleOf(name);
  const [drawing, line] = ["svg", "line"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  const set = (element, attributes) => { for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value); };
  set(drawing, { class: "sample", viewBox: "0 0 34 6", "aria-hidden": "true" }); // its name stands beside it
  set(line, { x2: 34, y1: 3, y2: 3, "stroke-width": width, "stroke-dasharray": dash.join(" ") });
  line.style.stroke = `var(--${colour})`;
  drawing.append(line);
  return drawing;
}
