"""A range for the values of a column, found privately: a noisy histogram on a doubling scale.

==========  =======================================================================================================
bucket      values between two powers of 2, from 2^-32 to 2^62, of either sign; those nearer to 0; those beyond
tau         what a noisy count must exceed to be taken for more than noise
share       the share of the noisy total, over the buckets above tau, that may be outside of the range
==========  =======================================================================================================

The histogram is a table of declared bins (`ggdp.plan_table`): guarantee, units, ledger, manifest and engines are those
of any table, and the range is a function of its noisy counts. By level of another column it is a table by both: each
row is in one of its cells, so ranges of all levels cost what one costs. With tau the simultaneous half-width at 95 % of
all buckets, empty buckets are below tau in 95 % of all releases, whatever the data are. Of the buckets above it the
outermost ones are dropped, the smaller one first, as long as all that is dropped stays within the share.

The default share is 1 %: a range twice as wide doubles the noise of every mean and sum, while clamping the outer 1 % of
the values moves a mean by at most 1 % of the range that is cut off.
"""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ggdp import _validate
from ggdp._files import writable_file, write_together, writing
from ggdp._records import takes
from ggdp._rounding import rounded_text
from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.domain.text_values import KEYS
from ggdp.domain.value_range import FEW_STEPS, ValueRange
from ggdp.errors import ArgumentError, Message
from ggdp.ledger.charging import require_apart_from_ledger
from ggdp.noise.entropy import takes_rng
from ggdp.releases.error_law import simultaneous_half_width
from ggdp.signatures import signature_file
from ggdp.tables.output_files import require_apart
from ggdp.tables.request import ROW, RangeArguments, TextOptions
from ggdp.tables.table_plan import TITLE, TablePlan, plan_table, summary_rows
from ggdp.tables.table_release import TableRelease

if TYPE_CHECKING:
    from ggdp.ledger import Ledger
    from ggdp.noise import Source
    from ggdp.privacy import Guarantee


# The largest is that of the ends of a `ValueRange`.
SMALLEST, LARGEST = -32, 62
_POWERS = tuple(2.0**k for k in range(SMALLEST, LARGEST + 1))
EDGES = (-np.inf, *(-power for power in reversed(_POWERS)), 0.0, *_POWERS, np.inf)
SHARE = 0.01
# What is written of the range of a level.
_OF_LEVELS = ("level", "lower", "upper", "outside", "flag")
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
    by : str, optional
        Another column, whose levels have ranges of their own; the ends are then the outermost of theirs.
    levels : tuple of RangeRelease
        The range of each level of `by`.
    level : object, optional
        Of such a range: its level, as it is published.
    """

    column: str
    lower: float | None
    upper: float | None
    share: float
    outside: float
    histogram: TableRelease
    by: str | None = None
    levels: tuple[RangeRelease, ...] = ()
    level: object = None

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
        if self.lower is None or self.upper is None:
            return None
        low, high = Fraction(self.lower), Fraction(self.upper)
        usual = _with_usual_step(low, high)
        if usual is not None and usual.steps <= FEW_STEPS:
            return usual
        step = Fraction(10) ** math.ceil(math.log10((high - low) / _MANY_STEPS))
        most = math.floor(2**LARGEST / step)
        return ValueRange(max(math.floor(low / step), -most) * step, min(math.ceil(high / step), most) * step, step)

    @property
    def flag(self) -> str | None:
        """The flag of ``ggdp release`` that uses the range; those of the levels that have one."""
        if self.by is not None:
            flags = [flag for one in self.levels if (flag := one.flag) is not None]
            return " ".join(["--range-by " + shlex.quote(f"{self.column}={self.by}"), *flags]) if flags else None
        values = self.values
        if values is None:
            return None
        parts = [values.low, values.high]
        parts += [] if values == _with_usual_step(values.low, values.high) else [values.step]
        name = self.column if self.level is None else f"{self.column}:{self.level}"
        return "--range " + shlex.quote(f"{name}={':'.join(map(_decimal, parts))}")

    @property
    def statement(self) -> str:
        """What was found, and what clamping to it cuts, in words."""
        if self.by is not None:
            ends, none = [], []
            for one in self.levels:
                if one.lower is None or one.upper is None:
                    none.append(repr(str(one.level)))
                else:
                    ends.append(f"{_number(one.lower)} and {_number(one.upper)} for {str(one.level)!r}")
            said = [f"Values of {self.column!r} are mostly between {', '.join(ends)}."] if ends else []
            if none:
                said.append(f"No range was found for {', '.join(none)}: declare one that is known without the data.")
            return " ".join([*said, f"Buckets whose noisy count is at most {self.noise_level:,} are taken for noise."])
        if self.lower is None or self.upper is None:
            return (
                f"No range of {self.column!r} was found: no bucket of the histogram rose above the noise. "
                "Its numbers may be written in another way than is declared (`ggdp check` shows it), or there are few. "
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
        names = ("column", "lower", "upper", "share", "outside", "noise_level", "flag", "statement", "manifest")
        found = {name: getattr(self, name) for name in names}
        if self.by is None:
            return found
        return found | {"by": self.by, "levels": [{n: getattr(one, n) for n in _OF_LEVELS} for one in self.levels]}

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the range with its manifest to a .json file, completely or not at all."""
        target = writable_file("out", path, (".json",), overwrite=overwrite)
        content = (json.dumps(self.to_dict(), indent=2) + "\n").encode()
        # The signature of a file that is replaced goes with it.
        signature = {signature_file(target): None} if overwrite else {}
        with writing("out", str(target)):
            write_together({target: content, **signature}, overwrite=overwrite)

    def __repr__(self) -> str:
        guarantee = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        return f"RangeRelease, {guarantee}\n  {self.statement}"


