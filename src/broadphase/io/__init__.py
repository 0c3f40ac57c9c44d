"""Formats of files, as `broadphase.files` and the tile maps read and write them.

`tables` is text and ``.npy``, `arrow` Parquet and Arrow, `geojson` GeoJSON; `tiled` reads maps of Tiled.
"""
