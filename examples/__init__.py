"""Five small programs, one for each article that the library grew from; see ``python -m examples``."""
