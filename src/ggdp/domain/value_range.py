"""The public range of a column of numbers, cut into equal steps.

=========  =====================================================================================
lo, hi     ends of the range; values outside are clamped to them
g          step, of which both ends are multiples; values are rounded to it
N          number of steps, (hi - lo) / g
a          a value in steps from lo: an integer from 0 to N
=========  =====================================================================================

All of it must be known without the data. Numbers are read as the decimals that they are written as, so that a step of
0.1 is a tenth.
"""

from __future__ import annotations

import numbers
from decimal import Decimal
from fractions import Fraction
from typing import Any

from attrs import field, frozen

from ggdp.errors import ArgumentError

# Steps are 32-bit numbers; of at most FEW_STEPS squares are added up too.
MOST_STEPS, FEW_STEPS = 2**31, 2**20
# Whole ends that are at least so far apart are cut into steps of 1; others into at least FINE steps.
_WIDE, _FINE = 100, 10_000


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
    def offset(self) -> int:
        """The lower end, in steps from 0."""
        return int(self.low / self.step)

    def to_dict(self) -> dict[str, Any]:
        """Return the range as plain values, ready for JSON."""
        return {"range": [_plain(self.low), _plain(self.high)], "step": _plain(self.step)}

    def __str__(self) -> str:
        return f"{_plain(self.low)} to {_plain(self.high)} in steps of {_plain(self.step)}"


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
