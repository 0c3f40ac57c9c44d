"""Beyond memory, beyond one machine: pairs of more boxes than fit into memory.

The input is read in chunks, the world cut into tiles, each chunk written to disk by tile, and each tile
searched on its own.  Every step is a list of tasks that do not know each other, so anything with ``submit``
can do them: threads of this process, other processes, the machines of a Dask cluster.  A run that was killed
goes on where it was.

Needs pyarrow (the extra ``io``); ``docs/beyond.md`` says what it costs.

In which order to read it: `calls` is what users call; `running` and `finishing` do it; `settling` decides on
sizes and on the `cut`; `partition` writes boxes by tile and `joining` finds the pairs of one.
"""

from broadphase.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
