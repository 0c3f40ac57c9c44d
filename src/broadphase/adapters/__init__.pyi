"""The adapters, imported when they are first used; see `broadphase.lazy_names`."""

from . import arcade as arcade
from . import ase as ase
from . import esper as esper
from . import freud as freud
from . import ldtk as ldtk
from . import mesa as mesa
from . import pygame as pygame
from . import scipy as scipy
from . import tiled as tiled
