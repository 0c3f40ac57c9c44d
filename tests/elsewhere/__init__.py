"""The package as other platforms get it, tested from Linux: `python -m tests.elsewhere TARGET`.

=====================  =========================================================================
`machines`             a Python of another platform, and how to start it
`parts`                what is fetched: Debian's packages for arm64, wheels, a Python for Windows
`suites`               what is run in it
`structure`            whether a library is what the loader of its platform takes
`elf`, `pe`, `macho`   read the files of Linux, Windows and macOS
`mapped`               loads a library for macOS into a Python for Linux
`wine`                 writes what Wine lacks
=====================  =========================================================================

Nothing here imports the compiler or anything that is installed besides: parts of it run in those Pythons.
"""
