// The tour: ten steps with one picture, a slider and balls to drag.  All is computed here, in the browser.

import { drawGrowth } from "./chart.js";
import { drawCuts } from "./cuts.js";
import { Guesses } from "./guesses.js";
import { canvasFont, forget, make, named, sample, whole } from "./palette.js";
import { pictureOf } from "./picture.js";
import { framesOf, stateOf, STEPS, workOf } from "./steps.js";
import { listenToTheme } from "./theme.js";
import { View } from "./view.js";
import { figuresOf, foundSoFar, legendOf, sliderText, SLIDERS } from "./words.js";
import { drawWork } from "./work.js";

const find = (id) => document.getElementById(id);
const DRIFT = 24; // units that balls move in a second
const STEADY = 4; // edges that a sweep line passes in a second
const REST = 900; // milliseconds between two frames
const MANY = 1000; // balls: with more, a search waits until the hand rests
const RESTS_AFTER = 120; // milliseconds
const LINK_AFTER = 250; // milliseconds: WebKit allows a hundred changes of the address in ten seconds
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const pages = document.documentElement.dataset.pages; // where the site has a page for each method
const embedded = new URLSearchParams(location.search).has("embed");
const numberIn = (text) => (/^\d+$/.test(text ?? "") ? Number(text) : null);

/** Two pages without the picture of a step: scenes that move, and at last the reader's own game. */
const MOVING = { name: "moving" };
const END = { name: "yours" };
const PLACES = [...STEPS, MOVING, END];
const isStep = (place) => STEPS.includes(place);

class Tour {
  steps = STEPS;
  step = null;
  slider = 0;
  frame = 0;
  picture = null;
  end = Infinity; // how many tests are drawn
  playing = false;
  drawn = 0;
  weight = 1; // of an entry, in tests
  #places = new Map(); // of dragged balls, the last one at the end
  #all = []; // the tests of each method in all frames so far
  #stale = false; // the picture is not that of the state
  #clock = 0;
  #views = [];
  #works = [];
  #seen = new Set();
  #grown = [];
  #times = null;
  #queued = false;
  #resting = 0; // the timer after which a slow search begins
  moving = null; // the page of moving scenes
  motion = 0; // how far the balls of a step without frames have moved
  drifting = false; // whether they move
  #isOpen = true; // whether the charts, which show the answer, may be seen
  #linking = 0; // the timer after which the address follows

