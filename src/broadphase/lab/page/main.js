// The sandbox: one state, shown by the controls, the lanes and the charts, and stored in the URL.

import { Camera } from "./camera.js";
import { Running } from "./chart.js";
import { Controls } from "./controls.js";
import { Flow, Pace } from "./flow.js";
import { Growth, sample } from "./growth.js";
import { Lane, WARMING } from "./lane.js";
import { legendOf } from "./notes.js";
import { forget, named, whole } from "./palette.js";
import { ReplayBar } from "./replay.js";
import { listenToShare, savePicture } from "./share.js";
import { fromQuery, setupOf, toQuery } from "./state.js";
import { listenToTheme } from "./theme.js";
import { Wire } from "./wire.js";

const SLOW = 5; // frames per second; below, tests are shown one after the other
const CHART_EVERY = 50; // milliseconds
const WRITE_EVERY = 90;
const KEPT_AGES = 2000;
const PATIENCE = 1500; // milliseconds
const WIDE = 2.2; // worlds with a larger aspect ratio get the whole width
// Lanes are added in this order, and then whatever else there is.
const NEXT = ["strips", "spatial_hash", "box_tree", "uniform_grid", "sweep_and_prune", "sort_and_sweep", "brute_force"];

const NARROW = "(max-width: 68rem)";

const find = (id) => document.getElementById(id);

class Page {
  camera = new Camera();
  world = { halves: new Float32Array(0), still: new Uint8Array(0), tiles: null, round: false };
  state = null;
  hello = null;
  lanes = [];
  frame = null;
  age = 0;
  drawn = 0;
  ages = []; // milliseconds from making a frame to drawing it, of the last frames
  #epoch = -1;
  #scene = null;
  #arrived = 0;
  #asked = false;
  #charted = 0;
  #turn = 0; // the chart that was drawn last
  #written = 0;
  #lastWorld = "";
  #warming = 0;
  #urlTimer = 0;
  #coming = new Flow();
  #pace = new Pace();

  constructor() {
    this.charts = { tests: new Running(find("chart-tests")), time: new Running(find("chart-time")), pairs: new Running(find("chart-pairs")) };
    this.growth = new Growth(find, () => this.wire.send("growth", { run: true, methods: this.hello.methods }),
      () => this.wire.send("growth", { run: false, methods: this.hello.methods }));
    this.replay = new ReplayBar(this);
    this.wire = new Wire({
      open: () => this.#connection("open", "connected"),
      lost: (reason) => {
        this.#connection("lost", "connection lost, trying again");
        // The server closes with a reason if too many tabs are open.
        if (reason) this.problem(`The lab is full: ${reason}. Close one of the others, and this tab continues.`);
        this.growth.fail();
      },
      words: (words) => this.#hear(words),
      frame: (frame) => this.#take(frame),
    });
    this.#listen();
    setInterval(() => this.#sayBusy(), 500);
  }

  /** Say what the page waits for. */
  #sayBusy() {
    if (!this.state || find("connection").dataset.state !== "open") return;
    const expected = !this.frame || this.frame.epoch !== this.#epoch || (this.state.playing && this.state.rate > 2);
    if (!expected || performance.now() - this.#arrived < PATIENCE || !find("problem").hidden) return;
    find("frame-text").textContent = `waiting for the engine: ${whole(this.state.count)} bodies, ${this.state.methods.map(named).join(" and ")}`;
  }

  // ---- messages of the server

  #connection(state, text) {
    find("connection").dataset.state = state;
    find("connection").textContent = text;
  }

  #hear(words) {
    switch (words.type) {
      case "hello":
        this.#begin(words);
        break;
      case "scene":
        this.#enter(words);
        break;
      case "lanes":
        if (words.epoch === this.#epoch) words.lanes.forEach((report, number) => this.lanes[number]?.tell(report));
        break;
      case "replay":
        this.replay.tell(words);
        this.controls.tellCount(words.bodies);
        break;
      case "growth":
        this.growth.take(words);
        break;
      case "explain":
        find("explanation").textContent = words.text;
        break;
      case "code":
        find("code").textContent = words.text;
        find("code-dialog").showModal();
        break;
      case "refused":
      case "error":
        this.problem(words.text);
        break;
    }
  }

