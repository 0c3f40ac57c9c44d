// Runs the dungeon (dungeon.py) in Pyodide: sixty frames a second, each posted to the page that draws it.

import { answered } from "./answered.js";

let held = { x: 0, y: 0, shoots: false, again: false };

async function start({ pyodide, wheel, game, script }) {
  const status = (words) => postMessage({ status: words });
  status("Loading Python (Pyodide), once …");
  const { loadPyodide } = await answered(import(`${pyodide}pyodide.mjs`));
  const python = await loadPyodide({ indexURL: pyodide });
  status("Loading NumPy and broadphase …");
  const quiet = { messageCallback: () => {} };
  await python.loadPackage("numpy", quiet);
  await python.loadPackage(wheel, { ...quiet, checkIntegrity: false });
  const [files, source] = await Promise.all([fetch(game), fetch(script)]);
  python.unpackArchive(await files.arrayBuffer(), "zip");
  python.runPython(await source.text());
  const frame = python.globals.get("frame");
  setInterval(() => {
    const begun = performance.now();
    const told = frame(held.x, held.y, held.shoots, held.again);
    postMessage({ told, milliseconds: performance.now() - begun });
  }, 1000 / 60);
}

onmessage = ({ data }) => {
  if (data.pyodide) start(data).catch((error) => postMessage({ failed: String(error.message ?? error).trim().split("\n").at(-1) }));
  else held = data;
};
