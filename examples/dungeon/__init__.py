"""The dungeon: find the stairs before hundreds of monsters find you; doors, keys, food, arrows, treasure.

Read `play` first: it contains the frame.  `level` makes the rooms and `items` what is in them; `hero`,
`monsters` and `missiles` move; `pictures`, `view`, `light`, `hud` and `engine` draw; `sound` and `controls`
are what their names say; `pilot` plays when the game runs unattended.
"""

from examples.dungeon.play import Dungeon as Dungeon
