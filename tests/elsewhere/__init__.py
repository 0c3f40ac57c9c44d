"""The package as other platforms get it, tested from Linux: `python -m tests.elsewhere TARGET`.

=====================  =========================================================================
`machines`             a Python of another platform, and how to start it
`parts`                what is fetched: Debian's packages for arm64, wheels, Python for Windows, Pyodide
`suites`               what is run in it
`structure`            whether a library is what the loader of its platform takes
`wasm`                 reads those of Emscripten
`mapped`               loads a library for macOS into a Python for Linux
`wine`                 writes what Wine lacks
`pyodide.mjs`          Pyodide as a Python of the command line
`page`                 the site's button "Run" in Chromium
=====================  =========================================================================

Nothing here imports the compiler: parts of it run in those Pythons.
"""
