"""Thin bridges to the libraries that games are written with; each needs the extra of its name."""
