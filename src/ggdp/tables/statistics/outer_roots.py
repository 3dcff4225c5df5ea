"""Where concave functions cross 0, from the outside: the ends of sets that a test does not reject."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ggdp.distributions.generalized_gaussian import Floats

# One function for each entry: values at points, of the functions with these numbers.
ConcaveFunctions: TypeAlias = "Callable[[Floats, NDArray[np.intp]], Floats]"

# Chords and secants converge fast and halving is the guard; what is left is on the outside.
_STEPS = 16
# A step that is shorter than this part of the first distance is the last one, and so is one that leaves less.
_CLOSE = 1e-6
# Rounding must not put the end of a chord inside, from where the other end would come near by halving only.
_SHORT = 1.0 - 1e-7


class Points(NamedTuple):
    """A point for each function, and its value there."""

    x: Floats
    value: Floats


def outer_root(functions: ConcaveFunctions, outer: Points, inner: Points, guess: Floats | None = None) -> Floats:
    """Return points between `outer`, where the functions are above 0, and `inner`, where they are not, just outside.

    Claim: for a concave function no point from the outer one up to the result has a value of 0 or less, but the result
    itself may. Proof: concave functions lie above their chords, so the chord from an outer to an inner point reaches 0
    where the function is not below 0; and a concave function that is above 0 at two points is above 0 between them. It
    holds after every step, as a point becomes the outer one only if the function was found not to be below 0 there.

    A guess between them, one for each entry, saves steps. Beyond two outer points a concave function is below the line
    through them, so that the line reaches 0 at an inner point, near the root: the next chord ends there.

    All are arrays of one axis. Where the outer and the inner point are the same, it is the result.
    """
    result, at = outer.x.copy(), np.flatnonzero(outer.x != inner.x)
    outside, inside = outer.x[at], inner.x[at]
    at_outside, at_inside = outer.value[at], np.minimum(inner.value[at], 0.0)

    def narrowed(point: Floats, value: Floats, is_outer: NDArray[np.bool_]) -> None:
        nonlocal outside, inside, at_outside, at_inside
        outside, at_outside = np.where(is_outer, point, outside), np.where(is_outer, value, at_outside)
        inside, at_inside = np.where(is_outer, inside, point), np.where(is_outer, at_inside, np.minimum(value, 0.0))

    if guess is not None:
        value = functions(guess[at], at)
        narrowed(guess[at], value, value > 0.0)
    close = _CLOSE * np.abs(outside - inside)

    def without(done: NDArray[np.bool_], *more: Floats) -> list[Floats]:
        """Finish some, and return the rest of more arrays."""
        nonlocal at, close, outside, inside, at_outside, at_inside
        if not done.any():
            return list(more)
        result[at[done]] = outside[done]
        left = ~done
        at, close = at[left], close[left]
        outside, inside, at_outside, at_inside = (x[left] for x in (outside, inside, at_outside, at_inside))
        return [x[left] for x in more]

    for _ in range(_STEPS):
        if not at.size:
            break
        before, at_before = outside, at_outside
        moved = outside + _SHORT * _share(at_outside, at_outside - at_inside) * (inside - outside)
        value = functions(moved, at)
        narrowed(moved, value, value >= 0.0)
        done = (np.abs(inside - outside) <= close) | (np.abs(moved - before) <= close)
        before, at_before, moved, value = without(done, before, at_before, moved, value)
        secant = moved + _share(value, at_before - value) * (moved - before)
        usable = (value >= 0.0) & (at_before > value) & ((secant - inside) * (outside - inside) > 0.0)
        point = np.where(usable, secant, 0.5 * (outside + inside))
        value = functions(point, at)
        narrowed(point, value, value > 0.0)
        without(np.abs(inside - outside) <= close)
    result[at] = outside
    return result


def _share(part: Floats, whole: Floats) -> Floats:
    """Return part over whole; 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0.0)
