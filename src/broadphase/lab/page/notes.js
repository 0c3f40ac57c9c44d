// The text below a picture of the sandbox, and the legend of its colours.

import { savedText } from "./details.js";
import { CELL } from "./overlays.js";
import { named, several, whole } from "./palette.js";

/** A sentence or two about what a method did in this frame. */
export function noteOf(lane, own) {
  const { method } = lane;
  const chosen = lane.select.value === "auto" && lane.report ? `auto chose ${named(method)}. ` : "";
  return `${chosen}${summary(method, own)}${sketched(own)}`;
}

function summary(method, own) {
  const [tests, , , cells, swaps, , , fellBack] = own.numbers;
  switch (method) {
    case "brute_force":
      return "Every body is compared with every other.";
    case "sort_and_sweep":
      return `${own.order ? savedText(own.order, tests) : "Sorted along one axis."} ${several(swaps, "step")} updated the order of the last frame.`;
    case "sweep_and_prune":
      if (fellBack) return "So many bodies moved that everything was sorted and searched from scratch. This method suits scenes in which little moves.";
      if (swaps) return `${several(swaps, "swap")} updated the order of the last frame. All other pairs were kept.`;
      return tests ? "The first frame: everything was sorted and compared." : "No edges swapped, so nothing was compared.";
    case "uniform_grid":
      return `${several(cells, "cell")} in use; the number in a cell counts its bodies.`;
    case "spatial_hash":
      return `${several(cells, "slot")} in use.${shared(own)}`;
    case "box_tree":
      return `${several(cells, "box", "boxes")} in the tree, each with up to sixteen children. Comparing with them counts as tests too.`;
    case "strips":
      return cells === 1
        ? "One strip, which is fastest for up to some hundred bodies. The slider makes more."
        : `${several(cells, "strip")}; the number at the edge counts the copies. A mark means that the body starts in an earlier strip. Two marked copies are not reported, so no pair is found twice.`;
    default:
      return "";
  }
}

/** Says if cells share a slot. */
function shared(own) {
  const { cells } = own;
  for (let at = 0; at < (cells?.length ?? 0); at += CELL) {
    if (cells[at + 5]) return " Hatched: distant cells share the slot; the number after + counts their bodies.";
  }
  return "";
}

function sketched(own) {
  const each = own.numbers[8];
  return each > 1 && own.tests ? ` One in ${whole(each)} tests is drawn.` : "";
}

const LEGENDS = {
  uniform_grid: [["cell", "cell; fuller cells are darker"]],
  spatial_hash: [["hatched", "slot shared by distant cells"]],
  box_tree: [["root", "root: contains everything"], ["leaf", "leaf: contains bodies"]],
  strips: [["border", "border of strips"], ["copy", "copy in a later strip"]],
};

/** The colours of the methods that are shown, as items of a list. */
export function legendOf(methods, world) {
  const items = [
    ["body", world.round ? "body and its box" : "body"], ["test", "test: two boxes compared"],
    ...(world.round ? [["boxes", "boxes overlap"], ["hit", "bodies touch"]] : [["hit square", "boxes overlap"]]),
    ...(world.still.includes(1) ? [["static", "never moves"]] : []),
    ...[...new Set(methods)].flatMap((method) => (LEGENDS[method] ?? []).map((item) => [...item, method])),
  ];
  return items.map(([kind, text, method]) => {
    const item = document.createElement("li");
    const swatch = document.createElement("span");
    swatch.className = `swatch ${kind}`;
    if (method) swatch.style.setProperty("--own", `var(--method-${method})`);
    item.append(swatch, text);
    return item;
  });
}
