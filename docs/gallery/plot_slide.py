"""
Moving among walls
==================

`World.move` goes as far as it can and says what it met. The response to a wall is one word: slide along
it, bounce off it, or touch it and stop. However fast a body is, nothing is jumped over.
"""

import matplotlib.pyplot as plt

import broadphase as bp

WALLS = [(0, 0, 60, 3), (0, 37, 60, 3), (0, 0, 3, 40), (57, 0, 3, 40), (25, 12, 6, 16)]

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
for ax, response in zip(axes, ("slide", "bounce", "touch"), strict=True):
    world = bp.World()
    for wall in WALLS:
        world.add(bp.Box(*wall), tag="wall", static=True)
        ax.add_patch(plt.Rectangle(wall[:2], *wall[2:], color="0.75"))
    ball = world.add(bp.Circle(10, 30, 2), tag="ball")
    dx, dy, path = 40.0, -22.0, [(ball.x, ball.y)]
    move = world.move(ball, dx, dy, response)
    path += [hit.touch for hit in move.hits] + [(ball.x, ball.y)]
    ax.plot(*zip(*path, strict=True), "-o", color=bp.plot.PLAIN, markersize=4)
    ax.add_patch(plt.Circle((ball.x, ball.y), 2, color=bp.plot.OVERLAPPING))
    ax.set(xlim=(0, 60), ylim=(0, 40), aspect="equal", xticks=[], yticks=[])
    ax.set_title(f'response="{response}": {len(move.hits)} hits')
plt.show()
