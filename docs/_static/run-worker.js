// Runs Python code for run.js: loads Pyodide, NumPy and broadphase once, then one message after the other.

import { answered } from "./answered.js";

let python = null; // a promise of what runs code
const send = (kind, more = {}, moved = []) => postMessage({ kind, ...more }, moved);

const lastLine = (error) => String(error.message ?? error).trim().split("\n").at(-1);

async function load({ pyodide, wheel }) {
  send("status", { words: "Loading Python (Pyodide), once …" });
  const { loadPyodide } = await answered(import(`${pyodide}pyodide.mjs`));
  const made = await loadPyodide({ indexURL: pyodide });
  send("status", { words: "Loading NumPy …" });
  const quiet = { messageCallback: () => {} };
  await made.loadPackage("numpy", quiet);
  send("status", { words: "Loading broadphase …" });
  await made.loadPackage(wheel, { ...quiet, checkIntegrity: false }); // no hash of it is known to Pyodide
  made.setStdout({ batched: (text) => send("output", { text: `${text}\n` }) });
  made.setStderr({ batched: (text) => send("output", { text: `${text}\n` }) });
  const source = await fetch(new URL("run.py", import.meta.url));
  made.runPython(await source.text());
  return made;
}

async function run({ before, code }) {
  let ready;
  try {
    ready = await python;
  } catch (error) {
    send("unavailable", { reason: lastLine(error) });
    return;
  }
  if (/\bbp\.plot\b|\bmatplotlib\b/.test(code) && !ready.loadedPackages.matplotlib) {
    send("status", { words: "Loading matplotlib …" });
    await ready.loadPackage("matplotlib", { messageCallback: () => {} });
  }
  send("status", { words: "Running …" });
  const begun = performance.now();
  const names = ready.globals.get("run")(before, code);
  const seconds = (performance.now() - begun) / 1000;
  const pictures = ready.globals.get("pictures");
  for (const picture of pictures(names).toJs({ dict_converter: Object.fromEntries })) send(picture.kind, picture);
  send("done", { seconds });
}

let last = Promise.resolve();
onmessage = ({ data }) => {
  if (data.pyodide) {
    python = load(data);
    python.catch(() => {});
  } else {
    last = last.then(() => run(data)).catch((error) => send("failed", { reason: lastLine(error) }));
  }
};
