"""Sources of bits that do what a test tells them, and the whole tree of what a sampler can make of its bits."""

from collections import defaultdict
from fractions import Fraction

import numpy as np


class Scripted:
    """A source that gives the bytes it was told, and fails when it is asked for more."""

    private = False

    def __init__(self, *parts):
        self.parts = [bytes(part) for part in parts]

    @classmethod
    def words(cls, *words):
        """A source that gives 64-bit words one at a time."""
        return cls(*(int(word).to_bytes(8, "little") for word in words))

    def fill(self, buffer):
        part = self.parts.pop(0)
        assert len(part) == buffer.size, f"the sampler asked for {buffer.size} bytes, the script has {len(part)}"
        buffer[:] = np.frombuffer(part, dtype=np.uint8)
        return buffer.size

    @property
    def spent(self):
        return not self.parts


class _WantsMore(BaseException):
    """The sampler wants bits that the path does not have; an Exception would be taken for a failed source."""

    def __init__(self, size):
        super().__init__(size)
        self.size = size


class _Path:
    """A source that replays one path through the tree."""

    private = False

    def __init__(self, path):
        self.path = list(path)

    def fill(self, buffer):
        if not self.path:
            raise _WantsMore(buffer.size)
        buffer[:] = np.frombuffer(self.path.pop(0), dtype=np.uint8)
        return buffer.size


def tree(sampler, requests, *, depth):
    """Return the exact mass of every outcome of a sampler, and the mass of the paths that are longer than `depth`.

    `requests` says for the number of bytes that are asked for which byte strings to try: all those that the sampler can
    tell apart, equally likely. `sampler` is called with a source and returns an outcome.
    """
    masses, longer = defaultdict(Fraction), Fraction(0)
    stack = [((), Fraction(1))]
    while stack:
        path, mass = stack.pop()
        try:
            masses[sampler(_Path(path))] += mass
        except _WantsMore as wanted:
            if len(path) == depth:
                longer += mass
                continue
            options = requests[wanted.size]
            stack += [((*path, option), mass / len(options)) for option in options]
    return masses, longer


def top_bits(size, bits):
    """All integers of `size` bytes that differ in their first bits only; what follows is set, lest it pass for 0."""
    rest = 8 * size - bits
    return [((value << rest) | ((1 << rest) - 1)).to_bytes(size, "little") for value in range(1 << bits)]
