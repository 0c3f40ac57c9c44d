"""Balls: sweep and prune and the other indexes at work; balls can be dragged and thrown.

Drag a ball with the mouse.  Keys: I for the next index, up and down for more or fewer balls, G for gravity,
space for slow motion, TAB for the boxes that the index keeps.  Lines show the pairs whose boxes overlap;
filled balls touch.
"""

import numpy as np
import pygame

import broadphase as bp
from broadphase.adapters.pygame import draw_boxes
from broadphase.balls import BallSimulation
from examples.stage import BLUE, FRAME, GREEN, GREY, ORANGE, Game, main

NAMES = bp.INDEXES


class Balls(Game):
    """Elastic balls on any index."""

    title = "balls"
    keys = "mouse drags and throws    I next index    UP DOWN more, fewer    G gravity    SPACE slow"

    engine = "the index sees boxes; green where two overlap, and only these balls are looked at"

    def __init__(self, count: int = 120, index: str = "sweep_and_prune") -> None:
        super().__init__()
        self.index, self.gravity, self.slow = index, False, False
        self.held: int | None = None
        self.make(count)

    def make(self, count: int) -> None:
        """Start again with this many balls."""
        self.balls = BallSimulation(
            count,
            radius=(6, 22),
            bounds=(0, 0, *map(float, self.size)),
            speed=140,
            gravity=(0, 400 if self.gravity else 0),
            seed=4,
            index=self.index,
        )
        self.held, self.energy = None, self.balls.energy

    def handle(self, event: pygame.event.Event) -> None:
        """Mouse and keys."""
        if event.type == pygame.MOUSEBUTTONDOWN:
            self.held = self.balls.ball_at(*event.pos)
            if self.held is not None:
                self.balls.grab(self.held)
        elif event.type == pygame.MOUSEMOTION and self.held is not None:
            self.balls.drag(self.held, event.pos)
        elif event.type == pygame.MOUSEBUTTONUP and self.held is not None:
            self.balls.release(self.held)
            self.held = None
        elif event.type == pygame.KEYDOWN:
            self.press(event.key)

    def press(self, key: int) -> None:
        """What the keys do."""
        if key == pygame.K_i:
            self.index = NAMES[(NAMES.index(self.index) + 1) % len(NAMES)]
            self.balls.use(self.index)
        elif key == pygame.K_g:
            self.gravity = not self.gravity
            self.make(len(self.balls))
        elif key == pygame.K_SPACE:
            self.slow = not self.slow
        elif key in (pygame.K_UP, pygame.K_DOWN):
            self.make(max(len(self.balls) * 2 if key == pygame.K_UP else len(self.balls) // 2, 1))

    def update(self) -> None:
        """One step; in unattended mode it goes through all indexes."""
        if self.by_itself and self.timer.frames % 20 == 19:
            self.press(pygame.K_i)
        with self.timer.part("step"):
            self.balls.step(FRAME / 8 if self.slow else FRAME)

    def draw(self, surface: pygame.Surface) -> None:
        """Balls, the boxes of candidates, and a line for each pair under test."""
        balls = self.balls
        touching = set(balls.pairs.ravel().tolist())
        centres, radii = balls.positions.tolist(), balls.radii.tolist()
        for i, j in balls.candidates.tolist():
            pygame.draw.line(surface, GREEN, centres[i], centres[j], 1)
        for ball, (centre, radius) in enumerate(zip(centres, radii, strict=True)):
            held = ball == self.held
            pygame.draw.circle(
                surface,
                ORANGE if ball in touching or held else BLUE,
                centre,
                radius,
                0 if ball in touching else 2,
            )

    def draw_engine(self, surface: pygame.Surface) -> None:
        """The boxes of the balls in the index."""
        boxes, candidates = self.balls.boxes, np.unique(self.balls.candidates)
        draw_boxes(surface, boxes, color=GREY)
        draw_boxes(surface, boxes[candidates], color=GREEN)

    def lines(self) -> list[str]:
        """What the last step's search cost."""
        stats, n = self.balls.index.stats, len(self.balls)
        every = n * (n - 1) // 2
        return [
            f"{n} balls, {self.index}",
            f"{stats.tests:,} tests of {every:,} pairs",
            f"{stats.pairs} pairs of boxes overlap, {len(self.balls.pairs)} of balls touch",
            f"energy {self.balls.energy / self.energy:.9f} of what it was",
        ]


if __name__ == "__main__":
    main(Balls)
