"""The dungeon: find the stairs, hundreds of monsters find you; doors, keys, food, arrows, treasure.

Read `play` first: it is the frame.  `level` makes the rooms, `things` what lies in them, `hero`, `monsters`
and `missiles` are who moves; `pictures`, `view`, `light`, `hud` and `engine` show it; `sound` and `controls`
are what they say; `pilot` plays when nobody is at the keys.
"""

from examples.dungeon.play import Dungeon as Dungeon
