"""The public grid on which real-valued statistics are rounded before noise is added.

=======  ==============================================================================
g        step of the grid, a power of two
x        a true value
k        index of x on the grid, floor(x/g + 1/2)
D, D_q   sensitivity of one coordinate; of the l_q norm of all
N        ceil(D/g), sensitivity of the index
=======  ==============================================================================

Floating-point noise on a floating-point value leaks the value through the bits that rounding leaves behind. So a
value is rounded to the grid first, its index gets integer noise, and the noisy index is turned back into a float: a
function of the noisy index alone. The step comes from the sensitivity, which is public, never from the data; nor from
the scale, since a step that is coarse beside D makes ceil(D/g) much larger than D/g. Rounding is part of the query, so
it is counted in the sensitivity. All halves are rounded up: rounding them to even turns a move of one step into one of
two.

Values are read as arrays that hold every number exactly (`exact_numbers`). Rounding a value on its way in could move
two neighboring values apart by more than the sensitivity that was proved, and an error that quotes a value gives it
away. So nothing on the way in rounds, and no error quotes.

References
----------
Mironov, "On Significance of the Least Significant Bits For Differential Privacy", CCS 2012. Sterbenz's lemma: y - f is
exact in floating point for f/2 <= y <= 2f.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp._balls import BALLS, upper_float, working_precision
from ggdp._rounding import rounded_up
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy.guarantees import Neighbours, validated_neighbours
from ggdp.privacy.sensitivity import Sensitivity

# The ends of int64, where indices saturate.
LEAST, LARGEST = -(2**63), 2**63 - 1
# Floats hold every integer up to it, and so sensitivities in steps.
MOST_STEPS = 2**53
# How many steps there are at least in the sensitivity of a coordinate.
FINENESS = 1024
# More than twice the bits of a float.
_PRECISION = 128
# Elements that stay in the cache while they are worked on.
_BLOCK = 1 << 15

Exact: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.object_]"


class _NotShown:
    """Placeholder in an error for a value from the data."""

    def __repr__(self) -> str:
        return "<not shown>"


def refusal(expected: str) -> ArgumentError:
    """Return an error about values from the data that does not contain them."""
    return ArgumentError("values", _NotShown(), expected)


def refused_type(expected: str) -> ArgumentTypeError:
    """Return an error about the type of values that does not contain them."""
    return ArgumentTypeError("values", _NotShown(), expected)


def exact_numbers(values: ArrayLike) -> Exact:
    """Return values as float64, int64, uint64 or Python numbers, whichever holds them exactly; nothing is rounded.

    A list of floats and of integers beyond 2^53 would be rounded by NumPy, and two neighboring values would move apart
    by more than their sensitivity: it becomes an array of Python numbers. A frame with columns of several types would
    be rounded before we see it: it is refused. How long an array takes does not depend on its numbers; a list is
    turned into an array by NumPy, which looks at them.
    """
    array: NDArray[Any] | None = None
    if not _is_masked(values) and (hasattr(values, "dtype") or isinstance(values, numbers.Number | list | tuple)):
        # An object that is asked for its array may raise anything, and nothing of it may hang on an error that is
        # raised here: it could hold a value.
        with suppress(Exception):
            found = np.asarray(values)
            rounded = found.dtype.kind == "f" and not hasattr(values, "dtype") and _beyond_float(values)
            array = np.asarray(values, dtype=object) if rounded else found
    if array is None:
        raise refused_type(
            "must be numbers, or arrays or evenly nested lists of them, none of them masked or missing; of a frame "
            "take one column, or to_numpy() where all columns have one type"
        )
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64, copy=False)
    if kind == "u" and array.dtype.itemsize == 8:
        return array.astype(np.uint64, copy=False)
    if kind in "biu":
        return array.astype(np.int64, copy=False)
    exact = numbers.Rational | float | np.float32 | np.float16
    if kind == "O" and all(isinstance(value, exact) for value in array.flat):
        return array
    raise refused_type("must be integers or floats of at most 64 bits (fractions.Fraction is fine too)")


def exact_fraction(value: Any) -> Fraction:  # noqa: ANN401 - a number of Python or NumPy
    """Return a number exactly; NumPy's integers would overflow inside a fraction."""
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def _is_masked(values: object) -> bool:
    """Return whether there is a masked array among the values."""
    if isinstance(values, list | tuple):
        # Types first: a list of a million numbers has one or two.
        nested = tuple(kind for kind in set(map(type, values)) if issubclass(kind, list | tuple | np.ma.MaskedArray))
        return bool(nested) and any(_is_masked(value) for value in values if isinstance(value, nested))
    return isinstance(values, np.ma.MaskedArray)


