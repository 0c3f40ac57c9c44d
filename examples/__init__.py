"""Five small programs, one for each article that the library is based on; see ``python -m examples``."""
