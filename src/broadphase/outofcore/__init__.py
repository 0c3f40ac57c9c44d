"""Pairs of more boxes than fit into memory, on one machine or on many.

The input is read in chunks, the world is divided into tiles, each chunk is written to disk by tile, and each
tile is searched on its own.  Every step is a list of tasks that are independent of each other, so anything
with ``submit`` can run them: threads of this process, other processes, the machines of a Dask cluster.  A run
that was killed resumes where it was.

Needs pyarrow (the extra ``io``); ``docs/beyond.md`` says what it costs.

Read the modules in this order: `run` has the public functions and carries a call out, `planning` checks the
arguments and decides on sizes and tiles; `tiles` writes boxes by tile and finds the pairs of each.  `inputs`
reads the sources, `work` runs tasks and keeps what they have done.
"""

from broadphase.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
