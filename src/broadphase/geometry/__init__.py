"""Shapes and their contacts: the narrow phase."""
