"""The space compared with Mesa's own: the same agents, the same results, Mesa's own example."""

import random

import numpy as np
import pytest
from later import Later

WITHOUT = "the extra mesa is not installed"
FLOCKERS = "mesa.examples.basic.boid_flockers.model"
mesa = Later("mesa", WITHOUT)
mesas = Later("mesa.experimental.continuous_space", WITHOUT)
flockers = Later(FLOCKERS, WITHOUT)
adapter = Later("broadphase.adapters.mesa", WITHOUT)

WORLDS = {
    "torus": ([[0, 10], [0, 10]], True),
    "plane": ([[0, 10], [0, 10]], False),
    "torus elsewhere": ([[-7.3, 2.1], [100.7, 105.2]], True),
    "plane elsewhere": ([[-7.3, 2.1], [100.7, 105.2]], False),
    "torus in space": ([[-1, 4], [0, 6], [2, 9]], True),
    "space": ([[-1, 4], [0, 6], [2, 9]], False),
}


def made(kind, dimensions, torus, n=0, **options):
    """A space of either kind with agents that know their number; equal seeds, equal places."""
    model = mesa.Model(seed=1)
    space = kind(dimensions, torus=torus, random=model.random, **options)
    for number in range(n):
        join(space, model, number)
    return space


def join(space, model, number):
    agent = adapter.ContinuousSpaceAgent(space, model)
    agent.number = number
    low, high = space.dimensions.T
    share = np.random.default_rng(number).integers(0, 33, space.ndims) / 32  # ties, and places on the edge
    agent.position = np.minimum(low + share * (high - low), high)
    return agent


def both(world, n):
    return [made(kind, *WORLDS[world], n) for kind in (mesas.ContinuousSpace, adapter.ContinuousSpace)]


def numbers(agents):
    return [agent.number for agent in agents]


def same(found, expected):
    """Equal agents in equal order; distances as exact as SciPy's are on every machine."""
    assert numbers(found[0]) == numbers(expected[0])
    np.testing.assert_array_max_ulp(found[1], expected[1], 1)


@pytest.fixture(params=WORLDS)
def world(request):
    return request.param


def test_neighbours_are_those_of_mesa(world):
    theirs, ours = both(world, 70)
    for radius in (0, 0.3125, 1.5, 4.7, 100):
        near = ours.neighbors_of_all(radius)
        for mine, other in zip(ours.agents, theirs.agents, strict=True):
            expected = other.get_neighbors_in_radius(radius)
            same(mine.get_neighbors_in_radius(radius), expected)
            same(near[mine], expected)
            if ours.torus:
                assert np.array_equal(near[mine][1], expected[1])


def test_the_nearest_are_as_near_as_mesas(world):
    theirs, ours = both(world, 40)
    all_at_once = ours.nearest(5).distances
    for row, point in enumerate(theirs.agent_positions):
        for k in (1, 6, 39):
            agents, distances = ours.get_k_nearest_agents(point, k)
            expected = np.sort(theirs.get_k_nearest_agents(point, k)[1])
            np.testing.assert_array_max_ulp(distances, expected, 1)
            exact, _ = ours.calculate_distances(point, agents)
            np.testing.assert_array_max_ulp(distances, exact, 1)
            assert (np.diff(distances) >= 0).all()
        nearest_others = np.sort(np.delete(theirs.calculate_distances(point)[0], row))[:5]
        np.testing.assert_allclose(all_at_once[row], nearest_others, rtol=1e-12, atol=1e-12)


def test_equally_near_ones_come_by_age():
    space = made(adapter.ContinuousSpace, [[0, 10], [0, 10]], False, 6)
    space.agent_positions[:] = 5
    assert numbers(space.get_k_nearest_agents((5, 5), 4)[0]) == [0, 1, 2, 3]
    space.active_agents[1].remove()
    assert numbers(space.get_k_nearest_agents((5, 5), 4)[0]) == [0, 2, 3, 4]
    assert numbers(space.get_k_nearest_agents((5, 5), 5)[0]) == [0, 2, 3, 4, 5]


def test_offsets_lead_to_the_neighbour(world):
    space = made(adapter.ContinuousSpace, *WORLDS[world], 50)
    near = space.neighbors(2.5, offsets=True)
    assert len(near) > 20
    for i, j, distance, offset in zip(near.i, near.j, near.distance, near.offset, strict=True):
        apart = space.calculate_difference_vector(space.agent_positions[i], [space.active_agents[j]])[0]
        half_way = np.isclose(np.abs(apart), space.size / 2)  # either side is as short
        assert np.allclose(np.where(half_way, np.abs(offset) - np.abs(apart), offset - apart), 0, atol=1e-12)
        assert np.isclose(np.linalg.norm(offset), distance, atol=1e-12)


