"""Complete cross-tabulations, and the reader of the bundled ones."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, repeat


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

    @property
    def size(self) -> int:
        """Number of units."""
        return sum(self.counts)

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row per unit, as before counting."""
        return list(chain.from_iterable(repeat(cell, n) for cell, n in zip(self.cells, self.counts, strict=True)))

    def levels(self, column: str) -> tuple[str, ...]:
        """Return the levels of a factor in the order of the table."""
        place = self.columns.index(column)
        return tuple(dict.fromkeys(cell[place] for cell in self.cells))

    def margin(self, *columns: str) -> dict[tuple[str, ...], int]:
        """Return how many units have each combination of levels of the named factors."""
        places = [self.columns.index(column) for column in columns]
        sums: Counter[tuple[str, ...]] = Counter()
        for cell, count in zip(self.cells, self.counts, strict=True):
            sums[tuple(cell[place] for place in places)] += count
        return dict(sums)


def bundled(name: str, *, source: str) -> CountTable:
    """Read a table that comes with the package: a header, then a line for each cell with its count last."""
    text = files("ggdp.datasets").joinpath(name).read_text(encoding="utf-8")
    header, *records = csv.reader(text.splitlines())
    return CountTable(
        columns=tuple(header[:-1]),
        cells=tuple(tuple(record[:-1]) for record in records),
        counts=tuple(int(record[-1]) for record in records),
        source=source,
    )
