"""A continuous space for Mesa: its names, its answers, and the neighbours of all agents in one call.

`ContinuousSpace` stands in for ``mesa.experimental.continuous_space.ContinuousSpace``; agents are Mesa's own
`ContinuousSpaceAgent`, unchanged.  What else is here that Mesa does not have: `ContinuousSpace.neighbors`,
`nearest` and `neighbors_of_all`.

Cost: to add, move or remove an agent takes as long among many as among few.  A question of one agent looks at
one coordinate of every agent, and at the rest of those nearby; where all agents ask, ask once for all.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.extras import need
from broadphase.neighborhoods import NearestPoints, Neighbors, nearest, neighbors

__all__ = ["ContinuousSpace", "ContinuousSpaceAgent"]

need("mesa", extra="mesa", purpose="the mesa adapter")

from mesa.agent import Agent, AgentSet  # noqa: E402  # after the line that says which extra they need
from mesa.experimental.continuous_space import ContinuousSpace as _MesasSpace  # noqa: E402
from mesa.experimental.continuous_space import ContinuousSpaceAgent  # noqa: E402

Floats = npt.NDArray[np.float64]

_TINY = 1e-150  # squares of what is shorter vanish


class ContinuousSpace(_MesasSpace):  # type: ignore[misc]  # the class comes with the extra
    """A space in which agents are anywhere; as Mesa's, and fast.

    Parameters
    ----------
    dimensions : array_like
        Lowest and highest coordinate, one row an axis.
    torus : bool
        Whether the space goes on at its other side.
    random : random.Random
        The model's; without, Mesa warns that a run cannot be repeated.
    n_agents : int
        How many agents to make room for; more may come.

    Notes
    -----
    Everything is as of Mesa's own class, but:

    - Removing an agent moves the last one into its row, so that nobody else has to move.  `agent_positions`
      and `active_agents` fit each other as ever.  `agents`, and agents that are answers, come in the order in
      which they were added, as Mesa's do.
    - An agent that was added and not yet given a position is at NaN, and near nobody.
    - `get_k_nearest_agents` answers by distance, equal ones by age; ``k`` may be all agents there are.
    - A space that is empty has an `agent_positions`, too.

    On a torus distances are Mesa's to the last bit; without, those of IEEE arithmetic, which SciPy's are on
    most machines.  Who writes to `agent_positions` stays in the bounds (`torus_correct` helps).

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
        self._ages = np.empty(len(self._agent_positions), np.int64)  # by row: the how-manieth that was added
        self._added = 0
        self._rows_by_age = True
        self._longest = int(np.argmax(self.size))

    # ---- who is there

    @property
    def agents(self) -> AgentSet:
        """The agents, in the order in which they were added."""
        rows = self._by_age(np.arange(self._n_agents))
        return AgentSet([self.active_agents[row] for row in rows.tolist()], random=self.random)

    def _by_age(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        return rows if self._rows_by_age else rows[np.argsort(self._ages[rows])]

    def _add_agent(self, agent: Agent) -> int:
        """Give an agent the next row; Mesa's agents call this."""
        row = self._n_agents
        if row == len(self._agent_positions):
            room = max(2 * row, 8)
            self._agent_positions = _with_room(self._agent_positions, room)
            self._ages = _with_room(self._ages, room)
        self._agent_positions[row] = np.nan
        self._ages[row] = self._added
        self._added += 1
        self.active_agents.append(agent)
        self._put(agent, row)
        self._resize(row + 1)
        return row

    def _remove_agent(self, agent: Agent) -> None:
        """Let the last agent have the row of one that goes; Mesa's agents call this."""
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

    # ---- one asks

    def get_agents_in_radius(self, point: npt.ArrayLike, radius: float = 1) -> tuple[list[Agent], Floats]:
        """The agents at a distance of at most ``radius``, and how far each is."""
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
        """The ``k`` nearest agents by distance, equal ones by age, and how far each is.

        Raises
        ------
        ValueError
            There are not as many agents with a position.
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
        """How far rows are from a point or from rows, by the steps by which Mesa computes it on a torus."""
        apart = np.abs(others - positions)
        if self.torus:
            apart = np.minimum(apart, self.size - apart, out=apart)
        total: Floats = apart[:, 0] ** 2
        for axis in range(1, self.ndims):
            total += apart[:, axis] ** 2
        return np.sqrt(total)

    # ---- all ask

    def neighbors(self, radius: float, *, offsets: bool = False) -> Neighbors:
        """All pairs of agents at a distance of at most ``radius``, as arrays of rows.

        Parameters
        ----------
        radius : float
            The distance.
        offsets : bool
            Also where the second is, seen from the first, the shorter way around.

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
        Neighbours of everybody, and the middle of each one's neighbours:

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
        # Moved to begin at 0 they are rounded; with a hair more than the radius none is missed.
        hair = 16 * np.finfo(np.float64).eps * float(np.max(np.abs(self.dimensions)) + np.max(self.size))
        near = neighbors(positions - self.dimensions[:, 0], radius + hair, period=self.size, offsets=offsets)
        distances = self._distances(positions[near.j], positions[near.i])
        kept = distances <= radius
        offset = None if near.offset is None else near.offset[kept]
        return Neighbors(near.i[kept], near.j[kept], distances[kept], near.shape, offset=offset)

    def nearest(self, k: int) -> NearestPoints:
        """The ``k`` nearest other agents of each, as arrays of rows; see `broadphase.nearest`.

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
        """What ``agent.get_neighbors_in_radius(radius)`` says, of every agent.

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
            askers = np.repeat(np.arange(self._n_agents), np.diff(found.indptr))
            order = np.lexsort((self._ages[indices], askers))
            indices, distances = indices[order], distances[order]
        agents = self.active_agents
        near = [agents[row] for row in indices.tolist()]
        spans = pairwise(found.indptr.tolist())
        return {agent: (near[a:b], distances[a:b]) for agent, (a, b) in zip(agents, spans, strict=True)}

    def _all_placed(self) -> Floats:
        positions: Floats = self.agent_positions
        lost = np.flatnonzero(np.isnan(positions).any(axis=1))
        if len(lost):
            agent = self.active_agents[lost[0]]
            raise ValueError(f"agent {agent.unique_id} (row {lost[0]}) has no position; set agent.position")
        return positions


def _with_room(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