def kept_buckets(counts: NDArray[np.int64], level: int, share: float) -> tuple[int | None, int, float]:
    """Return the first and the last bucket of the range (None and 0 if none), and the share that is outside."""
    seen = np.flatnonzero(counts > level)
    if not seen.size:
        return None, 0, 0.0
    kept = counts[seen].tolist()
    total = sum(kept)
    first, last, dropped = 0, seen.size - 1, 0
    while first < last:
        smaller = min(kept[first], kept[last])
        if dropped + smaller > share * total:
            break
        dropped += smaller
        first, last = (first + 1, last) if kept[first] <= kept[last] else (first, last - 1)
    return int(seen[first]), int(seen[last]), dropped / total


def noise_level(plan: TablePlan) -> int:
    """Return what noisy counts of empty buckets exceed in at most 5 % of all releases, for any bucket."""
    noise = plan.described_mechanism
    return simultaneous_half_width(noise.law.order, noise.scale, 0.95, plan.request.numbered_cells)


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


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() else repr(x)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RangePlan:
    """A private range that is planned: what it costs and how it is found, without the data. Made by `ggdp.plan_range`.

    Attributes
    ----------
    column : str
        The column.
    share : float
        The share of the noisy total that may be outside of the range.
    histogram : TablePlan
        The plan of the noisy counts, which a ledger is charged for.
    out : Path, optional
        Where a run writes the range.
    by : str, optional
        Another column, for each of whose levels a range is found.
    """

    column: str
    share: float
    histogram: TablePlan
    out: Path | None = None
    by: str | None = None

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the range, which is also the cost of each run."""
        return self.histogram.guarantee

    @property
    def edges(self) -> tuple[float, ...]:
        """The edges of the buckets, among which are the ends of the range."""
        return EDGES

    @property
    def noise_level(self) -> int:
        """The noisy count that a bucket must exceed."""
        return noise_level(self.histogram)

    @takes_rng
    def run(
        self,
        data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
        *,
        temp_dir: str | Path | None = None,
        overwrite: bool = False,
        rng: Source | None = None,
        ledger: Ledger | str | Path | None = None,
        analyst: str | None = None,
    ) -> RangeRelease:
        """Find the range, and write it if the plan says where. Each run spends the budget.

        The arguments are those of `TablePlan.run`.

        Examples
        --------
        >>> import ggdp, pyarrow
        >>> plan = ggdp.plan_range("age", ggdp.PureDP(1.0))
        >>> plan.run(pyarrow.table({"age": [40.0] * 500})).flag
        '--range age=32:64'
        """
        if self.out is not None:
            writable_file("out", self.out, (".json",), overwrite=overwrite)
            require_apart(data, [self.out])
            require_apart_from_ledger(ledger, out=[self.out])
        histogram = self.histogram.run(data, temp_dir=temp_dir, rng=rng, ledger=ledger, analyst=analyst)
        assert isinstance(histogram, TableRelease)
        found = RangeRelease(
            column=self.column, lower=None, upper=None, share=self.share, outside=0.0, histogram=histogram
        )
        each: list[RangeRelease] = []
        labels = (None,) if self.by is None else histogram.plan.request.domain[self.by].labels
        counts = histogram.tables[0].noisy_count.reshape(len(labels), -1)
        for label, row in zip(labels, counts, strict=True):
            first, last, outside = kept_buckets(row, self.noise_level, self.share)
            lower = upper = None
            if first is not None:
                lower, upper = (float(np.clip(edge, EDGES[1], EDGES[-2])) for edge in (EDGES[first], EDGES[last + 1]))
            each.append(replace(found, lower=lower, upper=upper, outside=outside, level=label))
        if self.by is None:
            found = each[0]
        else:
            lower = min((one.lower for one in each if one.lower is not None), default=None)
            upper = max((one.upper for one in each if one.upper is not None), default=None)
            most = max(one.outside for one in each)
            found = replace(found, lower=lower, upper=upper, outside=most, by=self.by, levels=tuple(each))
        if self.out is not None:
            found.write(self.out, overwrite=overwrite)
        return found

    def summary_rows(self) -> list[tuple[str, str]]:
        """Return what the plan says, a name and a text in each row."""
        ends = f"0 and plus or minus 2^{SMALLEST} to 2^{LARGEST}, in powers of 2"
        rows = [
            ("column", self.column if self.by is None else f"{self.column}, for each level of {self.by}"),
            ("ends", f"{ends}: {self.histogram.request.numbered_cells} buckets"),
            ("noise level", f"buckets with a noisy count above {self.noise_level:,} are taken for values"),
            ("share", f"at most {rounded_text(self.share)} of the values in these buckets are outside of the range"),
        ]
        shown = ("rows", "unit", "order", "scale", "plus-minus", "sensitivity", "guarantee", "cost")
        rows += [(name, said) for name, said in summary_rows(self.histogram) if name in shown]
        return rows + ([] if self.out is None else [("would write", str(self.out))])

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, ready for JSON; the edges without the infinite ones."""
        return {
            "column": self.column,
            "share": self.share,
            "edges": list(EDGES[1:-1]),
            "noise_level": self.noise_level,
            "histogram": self.histogram.to_dict(),
            "out": None if self.out is None else str(self.out),
            **({} if self.by is None else {"by": self.by}),
        }

    def __repr__(self) -> str:
        rows = [*self.summary_rows(), *(("warning", warning) for warning in self.histogram.warnings)]
        return "\n".join([f"RangePlan: {TITLE}", *(f"  {name}: {said}" for name, said in rows)])


