"""
A world as it sees itself
=========================

`draw_world` of `broadphase.plot` draws bodies by their tags, sensors dashed, tiles, the rays that were asked
for, and where things touch. The adapters for pygame and arcade draw the same over a running game.
"""

import matplotlib.pyplot as plt

import broadphase as bp

world = bp.World()
world.tiles = bp.TileMap(["..........", "..........", "##......##", "####..####"], tile_size=32)
hero = world.add(bp.Box(100, 30, 20, 34), tag="hero")
world.add(bp.Circle(200, 40, 12), tag="monster")
world.add(bp.Circle(216, 52, 12), tag="monster")
world.add(bp.Polygon([(250, 64), (310, 64), (310, 30)]), tag="slope", static=True)
world.add(bp.Circle(120, 88, 8), tag="coin", sensor=True)
world.on("monster", "monster")
world.on("hero", "coin")
world.walk(hero, 10, 60)
world.update()
world.raycast((16, 16), (300, 60))
axes = bp.plot.draw_world(world, ax=plt.figure(figsize=(8, 3), layout="constrained").add_subplot())
axes.set(aspect="equal", ylim=axes.get_ylim()[::-1])
plt.show()
