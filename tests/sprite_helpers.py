"""Worlds of pygame sprites that can be made twice: once for pygame, once for the drop-ins."""

import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")

import pygame
from pygame import sprite


class NamedSprite(sprite.Sprite):
    """A sprite with a name, so that two worlds can be compared."""

    def __init__(self, name, rect, **attributes):
        super().__init__()
        self.name = name
        self.rect = rect
        for key, value in attributes.items():
            setattr(self, key, value)

    def __repr__(self):
        return self.name


def names(found):
    """What a function returned, in names."""
    if found is None:
        return None
    if isinstance(found, dict):
        return [(a.name, [b.name for b in met]) for a, met in found.items()]
    if isinstance(found, list):
        return [names(item) for item in found]
    if isinstance(found, tuple):
        return tuple(names(item) for item in found)
    return found.name


def outcome(function, *arguments):
    """What a call returns or raises, in a form that can be compared."""
    try:
        return names(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def disc(size):
    """An image with a round opaque part."""
    image = pygame.Surface((size, size), pygame.SRCALPHA)
    pygame.draw.circle(image, "white", (size // 2, size // 2), size // 2)
    return image