  begin() {
    this.sections = PLACES.map((step) => find(step.name));
    find("steps").replaceChildren(...this.sections.map(({ id, dataset }) => make("li", {}, make("a", { href: this.#addressOf(id) }, dataset.short))));
    this.guesses = new Guesses(this.sections, () => this.#open());
    if (pages) this.#showWays();
    for (const verdict of pages ? document.querySelectorAll("dl.verdict") : []) {
      verdict.after(pageOf(verdict, `${verdict.dataset.method}, line by line`));
    }
    this.#listen();
    document.documentElement.classList.add("ready"); // before the first picture, which needs the sizes
    this.go();
  }

  /** Go to the step and the state in the address. */
  go() {
    const named = PLACES.find((step) => `#${step.name}` === location.hash);
    if (!named && this.step) return; // the link that skips to the picture
    const wanted = named ?? STEPS[0];
    if (!isStep(wanted)) {
      this.#showPage(wanted);
      return;
    }
    const linked = new URLSearchParams(location.search);
    const isNew = wanted !== this.step;
    this.step = wanted;
    this.slider = Math.min(numberIn(linked.get("slider")) ?? wanted.start, wanted.values.length - 1);
    this.frame = 0;
    const balls = linked.getAll("ball").map((ball) => ball.split(",").map(numberIn)).filter((ball) => ball.length > 1 && !ball.includes(null));
    this.#places = new Map(balls.map(([x, y, ball = 0]) => [ball, [x, y]]));
    if (isNew) this.#showStep();
    const fresh = !this.#seen.has(wanted.name) && !linked.has("slider") && !linked.has("ball");
    this.#seen.add(wanted.name);
    [this.motion, this.drifting] = [0, false];
    this.playing = fresh && !calm.matches;
    this.end = this.playing ? 0 : Infinity;
    this.#clock = 0;
    this.#stale = true;
    this.#draw();
    if (isNew && wanted.methods.length > 1) this.#grow(wanted);
  }

  #addressOf(name, state = []) {
    const entries = [...(embedded ? [["embed", 1]] : []), ...state];
    const query = new URLSearchParams(entries).toString().replaceAll("%2C", ",");
    return `${location.pathname}${query ? `?${query}` : ""}#${name}`;
  }

  get #state() {
    const balls = [...this.#places].map(([ball, place]) => ["ball", [...place.map((value) => Math.max(Math.round(value), 0)), ...(ball ? [ball] : [])]]);
    return [["slider", this.slider], ...balls];
  }

  /** Put what is shown into the address, so that it can be copied, once the hand rests. */
  #link() {
    clearTimeout(this.#linking);
    this.#linking = setTimeout(() => this.#linkNow(), LINK_AFTER);
  }

  #linkNow() {
    if (!this.#linking) return;
    clearTimeout(this.#linking);
    this.#linking = 0;
    history.replaceState(null, "", this.#addressOf(this.step.name, this.#state));
    this.#showWhole();
  }

  /** Where a page embeds the tour, the link to all of it, with what is shown. */
  #showWhole() {
    const state = new URLSearchParams(location.search);
    state.delete("embed");
    find("whole").href = `${location.pathname}?${state}#${this.step.name}`;
    const source = new URL(`?${new URLSearchParams([["embed", 1], ...state]).toString().replaceAll("%2C", ",")}#${this.step.name}`, location.href);
    find("embed-line").textContent = `<iframe src="${source}" width="640" height="480" title="${document.title.replaceAll('"', "")}"></iframe>`;
  }

  #showStep() {
    const { step } = this;
    const isAlone = step.methods.length === 1;
    this.#views = step.methods.map((method) => new View(method, isAlone, (ball, place) => this.#drag(ball, place)));
    find("views").replaceChildren(...this.#views.map((view) => view.element));
    find("details").replaceChildren(...(isAlone ? [this.#views[0].detail] : []));
    find("views").classList.toggle("many", !isAlone);
    find("stage").classList.toggle("wide", !isAlone);
    this.#showPlace();
    find("slider-label").textContent = SLIDERS[step.name].label;
    find("slider").max = step.values.length - 1;
    const { bars } = SLIDERS[step.name];
    const hasAnswer = Boolean(bars) || !isAlone; // the charts show it
    this.#isOpen = !hasAnswer || this.guesses.isOpen(step.name);
    find("growth").hidden = isAlone || !this.#isOpen;
    if (!isAlone) find("lines").replaceChildren(...step.methods.map((method) => make("li", {}, sample(method), named(method))));
    find("working").hidden = !bars || !this.#isOpen;
    find("cover").hidden = this.#isOpen;
    const { weigh } = SLIDERS[step.name];
    find("weighing").hidden = !weigh;
    find("weighed").textContent = weigh ?? "";
    find("details").hidden = !isAlone || step.hasQuery || ["cells", "lists"].includes(step.name);
    find("charts").className = `charts${bars && !find("details").hidden ? " two" : ""}${step.name === "strips" ? " tall" : ""}`;
  }

  /** Show the charts: the answer is known now. */
  #open() {
    if (!isStep(this.step) || this.#isOpen) return;
    this.#showStep();
    this.redraw();
  }

  #showPage(page) {
    this.step = page;
    this.playing = this.drifting = false;
    this.#showPlace();
    if (page === MOVING) this.#showMoving();
    else this.#showEnd();
    this.shown = { step: page };
    this.drawn += 1;
  }

  #showMoving() {
    if (this.moving) this.moving.draw();
    else import("./moving.js").then(({ Moving }) => { this.moving ??= new Moving(find("scenes"), () => this.step === MOVING); });
  }

  #showEnd() {
    find("guesses").replaceChildren(...this.guesses.list());
    const map = find("who-wins");
    if (map.dataset.module && !map.hasChildNodes()) {
      Promise.all([import(map.dataset.module), import("./game.js")]).then(async ([{ mountMap }, { YourGame }]) => {
        const game = new YourGame(find("your-game"), await mountMap(map));
        for (const button of document.querySelectorAll("button[data-wins]")) button.addEventListener("click", () => game.show(button.dataset.wins));
        find("ending").hidden = this.step !== END;
      });
    }
  }

  /** Show the words of the step, and the ways from it. */
  #showPlace() {
    const number = PLACES.indexOf(this.step);
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
      find(id).hidden = !PLACES[at];
      if (PLACES[at]) find(id).href = this.#addressOf(PLACES[at].name);
    };
    link("previous", number - 1);
    link("next", number + 1);
    for (const id of ["stage", "legend", "embed"]) find(id).hidden = !isStep(this.step);
    find("scenes").hidden = this.step !== MOVING;
    find("ending").hidden = this.step !== END || !find("your-game").game; // until all of it is there
    document.title = `${this.sections[number].querySelector("h2").textContent} · broadphase`;
    this.#showWhole();
  }

  /** On the site, the ways to its other pages. */
  #showWays() {
    const way = (words, address, className) => make("a", { className, href: `${pages}../${address}` }, words);
    document.querySelector(".mark").replaceChildren(way("broadphase", "index.html", "home"));
    document.querySelector(".away").prepend(way("Install", "how-to/install.html", "button quiet"));
    find("ways").prepend(
      way("Install", "how-to/install.html", "button primary"),
      way("First steps", "tutorials/first.html", "button"),
      way("I have a game", "how-to/slow-pygame.html", "button"),
      way("Each method, line by line", "explanation/methods.html", "button"),
    );
  }

  // ---- drawing

  /** How many tests or swaps the picture shows, one after the other. */
  get total() {
    const { state: { query }, lanes } = this.picture;
    return query ? query.made : Math.max(...lanes.map(({ played }) => played));
  }

  get frames() {
    return framesOf(this.step, this.slider);
  }

  /** Whether all tests are drawn, one after the other. */
  get canPlay() {
    return !this.picture.isPart;
  }

  redraw() {
    if (this.step === MOVING) this.moving?.draw();
    if (this.#queued || !isStep(this.step)) return;
    this.#queued = true;
    requestAnimationFrame((now) => {
      this.#queued = false;
      if (!isStep(this.step)) return;
      if (this.playing) this.#goOn(now);
      if (this.drifting) this.#drift(now);
      this.#draw();
    });
  }

  get #pace() {
    return Number(find("pace").value);
  }

  /** Let all balls move on. */
  #drift(now) {
    const since = this.#clock ? Math.min(now - this.#clock, 100) / 1000 : 0;
    this.#clock = now;
    this.motion += since * DRIFT * this.#pace;
    this.#stale = true;
  }

  #toggleDrift(wanted) {
    this.drifting = wanted;
    this.#clock = 0;
    if (wanted) [this.playing, this.end] = [false, Infinity];
    this.redraw();
  }

  /** A sweep line goes evenly; else slow at first, so that the first few tests can be understood, then faster. */
  #goOn(now) {
    const since = this.#clock ? Math.min(now - this.#clock, 100) / 1000 : 0;
    this.#clock = now;
    this.ran = (this.end === 0 ? 0 : this.ran) + since;
    const before = this.end;
    this.end = Math.min(this.end + this.#pace * since * (this.picture.lanes[0].sweep ? STEADY : 2 + 0.6 * this.ran ** 2), this.total);
    if (this.end === 0 && this.total > 0) this.end = 1e-9;
    if (this.end < this.total || before < this.total) return;
    this.rested = (this.rested ?? 0) + since * 1000;
    if (this.rested < REST) return;
    this.rested = 0;
    if (this.frame + 1 < this.frames) this.#toFrame(this.frame + 1, 0);
    else this.#pause();
  }

  #toFrame(frame, end) {
    this.frame = frame;
    this.end = end;
    this.ran = 0;
    this.#change();
  }