  /** The first message of a server, also after a restart. */
  #begin(hello) {
    this.hello = hello;
    if (!this.state) {
      this.state = fromQuery(location.search, hello);
      this.controls = new Controls(hello, (fields) => this.change(fields));
      this.#makeLanes();
    }
    this.#epoch = -1;
    this.controls.show(this.state);
    this.replay.offer(hello);
    this.replay.show(this.state);
    this.#sendPlay();
    this.wire.send("show", { tests: this.state.tests, structure: this.state.structure });
    this.wire.send("setup", setupOf(this.state));
  }

  #enter(scene) {
    this.problem("");
    this.#epoch = scene.epoch;
    this.#scene = scene;
    this.world = { ...this.world, round: scene.round };
    const world = JSON.stringify([scene.scene, scene.count, this.state.seed, scene.file]);
    if (world !== this.#lastWorld) this.camera.fit(scene.bounds);
    this.#lastWorld = world;
    for (const lane of this.lanes) lane.reset();
    const [left, top, right, bottom] = scene.bounds;
    find("lanes").classList.toggle("wide-world", right - left > WIDE * (bottom - top));
    this.#warming = WARMING;
    this.charts.tests.clear(this.lanes.length);
    this.charts.time.clear(this.lanes.length);
    this.charts.pairs.clear(1);
    this.controls.showLimits(scene);
    if (scene.scene !== this.hello.replay?.name) this.controls.tellCount(scene.count);
  }

  #take(frame) {
    // Ignore frames from before a change of methods.
    if (frame.epoch !== this.#epoch || frame.lanes.length > this.lanes.length) {
      this.wire.send("ack", { frame: frame.serial });
      return;
    }
    if (frame.halves) {
      this.world = { ...this.world, halves: frame.halves, still: frame.still, tiles: frame.tiles ?? null };
      this.#explainColours();
    }
    this.#show(frame);
    this.#arrived = performance.now();
    for (const lane of this.lanes) lane.count(frame);
    const now = this.lanes.map((_, k) => (frame.lanes[k]?.ofFrame[0] === frame.frame ? frame.lanes[k].numbers : null));
    this.charts.tests.push(now.map((lane) => (lane ? lane[0] : NaN)));
    this.charts.time.push(this.lanes.map((lane) => (this.#warming > 0 ? NaN : lane.seconds * 1e3)));
    this.#warming -= 1;
    this.charts.pairs.push([now.find(Boolean)?.[2] ?? NaN]);
    // A frame is acknowledged when it is read, not when it is drawn: the scene keeps its pace when drawing is slow,
    // and the latest frame is drawn.  A page that is too busy to read slows the scene down.
    this.wire.send("ack", { frame: frame.serial });
    this.redraw();
  }

  /** Now, or with the next picture while the scene runs. */
  #show(frame) {
    if (this.state.playing && this.state.rate > SLOW && frame.epoch === this.frame?.epoch && !frame.halves) {
      this.#coming.put(frame);
    } else {
      this.#coming.clear();
      this.frame = frame;
    }
  }

  // ---- drawing

  redraw() {
    if (this.#asked) return;
    this.#asked = true;
    requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now) {
    this.#asked = false;
    const frame = (this.frame = this.#coming.next() ?? this.frame);
    if (!frame) return;
    if (frame.lanes.length > this.lanes.length) return;
    const slow = this.state.playing && this.state.rate < SLOW;
    const share = slow ? Math.min((performance.now() - this.#arrived) / (900 / this.state.rate), 1) : 1;
    for (const lane of this.lanes) lane.draw(frame, share);
    if (now - this.#written > WRITE_EVERY || !this.state.playing) this.#write(frame, now);
    if (!frame.drawn) this.#mark(frame);
    if (now - this.#charted > CHART_EVERY) this.#drawCharts(now);
    if (share < 1 || this.#coming.more) this.redraw();
  }

  #mark(frame) {
    frame.drawn = true;
    this.drawn += 1;
    this.age = Date.now() - frame.made;
    this.#pace.mark();
    this.ages.push(this.age);
    if (this.ages.length > KEPT_AGES) this.ages.shift();
    if (!this.state.playing) {
      find("said").textContent = `Frame ${frame.frame}. ${this.lanes.map((lane, k) =>
        `${named(this.state.methods[k])}: ${lane.numbers.tests.textContent} tests, ${lane.numbers.overlaps.textContent} overlaps`).join("; ")}.`;
    }
  }

  /** Update the numbers less often than the pictures, because nobody reads sixty per second. */
  #write(frame, now) {
    if (frame.epoch !== this.#epoch) return; // the last picture of the scene before
    this.#written = now;
    find("frame-text").textContent = `frame ${whole(frame.frame)}${this.state.playing ? this.#pace.text(now) : ""}`;
    for (const lane of this.lanes) lane.write(frame);
  }

  /** Draw one chart at a time while the scene moves: all together would take as long as a picture. */
  #drawCharts(now) {
    const { methods } = this.state;
    const all = [[this.charts.tests, methods], [this.charts.time, methods], [this.charts.pairs, ["overlaps"]]];
    this.#turn = (this.#turn + 1) % all.length;
    for (const [chart, names] of this.state.playing && this.#charted ? [all[this.#turn]] : all) chart.draw(names);
    this.#charted = now;
  }

  #explainColours() {
    find("legend").replaceChildren(...legendOf(this.state.methods, this.world));
  }

  drawEverything() {
    forget();
    if (!this.state) return;
    this.lanes.forEach((lane, number) => lane.show(this.state.methods[number], this.lanes.length > 1));
    this.#charted = 0;
    this.redraw();
    this.growth.draw();
    this.replay.draw();
    this.#nameLines();
  }

  /** The legend of the charts. */
  #nameLines() {
    find("chart-legend").replaceChildren(...[...new Set(this.state.methods), "overlaps"].map((name) => {
      const item = document.createElement("li");
      item.append(sample(name), named(name));
      return item;
    }));
    this.#explainColours();
  }

  // ---- input

  /** Change the state, and update the page, the URL and the server. */
  change(fields) {
    const before = this.state;
    this.state = { ...before, ...fields };
    this.controls.show(this.state);
    this.replay.show(this.state);
    this.#keepUrl();
    const touched = (names) => names.some((name) => name in fields);
    if (touched(["playing", "rate"])) this.#sendPlay();
    if (touched(["tests", "structure"])) this.wire.send("show", { tests: this.state.tests, structure: this.state.structure });
    if (touched(["methods"])) this.#makeLanes();
    if (touched(["scene", "count", "seed", "methods", "cell", "slots", "strips", "file"])) this.wire.send("setup", setupOf(this.state));
    this.redraw();
  }

  #keepUrl() {
    clearTimeout(this.#urlTimer);
    // Browsers limit the number of URL changes per second.
    this.#urlTimer = setTimeout(() => history.replaceState(null, "", toQuery(this.state)), 150);
  }

  #sendPlay() {
    this.wire.send("play", { playing: this.state.playing && !document.hidden, rate: this.state.rate });
  }

  #makeLanes() {
    const { methods } = this.state;
    while (this.lanes.length > methods.length) this.lanes.pop().element.remove();
    while (this.lanes.length < methods.length) {
      const lane = new Lane(this, this.lanes.length, this.hello.methods);
      this.lanes.push(lane);
      find("lanes").append(lane.element);
    }
    methods.forEach((method, number) => this.lanes[number].show(method, methods.length > 1));
    this.#nameLines();
    find("add-lane").disabled = methods.length >= this.hello.lanes;
  }

  changeMethod(number, method) {
    this.change({ methods: this.state.methods.map((name, k) => (k === number ? method : name)) });
  }

  removeLane(number) {
    this.change({ methods: this.state.methods.filter((_, k) => k !== number) });
  }

  point(phase, x, y, reach = 0) {
    const inside = (value) => Math.min(Math.max(value, -1e15), 1e15);
    this.wire.send("pointer", { phase, x: inside(x), y: inside(y), reach: Math.min(reach, 1e15) });
  }

  /** Whether a body lies within reach of a point of the world. */
  isNear(x, y, reach) {
    const centers = this.frame?.centers ?? [];
    const { halves } = this.world;
    for (let i = 0; i < centers.length; i += 2) {
      const dx = Math.max(Math.abs(centers[i] - x) - halves[i], 0);
      const dy = Math.max(Math.abs(centers[i + 1] - y) - halves[i + 1], 0);
      if (Math.hypot(dx, dy) <= reach) return true;
    }
    return false;
  }

  problem(text) {
    find("problem").hidden = !text;
    find("problem").textContent = text;
  }

  #zoom(factor) {
    const [width, height] = this.lanes[0].size;
    this.camera.zoomAt(factor, width / 2, height / 2, width, height);
    this.redraw();
  }

  #step() {
    this.change({ playing: false });
    this.wire.send("step");
  }

  #listen() {
    const click = (id, act) => find(id).addEventListener("click", act);
    click("play", () => this.change({ playing: !this.state.playing }));
    click("step", () => this.#step());
    click("restart", () => this.#restart());
    click("zoom-in", () => this.#zoom(1.4));
    click("zoom-out", () => this.#zoom(1 / 1.4));
    click("fit", () => {
      this.camera.fit();
      this.redraw();
    });
    click("add-lane", () => {
      const fresh = [...NEXT, ...this.hello.methods].find((name) => !this.state.methods.includes(name)) ?? NEXT[0];
      this.change({ methods: [...this.state.methods, fresh] });
    });
    click("explain", () => this.wire.send("ask", { what: "explain" }));
    click("show-code", () => this.wire.send("ask", { what: "code" }));
    click("save-picture", () => savePicture(this));
    click("hall", () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else document.documentElement.requestFullscreen().catch(() => this.problem("This browser does not allow full screen."));
    });
    document.addEventListener("fullscreenchange", () => {
      const full = Boolean(document.fullscreenElement);
      document.documentElement.classList.toggle("hall", full);
      find("hall").textContent = full ? "Leave full screen" : "Full screen";
      this.drawEverything();
    });
    const narrow = matchMedia(NARROW);
    const fold = () => {
      find("side").open = !narrow.matches;
    };
    narrow.addEventListener("change", fold);
    fold();
    listenToShare(this);
    listenToTheme(() => this.drawEverything());
    window.addEventListener("resize", () => this.drawEverything());
    document.addEventListener("visibilitychange", () => this.state && this.#sendPlay());
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #restart() {
    this.wire.send("restart");
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.state) return;
    if (event.target.closest("input, select, button, textarea, dialog, pre")) return;
    if (event.key === " ") this.change({ playing: !this.state.playing });
    else if (event.key === ".") this.#step();
    else return;
    event.preventDefault();
  }
}

const page = new Page();
// For tests and the console.
globalThis.lab = page;
