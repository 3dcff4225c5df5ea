"""Results of comparing a source with its domain. Nothing here is private."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.tables.check_text import TextCheck
    from ggdp.tables.request import Regime

NOTICE = "NOT PRIVATE: computed from the data without noise. Do not publish it, or anything chosen by it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """The values of a column compared with its declaration.

    Attributes
    ----------
    name, declared : str
        The column, and what is declared of it: ``text``, ``integer``, ``boolean``, ``date``, ``bins`` or ``open``.
    rows, nulls : int
        How many rows there are, and how many of them have no value.
    unmatched : int
        Rows with a value that is neither a declared level nor in a bin.
    unparsable : int
        Of these, with bins: values that are not numbers, or not times; the others are outside the edges.
    distinct_unmatched : int or None
        How many different values that is; None where it was not counted.
    most_frequent : tuple of (str, int)
        The most frequent of these values, with their rows.
    unseen : tuple
        Declared levels that no row has. They must stay declared.
    advice : tuple of str
        What to do.
    """

    name: str
    declared: str
    rows: int
    nulls: int
    unmatched: int = 0
    unparsable: int = 0
    distinct_unmatched: int | None = None
    most_frequent: tuple[tuple[str, int], ...] = ()
    unseen: tuple[Any, ...] = ()
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCheck:
    """The numbers of a column compared with its public range.

    Attributes
    ----------
    name, range : str
        The column, and its range and step.
    rows, nulls : int
        How many rows there are, and how many of them have no value.
    not_numbers : int
        Rows with a value that is not a number; no statistic counts them.
    below, above : int
        Rows with numbers that would be clamped to the lower and to the upper end.
    totals_below, totals_above : int or None
        Units whose rows in a cell add up to a number that would be clamped, cell by cell; None without units or a sum.
    advice : tuple of str
        What to do.
    """

    name: str
    range: str
    rows: int
    nulls: int
    not_numbers: int
    below: int
    above: int
    totals_below: int | None = None
    totals_above: int | None = None
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalCheck:
    """One table that would be released: its size, and how many rows it would count.

    Attributes
    ----------
    by : tuple of str
        Its columns.
    cells : int or None
        Cells of the domain; None if a column is open.
    filled : int
        Cells that are not empty.
    rows : int
        Rows that are counted in one of them.
    impossible_rows : int
        Rows in cells that are declared to be impossible, which are not counted.
    """

    by: tuple[str, ...]
    cells: int | None
    filled: int
    rows: int
    impossible_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCheck:
    """How many cells units are in, and what `max_cells` would keep of them.

    Attributes
    ----------
    column : str
        The column of units.
    units, null_rows : int
        Different units, and rows without one, which are not counted.
    tables : tuple of dict
        For each table: ``by``; ``quantiles`` of the cells of a unit, and of the rows of a unit in a cell
        (``row_quantiles``); ``choices``, for each M the share of pairs of unit and cell that is ``kept``, the number of
        ``units_cut``, how many are ``cut`` from a cell on average, and the ``plus_minus`` at 95 % of pure Laplace
        noise; ``recommended``, the M with the least sum of plus-minus and cut.
    epsilon : float
        What the noise is for.
    """

    column: str
    units: int
    null_rows: int
    tables: tuple[dict[str, Any], ...]
    epsilon: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCheck:
    """Results of a check before a release. Not private.

    Attributes
    ----------
    rows : int
        Rows of the source.
    regime : {"declared", "sparse", "open", "mixed"}
        Which kind of table a release would be; sparse if it needs `false_cells`.
    columns : tuple of ColumnCheck
        The columns.
    marginals : tuple of MarginalCheck
        The tables.
    units : UnitCheck or None
        The units, if a column of them was named.
    ranges : tuple of RangeCheck
        The columns of statistics.
    text : TextCheck or None
        How records were read, of CSV and JSON files.
    """

    rows: int
    regime: Regime
    columns: tuple[ColumnCheck, ...]
    marginals: tuple[MarginalCheck, ...]
    units: UnitCheck | None
    ranges: tuple[RangeCheck, ...] = ()
    text: TextCheck | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain values, ready for JSON, the warning first."""
        found = asdict(self)
        for column in found["columns"]:
            column["unseen"] = [level if isinstance(level, str | int) else str(level) for level in column["unseen"]]
        return {"notice": NOTICE, **found}
