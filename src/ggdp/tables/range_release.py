"""A private range that was found, and how it follows from the noisy counts of `ggdp.tables.clamping_range`."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp._files import write_together
from ggdp.errors import ArgumentError
from ggdp.releases.integer_intervals import simultaneous_half_width
from ggdp.signatures import signature_file
from ggdp.tables.value_range import FEW_STEPS, ValueRange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.privacy import Guarantee
    from ggdp.tables.release import TableRelease
    from ggdp.tables.table_plan import TablePlan

# The largest is that of the ends of a `ValueRange`.
SMALLEST, LARGEST = -32, 62
_POWERS = tuple(2.0**k for k in range(SMALLEST, LARGEST + 1))
EDGES = (-np.inf, *(-power for power in reversed(_POWERS)), 0.0, *_POWERS, np.inf)
_LEVEL = 0.95
# With one more at each end they are still few.
_MANY_STEPS = 10**6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RangeRelease:
    """A range that was found privately. Made by `ggdp.private_range`.

    Attributes
    ----------
    column : str
        The column.
    lower, upper : float or None
        Ends of the range, each 0 or plus or minus a power of 2; None if no bucket rose above the noise.
    share : float
        The share of the noisy total that may be outside.
    outside : float
        The share of the noisy total, over buckets above the noise, that is outside of the range.
    histogram : TableRelease
        The noisy counts of all buckets, which are public as well.
    """

    column: str
    lower: float | None
    upper: float | None
    share: float
    outside: float
    histogram: TableRelease

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee; None if the noise came from a seed, so that it is not private."""
        return self.histogram.guarantee

    @property
    def values(self) -> ValueRange | None:
        """The range with a step, for every statistic of `ggdp.release_table`; None if no range was found.

        The ends are `lower` and `upper` where the usual step of this range is one that all statistics take. Else the
        step is the least power of ten that cuts the range into at most a million steps, and the ends are the nearest
        multiples of it that are not inside.
        """
        return None if self.lower is None or self.upper is None else _declared(self.lower, self.upper)

    @property
    def flag(self) -> str | None:
        """The flag of ``ggdp release`` that uses the range."""
        values = self.values
        if values is None:
            return None
        parts = [values.low, values.high]
        parts += [] if values == _with_usual_step(values.low, values.high) else [values.step]
        return "--range " + shlex.quote(f"{self.column}={':'.join(map(_decimal, parts))}")

    @property
    def statement(self) -> str:
        """What was found, and what clamping to it cuts, in words."""
        if self.lower is None or self.upper is None:
            return (
                f"No range of {self.column!r} was found: no bucket of the histogram rose above the noise. "
                "Choose a range that is known without the data, or spend a larger epsilon."
            )
        outside = "less than 0.1 %" if self.outside < 0.001 else f"about {100 * self.outside:.1f} %"
        return (
            f"Values of {self.column!r} are mostly between {_number(self.lower)} and {_number(self.upper)}. Of those "
            f"in buckets above the noise, {outside} are outside of this range and would be clamped. A bucket whose "
            f"noisy count is at most {self.noise_level:,} is taken for noise, and the values in it are not seen."
        )

    @property
    def noise_level(self) -> int:
        """The noisy count that a bucket must exceed."""
        return noise_level(self.histogram.plan)

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the histogram, which is what was released; the range is computed from it."""
        return self.histogram.manifest

    def to_dict(self) -> dict[str, Any]:
        """Return the range and its manifest as plain values, ready for JSON."""
        return {
            "column": self.column,
            "lower": self.lower,
            "upper": self.upper,
            "share": self.share,
            "outside": self.outside,
            "noise_level": self.noise_level,
            "flag": self.flag,
            "statement": self.statement,
            "manifest": self.manifest,
        }

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the range with its manifest to a .json file, completely or not at all."""
        target = checked_path(path, overwrite=overwrite)
        content = (json.dumps(self.to_dict(), indent=2) + "\n").encode()
        # The signature of a file that is replaced goes with it.
        signature = {signature_file(target): None} if overwrite else {}
        write_together({target: content, **signature}, overwrite=overwrite)

    def __repr__(self) -> str:
        guarantee = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        return f"RangeRelease, {guarantee}\n  {self.statement}"


def range_of(column: str, histogram: TableRelease, share: float) -> RangeRelease:
    """Return the range that the noisy counts of the buckets show."""
    counts = histogram.tables[0].noisy_count
    first, last, outside = kept_buckets(counts, noise_level(histogram.plan), share)
    lower, upper = (None, None) if first is None else (_finite(EDGES[first]), _finite(EDGES[last + 1]))
    return RangeRelease(column=column, lower=lower, upper=upper, share=share, outside=outside, histogram=histogram)


def kept_buckets(counts: NDArray[np.int64], level: int, share: float) -> tuple[int | None, int, float]:
    """Return the first and the last bucket of the range (None and 0 if none), and the share that is outside."""
    seen = np.flatnonzero(counts > level)
    if not seen.size:
        return None, 0, 0.0
    total = sum(int(counts[i]) for i in seen)
    first, last, dropped = 0, seen.size - 1, 0
    while first < last:
        end = first if counts[seen[first]] <= counts[seen[last]] else last
        if dropped + int(counts[seen[end]]) > share * total:
            break
        dropped += int(counts[seen[end]])
        first, last = (first + 1, last) if end == first else (first, last - 1)
    return int(seen[first]), int(seen[last]), dropped / total


def noise_level(plan: TablePlan) -> int:
    """Return what noisy counts of empty buckets exceed in at most 5 % of all releases, for any bucket."""
    noise = plan.described_mechanism
    return simultaneous_half_width(noise.order, noise.scale, _LEVEL, len(EDGES) - 1)


def checked_path(path: str | Path, *, overwrite: bool) -> Path:
    """Return where the range is written to; raise if it may not be, before anything is spent."""
    target = json_path(path)
    if target.exists() and not overwrite:
        raise ArgumentError("out", str(path), "already exists; pass `overwrite=True` to replace it")
    return target


def json_path(path: str | Path) -> Path:
    """Return where a range is written to; raise if that is not a .json file."""
    if Path(path).suffix.lower() != ".json":
        raise ArgumentError("out", str(path), "must end in .json")
    return Path(path)


def _declared(lower: float, upper: float) -> ValueRange:
    """Return a range from about `lower` to `upper` with steps that are few enough for every statistic."""
    low, high = Fraction(lower), Fraction(upper)
    usual = _with_usual_step(low, high)
    if usual is not None and usual.steps <= FEW_STEPS:
        return usual
    step = Fraction(10) ** math.ceil(math.log10((high - low) / _MANY_STEPS))
    most = math.floor(2**LARGEST / step)
    return ValueRange(max(math.floor(low / step), -most) * step, min(math.ceil(high / step), most) * step, step)


def _with_usual_step(low: Fraction, high: Fraction) -> ValueRange | None:
    try:
        return ValueRange(low, high)
    except ArgumentError:
        return None


def _decimal(value: Fraction) -> str:
    """Return a fraction whose denominator has no factors but 2 and 5 as the decimal that it is."""
    # Each factor of the denominator takes at most one digit, and so does each power of ten before the point.
    with localcontext(prec=value.denominator.bit_length() + len(str(value.numerator))):
        return f"{Decimal(value.numerator) / value.denominator:f}"


def _finite(edge: float) -> float:
    return float(np.clip(edge, EDGES[1], EDGES[-2]))


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() else repr(x)
