// Pyodide as a Python of the command line: `node pyodide.mjs FOLDER_OF_PYODIDE (FILE | -m MODULE | -c CODE) [ARGUMENTS]`.
// It sees the folders that $BROADPHASE_MOUNTS names, with colons between them, and starts in the current one.
import { pathToFileURL } from "node:url";

const MAIN = `
import os, runpy, sys, traceback

def main(arguments):
    "Run what the arguments name, and return the exit code."
    try:
        if arguments[0] == "-c":
            sys.argv = ["-c", *arguments[2:]]
            exec(arguments[1], {"__name__": "__main__"})
        elif arguments[0] == "-m":
            sys.argv, sys.path[:0] = arguments[1:], [os.getcwd()]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[:0] = arguments, [os.path.dirname(arguments[0])]
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as error:
        return int(error.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

main
`;
const [home, ...rest] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${home}/pyodide.mjs`));
const { BROADPHASE_MOUNTS: mounts, ...env } = process.env;
const python = await loadPyodide({
  env,
  fsInit: async (fs) => {
    for (const root of mounts.split(":")) {
      fs.mkdirTree(root);
      fs.mount(fs.filesystems.NODEFS, { root }, root);
    }
    fs.chdir(process.cwd());
  },
});
python.setStdout();
python.setStderr();
process.exit(python.runPython(MAIN)(python.toPy(rest)));
