"""Exact sums of whole numbers, also on engines that add in 64 bits.

DuckDB adds 64-bit integers in 128 bits (`Dialect.wide_sums`), which hold the sums of 2^64 squares. On other engines a
number a from 0 to N is h B + l with the digits h and l, both below B or, for h, at most N / B. The sums of the digits
over all rows, and of their products, give the sums of a and of a^2:

    sum a = B sum h + sum l,    sum a^2 = B^2 sum h^2 + 2 B sum h l + sum l^2.

Claim. No sum of digits overflows: each term is below 2^21, so that the sum of fewer than 2^42 rows is below 2^63.
Proof: B is 2^10 where squares are needed, and N is at most 2^20, so that h is at most 2^10 and products are at most
2^20; else B is 2^16, and N at most 2^31. Where N is below B (N^2 below 2^20 with squares), a is its own digit. Digits
are found by a division by a power of two and a subtraction of floats that hold them exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.tables.statistics.sum_groups import Measure

_BASE, _BASE_OF_SQUARES = 1 << 16, 1 << 10


class SummedMeasure(NamedTuple):
    """A measure whose steps are added up, and perhaps their squares."""

    measure: Measure
    squares: bool

    @property
    def base(self) -> int:
        """Base of the digits."""
        return _BASE_OF_SQUARES if self.squares else _BASE

    def terms(self, name: str, *, wide: bool) -> list[nw.Expr]:
        """Return the numbers of each row that are added up, beside the step; null where there is no step."""
        step = nw.col(name)
        if not self._in_digits(wide=wide):
            return [step, (step * step).alias(f"{name}_ll")] if self.squares else [step]
        whole = step.cast(nw.Float64)
        high = (whole / float(self.base)).floor()
        low = whole - high * float(self.base)
        found = {"h": high, "l": low}
        if self.squares:
            found |= {"hh": high * high, "hl": high * low, "ll": low * low}
        return [step, *(term.cast(nw.Int64).alias(f"{name}_{digits}") for digits, term in found.items())]

    def names(self, name: str, *, wide: bool) -> list[str]:
        """Return the names of the terms that are added up; `wide` if the engine adds in 128 bits."""
        if not self._in_digits(wide=wide):
            return [name, f"{name}_ll"] if self.squares else [name]
        return [f"{name}_{digits}" for digits in (("h", "l", "hh", "hl", "ll") if self.squares else ("h", "l"))]

    def added(self, table: pa.Table, name: str) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return the exact sums of the steps and of their squares, from the sums of the terms."""

        def of(part: str) -> NDArray[np.object_]:
            return integers(table[part])

        nothing = np.zeros(table.num_rows, dtype=object)
        if f"{name}_h" not in table.column_names:
            return of(name), of(f"{name}_ll") if self.squares else nothing
        base = self.base
        first = base * of(f"{name}_h") + of(f"{name}_l")
        if not self.squares:
            return first, nothing
        return first, base * base * of(f"{name}_hh") + 2 * base * of(f"{name}_hl") + of(f"{name}_ll")

    def _in_digits(self, *, wide: bool) -> bool:
        return not wide and self.measure.values.steps >= self.base


def integers(values: pa.ChunkedArray) -> NDArray[np.object_]:
    """Return whole numbers of any type as Python's integers, 0 for null; decimals of 64 bits without their objects."""
    try:
        narrow: NDArray[np.int64] = values.cast("int64").fill_null(0).to_numpy()
    except pa.ArrowInvalid:
        return np.array([int(value or 0) for value in values.to_pylist()], dtype=object)
    return narrow.astype(object)
