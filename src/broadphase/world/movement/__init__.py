"""How bodies move, and what stops them.

`sweep` moves one shape and pushes it out of walls (depenetration); `motion` moves one body of a world,
`motion_many` thousands; `character` walks, `platforms` carry and push, `separation` pushes crowds apart;
`crossing` notes the sensors on the way.
"""