  #pause() {
    this.playing = false;
    this.#clock = 0;
    this.redraw();
  }

  /** The state has changed: what is waiting to be drawn is drawn from it. */
  #change() {
    this.#stale = true;
    this.redraw();
  }

  #draw() {
    const { step, slider, frame } = this;
    if (this.#stale) {
      const places = [...this.#places];
      this.picture = pictureOf(step, slider, frame, places, this.motion);
      this.#stale = false;
      if (SLIDERS[step.name].bars) this.#works = step.values.map((_, value) => workOf(step, value, places, this.motion));
      const results = Array.from({ length: this.frame + 1 }, (_, k) => (k < frame ? stateOf(step, slider, k, places, false).results : this.picture.state.results));
      this.#all = step.methods.map((method) => results.reduce((sum, result) => sum + result[method].made, 0));
    }
    const { picture, total } = this;
    if (!this.canPlay) [this.playing, this.end] = [false, Infinity];
    this.shown = { step, slider, frame };
    const end = Math.min((picture.lanes[0].sweep ? Math.floor : Math.ceil)(this.end), total);
    this.#views.forEach((view, lane) => {
      const { made, played } = picture.lanes[lane];
      view.draw(foundSoFar(picture, lane, end), lane, picture.state.query ? end : Math.min(end, played), this.end);
      view.write(Math.min(end, made), made, this.#all[lane]);
    });
    this.#write(foundSoFar(picture, 0, end), end);
    if (step.hasQuery) drawCuts([find("tree-pairs"), find("quadtree"), find("kd-tree")], picture.state);
    if (this.#views.length > 1 && this.#isOpen) this.#drawGrowth();
    const { bars, names, weights, wrong, shade = `method-${step.methods[0]}` } = SLIDERS[step.name];
    if (bars && this.#isOpen) {
      const weightOf = (k) => (weights === undefined ? this.weight : [weights].flat()[Math.min(k, [weights].flat().length - 1)]);
      drawWork(find("work"), this.#works, names ?? step.values.map(String), slider, shade, bars, weightOf, wrong);
    }
    this.guesses.look(step, slider, picture, this.#works[slider], this.drifting);
    this.drawn += 1;
    if (this.playing || this.drifting) this.redraw();
  }

  #write(seen, end) {
    const { step, total, picture } = this;
    find("slider").value = this.slider;
    const text = sliderText(step, this.slider);
    find("slider-text").value = text;
    find("slider").setAttribute("aria-valuetext", text);
    if (find("legend").dataset.key !== `${step.name} ${text}`) {
      find("legend").dataset.key = `${step.name} ${text}`;
      find("legend").replaceChildren(...legendOf(step, this.slider));
      for (const word of document.querySelectorAll(`#${step.name} [data-y]`)) word.textContent = word.dataset[step.values[this.slider] === "y" ? "y" : "x"];
    }
    find("scrub").max = total;
    find("scrub").value = end;
    const frame = this.frames > 1 ? `Frame ${this.frame + 1} of ${this.frames}, ` : "";
    find("controls").querySelector(".time").hidden = !this.canPlay;
    const said = `${frame}${SLIDERS[step.name].counts ?? "test"} ${whole(end)} of ${whole(total)}`;
    find("scrub-text").value = said[0].toUpperCase() + said.slice(1);
    find("drift").hidden = step.frames > 1;
    find("drift").textContent = this.drifting ? "Stop them" : "Let them move";
    find("play").textContent = this.playing ? "Pause" : this.#atEnd() ? "Play again" : "Play";
    find("back").disabled = end <= 0 && this.frame === 0;
    find("on").disabled = this.#atEnd();
    const { count } = picture.state.balls;
    const shown = picture.centers.length / 2;
    const notes = [
      shown < count ? `The pictures show the middle of the world: ${shown} of ${count.toLocaleString("en")} balls.` : "",
      this.motion ? "The answer counts the balls where they began." : "",
    ].filter(Boolean);
    find("caption").hidden = !notes.length;
    find("caption").textContent = notes.join(" ");
    this.#writeFigures(figuresOf(step, seen, end, total, this.#works[this.slider], this.#all[0]));
  }

  #writeFigures(figures) {
    const key = JSON.stringify(figures);
    if (find("numbers").dataset.key === key) return;
    find("numbers").dataset.key = key;
    find("numbers").replaceChildren(...figures.map(({ name, figure, meaning, kind }) => {
      const box = make("div", {}, make("dt", {}, name), make("dd", {}, figure), make("dd", { className: "meaning" }, meaning));
      box.dataset.kind = kind ?? "";
      return box;
    }));
    if (!this.playing && !this.drifting) find("said").textContent = figures.map(({ name, figure }) => `${name}: ${figure}`).join(", ");
  }

  #atEnd() {
    return this.end >= this.total && this.frame + 1 >= this.frames;
  }

  // ---- the last step: all methods while the number of balls grows

  /** Counts the tests of every size, one after the other so that the page stays usable, and fetches the times. */
  async #grow(step) {
    this.#times ??= await (await fetch("times.json")).json();
    for (let slider = this.#grown.length; slider < step.values.length; slider++) {
      await new Promise((done) => { setTimeout(done); });
      if (this.step !== step) return;
      const { results } = stateOf(step, slider, 0, [], false);
      this.#grown[slider] = step.methods.map((method) => results[method].made);
    }
    this.redraw();
  }

  #drawGrowth() {
    const { step, slider } = this;
    const counts = step.values;
    const series = (points) => step.methods.map((method, lane) => ({ method, points: points(method, lane) }));
    const tests = series((_, lane) => this.#grown.map((made, k) => ({ count: counts[k], value: k === slider ? this.picture.lanes[lane].made : made[lane] })));
    drawGrowth(find("growth-tests"), tests, "", counts[slider]);
    if (!this.#times) return;
    const { methods } = this.#times;
    const times = series((method) => (methods[method] ?? []).map(([count, least, usual]) => ({ count, value: least, upper: usual })));
    drawGrowth(find("growth-time"), times, " ms", counts[slider]);
  }

  // ---- input

  #drag(ball, place) {
    if (this.playing || this.end >= this.total) this.end = Infinity;
    this.playing = false;
    const [left, top, wide, high] = this.picture.window;
    this.#places.delete(ball); // the last is the marked one
    this.#places.set(ball, [Math.min(Math.max(place[0], left), left + wide), Math.min(Math.max(place[1], top), top + high)]);
    this.#link();
    if (this.picture.state.balls.count > MANY) this.#follow(ball);
    else this.#change();
  }

  /** Show where the hand has a ball, and search when it rests. */
  #follow(ball) {
    const { centers, handle, shown } = this.picture;
    [handle.x, handle.y] = this.#places.get(ball);
    centers.set([handle.x, handle.y], 2 * shown.indexOf(ball));
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#change(), RESTS_AFTER);
    this.redraw();
  }

  #slide(slider) {
    // Balls keep their places, relative to the size of the world.
    if (this.#places.size) {
      const [old, now] = [this.slider, slider].map((at) => this.step.make(this.step.values[at], 0).balls);
      for (const [ball, [x, y]] of this.#places) this.#places.set(ball, [(x * now.width) / old.width, (y * now.height) / old.height]);
    }
    this.slider = slider;
    this.frame = Math.min(this.frame, this.frames - 1);
    this.playing = false;
    this.end = Infinity;
    this.#link();
    this.#change();
  }

  #scrub(end) {
    this.playing = this.drifting = false;
    this.#clock = 0;
    this.end = Math.min(Math.max(end, 0), this.total);
    this.redraw();
  }

  #toggle() {
    this.drifting = false;
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
    if (way > 0 && now >= this.total && this.frame + 1 < this.frames) this.#toFrame(this.frame + 1, 0);
    else if (way < 0 && now <= 0 && this.frame > 0) this.#toFrame(this.frame - 1, Infinity);
    else this.#scrub(now + way);
    this.playing = false;
  }

  #listen() {
    find("slider").addEventListener("input", () => this.#slide(Number(find("slider").value)));
    find("weight").addEventListener("change", () => {
      this.weight = Number(find("weight").value);
      this.redraw();
    });
    find("scrub").addEventListener("input", () => this.#scrub(Number(find("scrub").value)));
    find("play").addEventListener("click", () => this.#toggle());
    find("drift").addEventListener("click", () => this.#toggleDrift(!this.drifting));
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
    const sizes = new ResizeObserver(again);
    for (const id of ["views", "charts"]) sizes.observe(find(id));
    // A link to a step starts with the step as it is; back and forward return to the state that was shown.
    document.addEventListener("click", (event) => {
      const link = event.target.closest?.(".steps a, #previous, #next, .ending a[href^='#']");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.#linkNow();
      if (link.id === "again") {
        this.guesses.forget();
        this.#seen.clear();
      }
      history.pushState(null, "", link.href);
      this.go();
      window.scrollTo(0, 0);
    });
    window.addEventListener("popstate", () => this.go());
    window.addEventListener("pagehide", () => this.#linkNow());
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, button, a, summary, canvas")) return;
    const turn = { ArrowRight: "next", ArrowLeft: "previous" }[event.key];
    if (turn && !find(turn).hidden) find(turn).click();
    else if (this.step === MOVING && [" ", "."].includes(event.key)) this.moving?.[event.key === " " ? "toggle" : "one"]();
    else if (!isStep(this.step)) return;
    else if (event.key === " ") this.#toggle();
    else if (event.key === ".") this.#one(1);
    else return;
    event.preventDefault();
  }
}

/** A link to the page of a method, on the site. */
const pageOf = ({ dataset: { method } }, words) => make("a", { className: "page", href: `${pages}${method.toLowerCase().replaceAll(" ", "_")}.html` }, words);

document.documentElement.classList.toggle("embedded", embedded);
find("whole").hidden = !embedded;
globalThis.tour = new Tour(); // for tests and the console
globalThis.tour.begin();
