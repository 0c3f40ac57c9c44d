"""Bodies, movement and tile maps: an interface of players and walls instead of arrays."""