@takes(RangeArguments, TextOptions)
def plan_range(
    column: Any,  # noqa: ANN401 - as the record has it
    goal: Any = None,  # noqa: ANN401
    **given: Any,  # noqa: ANN401
) -> RangePlan:
    """Plan a range for the values of a column: noise and cost. No data are read and no budget is spent.

    Parameters
    ----------
    {arguments}

    Returns
    -------
    RangePlan
        The plan. `RangePlan.run` carries it out; ``ggdp range --dry-run`` prints it.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> import ggdp
    >>> ggdp.plan_range("income", ggdp.PureDP(1.0), unit="row")
    RangePlan: no data read, no budget spent
      column: income
      ends: 0 and plus or minus 2^-32 to 2^62, in powers of 2: 192 buckets
      noise level: buckets with a noisy count above 8 are taken for values
      share: at most 0.01 of the values in these buckets are outside of the range
      unit: one row
      order: 1
      scale: 1
      plus-minus: 3 at 95 %, around each noisy count
      sensitivity: one coordinate moves by at most 1 (add-remove)
      guarantee: 1-DP under add-remove neighbours
      cost: epsilon = 1 per run
    """
    if not isinstance(column, str):
        raise ArgumentError("column", column, "must be the name of a column")
    if given.get("unit") == column and (column, given.get("unit_is_row")) != (ROW, None):
        raise ArgumentError("unit", column, "is the column whose range is sought; name one that identifies people")
    share, out = given.pop("share", SHARE), given.pop("out", None)
    # Of any goal; that of the request is checked with it.
    asked = RangeArguments(column, 1.0, by=given.pop("by", None), domain=given.pop("domain", None))
    domain, names = asked.domain, asked.by[0] if asked.by else ()
    if len(asked.by or ()) > 1 or len(names) > 1 or column in names:
        raise ArgumentError("by", asked.by, "must be one other column, for each of whose levels a range is found")
    if names and (names[0] not in domain or domain[names[0]].kind == "open"):
        raise ArgumentError("by", names[0], Message("has no declared levels; declare them with {domain}"))
    kept = domain[column].arguments() if column in domain else {}
    kept = {name: kept[name] for name in ("expression", "lookup", *KEYS) if name in kept}
    others = [one for one in domain if one.name != column]
    measured = Column(name=column, edges=list(EDGES), **kept)
    histogram = plan_table([*names, column], goal, Domain([*others, measured]), **given)
    # Whether it may be replaced is said by a run.
    target = None if out is None else writable_file("out", out, (".json",), overwrite=True)
    share = _validate.probability(share=share)
    return RangePlan(column=column, share=share, histogram=histogram, out=target, by=names[0] if names else None)


