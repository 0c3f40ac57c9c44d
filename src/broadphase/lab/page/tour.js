// The tour: eight steps with one picture, a slider and a ball to drag.

import { drawGrowth } from "./chart.js";
import { canvasFont, forget } from "./palette.js";
import { open } from "./source.js";
import { listenToTheme } from "./theme.js";
import { figuresOf, foundSoFar, legendOf, sliderText, SLIDERS } from "./words.js";
import { View } from "./view.js";
import { drawWork } from "./work.js";

const find = (id) => document.getElementById(id);
const REST = 900; // milliseconds between two frames
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const embedded = new URLSearchParams(location.search).has("embed");
const whole = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);

class Tour {
  step = null;
  slider = 0;
  frame = 0;
  picture = null;
  end = Infinity; // how many tests are drawn
  playing = false;
  drawn = 0;
  answered = 0; // milliseconds from the last slide or drag to its picture
  #place = null;
  #asked = null;
  #asking = false;
  #clock = 0;
  #views = [];
  #tried = new Map();
  #seen = new Set();
  #grown = [];
  #queued = false;

  async begin() {
    const { steps, source } = await open();
    this.steps = steps;
    this.source = source;
    this.sections = steps.map((step) => find(step.name));
    if (source.recorded) {
      find("sandbox").removeAttribute("href");
      find("sandbox").hidden = true;
    }
    find("steps").replaceChildren(...this.sections.map((section) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = `#${section.id}`;
      link.textContent = section.dataset.short;
      item.append(link);
      return item;
    }));
    this.#listen();
    await this.go();
  }

  /** Go to the step in the address; at first also to its state there, see `#link`. */
  async go() {
    const wanted = this.steps.find((step) => `#${step.name}` === location.hash) ?? this.steps[0];
    if (wanted === this.step) return;
    const linked = new URLSearchParams(this.step ? "" : location.search);
    this.step = wanted;
    this.slider = Math.min(whole(linked.get("slider")) ?? wanted.start, wanted.values.length - 1);
    this.frame = 0;
    const ball = (linked.get("ball") ?? "").split(",").map(whole);
    this.#place = ball.length === 2 && !ball.includes(null) ? ball : null;
    this.#views = wanted.methods.map((method) => new View(method, wanted.methods.length === 1, (place, by) => this.#drag(place, by)));
    find("views").replaceChildren(...this.#views.map((view) => view.element));
    find("views").classList.toggle("many", this.#views.length > 1);
    find("stage").classList.toggle("wide", this.#views.length > 1);
    this.#showWords();
    const fresh = !this.#seen.has(wanted.name) && !linked.has("slider") && !linked.has("ball");
    this.#seen.add(wanted.name);
    this.playing = fresh && !calm.matches && wanted.methods.length === 1;
    this.end = this.playing ? 0 : Infinity;
    this.#clock = 0;
    await this.ask();
    if (wanted.methods.length > 1) this.#grow(wanted);
  }

  /** Put what is shown into the address, so that it can be copied. */
  #link() {
    const state = new URLSearchParams(embedded ? { embed: 1 } : {});
    state.set("slider", this.slider);
    if (this.#place) state.set("ball", this.#place.map(Math.round).join(","));
    history.replaceState(null, "", `?${state}#${this.step.name}`);
    this.#showWhole();
  }

  /** Where a page embeds the tour, the link to all of it, with what is shown. */
  #showWhole() {
    const state = new URLSearchParams(location.search);
    state.delete("embed");
    find("whole").href = `${location.pathname}?${state}#${this.step.name}`;
  }

  #showWords() {
    const { step } = this;
    const number = this.steps.indexOf(step);
    this.sections.forEach((section, k) => {
      section.classList.toggle("now", k === number);
    });
    find("steps").querySelectorAll("a").forEach((link, k) => {
      if (k === number) {
        link.setAttribute("aria-current", "step");
        const row = find("steps");
        row.scrollLeft = link.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
      }
      else link.removeAttribute("aria-current");
    });
    const link = (id, at) => {
      find(id).hidden = !this.steps[at];
      if (this.steps[at]) find(id).href = `#${this.steps[at].name}`;
    };
    this.#showWhole();
    link("previous", number - 1);
    link("next", number + 1);
    find("slider-label").textContent = SLIDERS[step.name].label;
    find("slider").max = step.values.length - 1;
    find("controls").querySelector(".time").hidden = step.methods.length > 1;
    find("growth").hidden = step.methods.length === 1;
    find("work").hidden = !SLIDERS[step.name].noun;
    find("legend").replaceChildren(...legendOf(step));
    find("caption").textContent = this.source.recorded
      ? `Each picture is a recorded search of the engine. The marked ball snaps to the nearest of ${step.places[0] * step.places[1]} recorded places.`
      : "Each picture shows a search that the engine has just made.";
    document.title = `${this.sections[number].querySelector("h2").textContent} · broadphase`;
  }

  // ---- requests for pictures: one at a time, and of those that wait only the last

  async ask() {
    this.#asked = { step: this.step, slider: this.slider, frame: this.frame, place: this.#place, when: performance.now() };
    if (this.#asking) return;
    this.#asking = true;
    try {
      while (this.#asked) {
        const wish = this.#asked;
        this.#asked = null;
        const picture = await this.source.picture(wish.step, wish.slider, wish.frame, wish.place);
        if (wish.step !== this.step) continue;
        this.picture = picture;
        this.shown = wish;
        this.#note(wish, picture);
        this.#draw();
        this.answered = performance.now() - wish.when;
        find("problem").hidden = true;
      }
    } catch (error) {
      this.playing = false;
      find("problem").hidden = false;
      find("problem").textContent = `The picture could not be loaded (${error.message}). Is the lab still running? Move the slider to try again.`;
    } finally {
      this.#asking = false;
    }
  }

  /** Stores the cost of a slider value, for the last place of the ball. */
  #note({ step, slider }, picture) {
    const [tests, , , , , , copies] = picture.lanes[0].numbers;
    const entries = Math.round((Number.isFinite(copies) ? copies : 0) * (picture.centers.length / 2));
    if (!this.#tried.has(step.name)) this.#tried.set(step.name, []);
    this.#tried.get(step.name)[slider] = { tests, entries };
  }

  /** How many tests or swaps the picture shows, one after the other. */
  get total() {
    const own = this.picture?.lanes[0];
    if (!own) return 0;
    return own.swaps ? own.swaps.length / 3 : (own.tests?.length ?? 0) / 2;
  }

  // ---- drawing

  redraw() {
    if (this.#queued) return;
    this.#queued = true;
    requestAnimationFrame((now) => this.#turn(now));
  }

  #turn(now) {
    this.#queued = false;
    if (this.playing) this.#goOn(now);
    this.#draw();
    if (this.playing) this.redraw();
  }

  /** Slow at first, so that the first few tests can be understood, then faster. */
  #goOn(now) {
    if (!this.picture || this.shown?.step !== this.step) return;
    const since = this.#clock ? Math.min(now - this.#clock, 100) / 1000 : 0;
    this.#clock = now;
    this.ran = (this.end === 0 ? 0 : this.ran) + since;
    const before = this.end;
    this.end = Math.min(this.end + since * (2 + 0.6 * this.ran ** 2), this.total);
    if (this.end === 0 && this.total > 0) this.end = 1e-9;
    if (this.end < this.total || before < this.total) return;
    this.rested = (this.rested ?? 0) + since * 1000;
    if (this.rested < REST) return;
    this.rested = 0;
    if (this.frame + 1 < this.step.frames) this.#toFrame(this.frame + 1, 0);
    else this.#pause();
  }

  #toFrame(frame, end) {
    this.frame = frame;
    this.end = end;
    this.ran = 0;
    this.ask();
  }

  #pause() {
    this.playing = false;
    this.#clock = 0;
    this.redraw();
  }

  #draw() {
    const { picture, step, shown } = this;
    if (!picture || shown.step !== step) {
      if (this.playing) this.redraw();
      return;
    }
    const room = step.sizes[shown.slider];
    const end = Math.min(Math.ceil(this.end), this.total);
    const places = this.source.recorded ? this.source.places(step, shown.slider) : null;
    const seen = end < this.total ? foundSoFar(step, picture, end) : picture;
    this.#views.forEach((view, lane) => {
      view.draw(seen, lane, room, this.#views.length > 1 ? Infinity : end, places);
      view.write(picture.lanes[lane].numbers[0]);
    });
    this.#write(seen, end);
    if (this.#views.length > 1) this.#drawGrowth();
    const { noun } = SLIDERS[step.name];
    if (noun) drawWork(find("work"), Array.from(step.values, (_, k) => this.#tried.get(step.name)?.[k]), step.values.map((value) => String(value)), shown.slider, step.methods[0], noun);
    this.drawn += 1;
    if (this.playing) this.redraw();
  }

  #write(seen, end) {
    const { step, shown } = this;
    find("slider").value = this.slider;
    const text = sliderText(step, this.slider);
    find("slider-text").value = text;
    find("slider").setAttribute("aria-valuetext", text);
    const { total } = this;
    find("scrub").max = total;
    find("scrub").value = end;
    const noun = SLIDERS[step.name].counts ?? SLIDERS[step.name].drawn ?? "test";
    const frame = step.frames > 1 ? `Frame ${shown.frame + 1} of ${step.frames}, ` : "";
    const said = `${frame}${noun} ${end} of ${total}`;
    find("scrub-text").value = said[0].toUpperCase() + said.slice(1);
    find("play").textContent = this.playing ? "Pause" : this.#atEnd() ? "Play again" : "Play";
    find("back").disabled = end <= 0 && shown.frame === 0;
    find("on").disabled = this.#atEnd();
    const figures = figuresOf(step, seen, end, total);
    const key = JSON.stringify(figures);
    if (find("numbers").dataset.key === key) return;
    find("numbers").dataset.key = key;
    find("numbers").replaceChildren(...figures.map(({ name, figure, meaning, kind }) => {
      const [box, term, value, words] = ["div", "dt", "dd", "dd"].map((tag) => document.createElement(tag));
      box.dataset.kind = kind ?? "";
      term.textContent = name;
      value.textContent = figure;
      words.textContent = meaning;
      words.className = "meaning";
      box.append(term, value, words);
      return box;
    }));
    if (!this.playing) find("said").textContent = figures.map(({ name, figure }) => `${name}: ${figure}`).join(", ");
  }

  #atEnd() {
    return this.end >= this.total && this.frame + 1 >= this.step.frames;
  }

  // ---- the last step: all methods while the number of balls grows

  async #grow(step) {
    this.#grown = [];
    for (let slider = 0; slider < step.values.length; slider++) {
      const picture = await this.source.picture(step, slider, 0, null, true).catch(() => null);
      if (this.step !== step || !picture) return;
      this.#grown[slider] = picture.lanes.map(({ numbers }) => ({ tests: numbers[0], seconds: numbers[9] }));
      this.redraw();
    }
  }

  #drawGrowth() {
    const { step } = this;
    const furthest = Math.max(this.slider, this.furthest ?? 0);
    this.furthest = furthest;
    const points = (value, to) => step.methods.map((method, lane) => ({
      method,
      points: this.#grown.slice(0, to + 1).map((grown, k) => ({ count: step.values[k], value: value(grown[lane]) })),
    }));
    const draw = (canvas, value, unit) => {
      const all = points(value, step.values.length).flatMap((one) => one.points);
      drawGrowth(find(canvas), points(value, furthest), unit, all);
    };
    draw("growth-tests", (one) => one.tests, "");
    draw("growth-time", (one) => one.seconds * 1e3, " ms");
    find("growth-time-title").textContent = `Milliseconds per frame, by the number of balls; measured ${this.source.recorded ? "when this was recorded" : "on this machine just now"}`;
  }

  // ---- input

  #drag(place, by = null) {
    this.playing = false;
    this.end = Infinity;
    const room = this.step.sizes[this.slider];
    const goal = by ? this.source.beside(this.step, this.slider, place, by) : place;
    this.#place = goal.map((value, axis) => Math.min(Math.max(value, 0), room[axis]));
    this.#link();
    this.ask();
  }

  #slide(slider) {
    // The ball keeps its place, relative to the size of the picture.
    const [old, now] = [this.step.sizes[this.slider], this.step.sizes[slider]];
    if (this.#place) this.#place = this.#place.map((value, axis) => (value * now[axis]) / old[axis]);
    this.slider = slider;
    this.playing = false;
    this.end = Infinity;
    this.#link();
    this.ask();
  }

  #scrub(end) {
    this.playing = false;
    this.#clock = 0;
    this.end = Math.min(Math.max(end, 0), this.total);
    this.redraw();
  }

  #toggle() {
    if (this.playing) {
      this.#pause();
      return;
    }
    if (this.#atEnd()) this.#toFrame(0, 0);
    else if (this.end >= this.total) this.#toFrame(this.frame + 1, 0);
    this.ran = 0;
    this.#clock = 0;
    this.playing = true;
    this.redraw();
  }

  #one(way) {
    const now = Math.min(Math.ceil(this.end), this.total);
    if (way > 0 && now >= this.total && this.frame + 1 < this.step.frames) this.#toFrame(this.frame + 1, 0);
    else if (way < 0 && now <= 0 && this.frame > 0) this.#toFrame(this.frame - 1, Infinity);
    this.#scrub(this.end === Infinity ? this.total + way : now + way);
  }

  #listen() {
    find("slider").addEventListener("input", () => this.#slide(Number(find("slider").value)));
    find("scrub").addEventListener("input", () => this.#scrub(Number(find("scrub").value)));
    find("play").addEventListener("click", () => this.#toggle());
    find("back").addEventListener("click", () => this.#one(-1));
    find("on").addEventListener("click", () => this.#one(1));
    find("hall").addEventListener("click", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen().catch(() => {});
    });
    const again = () => {
      forget();
      canvasFont();
      this.redraw();
    };
    document.addEventListener("fullscreenchange", () => {
      document.documentElement.classList.toggle("hall", Boolean(document.fullscreenElement));
      find("hall").textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
      again();
    });
    listenToTheme(again);
    new ResizeObserver(again).observe(find("views"));
    window.addEventListener("hashchange", () => {
      this.go();
      window.scrollTo(0, 0);
    });
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, button, a, summary, canvas")) return;
    const turn = { ArrowRight: "next", ArrowLeft: "previous" }[event.key];
    if (turn && !find(turn).hidden) find(turn).click();
    else if (event.key === " ") this.#toggle();
    else if (event.key === ".") this.#one(1);
    else return;
    event.preventDefault();
  }
}

// A link to a scene leads to the sandbox.
if (/[?&](scene|methods|n)=/.test(location.search)) {
  location.replace(`sandbox${location.search}`);
} else {
  document.documentElement.classList.toggle("embedded", embedded);
  find("whole").hidden = !embedded;
  const tour = new Tour();
  globalThis.tour = tour; // for tests and the console
  tour.begin().catch((error) => {
    find("problem").hidden = false;
    find("problem").textContent = `The tour could not be opened: ${error.message}`;
  });
}
