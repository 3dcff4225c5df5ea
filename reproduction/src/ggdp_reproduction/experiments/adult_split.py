"""The adult data as the paper uses them: which rows, their split into training and test, and their cells.

=============================  ========  =====================================================
rows                           32,561
without missing values         30,162
less a capital gain of 99,999     148    the code for gains that were cut off at the top
left                           30,014    20,009 for training and 10,005 for the test: the paper's
=============================  ========  =====================================================

The paper does not say that it leaves those 148 out, but its numbers are exactly those. It has 17,985 non-empty cells in
the training data; with exact values and without the sampling weight `fnlwgt` a split at random has about 17,993 without
the income and about 18,330 with it. A classifier needs the income in the cell. How the paper's 1.944e13 cells
(27,000,960 x 720,000) were binned cannot be recovered.

References
----------
Liu, arXiv 1602.06028 v5, Section 4. Becker and Kohavi, "Adult", UCI Machine Learning Repository (1996), doi
10.24432/C5XW20.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError
from ggdp_reproduction.checks import integer
from ggdp_reproduction.experiments.noisy_counts import stream_seed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp_reproduction.data import Adult

    Codes = NDArray[np.int64]

__all__ = ["EMPTY_CELLS_SHOW", "NOT_PRIVATE", "AdultSplit", "adult_counts"]

# Stands wherever the adult data appear.
NOT_PRIVATE = "not differentially private, for reproduction only"
EMPTY_CELLS_SHOW = f"{NOT_PRIVATE}: the empty cells are left out, which shows them"

_CUT_OFF = 99_999
_UNUSED = "fnlwgt"
_OUTCOME = "income"
# The paper's example of a cell that makes no sense: a person of this age who works longer than this in a week.
_OLD, _LONG = 90, 80


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdultSplit:
    """The adult data split into training and test rows, and the non-empty cells of the training rows.

    Attributes
    ----------
    columns : tuple of str
        The attributes in the order of the file, the income last.
    levels : dict of str to array
        The values of each column that occur, in increasing order: integers for a numeric one, else strings.
    train, test : array of shape (rows, columns)
        For each row and column the place of its value among the levels.
    complete, left_out : int
        How many rows have no missing value, and how many of these were left out for their capital gain.
    cells : array of shape (cells, columns)
        The distinct training rows, the income included, in increasing order.
    counts : array of shape (cells,)
        How many training rows are in each cell.
    counts_without_income : array
        The same for the cells that are left when the income is not looked at.
    facts : dict of str to int
        Numbers of the complete rows, before any is left out: ``aged_90`` persons are of that age, of whom
        ``aged_90_over_80_hours`` work more than 80 hours a week; ``levels_workclass`` and so on, the number of
        values of each column of names but the income; ``codes_education`` and ``pairs_education``, the number of
        values of education-num, and of its pairs with education.
    """

    columns: tuple[str, ...]
    levels: dict[str, NDArray[Any]]
    train: Codes = field(repr=False)
    test: Codes = field(repr=False)
    complete: int
    left_out: int
    cells: Codes = field(repr=False)
    counts: Codes = field(repr=False)
    counts_without_income: Codes = field(repr=False)
    facts: dict[str, int]

    def is_numeric(self, column: str) -> bool:
        """Return whether a column has numbers, not names."""
        return self.levels[column].dtype.kind == "i"

    def first(self, rows: int) -> AdultSplit:
        """Return a smaller split: the first training rows, and half as many of the test.

        Both were shuffled, so this is a sample at random.
        """
        size = integer(rows=rows, at_least=4)
        train, test = self.train[:size], self.test[: max(size // 2, 1)]
        cells, counts, coarser = _cells(train)
        return replace(self, train=train, test=test, cells=cells, counts=counts, counts_without_income=coarser)


def adult_counts(adult: Adult, seed: int = 0) -> AdultSplit:
    """Return the rows that the paper uses, split at random into two thirds and one third, with their cells.

    Examples
    --------
    >>> import ggdp_reproduction.data
    >>> split = adult_counts(ggdp_reproduction.data.adult())  # doctest: +SKIP
    >>> len(split.train), len(split.test), len(split.counts_without_income)  # doctest: +SKIP
    (20009, 10005, 17962)
    """
    whole = adult.complete()
    used = whole.where(whole.rows["capital-gain"] != _CUT_OFF)
    if used.size < 3:
        raise ArgumentError("adult", f"with {used.size} rows left", "must have at least 3 to be split")
    columns = tuple(name for name in used.columns if name != _UNUSED)
    assert columns[-1] == _OUTCOME
    levels, codes = {}, np.empty((used.size, len(columns)), dtype=np.int64)
    for place, name in enumerate(columns):
        levels[name], codes[:, place] = np.unique(used.rows[name], return_inverse=True)
    codes = codes[np.random.default_rng(stream_seed(seed, "adult", "split")).permutation(used.size)]
    middle = 2 * used.size // 3
    train, test = codes[:middle], codes[middle:]
    cells, counts, coarser = _cells(train)
    return AdultSplit(
        columns=columns,
        levels=levels,
        train=train,
        test=test,
        complete=whole.size,
        left_out=whole.size - used.size,
        cells=cells,
        counts=counts,
        counts_without_income=coarser,
        facts=_facts(whole, columns),
    )


def _cells(train: Codes) -> tuple[Codes, Codes, Codes]:
    """Return the distinct rows, how many rows are in each, and the same numbers when the income is not looked at."""
    cells, counts = np.unique(train, axis=0, return_counts=True)
    _, coarser = np.unique(train[:, :-1], axis=0, return_counts=True)
    return cells, counts.astype(np.int64), coarser.astype(np.int64)


def _facts(whole: Adult, columns: tuple[str, ...]) -> dict[str, int]:
    """Return what claims ask of the complete rows."""
    old = whole.rows["age"] == _OLD
    long = whole.rows["hours-per-week"].astype(np.int64) > _LONG
    codes = whole.rows["education-num"].tolist()
    named = [name for name in columns[:-1] if whole.rows[name].dtype.kind != "i"]
    return {
        f"aged_{_OLD}": int(old.sum()),
        f"aged_{_OLD}_over_{_LONG}_hours": int((old & long).sum()),
        **{f"levels_{name}": len(np.unique(whole.rows[name])) for name in named},
        "codes_education": len(set(codes)),
        "pairs_education": len(set(zip(codes, whole.rows["education"].tolist(), strict=True))),
    }
