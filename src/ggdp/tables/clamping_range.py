"""A range for the values of a column, found privately: a noisy histogram on a doubling scale.

==========  =======================================================================================================
bucket      values between two powers of 2, from 2^-32 to 2^62, of either sign; those nearer to 0; those beyond
tau         what a noisy count must exceed to be taken for more than noise
share       the share of the noisy total, over the buckets above tau, that may be outside of the range
==========  =======================================================================================================

The histogram is a table of declared bins (`ggdp.plan_table`): guarantee, units, ledger, manifest and engines are those
of any table, and the range is a function of its noisy counts. With tau the simultaneous half-width at 95 % of all
buckets, empty buckets are below tau in 95 % of all releases, whatever the data are. Of the buckets above it the
outermost ones are dropped, the smaller one first, as long as all that is dropped stays within the share.

The default share is 1 %: a range twice as wide doubles the noise of every mean and sum, while clamping the outer 1 % of
the values moves a mean by at most 1 % of the range that is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ggdp import _validate
from ggdp._rounding import rounded_text
from ggdp.errors import ArgumentError
from ggdp.ledger.charging import require_apart_from_ledger
from ggdp.tables.domain import Domain
from ggdp.tables.plan_and_release import plan_table
from ggdp.tables.plan_summary import TITLE, summary_rows
from ggdp.tables.range_release import EDGES, LARGEST, SMALLEST, checked_path, json_path, noise_level, range_of
from ggdp.tables.release import TableRelease
from ggdp.tables.writing import require_apart

if TYPE_CHECKING:
    from pathlib import Path

    from ggdp.ledger import Ledger
    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.sampling import Source
    from ggdp.tables.range_release import RangeRelease
    from ggdp.tables.table_plan import TablePlan

SHARE = 0.01


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
    """

    column: str
    share: float
    histogram: TablePlan
    out: Path | None = None

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

    def run(
        self,
        data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
        *,
        temp_dir: str | Path | None = None,
        overwrite: bool = False,
        source: Source | None = None,
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
            checked_path(self.out, overwrite=overwrite)
            require_apart(data, [self.out])
            require_apart_from_ledger(ledger, out=[self.out])
        histogram = self.histogram.run(data, temp_dir=temp_dir, source=source, ledger=ledger, analyst=analyst)
        assert isinstance(histogram, TableRelease)
        found = range_of(self.column, histogram, self.share)
        if self.out is not None:
            found.write(self.out, overwrite=overwrite)
        return found

    def summary_rows(self) -> list[tuple[str, str]]:
        """Return what the plan says, a name and a text in each row."""
        ends = f"0 and plus or minus 2^{SMALLEST} to 2^{LARGEST}, in powers of 2"
        rows = [
            ("column", self.column),
            ("ends", f"{ends}: {len(EDGES) - 1} buckets"),
            ("noise level", f"buckets with a noisy count above {self.noise_level:,} are taken for values"),
            ("share", f"at most {rounded_text(self.share)} of the values in these buckets are outside of the range"),
        ]
        shown = ("unit", "order", "scale", "plus-minus", "sensitivity", "guarantee", "cost")
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
        }

    def __repr__(self) -> str:
        rows = [*self.summary_rows(), *(("warning", warning) for warning in self.histogram.request.warnings)]
        return "\n".join([f"RangePlan: {TITLE}", *(f"  {name}: {said}" for name, said in rows)])


def plan_range(
    column: str,
    goal: Guarantee,
    *,
    share: float = SHARE,
    unit: str | None = None,
    max_cells: int | None = None,
    neighbours: Neighbours = "add-remove",
    engine: Literal["duckdb", "spark"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    escape: str | None = None,
    strict_lines: bool | None = None,
    out: str | Path | None = None,
) -> RangePlan:
    """Plan a range for the values of a column: noise and cost. No data are read and no budget is spent.

    Parameters
    ----------
    column : str
        A column of numbers; values that are no numbers are counted nowhere.
    goal : PureDP, ProbabilisticDP or ApproxDP
        The guarantee.
    share : float, default 0.01
        The share of the noisy total that may be outside of the range, at least 0 and below 1.
    unit, max_cells, neighbours, engine, encoding, delimiter, quoted, escape, strict_lines
        Those of `ggdp.release_table`; with `unit`, a unit is counted in at most `max_cells` buckets.
    out : path, optional
        Where a run writes the range with its manifest, .json.

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
    >>> ggdp.plan_range("income", ggdp.PureDP(1.0))
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
    histogram = plan_table(
        by=[column],
        goal=goal,
        domain=Domain({column: {"edges": list(EDGES)}}),
        unit=unit,
        max_cells=max_cells,
        neighbours=neighbours,
        engine=engine,
        encoding=encoding,
        delimiter=delimiter,
        quoted=quoted,
        escape=escape,
        strict_lines=strict_lines,
    )
    target = None if out is None else json_path(out)
    return RangePlan(column=column, share=_validate.probability(share=share), histogram=histogram, out=target)


def private_range(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    column: str,
    goal: Guarantee,
    *,
    temp_dir: str | Path | None = None,
    overwrite: bool = False,
    source: Source | None = None,
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
    temp_dir, overwrite, source, ledger, analyst
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
    return plan.run(data, temp_dir=temp_dir, overwrite=overwrite, source=source, ledger=ledger, analyst=analyst)
