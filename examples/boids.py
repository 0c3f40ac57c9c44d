"""Boids: a flock of 20,000 birds that looks at its neighbours, with trails, and a hawk.

Hold the mouse button: the mouse is a hawk, and birds flee it.  Keys: up and down for more or fewer birds, T
for trails, I for random headings, TAB for a lens that shows which birds see each other.  No Python loop goes
over birds: ``bp.neighbors`` finds all pairs within range in a periodic world, and sums over pairs are
`numpy.bincount`.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

import broadphase as bp
from examples.stage import BACKGROUND, GREEN, LIGHT, Game, main

Floats = npt.NDArray[np.floating[Any]]

REACH = 5.5
"""How far a bird sees."""
ROOM = 4.5
"""Birds keep at least this distance."""
SPEED = 1.6
"""Distance per frame."""
FOLLOW, CLOSE_UP, KEEP_OFF, NOISE = 0.15, 0.003, 0.4, 0.15
"""Weights of a bird's turn in a frame: alignment, cohesion, separation, noise."""
FEAR = 90.0
"""The distance at which birds flee the hawk."""
PARTS = ("bp.neighbors", "rules", "drawing")
BRIGHT = (250, 214, 140)


class Flock:
    """The birds as arrays in a periodic world."""

    def __init__(self, count: int, size: tuple[int, int], seed: int = 7) -> None:
        self.size = np.array(size, np.float32)
        self.chance = np.random.default_rng(seed)
        self.place = (self.chance.random((count, 2), np.float32) * self.size) % self.size
        self.velocity = np.empty_like(self.place)
        self.near: bp.Neighbors | None = None
        self.scatter()

    def __len__(self) -> int:
        return len(self.place)

    def scatter(self) -> None:
        """Give every bird a random heading."""
        angle = self.chance.random(len(self), np.float32) * np.float32(2 * np.pi)
        self.velocity[:] = SPEED * np.column_stack((np.cos(angle), np.sin(angle)))

    def look(self) -> bp.Neighbors:
        """All pairs of birds that see each other, with the vector from one to the other."""
        self.near = bp.neighbors(self.place, REACH, period=self.size, offsets=True, sort=False)
        return self.near

    def turn(self, near: bp.Neighbors, hawk: tuple[float, float] | None) -> None:
        """The three rules of Reynolds 1987, and the hawk."""
        offset, n = near.offset, len(self)
        assert offset is not None
        i, j = near.i.astype(np.intp), near.j.astype(np.intp)  # as `numpy.bincount` wants them
        seen = np.bincount(i, minlength=n) + np.bincount(j, minlength=n)
        share = (FOLLOW / np.maximum(seen, 1)).astype(np.float32)
        to_first, to_second = share[i], share[j]
        # Along the vector from one to the other, divided by its length.
        pull = np.minimum(KEEP_OFF * (near.distance / ROOM - 1), CLOSE_UP)
        pull /= np.maximum(near.distance, np.float32(0.1))
        velocity = np.empty_like(self.velocity)
        for axis in range(2):
            own = np.ascontiguousarray(self.velocity[:, axis])
            push = offset[:, axis] * pull
            velocity[:, axis] = own * (1 - FOLLOW * (seen > 0))
            velocity[:, axis] += np.bincount(i, own[j] * to_first + push, n)
            velocity[:, axis] += np.bincount(j, own[i] * to_second - push, n)
        velocity += NOISE * (self.chance.random(velocity.shape, np.float32) - np.float32(0.5))
        if hawk is not None:
            velocity += self._away_from(hawk)
        length = np.sqrt(np.einsum("ij,ij->i", velocity, velocity))
        self.velocity = velocity * (SPEED / np.maximum(length, np.float32(1e-6)))[:, None]

    def fly(self) -> None:
        """Advance by one frame."""
        self.place += self.velocity
        self.place += self.size * (self.place < 0)
        self.place -= self.size * (self.place >= self.size)  # also what has just been rounded up to it

    def _away_from(self, hawk: tuple[float, float]) -> Floats:
        gap = self.place - np.array(hawk, np.float32)
        gap -= self.size * np.rint(gap / self.size)
        far = np.maximum(np.sqrt(np.einsum("ij,ij->i", gap, gap)), 1)
        fled: Floats = gap * (np.maximum(FEAR - far, 0) / (FEAR * far))[:, None]
        return fled

    def alignment(self) -> float:
        """The mean cosine between the headings of birds that see each other: 0 if random, 1 if aligned."""
        near = self.look() if self.near is None else self.near
        alignments = np.einsum("ij,ij->i", self.velocity[near.i], self.velocity[near.j])
        return float(alignments.mean() / SPEED**2) if len(alignments) else 0.0


