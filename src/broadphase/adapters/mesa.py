"""A continuous space for Mesa: the same names and results, and the neighbours of all agents in one call.

`ContinuousSpace` replaces ``mesa.experimental.continuous_space.ContinuousSpace``; agents are Mesa's own
`ContinuousSpaceAgent`.  `ContinuousSpace.neighbors`, `nearest` and `neighbors_of_all` are additions.

Cost: adding, moving or removing an agent takes constant time.  A query of one agent reads one coordinate of
every agent, and the others of agents nearby.  If all agents need their neighbours, query all in one call.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.errors import need
from broadphase.indexes.results import Nearest
from broadphase.points.neighbor_lists import Neighbors
from broadphase.points.neighborhoods import nearest, neighbors
from broadphase.runtime.arrays import Floats

__all__ = ["ContinuousSpace", "ContinuousSpaceAgent"]

need("mesa", extra="mesa", purpose="the mesa adapter")

from mesa.agent import Agent, AgentSet  # noqa: E402  # after the line that names the missing extra
from mesa.experimental.continuous_space import ContinuousSpace as _MesasSpace  # noqa: E402
from mesa.experimental.continuous_space import ContinuousSpaceAgent  # noqa: E402

_TINY = 1e-150  # squares of smaller distances become 0


class ContinuousSpace(_MesasSpace):  # type: ignore[misc]  # the class comes with the extra
    """A fast replacement for Mesa's continuous space.

    Parameters
    ----------
    dimensions : array_like
        The lowest and the highest coordinate, one row per axis.
    torus : bool
        Whether the space is periodic.
    random : random.Random
        That of the model; without it, Mesa warns that a run cannot be repeated.
    n_agents : int
        How many agents to allocate memory for; more can be added.

    Notes
    -----
    The differences to Mesa's class are:

    - Removing an agent moves the last one into its row, so that no other has to move.  `agent_positions` and
      `active_agents` still match.  `agents`, and the agents in results, are in the order in which they were
      added, as in Mesa.
    - An agent without a position is at NaN, and is near no other.
    - `get_k_nearest_agents` sorts by distance, then by age; ``k`` may be the number of all agents.
    - An empty space has `agent_positions` too.

    On a torus, distances equal Mesa's to the last bit; otherwise they are those of IEEE arithmetic, as
    SciPy's are on most machines.  Values written to `agent_positions` must lie in the bounds; `torus_correct`
    helps.

    Examples
    --------
    >>> import mesa
    >>> from broadphase.adapters.mesa import ContinuousSpace, ContinuousSpaceAgent
    >>> model = mesa.Model(seed=1)
    >>> space = ContinuousSpace([[0, 10], [0, 10]], torus=True, random=model.random)
    >>> a, b, c = (ContinuousSpaceAgent(space, model) for _ in range(3))
    >>> a.position, b.position, c.position = (1, 5), (9, 5), (5, 8)
    >>> near, distances = a.get_neighbors_in_radius(3)
    >>> near == [b], distances
    (True, array([2.]))
    """

    agent_positions: Floats
    _agent_positions: Floats

    def __init__(
        self, dimensions: npt.ArrayLike, torus: bool = False, random: Any = None, n_agents: int = 100
    ) -> None:
        super().__init__(dimensions, torus=torus, random=random, n_agents=n_agents)
        self.agent_positions = self._agent_positions[:0]
        self._ages = np.empty(len(self._agent_positions), np.int64)  # how many agents were added before
        self._added = 0
        self._rows_by_age = True
        self._longest = int(np.argmax(self.size))

    # ---- agents

    @property
    def agents(self) -> AgentSet:
        """The agents, in the order in which they were added."""
        rows = self._by_age(np.arange(self._n_agents))
        return AgentSet([self.active_agents[row] for row in rows.tolist()], random=self.random)

    def _by_age(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        return rows if self._rows_by_age else rows[np.argsort(self._ages[rows])]

    def _add_agent(self, agent: Agent) -> int:
        """Add an agent in the next row; called by Mesa's agents."""
        row = self._n_agents
        if row == len(self._agent_positions):
            length = max(2 * row, 8)
            self._agent_positions = np.resize(self._agent_positions, (length, self.ndims))
            self._ages = np.resize(self._ages, length)
        self._agent_positions[row] = np.nan
        self._ages[row] = self._added
        self._added += 1
        self.active_agents.append(agent)
        self._put(agent, row)
        self._resize(row + 1)
        return row

    def _remove_agent(self, agent: Agent) -> None:
        """Remove an agent and move the last one into its row; called by Mesa's agents."""
        row = self._agent_to_index.pop(agent)
        last = self._n_agents - 1
        mover = self.active_agents.pop()
        del self._index_to_agent[last]
        if row != last:
            self._agent_positions[row] = self._agent_positions[last]
            self._ages[row] = self._ages[last]
            self.active_agents[row] = mover
            self._put(mover, row)
            self._rows_by_age = False
        self._resize(last)

    def _put(self, agent: Agent, row: int) -> None:
        self._agent_to_index[agent] = row
        self._index_to_agent[row] = agent

    def _resize(self, count: int) -> None:
        self._n_agents = count
        self._rows_by_age = self._rows_by_age or count == 0
        self.agent_positions = self._agent_positions[:count]

    # ---- queries of one agent

    def get_agents_in_radius(self, point: npt.ArrayLike, radius: float = 1) -> tuple[list[Agent], Floats]:
        """The agents at a distance of at most ``radius``, and their distances."""
        point = np.asanyarray(point)
        axis = self._longest
        along = self.agent_positions[:, axis] - point[axis]
        np.abs(along, out=along)
        if self.torus:
            np.minimum(along, self.size[axis] - along, out=along)
        rows = self._by_age(np.flatnonzero(along <= radius + _TINY))
        distances = self._distances(self.agent_positions[rows], point)
        within = distances <= radius
        agents = self.active_agents
        return [agents[row] for row in rows[within].tolist()], distances[within]

    def get_k_nearest_agents(self, point: npt.ArrayLike, k: int = 1) -> tuple[list[Agent], Floats]:
        """The ``k`` nearest agents, by distance and then by age, and their distances.

        Raises
        ------
        ValueError
            There are fewer than ``k`` agents with a position.
        """
        distances = self._distances(self.agent_positions, np.asanyarray(point))
        placed = np.count_nonzero(~np.isnan(distances))
        if not 0 <= k <= placed:
            raise ValueError(f"k must be 0 to {placed}, the number of agents that have a position; got {k}")
        if k == 0:
            return [], distances[:0]
        limit = np.partition(distances, k - 1)[k - 1]
        rows = np.flatnonzero(distances <= limit)
        rows = rows[np.lexsort((self._ages[rows], distances[rows]))][:k]
        return [self.active_agents[row] for row in rows.tolist()], distances[rows]

    def _distances(self, positions: Floats, others: Any) -> Floats:
        """The distances of rows from a point or from rows, computed as Mesa does on a torus."""
        apart = np.abs(others - positions)
        if self.torus:
            apart = np.minimum(apart, self.size - apart, out=apart)
        total: Floats = apart[:, 0] ** 2
        for axis in range(1, self.ndims):
            total += apart[:, axis] ** 2
        return np.sqrt(total)

    # ---- queries of all agents

    def neighbors(self, radius: float, *, offsets: bool = False) -> Neighbors:
        """All pairs of agents at a distance of at most ``radius``, as arrays of rows.

        Parameters
        ----------
        radius : float
            The distance.
        offsets : bool
            Also return the vector from the first to the second, the shorter one on a torus.

        Returns
        -------
        Neighbors
            ``i`` and ``j`` are rows of `agent_positions` and of `active_agents`; see `broadphase.neighbors`.

        Raises
        ------
        ValueError
            ``radius`` is NaN or negative, an agent has no position, or the space has neither two nor three
            axes.

        Examples
        --------
        The neighbours of all agents, and the sum of the positions of the neighbours of each:

        >>> import mesa, numpy as np
        >>> from broadphase.adapters.mesa import ContinuousSpace, ContinuousSpaceAgent
        >>> model = mesa.Model(seed=1)
        >>> space = ContinuousSpace([[0, 10], [0, 10]], random=model.random)
        >>> agents = [ContinuousSpaceAgent(space, model) for _ in range(3)]
        >>> space.agent_positions[:] = (1, 5), (3, 5), (9, 9)
        >>> near = space.neighbors(2.5)
        >>> near.i, near.j, near.distance
        (array([0], dtype=int32), array([1], dtype=int32), array([2.]))
        >>> near.to_scipy().astype(bool) @ space.agent_positions
        array([[3., 5.],
               [1., 5.],
               [0., 0.]])
        """
        radius = float(radius)
        if not radius >= 0:
            raise ValueError(f"radius must be a number of at least 0; got {radius}")
        positions = self._all_placed()
        if not self.torus:
            return neighbors(positions, radius, offsets=offsets)
        # Moving the origin to 0 rounds positions; a slightly larger radius finds all pairs.
        tolerance = 16 * np.finfo(np.float64).eps * float(np.max(np.abs(self.dimensions)) + np.max(self.size))
        found = neighbors(
            positions - self.dimensions[:, 0], radius + tolerance, period=self.size, offsets=offsets
        )
        distances = self._distances(positions[found.j], positions[found.i])
        kept = distances <= radius
        offset = None if found.offset is None else found.offset[kept]
        return Neighbors(found.i[kept], found.j[kept], distances[kept], found.shape, offset=offset)

    def nearest(self, k: int) -> Nearest:
        """The ``k`` nearest other agents of each agent, as arrays of rows; see `broadphase.nearest`.

        Examples
        --------
        >>> import mesa
        >>> from broadphase.adapters.mesa import ContinuousSpace, ContinuousSpaceAgent
        >>> model = mesa.Model(seed=1)
        >>> space = ContinuousSpace([[0, 10], [0, 10]], random=model.random)
        >>> agents = [ContinuousSpaceAgent(space, model) for _ in range(3)]
        >>> space.agent_positions[:] = (1, 5), (3, 5), (9, 9)
        >>> space.nearest(1).ids.ravel()
        array([1, 0, 1], dtype=int32)
        """
        positions = self._all_placed()
        if self.torus:
            return nearest(positions - self.dimensions[:, 0], k, period=self.size)
        return nearest(positions, k)

    def neighbors_of_all(self, radius: float = 1) -> dict[Agent, tuple[list[Agent], Floats]]:
        """The result of ``agent.get_neighbors_in_radius(radius)`` for every agent.

        Examples
        --------
        >>> import mesa
        >>> from broadphase.adapters.mesa import ContinuousSpace, ContinuousSpaceAgent
        >>> model = mesa.Model(seed=1)
        >>> space = ContinuousSpace([[0, 10], [0, 10]], random=model.random)
        >>> a, b, c = (ContinuousSpaceAgent(space, model) for _ in range(3))
        >>> space.agent_positions[:] = (1, 5), (3, 5), (9, 9)
        >>> near = space.neighbors_of_all(2.5)
        >>> near[a] == ([b], [2.0]), near[c]
        (True, ([], array([], dtype=float64)))
        """
        found = self.neighbors(radius).csr()
        indices, distances = found.indices, found.distances.astype(np.float64, copy=False)
        if not self._rows_by_age:
            queries = np.repeat(np.arange(self._n_agents), np.diff(found.indptr).astype(np.intp, copy=False))
            order = np.lexsort((self._ages[indices], queries))
            indices, distances = indices[order], distances[order]
        agents = self.active_agents
        nearby = [agents[row] for row in indices.tolist()]
        spans = pairwise(found.indptr.tolist())
        return {agent: (nearby[a:b], distances[a:b]) for agent, (a, b) in zip(agents, spans, strict=True)}

    def _all_placed(self) -> Floats:
        positions: Floats = self.agent_positions
        lost = np.flatnonzero(np.isnan(positions).any(axis=1))
        if len(lost):
            agent = self.active_agents[lost[0]]
            raise ValueError(f"agent {agent.unique_id} (row {lost[0]}) has no position; set agent.position")
        return positions
