"""Maps from the Tiled editor.

From the bottom up: `fields` takes values out of a document and names those that are wrong, `documents` makes
files of both formats into such documents, `numbers` unpacks the tiles of a layer, `things` are the parts of a
map, `objects`, `tilesets` and `maps` read them, `worlds` reads maps that lie side by side.  `outlines` brings
objects and shapes of tiles to their place, `lattice` says where cells lie in maps that are not orthogonal,
`ground` which cells block, and `level` makes of them what a tile map is made of.
"""
