"""Values of a column as whole steps of its public range, and their exact sums, the same on every engine.

=========  ==============================================================================================
lo, g, N   lower end of the range, step, and number of steps (`ggdp.domain.value_range`)
f          1 / g as a 64-bit float, such as 10 for steps of 0.1
k          code of the level of another column, where each has a range of its own: then lo, g and N are those of k
x          a value as a 64-bit float
a          its step, min(max(floor((x - lo) f + 1/2), 0), N), an integer; null if there is no number
=========  ==============================================================================================

What is a number: integers and floats that are not NaN, infinite ones included; decimals; true and false as 1 and 0;
text that matches `ggdp.sources.codes.NUMBER`, after it was rewritten as declared; and Python values of these types in
pandas' object columns. Everything else has no value, and no statistic counts it; in a complete column
(`ggdp.domain.column`) it has the middle of the range, lo + floor(N/2) g, of that of its level where each has its own.
Dates are refused before any value is read.

Numbers are rounded to the nearest float first, decimals by way of their text. Then there are one subtraction, one
multiplication, one addition and one rounding down of 64-bit floats, each of which is correctly rounded by IEEE 754 on
every engine, so that all find the same step. (Not a division: polars divides by a constant by multiplying.)

Claim. Where the step is 1 and both ends of the range are at most 2^51 in absolute value, a column of integers of at
most 64 bits has the step min(max(x, lo), hi) - lo, found without floats; likewise r = min(max(x, -R), R). Proof: up to
a distance of 1 from the range, x, x - lo and these plus 1/2 are multiples of 1/2 below 2^52 in absolute value, which
are floats, so that the floor is exact. Beyond, no operation falls where x grows, so that the step is 0 or N.

With units, the rows of a unit in a cell become one value:

=====  ==========================================================================================================
rule   value of the unit, from the steps of its rows that have one
=====  ==========================================================================================================
mean   floor((2 sum(a) + k) / (2 k)) in 64-bit floats, k being their number: the mean step, halves rounded up
min    the least a
max    the largest a
sum    the sum of r = min(max(floor(x f + 1/2), -R), R), R = max(|lo|, |hi|) / g, clamped to the range
=====  ==========================================================================================================

Claim. The step of a row depends on that row alone, and the value of a unit on the rows of that unit in the cell alone,
in any order: integers are added up, and no float is. In a cell they are from 0 to the N of that cell. Proof, where
ranges are by level: k is the code of the row in a column of the marginal, so that rows of a cell have the same k, that
of the cell; their lo, g and N are constants of the declaration.

**Sums** are exact, also on engines that add in 64 bits. DuckDB adds 64-bit integers in 128 bits (`Dialect.wide_sums`),
which hold the sums of 2^64 squares. On other engines a number a from 0 to N is h B + l with the digits h and l, both
below B or, for h, at most N / B. The sums of the digits over all rows, and of their products, give the sums of a and of
a^2:

    sum a = B sum h + sum l,    sum a^2 = B^2 sum h^2 + 2 B sum h l + sum l^2.

Claim. No sum of digits overflows: each term is below 2^21, so that the sum of fewer than 2^42 rows is below 2^63.
Proof: B is 2^10 where squares are needed, and N is at most 2^20, so that h is at most 2^10 and products are at most
2^20; else B is 2^16, and N at most 2^31. Where N is below B (N^2 below 2^20 with squares), a is its own digit. Digits
are found by a division by a power of two and a subtraction of floats that hold them exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from ggdp.domain.text_values import TextValues
from ggdp.domain.value_range import LevelRanges, ValueRange
from ggdp.sources.codes import declared_text, number_after, text_as_float
from ggdp.sources.engine import Frame, safe_name

if TYPE_CHECKING:
    from ggdp.domain.table_domain import Domain

PerUnit: TypeAlias = Literal["sum", "mean", "min", "max"]

# Integers that 64 bits with a sign hold, and ends of ranges for which floats find the same steps.
_INTEGERS = (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32)
_EXACT = 2**51


@frozen(kw_only=True)
class Measure:
    """One value for each unit and cell: of which column, in which range, and how it comes from the rows of a unit."""

    column: str
    values: ValueRange | LevelRanges
    rule: PerUnit | None = None
    text: TextValues = field(factory=TextValues)  # how text is read
    complete: bool = False  # whether what is no number is taken at the middle of the range


class CellSums(NamedTuple):
    """Exact sums of each cell, as Python integers: units, those with a value, and the sums of a and a^2."""

    units: NDArray[np.object_]
    known: NDArray[np.object_]
    first: NDArray[np.object_]
    second: NDArray[np.object_]


def known_name(step: str) -> str:
    """Return the name of the number of rows that have a step."""
    return f"{step}_n"


def number_name(column: str) -> str:
    """Return the internal name of a column of numbers that were read from Python values, beside its texts."""
    return f"{safe_name(column)}_number"


def steps_of_rows(frame: Frame, measure: Measure, kinds: Mapping[str, str]) -> nw.Expr:
    """Return the step of each row: a, r where rows are added up, or x where ranges are by level; null if no number."""
    values = measure.values
    schema, name, kind = frame.collect_schema(), safe_name(measure.column), kinds[measure.column]
    if number_name(measure.column) in schema.names():
        name, kind = number_name(measure.column), "float"
    x = nw.col(name)
    if schema[name] in _INTEGERS and isinstance(values, ValueRange) and _is_exact(values):
        low, first, last, middle = _ends_of_rows(measure.rule, values)
        x, least, most = x.cast(nw.Int64), int(low + first), int(low + last)
        clamped = nw.when((x >= least) & (x <= most)).then(x).when(x < least).then(nw.lit(least))
        clamped = clamped.when(x > most).then(nw.lit(most))
        whole = (clamped.otherwise(nw.lit(int(low + middle))) if measure.complete else clamped).cast(nw.Int64)
        return whole - int(low) if low else whole
    if kind == "boolean":
        x = nw.when(x).then(nw.lit(1.0)).when(~x).then(nw.lit(0.0))
    elif kind in ("text", "object"):
        x = text_as_float(declared_text(x, measure.text.nulls, measure.text.number))
    else:
        x = text_as_float(x) if kind == "decimal" else x.cast(nw.Float64)
    if isinstance(values, LevelRanges):
        return x
    low, first, last, middle = _ends_of_rows(measure.rule, values)
    # What changes no float is left out.
    x = x - low if low else x
    x = x * float(1 / values.step) if values.step != 1 else x
    return _clamp(x + 0.5, nw.lit(first), nw.lit(last), nw.lit(middle) if measure.complete else None)


def steps_by_level(frame: Frame, measure: Measure, name: str, code: str) -> Frame:
    """Return a frame with the steps of numbers (`name`), each in the range of the `code` of its row."""
    lows, firsts, lasts, middles = zip(
        *(_ends_of_rows(measure.rule, values) for values in measure.values.ranges), strict=True
    )
    factor = _of_code(code, [float(1 / values.step) for values in measure.values.ranges])
    x = (nw.col(name) - _of_code(code, lows)) * factor + 0.5
    ends = {f"{name}_f": _of_code(code, firsts), f"{name}_l": _of_code(code, lasts)}
    # One after the other: each use would have a copy of the conditions for all levels.
    frame = frame.with_columns(x.alias(name), **ends)
    missing, (first, last) = _of_code(code, middles) if measure.complete else None, map(nw.col, ends)
    return frame.with_columns(_clamp(nw.col(name), first, last, missing).alias(name))


def _ends_of_rows(rule: PerUnit | None, values: ValueRange) -> tuple[float, float, float, float]:
    """Return what steps of rows are counted from, the least and the largest, and that of the middle of the range."""
    most, middle = float(values.furthest), float(values.middle)
    if rule == "sum":
        return 0.0, -most, most, values.offset + middle
    return float(values.low), 0.0, float(values.steps), middle


def _of_code(code: str, numbers: Sequence[float]) -> nw.Expr:
    """Return the number of each row by its code; no column is looked at where all are the same."""
    starts = [0, *(at for at in range(1, len(numbers)) if numbers[at] != numbers[at - 1])]
    return number_after([nw.col(code) >= start for start in starts[1:]], [numbers[start] for start in starts])


def _clamp(x: nw.Expr, first: nw.Expr, last: nw.Expr, missing: nw.Expr | None) -> nw.Expr:
    """Return numbers that are clamped and rounded down, and what is to be there where there is no number."""
    # In this order, since rounding down is an error on Spark for numbers beyond 64 bits. No engine takes NaN for a
    # number that is below another one. DuckDB is fastest if the first condition holds for most rows.
    clamped = nw.when((x >= first) & (x < last)).then(x).when(x < first).then(first)
    clamped = clamped.when(~x.is_nan()).then(last)
    return (clamped if missing is None else clamped.otherwise(missing)).floor().cast(nw.Int64)


def steps_of_array(values: pa.Array, measure: Measure) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Return the step of each row of numbers, 0 where there is none, and which rows have one; None if all have.

    In a complete column all have.
    """
    assert isinstance(measure.values, ValueRange)
    numbers = (values.fill_null(0) if values.null_count else values).to_numpy()
    known = values.is_valid().to_numpy(zero_copy_only=False) if values.null_count else None
    low, last = measure.values.low, measure.values.steps
    if numbers.dtype.kind in "iu" and numbers.dtype != np.uint64 and _is_exact(measure.values):
        steps = numbers.astype(np.int64)
        np.clip(steps, int(low), int(low) + last, out=steps)
        steps -= int(low)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            x = (numbers.astype(np.float64) - float(low)) * float(1 / measure.values.step) + 0.5
        if (unknown := np.isnan(x)).any():
            known = ~unknown if known is None else known & ~unknown
            x[unknown] = 0.0
        steps = np.floor(np.clip(x, 0.0, float(last))).astype(np.int64)
    if known is not None:
        steps[~known] = measure.values.middle if measure.complete else 0
    return steps, None if measure.complete else known


