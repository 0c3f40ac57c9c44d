"""Pictures of running programs: the lab's page in Chromium, the dungeon without a window."""


def lab() -> None:
    pass


def dungeon() -> None:
    pass
