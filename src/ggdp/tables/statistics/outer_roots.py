"""Where concave functions cross 0, from the outside: the ends of sets that a test does not reject."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.distributions.generalized_gaussian import Floats

__all__ = ["nearer", "outer_root"]

# Chords converge fast and halving is the guard; what is left is on the outside.
_STEPS = 16
# A step that is shorter than this part of the first distance is the last one.
_CLOSE = 1e-4


def nearer(function: Callable[[Floats], Floats], outside: Floats, guess: Floats) -> Floats:
    """Return the guess where the function is above 0 there, else `outside`: a start that is nearer to the root."""
    return np.where(function(guess) > 0.0, guess, outside)


def outer_root(function: Callable[[Floats], Floats], outside: Floats, inside: Floats) -> Floats:
    """Return points between `outside`, where the function is above 0, and `inside`, where it is not, just outside.

    Claim: for a concave function no point from `outside` up to the result has a value of 0 or less, but the result
    itself may. Proof: concave functions lie above their chords, so the chord from an outer to an inner point reaches 0
    where the function is not below 0; and a concave function that is above 0 at two points is above 0 between them. It
    holds after every step.

    Entries where `outside` and `inside` are the same stay as they are.
    """
    gap = np.abs(outside - inside)
    at_inside = np.minimum(function(inside), 0.0)
    at_outside = function(outside)
    for _ in range(_STEPS):
        rise = at_outside - at_inside
        share = np.divide(at_outside, rise, out=np.zeros_like(rise), where=rise > 0.0)
        advance = np.clip(share, 0.0, 1.0) * (inside - outside)
        moved = outside + advance
        # Rounding may put the end of the chord a little inside: there it is the new inner point.
        at_moved = function(moved)
        outer = at_moved >= 0.0
        outside, at_outside = np.where(outer, moved, outside), np.where(outer, at_moved, at_outside)
        inside, at_inside = np.where(outer, inside, moved), np.where(outer, at_inside, at_moved)
        middle = 0.5 * (outside + inside)
        at_middle = function(middle)
        outer = at_middle > 0.0
        outside, at_outside = np.where(outer, middle, outside), np.where(outer, at_middle, at_outside)
        inside, at_inside = np.where(outer, inside, middle), np.where(outer, at_inside, at_middle)
        if np.all(np.abs(advance) <= _CLOSE * gap):
            break
    return outside