def _is_exact(values: ValueRange) -> bool:
    """Return whether integers have the same steps without floats."""
    return values.step == 1 and max(abs(values.low), abs(values.high)) <= _EXACT


def ends_of_sums(measure: Measure, code: str) -> list[nw.Expr]:
    """Return the ends of the range of a cell in steps from 0, by its code where ranges are by level."""
    ends = ((float(values.offset), float(values.offset + values.steps)) for values in measure.values.ranges)
    return [_of_code(code, numbers) for numbers in zip(*ends, strict=True)]


def step_of_unit(measure: Measure, name: str, code: str = "") -> tuple[list[nw.Expr], nw.Expr]:
    """Return what is aggregated of the steps of a unit's rows in a cell, and the step of the unit from that."""
    rule = measure.rule
    if rule in ("min", "max"):
        return [getattr(nw.col(name), rule)().alias(name)], nw.col(name)
    known, added = f"{name}_k", f"{name}_t"
    aggregates = [nw.col(name).count().alias(known), nw.col(name).sum().alias(added)]
    total, number = nw.col(added).cast(nw.Float64), nw.col(known).cast(nw.Float64)
    if rule == "mean":
        value = ((total * 2.0 + number) / (number * 2.0)).floor()
    else:
        first, last = ends_of_sums(measure, code)
        inside = nw.when(total < first).then(first).when(total > last).then(last).otherwise(total)
        value = inside - first
    return aggregates, nw.when(nw.col(known) > 0).then(value).cast(nw.Int64)


