"""
Real outlines
=============

The boxes around all counties of the United States, taken from a GeoDataFrame as they are: sizes and
density differ widely. Neighbours touch; what overlaps more than that is drawn in orange.
"""

from importlib import resources

import geopandas
import matplotlib.pyplot as plt
import numpy as np

import broadphase as bp

folder = resources.files("_plotly_geo") / "package_data"
counties = geopandas.read_file(str(folder / "cb_2016_us_county_500k.shp"))
middle = counties.cx[-110:-80, 30:45]
pairs = bp.pairs(middle)
neighbours = np.bincount(pairs.ravel(), minlength=len(middle))

figure, ax = plt.subplots(figsize=(7.2, 5), layout="constrained")
middle.assign(neighbours=neighbours).plot(
    "neighbours", ax=ax, cmap="viridis", edgecolor="white", linewidth=0.2
)
figure.colorbar(ax.collections[0], label="boxes of other counties that overlap its own", shrink=0.8)
ax.set(xticks=[], yticks=[], title=f"{len(pairs):,} pairs among {len(middle):,} counties")
plt.show()