def _beyond_float(values: ArrayLike) -> bool:
    """Return whether there is an integer among the values that no float may hold."""
    if type(values) is float or (isinstance(values, list | tuple) and set(map(type, values)) <= {float}):
        return False
    numbers_given = np.asarray(values, dtype=object).flat
    return any(isinstance(value, numbers.Integral) and abs(int(value)) > MOST_STEPS for value in numbers_given)


def _require_sensitivity(sensitivity: object) -> None:
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The multiples of a public step.

    Parameters
    ----------
    step : float
        Distance of neighboring points, a power of two.

    Examples
    --------
    >>> grid = Grid.of(Sensitivity.disjoint(3.0))
    >>> grid
    Grid(step=0.001953125)
    >>> grid.values(grid.index([0.1, -0.1]))
    array([ 0.09960938, -0.09960938])
    """

    step: float

    def __post_init__(self) -> None:
        step = _validate.positive(step=self.step)
        if math.frexp(step)[0] != 0.5 or step < sys.float_info.min:
            raise ArgumentError("step", self.step, "must be a power of two of at least 2^-1022, such as 2**-10")
        object.__setattr__(self, "step", step)

    @classmethod
    def of(cls, sensitivity: Sensitivity) -> Grid:
        """Return the grid for a query: the largest power of two at most 1/1024 of its least sensitivity.

        That is the least D_k over the coordinates; with a joint norm also D_q / r^(1/q), so that rounding, which adds
        up to r^(1/q) steps to the norm, makes neither larger by more than 1/1024.

        Examples
        --------
        >>> Grid.of(Sensitivity.box([1.0, 0.5])).step == 2**-11
        True
        """
        _require_sensitivity(sensitivity)
        least = min(sensitivity.sizes)
        if sensitivity.joint is not None:
            q, bound = sensitivity.joint
            least = min(least, bound * math.pow(sensitivity.moving, 0.0 if q == math.inf else -1.0 / q))
        # least = m 2^e with 1/2 <= m < 1.
        step = math.ldexp(1.0, math.frexp(least)[1] - FINENESS.bit_length())
        if step < sys.float_info.min:
            raise ArgumentError("sensitivity", least, "is too small for a grid of floats; use a smaller unit")
        return cls(step=step)

    @property
    def exponent(self) -> int:
        """The e of step = 2^e."""
        return math.frexp(self.step)[1] - 1

    def index(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return floor(x/g + 1/2) exactly, for numbers in any shape; beyond 64 bits it saturates.

        Parameters
        ----------
        values : array_like
            Integers or floats, also infinite ones. NaN is refused, by an error that does not say where it was.

        Notes
        -----
        Rounding: none but the floor. For floats, y = x/g is a change of exponent, hence exact, unless it overflows
        (then x/g is beyond 2^63, and saturates as it should) or is below 2^-1022 in absolute value (then the index is
        0, and it is for every such y). With f = floor(y), also exact, the index is f if y - f < 1/2 and f + 1
        otherwise.

        For |y| >= 1 the difference y - f is exact by Sterbenz's lemma, for 0 <= y < 1 since f = 0. For -1 < y < 0 it is
        y + 1: exact by the lemma for y <= -1/2, and for y > -1/2 above 1/2 before rounding, so not below it after.
        Last, f + 1 is only taken if y is not an integer, so |f| < 2^52 and the sum is exact. (The sum x/g + 1/2 itself
        is not: 0.49999999999999994 + 0.5 gives 1.0.) Integers are shifted; fractions and Python's large integers go
        through `fractions.Fraction`.

        Examples
        --------
        >>> Grid(step=1.0).index([0.49999999999999994, 0.5, -0.5, 1e300])
        array([                  0,                   1,                   0, 9223372036854775807])
        """
        return self.index_of_exact(exact_numbers(values))

    def index_of_exact(self, numbers_given: Exact) -> NDArray[np.int64]:
        """Return `index` of an array as `exact_numbers` returns it."""
        flat = numbers_given.reshape(-1)
        found = np.empty(flat.size, dtype=np.int64)
        parts: dict[str, Callable[[NDArray[Any]], NDArray[np.int64]]] = {
            "f": self._index_of_floats,
            "i": self._index_of_integers,
            "u": self._index_of_unsigned,
            "O": self._index_of_objects,
        }
        part = parts[flat.dtype.kind]
        for start in range(0, flat.size, _BLOCK):
            found[start : start + _BLOCK] = part(flat[start : start + _BLOCK])
        return found.reshape(numbers_given.shape)

    def _index_of_floats(self, x: NDArray[np.float64]) -> NDArray[np.int64]:
        with np.errstate(over="ignore", under="ignore"):
            y = x / self.step
        np.clip(y, -(2.0**63), 2.0**63, out=y)
        f = np.floor(y)
        y -= f
        f += y >= 0.5
        if np.isnan(f).any():
            raise refusal("must not hold NaN; replace missing values first, by a rule that is public")
        beyond = f == 2.0**63
        f[beyond] = 0.0
        k = f.astype(np.int64)
        k[beyond] = LARGEST
        return k

    def _index_of_integers(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        e = self.exponent
        if e >= 64:
            # Here |x|/g <= 1/2, and -1/2 is rounded up too.
            return np.zeros_like(x)
        if e > 0:
            # floor((x + 2^(e-1)) / 2^e) without the sum, which could overflow.
            return (x >> e) + ((x >> (e - 1)) & 1)
        shift = min(-e, 63)
        low, high = LEAST >> shift, LARGEST >> shift
        k = np.clip(x, low, high) << shift
        k[x > high] = LARGEST
        k[x < low] = LEAST
        return k

    def _index_of_unsigned(self, x: NDArray[np.uint64]) -> NDArray[np.int64]:
        e = self.exponent
        if e <= 0:
            # Beyond int64 the index saturates, as that of the largest int64 does, or is it.
            return self._index_of_integers(np.minimum(x, np.uint64(LARGEST)).astype(np.int64))
        if e > 64:
            return np.zeros(x.shape, dtype=np.int64)
        shifted = x >> np.uint64(e) if e < 64 else np.zeros_like(x)
        # At most 2^63, and that only for e = 1.
        rounded = shifted + ((x >> np.uint64(e - 1)) & np.uint64(1))
        return np.minimum(rounded, np.uint64(LARGEST)).astype(np.int64)

    def _index_of_objects(self, x: NDArray[np.object_]) -> NDArray[np.int64]:
        found = []
        for value in x:
            if isinstance(value, numbers.Rational):
                exact = exact_fraction(value) / Fraction(self.step)
                found.append(min(max(math.floor(exact + Fraction(1, 2)), LEAST), LARGEST))
            else:
                found.append(int(self._index_of_floats(np.array([value], dtype=np.float64))[0]))
        return np.array(found, dtype=np.int64)

    def values(self, index: ArrayLike) -> NDArray[np.float64]:
        """Return index times step: exact for indices below 2^53 in absolute value, else rounded to the nearest float.

        Applied to a noisy index this is post-processing: it needs no proof, but leaves only approximate DP of
        probabilistic DP, since several indices beyond 2^53 may become one float.

        Examples
        --------
        >>> Grid(step=0.25).values([-3, 2**53 + 1]).tolist()
        [-0.75, 2251799813685248.0]
        """
        k = exact_numbers(index)
        if k.dtype == np.uint64:
            k = np.minimum(k, np.uint64(LARGEST)).astype(np.int64)
        if k.dtype != np.int64:
            raise refusal("must be 64-bit integers, as index gives them")
        return self.values_of_exact(k.astype(np.int64, copy=False))

    def values_of_exact(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return `values` of an array of 64-bit integers."""
        with np.errstate(over="ignore"):
            return np.asarray(k.astype(np.float64) * self.step)

    def sensitivity(self, sensitivity: Sensitivity) -> Sensitivity:
        """Return the sensitivity of the index, in steps.

        Notes
        -----
        Claim. If |x - x'| <= D, then the indices differ by at most N = ceil(D/g). *Proof.* Let x >= x' and
        u = x'/g + 1/2. Then x/g + 1/2 <= u + N, and floor(u + N) = floor(u) + N. Saturation is a clamp, which moves no
        two indices apart.

        For a joint norm over r coordinates ||k - k'||_q <= D_q/g + r^(1/q). *Proof.* |k_i - k'_i| <= ceil(|d_i|/g) <=
        |d_i|/g + 1, and Minkowski's inequality. For q = 1 the left side is an integer, so the right one is rounded
        down; for q = infinity or r = 1 it is N of D_q. The bounds of the single coordinates stay.

        Rounding: up, from exact fractions.

        Examples
        --------
        >>> Grid(step=2**-10).sensitivity(Sensitivity.disjoint(0.1)).sizes
        (103.0,)

        Half-even rounding would not do: a move of one step becomes one of two.

        >>> round(1.5) - round(0.5)
        2
        >>> int(np.diff(Grid(step=1.0).index([0.5, 1.5]))[0])
        1
        """
        _require_sensitivity(sensitivity)
        sizes, joint = tuple(float(self._steps(size)) for size in sensitivity.sizes), sensitivity.joint
        if joint is not None:
            (q, bound), moving = joint, sensitivity.moving
            exact = Fraction(bound) / Fraction(self.step)
            if q == math.inf or moving == 1:
                joint = (q, float(self._steps(bound)))
            elif q == 1.0:
                joint = (q, rounded_up(Fraction(math.floor(exact + moving)), of="sensitivity"))
            else:
                with BALLS, working_precision(_PRECISION):
                    extra = upper_float(arb(moving) ** (1 / arb(q)))
                joint = (q, rounded_up(exact + Fraction(extra), of="sensitivity"))
        return replace(sensitivity, sizes=sizes, joint=joint, bounds=None)

    def _steps(self, size: float) -> int:
        """Return ceil(D/g)."""
        steps = math.ceil(Fraction(size) / Fraction(self.step))
        if steps > MOST_STEPS:
            expected = (
                f"a sensitivity of {size!r} is more than 2^53 steps; release coordinates of very different "
                "sensitivities by mechanisms of their own, or give a coarser Grid"
            )
            raise ArgumentError("step", self.step, expected)
        return steps

    def total(self, rows: ArrayLike, bounds: tuple[float, float]) -> int:
        """Return the sum of the rows' indices, each row clamped to public bounds and rounded first.

        A sum of floats depends on the order of its terms, and one row can move it by more than its own size. The
        indices are added exactly; a total beyond 64 bits saturates. The total is a number of steps: release it with
        ``support="integer"`` and `total_sensitivity`, and take `values` of the result.

        Parameters
        ----------
        rows : array_like
            One number for each unit.
        bounds : tuple of float
            Public bounds (lower, upper); rows outside are clamped silently.

        Notes
        -----
        Rounding n rows may move the sum by up to n g/2. That is part of the query, not of the proof: take a fine step,
        such as 2^-40 of the bounds, since a fine grid costs nothing here.

        Examples
        --------
        >>> Grid(step=0.25).total([0.1, 0.9, 7.0, -1e300], bounds=(0, 2))
        12
        """
        low, high = self._ends(bounds)
        # The index is monotone, so clamping before and after it are the same.
        k = np.clip(self.index(rows), low, high).reshape(-1)
        total = 0
        for start in range(0, k.size, _BLOCK):
            part = k[start : start + _BLOCK]
            # Halves of 32 bits, of which a block cannot overflow.
            total += (int((part >> 32).sum()) << 32) + int((part & 0xFFFFFFFF).sum())
        return min(max(total, LEAST), LARGEST)

    def total_sensitivity(self, bounds: tuple[float, float], *, neighbours: Neighbours = "add-remove") -> Sensitivity:
        """Return the sensitivity, in steps, of `total` with these bounds, where a unit has one row.

        Notes
        -----
        Claim. Every row adds an index in [index(lower), index(upper)], and saturation moves no two totals apart. Adding
        or removing a row moves the total by at most the larger end in absolute value, a replaced row by at most the
        width.

        Examples
        --------
        >>> Grid(step=0.25).total_sensitivity((-1, 2), neighbours="replace-one").sizes
        (12.0,)
        """
        low, high = self._ends(bounds)
        relation = validated_neighbours(neighbours)
        steps = max(abs(low), abs(high)) if relation == "add-remove" else high - low
        if steps > MOST_STEPS:
            raise ArgumentError("bounds", bounds, f"span more than 2^53 steps of {self.step!r}; give a coarser Grid")
        return Sensitivity.cells(1, max(steps, 1), neighbours=relation)

    def _ends(self, bounds: tuple[float, float]) -> tuple[int, int]:
        """Return the indices of public bounds."""
        low, high = self.index(list(_validate.interval(bounds=bounds))).tolist()
        return low, high