def test_exactly_at_the_radius_counts_and_slightly_less_does_not():
    theirs, ours = (
        made(kind, [[-7.3, 2.1], [-3.7, 5.2]], True, 12)
        for kind in (mesas.ContinuousSpace, adapter.ContinuousSpace)
    )
    for space in (theirs, ours):  # near 0, where numbers are finer than at the corner of the space
        space.agent_positions[:] = np.random.default_rng(5).uniform(-1, 1, (12, 2)) ** 3
    for one, agent in enumerate(theirs.active_agents):
        agents, distances = agent.get_neighbors_in_radius(4)
        for other, distance in zip(numbers(agents), distances.tolist(), strict=True):
            for radius, wanted in ((distance, True), (np.nextafter(distance, 0), False)):
                near = ours.neighbors(radius)
                pair = min(one, other), max(one, other)
                assert (pair in zip(near.i, near.j, strict=True)) is wanted


def test_agents_come_move_and_go(world):
    theirs, ours = both(world, 0)
    chance = random.Random(3)
    everybody = []
    for turn in range(160):
        what = chance.choice(["come", "come", "move", "go"])
        if what == "come":
            everybody.append([join(space, mesa.Model(seed=1), turn) for space in (theirs, ours)])
        elif everybody and what == "move":
            share = [chance.random() for _ in range(ours.ndims)]
            for agent in chance.choice(everybody):
                agent.position = ours.dimensions[:, 0] + share * ours.size
        elif everybody:
            for agent in everybody.pop(chance.randrange(len(everybody))):
                agent.remove()
        if turn % 20 == 19 and everybody:
            looks_same(theirs, ours)
    assert len(everybody) > 10


def looks_same(theirs, ours):
    assert numbers(ours.agents) == numbers(theirs.agents)
    assert len(ours.agent_positions) == len(ours.active_agents) == len(ours.agents)
    for agent, other in zip(ours.agents, theirs.agents, strict=True):
        assert np.array_equal(agent.position, other.position)
        assert ours.active_agents[ours._agent_to_index[agent]] is agent
    near = ours.neighbors_of_all(3)
    for agent, other in zip(ours.agents, theirs.agents, strict=True):
        same(near[agent], other.get_neighbors_in_radius(3))
        same(agent.get_neighbors_in_radius(3), other.get_neighbors_in_radius(3))


@pytest.mark.parametrize("vision", [10, 30])
def test_mesas_boids_fly_the_same_paths(vision, monkeypatch):
    flights = []
    for kind in (mesas.ContinuousSpace, adapter.ContinuousSpace):
        monkeypatch.setattr(f"{FLOCKERS}.ContinuousSpace", kind)
        flock = flockers.BoidFlockers(population_size=30, vision=vision, seed=11)
        assert type(flock.space) is kind
        for _ in range(12):
            flock.step()
        flights.append((flock.space.agent_positions.copy(), flock.agent_angles, flock.average_heading))
    for theirs, ours in zip(*flights, strict=True):
        assert np.array_equal(theirs, ours)


def test_no_agent_moves_when_another_is_removed():
    space = made(adapter.ContinuousSpace, [[0, 10], [0, 10]], True, 50)
    before = space.agent_positions.copy()
    space.active_agents[7].remove()
    changed = np.flatnonzero((before[:49] != space.agent_positions).any(axis=1))
    assert changed.tolist() == [7]


def test_an_empty_space_answers():
    space = made(adapter.ContinuousSpace, [[0, 10], [0, 10]], True, n_agents=0)
    assert space.agent_positions.shape == (0, 2)
    assert space.get_agents_in_radius((1, 1), 5)[0] == []
    assert space.neighbors_of_all(5) == {}
    join(space, mesa.Model(seed=1), 0)
    assert numbers(space.agents) == [0]


def test_an_agent_without_a_position_is_near_none_and_named():
    space = made(adapter.ContinuousSpace, [[0, 10], [0, 10]], True, 3)
    lost = adapter.ContinuousSpaceAgent(space, mesa.Model(seed=1))
    assert lost not in space.get_agents_in_radius((5, 5), 100)[0]
    for call in (space.neighbors, space.nearest, space.neighbors_of_all):
        with pytest.raises(ValueError, match=r"agent 1 \(row 3\) has no position; set agent\.position"):
            call(1)
    with pytest.raises(ValueError, match=r"k must be 0 to 3, .* got 4"):
        space.get_k_nearest_agents((5, 5), 4)


@pytest.mark.parametrize("radius", [-1, float("nan")])
def test_a_radius_that_is_none_is_named(radius):
    with pytest.raises(ValueError, match="radius must be a number of at least 0; got"):
        made(adapter.ContinuousSpace, [[0, 10], [0, 10]], True, 3).neighbors(radius)


def test_without_a_random_mesa_warns():
    with pytest.warns(UserWarning, match="Random number generator not specified"):
        adapter.ContinuousSpace([[0, 1], [0, 1]])
