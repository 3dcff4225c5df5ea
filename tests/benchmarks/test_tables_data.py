"""The benchmark's tables have the sizes, the unevenness and the persons that its page says."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest

from benchmarks import tables_data as data

ROWS = 60_000


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as made:
        yield made


@pytest.fixture(scope="module")
def persons(connection, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "persons.parquet"
    data.write(connection, path, "persons", ROWS)
    return path


def _counts(connection, query: str) -> dict[str, int]:
    return dict(connection.sql(query).fetchall())


def test_the_sizes_are_those_of_the_issue():
    assert math.prod(data.COUNTED.values()) == 10_000
    assert math.prod(data.ADULT.values()) == 19_440_000_000_000


@pytest.mark.parametrize(("cells", "side"), [(10**4, 22), (10**6, 100), (10**7, 215)])
def test_three_equal_columns_have_about_the_cells_that_are_asked_for(cells, side):
    assert data.cubic(cells) == {"x": side, "y": side, "z": side}


def test_levels_come_in_the_order_of_their_codes():
    assert data.levels("branch", 11) == [f"branch {code:02}" for code in range(11)]


def test_every_value_is_a_level_of_the_domain_and_every_level_occurs(connection, persons):
    for column, levels in data.domain(data.COUNTED).items():
        found = _counts(connection, f"SELECT {column}, count(*) FROM '{persons}' GROUP BY ALL")
        assert sorted(found) == levels
        assert sum(found.values()) == ROWS


def test_levels_have_the_probabilities_that_the_module_says(connection, persons):
    # A chi-square of 49 degrees of freedom is above 140 about once in 10^10 times; the table is the same every time.
    for column, size in data.COUNTED.items():
        found = _counts(connection, f"SELECT {column}, count(*) FROM '{persons}' GROUP BY ALL")
        observed = np.array([found[level] for level in data.levels(column, size)])
        expected = ROWS * np.log1p(1.0 / np.arange(1, size + 1)) / math.log(size + 1)
        assert np.sum((observed - expected) ** 2 / expected) < 140.0


def test_columns_are_independent_of_each_other(connection, persons):
    # Hashes of a row that went together would leave most of the cells empty.
    pairs = connection.sql(f"SELECT DISTINCT region, branch FROM '{persons}'").fetchall()
    assert len(pairs) == data.COUNTED["region"] * data.COUNTED["branch"]


def test_persons_have_from_one_row_to_about_twenty_and_three_and_a_half_on_average(connection, persons):
    found = connection.sql(f"SELECT count(*) FROM '{persons}' GROUP BY {data.PERSON}").fetchall()
    rows = np.array(found).ravel()
    assert rows.min() == 1
    assert 15 <= rows.max() <= 25
    assert 3.0 <= rows.mean() <= 4.5


def test_rows_of_the_adult_table_fall_on_the_cells_of_its_domain(connection, tmp_path):
    path = tmp_path / "adult.parquet"
    data.write(connection, path, "adult", 5000)
    assert connection.sql(f"SELECT * FROM '{path}'").columns == list(data.ADULT)
    for column, levels in data.domain(data.ADULT).items():
        found = connection.sql(f"SELECT DISTINCT {column} FROM '{path}'").fetchall()
        assert sorted(level for (level,) in found) == levels
    cells = connection.sql(f"SELECT DISTINCT * FROM '{path}'").fetchall()
    assert 1000 < len(cells) < 5000


def test_a_table_is_the_same_when_it_is_written_again(connection, persons, tmp_path):
    again = tmp_path / "again.parquet"
    data.write(connection, again, "persons", ROWS)
    assert connection.sql(f"SELECT * FROM '{again}' EXCEPT ALL SELECT * FROM '{persons}'").fetchall() == []


def test_a_row_takes_no_more_room_than_the_benchmark_keeps_free_for_it(persons):
    assert persons.stat().st_size <= ROWS * data.BYTES_A_ROW


def test_values_are_whole_numbers_of_their_range_and_skewed(connection, tmp_path):
    path = tmp_path / "values.parquet"
    data.write(connection, path, "values", ROWS)
    found = connection.sql(f"SELECT min({data.VALUE}), max({data.VALUE}), avg({data.VALUE}) FROM '{path}'").fetchall()
    least, most, mean = found[0]
    assert least == 0
    assert 900 < most <= data.LARGEST_VALUE
    # Products of two uniform numbers are a quarter of the range on average.
    assert 240 < mean < 260
    assert path.stat().st_size <= ROWS * data.BYTES_A_ROW
