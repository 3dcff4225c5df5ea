"""Noise that makes released counts come out as they are wanted, to see everything else that an output depends on."""

from __future__ import annotations

import numpy as np

from ggdp.mechanisms import certified_noise
from ggdp.noise import Binomial, IntegerNoise

FAR = -(10**6)


class Script:
    """Noise for the counts of one release: what is missing from each true count to the wanted one.

    The noise is drawn by number, before counts are looked at, so the script is told the true counts in the order in
    which the release goes through them; `None` for a wanted count leaves a cell far below every threshold.
    """

    def __init__(self, monkeypatch, true: list[int], wanted: list[int | None]) -> None:
        self.noise = np.array(
            [FAR if count is None else count - truth for truth, count in zip(true, wanted, strict=True)], dtype=np.int64
        )
        self.draws = 0
        monkeypatch.setattr(IntegerNoise, "sample", self._sample)
        monkeypatch.setattr(Binomial, "sample", lambda *_, **__: np.zeros(1, dtype=np.int64))
        # The one door of noise reaches the sampler by this name.
        assert certified_noise.IntegerNoise is IntegerNoise

    def _sample(self, size, *, rng=None):
        del rng
        size = int(np.prod(size))
        self.draws += 1
        assert size == self.noise.size, "the release does not go through the counts that the script expects"
        return self.noise.copy()


class InTurn:
    """Noise for tables that are drawn one after another: a script for each, of its true and its wanted counts."""

    def __init__(self, monkeypatch, parts) -> None:
        self.scripts = [Script(monkeypatch, *part) for part in parts]
        monkeypatch.setattr(IntegerNoise, "sample", lambda _, size, *, rng=None: self._sample(size, rng))

    def _sample(self, size, rng):
        return self.scripts.pop(0)._sample(size, rng=rng)
