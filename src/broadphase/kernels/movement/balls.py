"""Balls: a time step, bounces off the walls, bounces off each other.

Only arithmetic in a fixed order: the result is the same on every machine and for every thread count.
"""

import math

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.shapes.images import wrapped

# This many periods away, rounding loses a position in the world: the index reports it.
LOST = 1e15


@jit
def advance_balls(positions, velocities, radii, held, targets, world, dt, restitution, boxes):
    """Move all balls for ``dt``, bounce them off the walls, and write the box around each.

    Held balls move to their targets instead, at the speed that this takes.  On an axis with a ``period`` (inf
    for none) there are no walls: a ball that leaves the world enters it on the other side.  ``world`` are the
    bounds, the period, and the gravity.
    """
    bounds, period, gravity = world
    for i in range(positions.shape[0]):
        radius = radii[i]
        for axis in range(2):
            place, speed = positions[i, axis], velocities[i, axis]
            low, high = bounds[axis] + radius, bounds[2 + axis] - radius
            if held[i]:
                goal = min(max(targets[i, axis], low), high)
                if dt > 0.0:
                    speed = _nearest_image(goal - place, period[axis]) / dt
                place = goal
            else:
                pull = gravity[axis]
                place += (speed + 0.5 * pull * dt) * dt
                speed += pull * dt
                if place > high:
                    place, speed = _bounce(place, speed, pull, high, 1.0, high - low, restitution)
                elif place < low:
                    place, speed = _bounce(place, speed, pull, low, -1.0, high - low, restitution)
            if abs(place) < LOST * period[axis]:
                place = wrapped(place, period[axis])
            positions[i, axis], velocities[i, axis] = place, speed
            boxes[i, axis], boxes[i, 2 + axis] = place - radius, place + radius


@inline
def _nearest_image(displacement, period):
    """The shortest displacement to an image of the same place."""
    if period == math.inf or not abs(displacement) < LOST * period:
        return displacement
    displacement -= float(int(displacement / period)) * period
    if 2.0 * displacement > period:
        return displacement - period
    return displacement + period if -2.0 * displacement > period else displacement


@inline
def _bounce(place, speed, pull, wall, outward, highest, restitution):
    """The position and speed after a bounce, for a ball at ``place`` behind a wall, by its energy there.

    Kinetic and potential energy along one axis give the speed at the wall; the ball leaves with
    that times ``restitution``, and moves back for the rest of its path.
    """
    behind = (place - wall) * outward
    against = pull * outward
    pushed = speed * outward <= 0.0  # pushed out by another ball, and already moving in
    kept = abs(speed) if pushed else abs(speed) * restitution
    rise = 0.0 if pushed else min(behind * restitution, highest)
    if against != 0.0:
        at_wall = math.sqrt(max(speed * speed - 2.0 * against * behind, 0.0))
        kept = at_wall if pushed else at_wall * restitution
        if against > 0.0:
            rise = min(rise, 0.5 * kept * kept / against)
        kept = math.sqrt(max(kept * kept - 2.0 * against * rise, 0.0))
    return wall - outward * rise, -outward * kept


@jit
def collide_balls(positions, velocities, radii, masses, held, pairs, period, restitution):
    """Bounce the pairs of balls that touch, one after the other, and separate those that overlap.

    The impulse along the line between the centres is equal and opposite, so momentum is conserved, and with
    ``restitution`` 1 so is energy.  Overlapping balls are separated about their common centre of mass, which
    conserves the energy in a field of gravity too.
    """
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        dx = _nearest_image(positions[j, 0] - positions[i, 0], period[0])
        dy = _nearest_image(positions[j, 1] - positions[i, 1], period[1])
        reach = radii[i] + radii[j]
        squared = dx * dx + dy * dy
        if squared > reach * reach or (held[i] and held[j]):
            continue
        distance = math.sqrt(squared)
        if distance > 0.0:
            nx, ny = dx / distance, dy / distance
        else:
            nx, ny = 1.0, 0.0  # one on the other: any direction will do, but always the same
        # The share of the impulse that each gets; a held ball is infinitely heavy.
        if held[i]:
            share_i, share_j = 0.0, 1.0
        elif held[j]:
            share_i, share_j = 1.0, 0.0
        else:
            both = masses[i] + masses[j]
            share_i, share_j = masses[j] / both, masses[i] / both
        closing = (velocities[i, 0] - velocities[j, 0]) * nx + (velocities[i, 1] - velocities[j, 1]) * ny
        if closing > 0.0:
            change = (1.0 + restitution) * closing
            velocities[i, 0] -= change * share_i * nx
            velocities[i, 1] -= change * share_i * ny
            velocities[j, 0] += change * share_j * nx
            velocities[j, 1] += change * share_j * ny
        overlap = reach - distance
        positions[i, 0] -= overlap * share_i * nx
        positions[i, 1] -= overlap * share_i * ny
        positions[j, 0] += overlap * share_j * nx
        positions[j, 1] += overlap * share_j * ny


@jit
def touching_balls(positions, radii, pairs, period, touch):
    """Mark the pairs of boxes whose balls touch."""
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        dx = _nearest_image(positions[j, 0] - positions[i, 0], period[0])
        dy = _nearest_image(positions[j, 1] - positions[i, 1], period[1])
        reach = radii[i] + radii[j]
        touch[k] = dx * dx + dy * dy <= reach * reach