@takes_rng
def private_range(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    column: str,
    goal: Guarantee | float | None = None,
    *,
    temp_dir: str | Path | None = None,
    overwrite: bool = False,
    rng: Source | None = None,
    ledger: Ledger | str | Path | None = None,
    analyst: str | None = None,
    **planned: Any,  # noqa: ANN401 - those of plan_range
) -> RangeRelease:
    """Find a range for the values of a column, under differential privacy, for clamping.

    Equivalent to ``plan_range(column, goal, ...).run(data, ...)``. Where a range is known without the data (ages from 0
    to 120, a scale from 1 to 5), use that: it costs nothing.

    Parameters
    ----------
    data : path or frame
        What `ggdp.release_table` takes.
    column, goal
        Those of `ggdp.plan_range`.
    temp_dir, overwrite, rng, ledger, analyst
        Those of `ggdp.release_table`.
    **planned
        The other arguments of `ggdp.plan_range`, such as `share`, `unit` and `out`.

    Returns
    -------
    RangeRelease
        The range, with its guarantee and manifest.

    Raises
    ------
    ArgumentError
        If an argument is wrong; no error depends on a value.
    BudgetExceededError
        If it does not fit in what remains of the ledger.

    Examples
    --------
    >>> import ggdp, polars as pl
    >>> incomes = pl.DataFrame({"income": [17_000 + 11 * i for i in range(5000)]})
    >>> found = ggdp.private_range(incomes, "income", ggdp.PureDP(1.0))
    >>> found.lower, found.upper, found.flag
    (16384.0, 131072.0, '--range income=16384:131072')
    """
    plan = plan_range(column, goal, **planned)
    return plan.run(data, temp_dir=temp_dir, overwrite=overwrite, rng=rng, ledger=ledger, analyst=analyst)
