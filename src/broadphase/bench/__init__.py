"""The bench: named scenes, every method and other installed libraries, timed in turns in one process.

From the bottom up: `scenes` (what is searched), `timing`, `peers` (other libraries, and the yardstick in
C++), `contest` (the contestants; time and memory), `run` (a whole run), `report` (tables and the chart).
"""
