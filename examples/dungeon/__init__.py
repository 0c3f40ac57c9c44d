"""The dungeon: rooms, doors, food, shots, and hundreds of monsters that walk toward you and never overlap."""

from examples.dungeon.game import Dungeon as Dungeon
