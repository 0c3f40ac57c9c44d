"""Maps from the Tiled editor.

Read the modules in this order: `documents` reads files of both formats, `maps` the maps in them, `outlines`
moves objects and collision shapes of tiles to their place, `level` finds the cells that block.
"""
