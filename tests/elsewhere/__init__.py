"""The package as other platforms get it, tested from Linux: `python -m tests.elsewhere TARGET`.

==================  ============================================================================
`machines`          a Python of another platform, fetched and started here
`parts`             Debian's packages of another architecture, wheels of another platform
`suites`            what is run in it
`structure`         whether a library is what its platform loads; it reads the three formats with
`elf`, `pe`, `macho`
`mapped`            loads a library for macOS into a Python for Linux
`wine`              what Wine lacks
==================  ============================================================================

Nothing here imports the compiler or anything that is installed besides: parts of it run in those Pythons.
"""
