"""Sounds synthesised with NumPy and played by pygame; silent without an audio device."""

import numpy as np
import pygame

RATE = 22_050


def tones(frequencies: list[float], seconds: float, noise: float = 0.0, fall: float = 5.0) -> np.ndarray:
    """Notes in sequence, each fading out; ``noise`` from 0 to 1 makes it rough."""
    rng = np.random.default_rng(1)
    parts = []
    for frequency in frequencies:
        t = np.arange(int(RATE * seconds / len(frequencies))) / RATE
        wave = np.sign(np.sin(2 * np.pi * frequency * t)) * 0.4 + 0.6 * np.sin(2 * np.pi * frequency * t)
        wave = (1 - noise) * wave + noise * rng.uniform(-1, 1, len(t))
        parts.append(wave * np.exp(-fall * t / max(t[-1], 1e-9)))
    return np.concatenate(parts)


def sounds() -> dict[str, np.ndarray]:
    """Waves from -1 to 1 by name."""
    return {
        "shoot": tones([900, 700, 500], 0.09, noise=0.3),
        "hit": tones([200], 0.07, noise=0.7),
        "kill": tones([160, 110, 80], 0.2, noise=0.5),
        "bite": tones([120, 90], 0.2, noise=0.4),
        "fire": tones([300, 420, 300], 0.25, noise=0.6),
        "food": tones([520, 660], 0.16),
        "key": tones([880, 1175], 0.2),
        "gold": tones([1320, 1760], 0.12),
        "gem": tones([1320, 1568, 2093], 0.24),
        "door": tones([70, 90, 60], 0.4, noise=0.6, fall=2.0),
        "stairs": tones([392, 494, 587, 784], 0.6),
        "amulet": tones([523, 659, 784, 1047, 784, 1047], 1.2),
        "dead": tones([330, 262, 196, 131], 0.9),
    }


class Sound:
    """Plays sounds by name."""

    def __init__(self) -> None:
        self.muted = False
        self.made: dict[str, pygame.mixer.Sound] | None = None

    def play(self, name: str) -> None:
        """Play a sound once; the first call makes all sounds."""
        if self.made is None:
            self.made = self._make()
        if name in self.made and not self.muted:
            self.made[name].play()

    def _make(self) -> dict[str, pygame.mixer.Sound]:
        try:
            pygame.mixer.init(RATE, -16, 1, 512)
        except pygame.error:
            return {}  # no audio device
        return {name: pygame.mixer.Sound(buffer=_samples(wave)) for name, wave in sounds().items()}


def _samples(wave: np.ndarray) -> bytes:
    frequency, _, channels = pygame.mixer.get_init()
    at = np.arange(int(len(wave) * frequency / RATE)) * RATE // frequency
    loud = (8_000 * wave[at]).astype(np.int16)
    return np.repeat(loud, channels).tobytes()
