// The seven methods by their names in Python.

import { boxTree } from "./box_tree.js";
import { bruteForce } from "./brute_force.js";
import { sortAndSweep } from "./sort_and_sweep.js";
import { spatialHash } from "./spatial_hash.js";
import { strips } from "./strips.js";
import { sweepAndPrune } from "./sweep_and_prune.js";
import { uniformGrid } from "./uniform_grid.js";

/** Each takes boxes and its own options, and returns the pairs, the tests and what it has built (`search.js`). */
export const METHODS = {
  brute_force: bruteForce,
  sort_and_sweep: sortAndSweep,
  sweep_and_prune: sweepAndPrune,
  uniform_grid: uniformGrid,
  spatial_hash: spatialHash,
  box_tree: boxTree,
  strips,
};
