"""What a look at a source against its domain finds, for its curator alone: nothing here is private."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.tables.check_text import TextCheck
    from ggdp.tables.request import Regime

__all__ = ["NOTICE", "ColumnCheck", "MarginalCheck", "TableCheck", "UnitCheck"]

NOTICE = "NOT PRIVATE: this is the curator's own look at the data. Do not publish it, or anything chosen by it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """What a column holds, against what is declared of it.

    Attributes
    ----------
    name, declared : str
        The column, and what is declared of it: ``text``, ``integer``, ``boolean``, ``date``, ``bins`` or ``open``.
    rows, nulls : int
        How many rows there are, and how many of them have no value.
    unmatched : int
        Rows with a value that is no declared level and in no bin.
    unparsable : int
        Of these, with bins: values that are no numbers, or no times; the others are outside the edges.
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
        Rows in cells that are declared to be impossible, which are counted nowhere.
    """

    by: tuple[str, ...]
    cells: int | None
    filled: int
    rows: int
    impossible_rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCheck:
    """In how many cells units are, and what `max_cells` would leave of that.

    Attributes
    ----------
    column : str
        The column of units.
    units, null_rows : int
        Different units, and rows without one, which are counted nowhere.
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
    """What a curator should know before a release. Not private.

    Attributes
    ----------
    rows : int
        Rows of the source.
    regime : {"declared", "sparse", "open", "mixed"}
        Which kind of table a release would be; sparse where it must be asked for by `false_cells`.
    columns : tuple of ColumnCheck
        The columns.
    marginals : tuple of MarginalCheck
        The tables.
    units : UnitCheck or None
        The units, if a column of them was named.
    text : TextCheck or None
        How records were read, of CSV and JSON files.
    """

    rows: int
    regime: Regime
    columns: tuple[ColumnCheck, ...]
    marginals: tuple[MarginalCheck, ...]
    units: UnitCheck | None
    text: TextCheck | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain values, fit for JSON, the warning first."""
        found = asdict(self)
        for column in found["columns"]:
            column["unseen"] = [level if isinstance(level, str | int) else str(level) for level in column["unseen"]]
        return {"notice": NOTICE, **found}