class SummedMeasure(NamedTuple):
    """A measure whose steps are added up, and perhaps their squares."""

    measure: Measure
    squares: bool

    def within(self, marginal: Domain) -> SummedMeasure:
        """Return the measure; in a marginal without the column that ranges are by, which does not use it, with any."""
        values = self.measure.values
        if isinstance(values, ValueRange) or values.by in marginal:
            return self
        return self._replace(measure=evolve(self.measure, values=values.ranges[0]))

    @property
    def base(self) -> int:
        """Base of the digits."""
        return 1 << 10 if self.squares else 1 << 16

    def terms(self, name: str, *, wide: bool) -> dict[str, nw.Expr]:
        """Return the numbers of each row that are added up, null where there is no step; `wide` sums have 128 bits."""
        step = nw.col(name)
        if wide or self.measure.values.steps < self.base:
            return {name: step, f"{name}_ll": step * step} if self.squares else {name: step}
        whole = step.cast(nw.Float64)
        high = (whole / float(self.base)).floor()
        low = whole - high * float(self.base)
        found = {"h": high, "l": low}
        if self.squares:
            found |= {"hh": high * high, "hl": high * low, "ll": low * low}
        return {f"{name}_{digits}": term.cast(nw.Int64) for digits, term in found.items()}

    def add_up(self, table: pa.Table, name: str) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return the exact sums of the steps and of their squares, from the sums of the terms."""

        def of(part: str) -> NDArray[np.object_]:
            return integers(table[part])

        nothing, base = np.zeros(table.num_rows, dtype=object), self.base
        if f"{name}_h" not in table.column_names:
            return of(name), of(f"{name}_ll") if self.squares else nothing
        first = base * of(f"{name}_h") + of(f"{name}_l")
        if not self.squares:
            return first, nothing
        return first, base * base * of(f"{name}_hh") + 2 * base * of(f"{name}_hl") + of(f"{name}_ll")


def integers(values: pa.ChunkedArray) -> NDArray[np.object_]:
    """Return whole numbers of any type as Python's integers, 0 for null; decimals of 64 bits without their objects."""
    try:
        narrow: NDArray[np.int64] = values.cast("int64").fill_null(0).to_numpy()
    except pa.ArrowInvalid:
        return np.array([int(value or 0) for value in values.to_pylist()], dtype=object)
    return narrow.astype(object)