class Trails:
    """A picture in 256 shades in which birds are points, that fades from frame to frame."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.picture = pygame.Surface(size, depth=8)
        dark, bright = np.array(BACKGROUND), np.array(BRIGHT)
        shades = np.linspace(0, 1, 256)[:, None] ** 1.5
        self.picture.set_palette((dark + shades * (bright - dark)).astype(int).tolist())

    def add(self, place: Floats, *, fade: bool) -> None:
        """Draw the birds of this frame over the faded earlier frames."""
        shades = pygame.surfarray.pixels2d(self.picture).T  # a row of the picture lies side by side
        if fade:
            shades -= (shades >> 3) + (shades > 0)
        else:
            shades[:] = 0
        column, row = place.astype(np.int32).T
        shades[row, column] = 255
        del shades  # it holds the picture locked


class Boids(Game):
    """A flock to frighten."""

    title = "boids"
    keys = "mouse is a hawk    UP DOWN more, fewer    T trails    I forget"
    engine = "the lens follows the mouse: a line for each pair that bp.neighbors found"

    def __init__(self, count: int = 20_000) -> None:
        super().__init__()
        self.flock, self.trails = Flock(count, self.size), Trails(self.size)
        self.fade = True
        self.hawk: tuple[float, float] | None = None
        self.begun: float | None = None

    def handle(self, event: pygame.event.Event) -> None:
        """Mouse and keys."""
        if event.type == pygame.MOUSEBUTTONDOWN or (
            event.type == pygame.MOUSEMOTION and self.hawk is not None
        ):
            self.hawk = event.pos
        elif event.type == pygame.MOUSEBUTTONUP:
            self.hawk = None
        elif event.type == pygame.KEYDOWN:
            self.press(event.key)

    def press(self, key: int) -> None:
        """What the keys do."""
        if key == pygame.K_t:
            self.fade = not self.fade
        elif key == pygame.K_i:
            self.flock.scatter()
        elif key in (pygame.K_UP, pygame.K_DOWN):
            count = len(self.flock) * 2 if key == pygame.K_UP else len(self.flock) // 2
            self.flock = Flock(max(count, 1), self.size)

    def update(self) -> None:
        """Look, turn, fly; in unattended mode a hawk comes by every five seconds."""
        if self.by_itself:
            self.hawk = self._circling()
        with self.timer.part("bp.neighbors"):
            near = self.flock.look()
        with self.timer.part("rules"):
            self.flock.turn(near, self.hawk)
            self.flock.fly()

    def _circling(self) -> tuple[float, float] | None:
        frame = self.timer.frames % 300
        if frame < 200:
            return None
        angle = 2 * np.pi * frame / 100
        width, height = self.size
        return width / 2 + 200 * float(np.cos(angle)), height / 2 + 200 * float(np.sin(angle))

    def draw(self, surface: pygame.Surface) -> None:
        """Birds are written into an array of pixels, all at once."""
        if not self.paused:  # else the trails would be gone soon
            self.trails.add(self.flock.place, fade=self.fade)
        surface.blit(self.trails.picture, (0, 0))
        if self.hawk is not None:
            pygame.draw.circle(surface, (230, 90, 70), self.hawk, 6)

    def draw_engine(self, surface: pygame.Surface) -> None:
        """A lens over the birds next to the mouse: a line for each pair that sees each other."""
        near = self.flock.near
        if near is None:
            return
        size, half, zoom = np.array(self.size), 30, 5
        middle = size / 2 if self.by_itself else np.clip(pygame.mouse.get_pos(), half, size - half)
        lens = pygame.Surface((2 * half * zoom, 2 * half * zoom))
        lens.fill(BACKGROUND)
        seen = (abs(self.flock.place - middle) < half).all(axis=1)
        pairs = np.flatnonzero(seen[near.i] & seen[near.j])
        places = (self.flock.place - middle + half) * zoom
        for i, j in zip(places[near.i[pairs]].tolist(), places[near.j[pairs]].tolist(), strict=True):
            pygame.draw.line(lens, GREEN, i, j)
        for place in places[seen].tolist():
            pygame.draw.circle(lens, BRIGHT, place, 3)
        pygame.draw.rect(lens, LIGHT, lens.get_rect(), 1)
        pygame.draw.rect(surface, LIGHT, (*(middle - half), 2 * half, 2 * half), 1)
        surface.blit(lens, (size[0] - lens.get_width() - 8, 8))

    def lines(self) -> list[str]:
        """How many neighbours birds have, and what finding them costs."""
        near, n = self.flock.near, len(self.flock)
        pairs = 0 if near is None else len(near.i)
        return [
            f"{n:,} birds, each sees {2 * pairs / n:.1f}",
            ", ".join(f"{part} {self.timer.milliseconds(part):.1f} ms" for part in PARTS),
        ]

    def begin_script(self) -> None:
        """Randomise the headings, to report how the flock forms again."""
        self.flock.scatter()
        self.begun = self.flock.alignment()

    def report(self) -> list[str]:
        """The order of the flock, and the share of time spent in broadphase."""
        seconds = self.timer.seconds
        share = seconds["bp.neighbors"] / max(sum(seconds.values()), 1e-9)
        begun = "" if self.begun is None else f" (at first {self.begun:.2f})"
        return [
            *self.lines(),
            f"alignment of neighbours {self.flock.alignment():.2f}{begun}",
            f"bp.neighbors is {share:.0%} of a frame",
        ]


if __name__ == "__main__":
    main(Boids)
