"""Bodies, movement and tile maps: for people who think in players and walls, not in arrays."""
