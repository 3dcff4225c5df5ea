"""Derived columns and look-ups of random tables: with and without one unit, by every writer and engine, and as plain
Python computes them.

The tables are those of `tests.fuzz.tables`, the expressions those of `tests.fuzz.derived`.
"""

from __future__ import annotations

import pytest
from tests.cases import examples, one_in
from tests.fuzz.derived import derived_case, made, read_by, sql, value
from tests.fuzz.neighbours import UnwritableError, assert_neighbours
from tests.fuzz.tables import random_case
from tests.fuzz.test_fuzz import ON_SPARK, first_seed
from tests.fuzz.writers import FILES, FRAMES, SPARK_FRAMES, WRITERS

from ggdp.domain.filters import parse_expression


def assert_derived_alike(writer, folder, seeds, *, share=1 / 3, **options):
    """Check the derived cases of seeds; a share of them must be counted, since refusals agree as well."""
    counted = []
    for seed in seeds:
        case = derived_case(random_case(seed, writer.limits))
        try:
            counted.append(assert_neighbours(case, writer, folder, **options))
        except UnwritableError:
            continue
    assert sum(counted) >= share * len(counted) > 0, f"only {sum(counted)} of {len(counted)} cases were counted"


def seeds_of(writer, most):
    first = 19000 + 50 * list(WRITERS).index(writer.name)
    return range(first, first + examples(*most))


@pytest.mark.parametrize("writer", one_in(3, FILES), ids=lambda writer: writer.name)
def test_columns_of_files_are_derived_alike(tmp_path, writer):
    assert_derived_alike(writer, tmp_path, seeds_of(writer, (3, 12)))


@pytest.mark.parametrize("writer", FRAMES, ids=lambda writer: writer.name)
def test_columns_of_frames_are_derived_alike(tmp_path, writer):
    assert_derived_alike(writer, tmp_path, seeds_of(writer, (3, 12)))


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", [*FILES, *FRAMES], ids=lambda writer: writer.name)
def test_many_columns_are_derived_alike(tmp_path, writer):
    start = first_seed()
    assert_derived_alike(writer, tmp_path, range(start, start + 15))


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", ON_SPARK, ids=lambda writer: writer.name)
def test_columns_of_files_are_derived_alike_by_spark(tmp_path, writer):
    start = first_seed()
    assert_derived_alike(writer, tmp_path, [2, 7, start, start + 1], share=1 / 4, engine="spark")


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", SPARK_FRAMES, ids=lambda writer: writer.name)
def test_columns_of_frames_of_spark_are_derived_alike(tmp_path, writer):
    start = first_seed()
    assert_derived_alike(writer, tmp_path, [10, 34, start, start + 1], share=1 / 4)


def test_seeds_reach_every_operation():
    found = str([derived_case(random_case(seed)).derived for seed in range(600)])
    kinds = ("+", "-", "*", "/", "lower", "upper", "trim", "coalesce", "case", "truth", "lookup", "year", "month")
    for kind in (*kinds, "weekday", "number", "text"):
        assert f"('{kind}', " in found, kind


def test_the_text_of_an_expression_is_read_as_the_same_expression():
    for case in (derived_case(random_case(seed)) for seed in range(400)):
        for (name, term), (_, read) in zip(case.derived, made(case), strict=True):
            if term[0] != "lookup":
                again = parse_expression(f"expression of {name!r}", str(read), "text")
                assert again == parse_expression(f"expression of {name!r}", sql(term), "text")
            assert set(read_by(term)) <= set(case.table.names)


def test_overflow_and_division_by_zero_are_null_in_the_reference():
    row = {"a": 1e300, "b": "0", "c": None}
    assert value(("*", ("number", "a"), ("number", "a")), row) is None
    assert value(("/", 1, ("*", ("number", "a"), ("number", "a"))), row) is None
    assert value(("/", ("number", "a"), ("number", "b")), row) is None
    assert value(("coalesce", ("number", "c"), ("number", "b")), row) == 0.0
