"""Filters of random tables: with and without one unit, by every writer and engine, and as plain Python decides.

The tables are those of `tests.fuzz.tables`, the filters those of `tests.fuzz.filters`.
"""

from __future__ import annotations

from datetime import date, datetime

import pytest
from tests.cases import examples, one_in
from tests.fuzz.filters import columns_of, filtered_case, holds, kept_rows, parsed, sql
from tests.fuzz.neighbours import UnwritableError, assert_neighbours, rows_of, written
from tests.fuzz.tables import random_case
from tests.fuzz.test_fuzz import ON_SPARK, first_seed
from tests.fuzz.test_measured import expected, measured, query_of
from tests.fuzz.writers import FILES, FRAMES, SPARK_FRAMES, WRITERS

from ggdp.domain.filters import filter_text, parse_filter


def assert_filtered_alike(writer, folder, seeds, *, share=1 / 3, **options):
    """Check the filtered cases of seeds; a share of them must be counted, since refusals agree as well."""
    counted = []
    for seed in seeds:
        case = filtered_case(random_case(seed, writer.limits))
        try:
            counted.append(assert_neighbours(case, writer, folder, **options))
        except UnwritableError:
            continue
    assert sum(counted) >= share * len(counted) > 0, f"only {sum(counted)} of {len(counted)} cases were counted"


def seeds_of(writer, most):
    first = 9000 + 50 * list(WRITERS).index(writer.name)
    return range(first, first + examples(*most))


@pytest.mark.parametrize("writer", one_in(3, FILES), ids=lambda writer: writer.name)
def test_files_of_neighbours_are_filtered_alike(tmp_path, writer):
    assert_filtered_alike(writer, tmp_path, seeds_of(writer, (2, 12)))


@pytest.mark.parametrize("writer", FRAMES, ids=lambda writer: writer.name)
def test_frames_of_neighbours_are_filtered_alike(tmp_path, writer):
    assert_filtered_alike(writer, tmp_path, seeds_of(writer, (2, 12)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", [*FILES, *FRAMES], ids=lambda writer: writer.name)
def test_many_neighbours_are_filtered_alike(tmp_path, writer):
    start = first_seed()
    assert_filtered_alike(writer, tmp_path, range(start, start + 15))


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", ON_SPARK, ids=lambda writer: writer.name)
def test_files_of_neighbours_are_filtered_alike_by_spark(tmp_path, writer):
    start = first_seed()
    assert_filtered_alike(writer, tmp_path, [2, 7, start, start + 1], share=1 / 4, engine="spark")


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", SPARK_FRAMES, ids=lambda writer: writer.name)
def test_frames_and_files_of_spark_are_filtered_alike(tmp_path, writer):
    start = first_seed()
    assert_filtered_alike(writer, tmp_path, [10, 34, start, start + 1], share=1 / 4)


@pytest.mark.parametrize("writer", one_in(4, [*FILES, *FRAMES]), ids=lambda writer: writer.name)
def test_statistics_are_of_the_rows_that_a_filter_keeps(tmp_path, writer):
    counted = 0
    for seed in seeds_of(writer, (2, 12)):
        case = filtered_case(random_case(seed, writer.limits))
        query = query_of(case)
        try:
            data = written(writer, case.table, tmp_path)
        except UnwritableError:
            continue
        got = measured(data, query, text=writer.text, where=parsed(case.where))
        assert got.is_ours, got.error
        rows = None if got.cells is None or query.unit else rows_of(writer, case.table, data, {})
        if rows is not None:
            counted += 1
            kept = list(kept_rows(rows, case.where))
            assert list(got.cells) == expected(kept, query), f"seed {seed}, {sql(case.where)}, {case}"
    assert counted or writer.truth == "unknown"


def test_seeds_reach_every_condition_and_reading():
    found = [filtered_case(random_case(seed)).where for seed in range(400)]
    flat = [str(where) for where in found]
    for kind in ("and", "or", "not", "is null", "in", "between", "like", "year", "month", "weekday", "=", "<>", "<"):
        assert any(f"('{kind}', " in text for text in flat), kind
    kinds = {type(value) for where in map(parse_filter, map(sql, filter(None, found))) for value in values_of(where)}
    assert kinds >= {int, float, str, bool, date, datetime}


def values_of(where):
    parts = getattr(where, "parts", None)
    return where.values if parts is None else [value for part in parts for value in values_of(part)]


def test_the_text_of_a_filter_is_read_as_the_same_filter():
    for found in filter(None, (filtered_case(random_case(seed)).where for seed in range(400))):
        where = parse_filter(sql(found))
        assert parse_filter(str(where)) == where
        assert filter_text(str(where)) == str(where)


def test_unknown_is_neither_true_nor_false_in_the_reference():
    row = {"a": None, "b": 1}
    assert holds(("not", ("=", "a", 1)), row) is None
    assert holds(("or", ("=", "a", 1), ("=", "b", 1)), row) is True
    assert holds(("and", ("=", "a", 1), ("=", "b", 2)), row) is False
    assert columns_of(("and", ("=", "a", 1), ("=", ("year", "b"), 2))) == ["a", "b"]
