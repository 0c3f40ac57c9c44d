// A guess before each answer, and something to achieve in each step.  Both are kept in this browser.

import { make } from "./palette.js";
import { sliderText } from "./words.js";

const KEPT = "broadphase tour";

/** For each step: the value of the slider for which it holds, if for one only, what is counted, and whether it is reached. */
const GOALS = {
  all: { count: ({ picture }) => mostPairs(picture), isReached: (pairs) => pairs >= 3 },
  sorted: { value: 0, count: ({ picture }) => picture.lanes[0].made, isReached: (tests) => tests < 200 },
  kept: { value: 10, count: ({ picture }) => picture.lanes[0].made, isReached: (swaps) => swaps < 50 },
  cells: { value: 60, count: ({ picture }) => entriesIn(picture.lanes[0].cells), isReached: (entries) => entries < 36 },
  twice: { value: "nothing", count: ({ picture }) => picture.lanes[0].finds.length - new Set(picture.lanes[0].finds.map(({ i, j }) => `${i} ${j}`)).size, isReached: (more) => more === 0, more: () => " found again" },
  slots: { value: 17, count: ({ picture }) => picture.lanes[0].made, isReached: (tests) => tests < 60 },
  tree: { value: 96, count: ({ picture }) => picture.state.query.balls.length, isReached: (found, { picture }) => found >= 8 && picture.state.query.made < 40, more: ({ picture }) => ` found, ${picture.state.query.made} tests` },
  strips: { value: 8, count: ({ work }) => work.entries, isReached: (copies) => copies < 40 },
  lists: { count: ({ picture }) => mostPairs(picture, picture.state.options.bullets), isReached: (enemies) => enemies >= 3 },
  together: { value: 10, count: ({ picture }) => picture.lanes.at(-1).made, isReached: (tests) => tests === 0 },
};

/** The most pairs that one of the first balls has. */
function mostPairs({ hits }, balls = Infinity) {
  const counts = {};
  for (const ball of hits) if (ball < balls) counts[ball] = (counts[ball] ?? 0) + 1;
  return Math.max(0, ...Object.values(counts));
}

/** Of the cells that are drawn, seven numbers each. */
const entriesIn = (cells) => cells.reduce((sum, balls, at) => (at % 7 === 4 ? sum + balls : sum), 0);

export class Guesses {
  #kept = {};

  /** `opened()` is called when an answer may be seen. */
  constructor(sections, opened) {
    this.opened = opened;
    try {
      this.#kept = JSON.parse(localStorage.getItem(KEPT)) ?? {};
    } catch { /* the browser keeps nothing */ }
    this.sections = sections.filter((section) => section.querySelector("[data-answer]"));
    for (const section of this.sections) {
      this.#ask(section);
      section.querySelector(".goal").append(make("output"));
      const details = section.querySelector("details");
      details.addEventListener("toggle", () => {
        details.querySelector("summary").textContent = details.open ? "Hide the answer" : "Show the answer";
        opened();
      });
    }
  }

  #keep(name, what) {
    this.#kept[name] = { ...this.#kept[name], ...what };
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.#kept));
    } catch { /* the browser keeps nothing */ }
  }

  /** Between a question and its answer: a field for a number, or a button for each choice; or the guess. */
  #ask(section) {
    const ask = section.querySelector(".ask");
    const details = ask.querySelector("details");
    ask.querySelector(".guess")?.remove();
    const { guess } = this.#kept[section.id] ?? {};
    const take = (given) => {
      this.#keep(section.id, { guess: given });
      details.open = true;
      this.opened();
      this.#ask(section);
    };
    const form = make(guess === undefined ? "form" : "p", { className: "guess" });
    if (guess !== undefined) {
      form.append("Your guess: ", make("strong", {}, written(guess)), isSame(guess, ask.dataset.answer) ? ", and it is right." : `. It is: ${written(ask.dataset.answer)}.`);
    } else if (ask.dataset.choices) {
      form.ariaLabel = "Your guess";
      for (const choice of ask.dataset.choices.split(" | ")) {
        const button = make("button", { type: "button" }, choice);
        button.addEventListener("click", () => take(choice));
        form.append(button);
      }
    } else {
      const input = make("input", { type: "number", min: 0, required: true });
      form.append(make("label", {}, "Your guess ", input), make("button", {}, "Guess"));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        take(input.value);
      });
    }
    details.before(form);
  }

  /** Whether the answer of a step may be seen: it was guessed, or looked at. */
  isOpen(name) {
    const section = this.sections.find(({ id }) => id === name);
    return !section || section.querySelector("details").open || this.#kept[name]?.guess !== undefined;
  }

  /** Say how far the reader is from the goal of a step, which balls that move by themselves do not reach. */
  look(step, slider, picture, work, isDrifting) {
    const goal = this.sections.find(({ id }) => id === step.name)?.querySelector(".goal");
    if (!goal) return;
    const { value, count, isReached, more } = GOALS[step.name];
    const isThere = value === undefined || step.values[slider] === value;
    const shown = { picture, work };
    const counted = isThere ? Math.round(count(shown)) : 0;
    const now = isThere ? `${counted}${more?.(shown) ?? ""}` : `the slider is at “${sliderText(step, slider)}”`;
    const isDone = !isDrifting && isThere && isReached(counted, shown);
    if (isDone) this.#keep(step.name, { reached: now });
    const { reached } = this.#kept[step.name] ?? {};
    goal.classList.toggle("done", reached !== undefined);
    goal.querySelector("output").value = isDone ? ` Done: ${now}.` : ` Now: ${now}.${reached === undefined ? "" : ` Done before: ${reached}.`}`;
  }

  /** Ask all questions again. */
  forget() {
    this.#kept = {};
    this.#keep("all", {});
    for (const section of this.sections) {
      section.querySelector("details").open = false;
      this.#ask(section);
    }
  }

  /** What was guessed and reached, as rows of a list. */
  list() {
    return this.sections.map((section) => {
      const { guess, reached } = this.#kept[section.id] ?? {};
      const { answer } = section.querySelector(".ask").dataset;
      const said = guess === undefined ? "no guess" : isSame(guess, answer) ? `your guess, ${written(guess)}, was right` : `you guessed ${written(guess)}; it is ${written(answer)}`;
      return make("li", {}, make("a", { href: `#${section.id}` }, section.dataset.short), `: ${said}${reached === undefined ? "" : "; goal reached"}`);
    });
  }
}

/** A guess or an answer, in which numbers are grouped. */
const written = (text) => (Number.isFinite(Number(text)) ? Number(text).toLocaleString("en") : text);

/** Whether a guess is the answer; 2.0 is 2. */
const isSame = (guess, answer) => guess === answer || (guess !== "" && Number(guess) === Number(answer));
