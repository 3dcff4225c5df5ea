"""The public range of a column of numbers, cut into equal steps.

=========  =====================================================================================
lo, hi     ends of the range; values outside are clamped to them
g          step, of which both ends are multiples; values are rounded to it
N          number of steps, (hi - lo) / g
a          a value in steps from lo: an integer from 0 to N
=========  =====================================================================================

A column may have a range for each level of another column (`LevelRanges`); then these letters have one value in each
cell. All of it must be known without the data. Numbers are read as the decimals that they are written as, so that a
step of 0.1 is a tenth.
"""

from __future__ import annotations

import numbers
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

# Steps are 32-bit numbers; of at most FEW_STEPS squares are added up too.
MOST_STEPS, FEW_STEPS = 2**31, 2**20
# Whole ends that are at least so far apart are cut into steps of 1; others into at least FINE steps.
_WIDE, _FINE = 100, 10_000
# So many ranges are listed in a sentence.
_FEW_LEVELS = 6


def _exact(said: str, value: object) -> Fraction:
    """Return a number as the decimal that it is written as."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal | str):
        raise ArgumentError(said, value, "must be a number")
    try:
        return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)  # type: ignore[arg-type]
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ArgumentError(said, value, "must be a finite number") from None


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


@frozen(init=False)
class ValueRange:
    """The public range of the values of a column, and the step that they are rounded to; errors call it `name`.

    By default the step is 1 if the ends are whole numbers at least 100 apart (or 10, 100, ... if that would be more
    than a million steps and both ends are multiples of it); else the largest power of ten of which both are multiples
    and that cuts the range into at least 10,000 steps.
    """

    low: Fraction
    high: Fraction
    step: Fraction = field()

    def __init__(self, low: object, high: object, step: object = None, *, name: str = "range") -> None:
        least, most = _exact(name, low), _exact(name, high)
        written = f"{low}:{high}" if step is None else f"{low}:{high}:{step}"
        if not least < most:
            raise ArgumentError(name, written, "the lower end must be below the upper end")
        if max(abs(least), abs(most)) > 2**62:
            raise ArgumentError(name, written, "ends must be at most 2^62 in absolute value")
        size = _default_step(least, most) if step is None else _exact(name, step)
        if size is None:
            expected = f"no power of ten cuts it into at most {MOST_STEPS:,} steps; give a step: LOW:HIGH:STEP"
            raise ArgumentError(name, written, expected)
        if size <= 0:
            raise ArgumentError(name, written, "the step must be above 0; a range is LOW:HIGH:STEP")
        if least % size or most % size:
            expected = f"both ends must be multiples of the step; the step is {_plain(size)}, give another one"
            raise ArgumentError(name, written, expected)
        if (most - least) / size > MOST_STEPS:
            raise ArgumentError(name, written, f"has more than {MOST_STEPS:,} steps; give a larger step")
        self.__attrs_init__(least, most, size)

    @property
    def steps(self) -> int:
        """Number of steps."""
        width: Fraction = self.high - self.low
        return int(width / self.step)

    @property
    def middle(self) -> int:
        """The middle, in steps from the lower end; the lower of the two middle ones if the number of steps is odd."""
        return self.steps // 2

    @property
    def offset(self) -> int:
        """The lower end, in steps from 0."""
        return int(self.low / self.step)

    @property
    def furthest(self) -> int:
        """The end that is further from 0, in steps from 0."""
        return max(abs(self.offset), abs(self.offset + self.steps))

    @property
    def ranges(self) -> tuple[ValueRange, ...]:
        """The ranges that cells have: this one."""
        return (self,)

    def in_cells(self, keys: pa.Table, at: Any = None) -> Any:  # noqa: ANN401, ARG002
        """Return what has the numbers of the range of cells as attributes, or arrays of them."""
        return self

    @property
    def plain(self) -> list[int | float]:
        """The ends and the step as plain values, ready for JSON."""
        return [_plain(self.low), _plain(self.high), _plain(self.step)]

    def __str__(self) -> str:
        return f"{_plain(self.low)} to {_plain(self.high)} in steps of {_plain(self.step)}"


@frozen
class LevelRanges:
    """The public ranges of a column by level of another one, `by`: one for each of its published levels."""

    by: str
    levels: tuple[object, ...]
    ranges: tuple[ValueRange, ...]

    @property
    def steps(self) -> int:
        """The largest number of steps."""
        return max(values.steps for values in self.ranges)

    def places(self, keys: pa.Table) -> NDArray[np.int64]:
        """Return which of the ranges each cell has, from the published keys."""
        import pyarrow as pa
        import pyarrow.compute as pc

        # Keys of open tables are text.
        levels = pa.array(self.levels).cast(pa.string())
        return np.asarray(pc.index_in(keys[self.by].cast(pa.string()), value_set=levels))

    def in_cells(self, keys: pa.Table, at: Any = slice(None)) -> Any:  # noqa: ANN401
        """Return arrays of Python's numbers, of the range of each cell (or of some, `at`), as attributes."""
        which, names = self.places(keys)[at], ("low", "high", "step", "offset", "steps", "furthest")
        return SimpleNamespace(
            **{one: np.array([getattr(v, one) for v in self.ranges], object)[which] for one in names}
        )

    def __str__(self) -> str:
        if len(self.levels) > _FEW_LEVELS:
            return f"the range of each level of {self.by!r}"
        return ", ".join(f"{values} for {level}" for level, values in zip(self.levels, self.ranges, strict=True))


def _default_step(low: Fraction, high: Fraction) -> Fraction | None:
    if low.denominator == high.denominator == 1 and high - low >= _WIDE:
        for power in range(19):
            step = Fraction(10**power)
            if (high - low) / step <= FEW_STEPS and not low % step and not high % step:
                return step
        return Fraction(1) if high - low <= MOST_STEPS else None
    for power in range(18, -13, -1):
        step = Fraction(10) ** power
        if _FINE <= (high - low) / step <= MOST_STEPS and not low % step and not high % step:
            return step
    return None
