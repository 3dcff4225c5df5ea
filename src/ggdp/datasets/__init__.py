"""Two small tables that are bundled with ggdp: the Czech autoworkers and the barley powdery mildew.

**Czech.** Six risk factors for coronary thrombosis in 1,841 men, from the beginning of a follow-up study in a car
factory in Czechoslovakia. Sources: Reinis et al., "Prognostic significance of the risk profile in the prevention of
coronary heart disease", Bratislavske Lekarske Listy 76 (1981), 137-150; Edwards and Havranek, "A fast procedure for
model search in multidimensional contingency tables", Biometrika 72 (1985), 339-351, Table 1.

The label trap: the published table has "no" (and "<140", "<3", "neg") first. Some copies have its counts in its order
under levels named "yes" before "no", which turns every label around. All associations are then still right and every
margin is wrong. Two facts tell which one a copy is:

* a family history of coronary heart disease is the exception: 260 of the 1,841 men have it. Turned around, 1,581 do;
* the one empty cell is that of smokers with neither kind of strenuous work, both high values and a family history.
  Turned around, it is that of non-smokers with both kinds of work, both low values and no family history, whose cell
  holds 12 men.

**Mildew.** Which parent's allele 70 strands of the fungus have at each of six loci. The strands are the offspring of
two isolates; the levels 1 and 2 are the parents. The table is sparse: of its 64 cells 22 are not empty, and 12 of these
hold a single strand. Source: Edwards, "Introduction to Graphical Modelling", 2nd edition, Springer (2000). The cross:
Christiansen and Giese, "Genetic analysis of the obligate parasitic barley powdery mildew fungus based on RFLP and
virulence loci", Theoretical and Applied Genetics 79 (1990), 705-712.

A check of the counts n_i: twice the negative log-likelihood of the saturated model, -2 sum n_i log(n_i/n), is 365.75
(the multinomial coefficient, which no model changes, is left out).
"""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, repeat

__all__ = ["CountTable", "czech", "mildew"]


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
        return list(chain.from_iterable(map(repeat, self.cells, self.counts)))

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


def czech() -> CountTable:
    """Return the table of the Czech autoworkers, 64 cells of six factors with two levels each.

    Examples
    --------
    >>> table = czech()
    >>> table.size, table.levels("systolic_bp")
    (1841, ('<140', '>=140'))
    >>> table.margin("family_history")
    {('neg',): 1581, ('pos',): 260}
    """
    return _read_bundled(
        "czech.csv", source="Edwards and Havranek, Biometrika 72 (1985), 339-351, Table 1; Reinis et al. (1981)"
    )


def mildew() -> CountTable:
    """Return the table of the mildew, 64 cells of six loci with two alleles each.

    Examples
    --------
    >>> table = mildew()
    >>> table.size, sum(count > 0 for count in table.counts)
    (70, 22)
    >>> table.columns
    ('la10', 'locc', 'mp58', 'c365', 'p53a', 'a367')
    """
    return _read_bundled(
        "mildew.csv", source="Edwards, Introduction to Graphical Modelling, 2nd edition, Springer (2000)"
    )


def _read_bundled(name: str, *, source: str) -> CountTable:
    """Read a table that comes with the package: a header, then a line for each cell with its count last."""
    text = files("ggdp.datasets").joinpath(name).read_text(encoding="utf-8")
    header, *records = csv.reader(text.splitlines())
    return CountTable(
        columns=tuple(header[:-1]),
        cells=tuple(tuple(record[:-1]) for record in records),
        counts=tuple(int(record[-1]) for record in records),
        source=source,
    )
