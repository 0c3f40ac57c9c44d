"""The bench: named scenes, every method, and the peers that are installed, timed in turns in one process.

Imports run downward: `report`, `chart`; `run`; `memory`; `contest`; `peers`, `yardstick`; `scenes`, `timing`.
"""
