import math
from dataclasses import replace
from itertools import combinations, product

import pytest

from ggdp.datasets import CountTable, czech, mildew

TABLES = [czech, mildew]


@pytest.mark.parametrize("load", TABLES)
def test_a_table_has_every_combination_of_its_levels_once(load):
    table = load()
    every = product(*(table.levels(column) for column in table.columns))
    assert sorted(table.cells) == sorted(every)
    assert len(table.cells) == len(table.counts) == 64
    assert all(len(table.levels(column)) == 2 for column in table.columns)


@pytest.mark.parametrize("load", TABLES)
def test_the_rows_counted_are_the_table(load):
    table = load()
    rows = table.rows()
    assert len(rows) == table.size
    assert [rows.count(cell) for cell in table.cells] == list(table.counts)
    assert table.margin(*table.columns) == dict(zip(table.cells, table.counts, strict=True))


@pytest.mark.parametrize("load", TABLES)
def test_a_margin_of_nothing_is_everybody(load):
    assert load().margin() == {(): load().size}


@pytest.mark.parametrize("load", TABLES)
def test_a_table_names_its_source(load):
    assert "Edwards" in load().source


def test_an_unknown_factor_is_refused():
    with pytest.raises(ValueError, match="not in tuple"):
        mildew().levels("smoking")


def test_the_mildew_has_70_strands_in_22_of_64_cells():
    table = mildew()
    assert table.size == 70
    assert sum(count > 0 for count in table.counts) == 22


def test_the_saturated_model_of_the_mildew_has_the_published_log_likelihood():
    counts = mildew().counts
    deviance = -2 * math.fsum(count * math.log(count / 70) for count in counts if count)
    assert round(deviance, 2) == 365.75


def test_the_published_log_likelihood_notices_a_strand_in_another_cell():
    counts = list(mildew().counts)
    for out, into in combinations(sorted(set(range(64)), key=lambda cell: -counts[cell])[:22], 2):
        moved = counts.copy()
        moved[out] -= 1
        moved[into] += 1
        if sorted(moved) != sorted(counts):
            deviance = -2 * math.fsum(count * math.log(count / 70) for count in moved if count)
            assert round(deviance, 2) != 365.75


def test_the_czech_table_has_1841_men_and_one_empty_cell():
    table = czech()
    assert table.size == 1841
    assert table.counts.count(0) == 1


def test_the_czech_table_begins_and_ends_as_the_published_one():
    table = czech()
    assert table.cells[0] == ("no", "no", "no", "<140", "<3", "neg")
    assert table.counts[:16] == (44, 40, 112, 67, 129, 145, 12, 23, 35, 12, 80, 33, 109, 67, 7, 9)
    assert table.cells[-1] == ("yes", "yes", "yes", ">=140", ">=3", "pos")
    assert table.counts[-8:] == (4, 0, 13, 11, 5, 14, 4, 4)


def reversed_labels(table: CountTable) -> CountTable:
    """The same counts in the same order under the other level of every factor, as some copies have it."""
    other = {
        column: dict(zip(table.levels(column), reversed(table.levels(column)), strict=True)) for column in table.columns
    }
    cells = tuple(
        tuple(other[name][level] for name, level in zip(table.columns, cell, strict=True)) for cell in table.cells
    )
    return replace(table, cells=cells)


def family_history_is_the_exception(table):
    return table.margin("family_history")["pos",] == 260


def smokers_with_all_risks_but_work_are_the_empty_cell(table):
    (empty,) = (cell for cell, count in zip(table.cells, table.counts, strict=True) if count == 0)
    return empty == ("yes", "no", "no", ">=140", ">=3", "pos")


@pytest.mark.parametrize("fact", [family_history_is_the_exception, smokers_with_all_risks_but_work_are_the_empty_cell])
def test_the_labels_of_the_czech_table_are_not_the_reversed_ones(fact):
    assert fact(czech())
    assert not fact(reversed_labels(czech()))


def test_no_association_tells_reversed_labels_from_right_ones():
    table = czech()
    for pair in combinations(table.columns, 2):
        ratios = []
        for copy in (table, reversed_labels(table)):
            (a, b), (c, d) = ([copy.margin(*pair)[i, j] for j in table.levels(pair[1])] for i in table.levels(pair[0]))
            ratios.append((a * d, b * c))
        assert ratios[0] == ratios[1]
