"""The Czech autoworkers: six risk factors for coronary thrombosis in 1,841 men.

Sources: Reinis et al. (1981); Edwards and Havranek, "A fast procedure for model search in multidimensional contingency
tables", Biometrika 72 (1985), 339-351, Table 1.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, repeat

__all__ = ["CountTable", "czech"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountTable:
    """A complete cross-tabulation.

    Attributes
    ----------
    columns : tuple of str
        Names of the factors.
    cells : tuple of tuple of str
        A level of each factor, for every cell.
    counts : tuple of int
        How many units are in each cell.
    source : str
        Where the counts were published.
    """

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    counts: tuple[int, ...]
    source: str

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row a unit, as the data were before they were counted."""
        return list(chain.from_iterable(repeat(cell, n) for cell, n in zip(self.cells, self.counts, strict=True)))

    def levels(self, column: str) -> tuple[str, ...]:
        """Return the levels of a factor in the order of the table."""
        place = self.columns.index(column)
        return tuple(dict.fromkeys(cell[place] for cell in self.cells))


def czech() -> CountTable:
    """Return the table of the Czech autoworkers, 64 cells of six factors with two levels each.

    Examples
    --------
    >>> table = czech()
    >>> len(table.rows()), table.levels("systolic_bp")
    (1841, ('<140', '>=140'))
    """
    text = files("ggdp.datasets").joinpath("czech.csv").read_text(encoding="utf-8")
    header, *records = csv.reader(text.splitlines())
    return CountTable(
        columns=tuple(header[:-1]),
        cells=tuple(tuple(record[:-1]) for record in records),
        counts=tuple(int(record[-1]) for record in records),
        source="Edwards and Havranek, Biometrika 72 (1985), Table 1; Reinis et al. (1981)",
    )
