"""The keyboard, and a gamepad if there is one."""

import pygame

DEAD = 0.3
"""Dead zone of the sticks."""
PAUSE, RESTART, START = "pause", "restart", "start"
LEFT = (pygame.K_LEFT, pygame.K_a)
RIGHT = (pygame.K_RIGHT, pygame.K_d)
UP = (pygame.K_UP, pygame.K_w)
DOWN = (pygame.K_DOWN, pygame.K_s)
KEYS = {pygame.K_m: "mute", pygame.K_h: "help", pygame.K_SPACE: START, pygame.K_RETURN: START}
"""In addition to the keys of every example: P, R, TAB and ESC."""
BUTTONS = {0: START, 7: PAUSE, 6: RESTART, 3: "engine"}
HELP = "arrows or WASD walk    SPACE shoot    TAB engine    M sound"


class Controls:
    """What the player wants."""

    def __init__(self) -> None:
        pygame.joystick.init()
        self.pads = [pygame.joystick.Joystick(k) for k in range(pygame.joystick.get_count())]

    def wish(self, event: pygame.event.Event) -> str | None:
        """The action of a key or button that was pressed."""
        if event.type == pygame.JOYDEVICEADDED:
            self.pads.append(pygame.joystick.Joystick(event.device_index))
        elif event.type == pygame.JOYDEVICEREMOVED:
            self.pads = [pad for pad in self.pads if pad.get_instance_id() != event.instance_id]
        elif event.type == pygame.KEYDOWN:
            return KEYS.get(event.key)
        elif event.type == pygame.JOYBUTTONDOWN:
            return BUTTONS.get(event.button)
        return None

    def direction(self) -> tuple[float, float]:
        """The direction to walk, a vector of length up to 1.42; the hero normalises it."""
        held = pygame.key.get_pressed()
        x = any(held[key] for key in RIGHT) - any(held[key] for key in LEFT)
        y = any(held[key] for key in DOWN) - any(held[key] for key in UP)
        for pad in self.pads:
            sticks = [pad.get_axis(axis) if pad.get_numaxes() > axis else 0.0 for axis in (0, 1)]
            hat = pad.get_hat(0) if pad.get_numhats() else (0, 0)
            if max(map(abs, sticks)) > DEAD:
                return sticks[0], sticks[1]
            if any(hat):
                return hat[0], -hat[1]
        return x, y

    def shoots(self) -> bool:
        """Whether the trigger is held."""
        return bool(pygame.key.get_pressed()[pygame.K_SPACE]) or any(pad.get_button(0) for pad in self.pads)
