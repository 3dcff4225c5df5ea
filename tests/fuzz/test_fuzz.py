"""Random tables of every writer, with and without one unit: what is counted is close, and right; messages are the same.

A failure shows the smallest case that has it, and its seed. Exhaustive runs draw new seeds; set GGDP_FUZZ_SEED to the
first of them to see a run again.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.cases import examples, one_in
from tests.fuzz.neighbours import Outcome, UnwritableError, assert_neighbours, difference, pair_of, problem, shrunk
from tests.fuzz.tables import Case, Field, Limits, Table, complete_case, declared_case, random_case
from tests.fuzz.writers import FILES, FRAMES, PROGRAM_FILES, SPARK_FRAMES, WRITERS, Writer

from ggdp.domain.table_domain import Domain
from ggdp.sources import duckdb_engine

ON_SPARK = tuple(
    WRITERS[name]
    for name in (
        "csv by pandas",
        "csv by csv.writer, crlf",
        "csv.gz by csv.writer",
        "csv by polars",
        "parquet by Arrow",
        "parquet by polars, many row groups",
        "json by json.dumps, as it is",
        "json by DuckDB",
    )
)


def first_seed():
    return int(os.environ.get("GGDP_FUZZ_SEED") or random.SystemRandom().randrange(10**9))


def assert_close(writer, folder, seeds, *, share=1 / 3, cases=random_case, **options):
    """Check the cases of seeds; a share of them must be counted, since refusals agree with one another as well."""
    counted = []
    for seed in seeds:
        try:
            counted.append(assert_neighbours(cases(seed, writer.limits), writer, folder, **options))
        except UnwritableError:
            continue
    assert sum(counted) >= share * len(counted) > 0, f"only {sum(counted)} of {len(counted)} cases were counted"


def some_seeds(writer, found, own):
    """Seeds that once found something, and some that only this writer has."""
    first = 1000 + 50 * list(WRITERS).index(writer.name)
    return [*found, *range(first, first + own)]


# Every time a part of the seeds of each writer: other parts for the next ones.
ALL_SEEDS = pytest.mark.parametrize("all_seeds", [False, pytest.param(True, marks=pytest.mark.exhaustive)])


def part_of(writer, seeds, parts):
    return seeds[list(WRITERS).index(writer.name) % parts :: parts]


@ALL_SEEDS
@pytest.mark.parametrize("writer", [*FILES, *PROGRAM_FILES], ids=lambda writer: writer.name)
def test_files_of_neighbours_are_counted_alike(tmp_path, writer, all_seeds):
    seeds = some_seeds(writer, (2, 7, 10, 34), 2)
    assert_close(writer, tmp_path, part_of(writer, seeds, parts=1 if all_seeds else 3))


@ALL_SEEDS
@pytest.mark.parametrize("writer", FRAMES, ids=lambda writer: writer.name)
def test_frames_of_neighbours_are_counted_alike(tmp_path, writer, all_seeds):
    is_slow = writer.name.startswith(("DuckDB", "ibis"))
    seeds = some_seeds(writer, *(((4, 10, 20, 31), 2) if is_slow else ((10, 25, 34, 79), 8)))
    assert_close(writer, tmp_path, part_of(writer, seeds, parts=1 if all_seeds else 2))


@pytest.mark.parametrize("name", ["csv by csv.writer, lf", "parquet by Arrow"])
@pytest.mark.parametrize("constant", ["_MANY_CELLS", "_FEW_GROUPS"])
def test_neighbours_are_counted_alike_where_cells_are_many(tmp_path, monkeypatch, constant, name):
    monkeypatch.setattr(duckdb_engine, constant, 0)
    monkeypatch.setattr(duckdb_engine, "count_cells", lambda *_: None)
    assert_close(WRITERS[name], tmp_path, [2, 10, 7, 34][: examples(2, 4)])


@ALL_SEEDS
@pytest.mark.parametrize("writer", [*one_in(3, FILES), *FRAMES], ids=lambda writer: writer.name)
def test_text_is_read_as_declared_with_and_without_somebody(tmp_path, writer, all_seeds):
    seeds = some_seeds(writer, (), 12 if all_seeds else 2)
    assert_close(writer, tmp_path, seeds, cases=declared_case)


@ALL_SEEDS
@pytest.mark.parametrize("writer", [*one_in(3, FILES), *FRAMES, *PROGRAM_FILES], ids=lambda writer: writer.name)
def test_complete_columns_count_every_row_with_and_without_somebody(tmp_path, writer, all_seeds):
    seeds = some_seeds(writer, (), 12 if all_seeds else 2)
    assert_close(writer, tmp_path, seeds, cases=complete_case)


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", [*ON_SPARK, *SPARK_FRAMES], ids=lambda writer: writer.name)
def test_complete_columns_count_every_row_on_spark(tmp_path, writer):
    engine = {"engine": "spark"} if writer in ON_SPARK else {}
    assert_close(writer, tmp_path, some_seeds(writer, (2, 7), 4), share=1 / 4, cases=complete_case, **engine)


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", ON_SPARK, ids=lambda writer: writer.name)
def test_text_is_read_as_declared_by_spark(tmp_path, writer):
    assert_close(writer, tmp_path, some_seeds(writer, (), 4), cases=declared_case, engine="spark")


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", [*FILES, *FRAMES, *PROGRAM_FILES], ids=lambda writer: writer.name)
def test_many_neighbours_are_counted_alike(tmp_path, writer):
    start = first_seed()
    assert_close(writer, tmp_path, range(start, start + 40))


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", [each for each in FILES if "parquet" in each.name], ids=lambda writer: writer.name)
def test_many_neighbours_are_counted_alike_by_duckdb_too(tmp_path, monkeypatch, writer):
    monkeypatch.setattr(duckdb_engine, "count_cells", lambda *_: None)
    start = first_seed()
    assert_close(writer, tmp_path, range(start, start + 40))


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", ON_SPARK, ids=lambda writer: writer.name)
def test_files_of_neighbours_are_counted_alike_by_spark(tmp_path, writer):
    start = first_seed()
    # Spark refuses half of the random files, for types and names that it does not know: the first seed is counted.
    assert_close(writer, tmp_path, [2, 7, start, start + 1], share=1 / 4, engine="spark")


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", SPARK_FRAMES, ids=lambda writer: writer.name)
def test_frames_and_files_of_spark_are_counted_alike(tmp_path, writer):
    start = first_seed()
    assert_close(writer, tmp_path, [10, 34, start, start + 1], share=1 / 4)


def test_a_seed_gives_the_same_case_every_time():
    first, second = (random_case(11, Limits(undecodable=True)) for _ in range(2))
    assert repr(first) == repr(second)
    assert repr(first) != repr(random_case(12, Limits(undecodable=True)))


def test_seeds_reach_every_type_and_kind_of_question():
    cases = [random_case(seed) for seed in range(300)]
    assert {field.type for case in cases for field in case.table.fields} >= {
        "text",
        "float16",
        "uint64",
        "date32",
        "bool",
    }
    assert {case.is_open for case in cases} == {case.unit is None for case in cases} == {True, False}
    declared = [d for case in cases for marginal in case.marginals for d in marginal.values() if d is not None]
    assert {"edges", "levels", "labels", "other", "missing"} == {key for found in declared for key in found}
    assert {type(found["levels"][0]).__name__ for found in declared if "levels" in found} == {
        "str",
        "int",
        "bool",
        "date",
    }
    complete = [Domain(marginal) for seed in range(300) for marginal in complete_case(seed).marginals]
    kinds = {column.kind for marginal in complete for column in marginal if column.complete}
    assert kinds == {"text", "integer", "boolean", "date", "bins"}
    every = [all(column.complete for column in marginal) for marginal in complete]
    assert len(every) / 5 < sum(every) < len(every)
    # Somebody's rows are at the start, at the end, and in between.
    assert any(0 in case.victim for case in cases)
    assert any(len(case.table.rows) - 1 in case.victim for case in cases)


@pytest.mark.parametrize(
    ("more", "less", "max_cells"),
    [
        (Outcome(({0: 3},)), Outcome(({0: 1},)), 1),
        (Outcome(({0: 1},)), Outcome(({0: 2},)), 1),
        (Outcome(({0: 1, 1: 1},)), Outcome(({},)), 1),
        (Outcome(({},)), Outcome(None, "SourceError: x"), 1),
        (Outcome(None, "SourceError: x"), Outcome(None, "SourceError: y"), 1),
        (Outcome(None, "ValueError: x", is_ours=False), Outcome(None, "ValueError: x", is_ours=False), 1),
    ],
)
def test_what_is_too_far_apart_is_seen(more, less, max_cells):
    assert difference(more, less, max_cells) is not None


def test_what_is_close_is_let_through():
    assert difference(Outcome(({0: 2, 1: 1, 5: 7},)), Outcome(({0: 1, 5: 7},)), 2) is None
    assert difference(Outcome(None, "SourceError: x"), Outcome(None, "SourceError: x"), 1) is None


def test_a_writer_that_loses_rows_is_found_and_its_case_made_small(tmp_path):
    # A table of which everything but the first row is lost where a text is "poison".
    def lossy(table, _):
        kept = table.rows[:1] if any("poison" in row for row in table.rows) else table.rows
        return Table(table.fields, kept).arrow()

    rows = (*[("a", k) for k in range(20)], ("poison", 1))
    case = Case(Table((Field("w", "text"), Field("n", "int64")), rows), frozenset({20}), ({"w": ["a", "poison"]},))
    writer = Writer("lossy", lossy, truth="unknown")
    small = shrunk(case, lambda candidate: problem(candidate, writer, tmp_path)[0] is not None)
    assert len(small.table.rows) <= 3
    assert small.table.names == ["w"]
    with pytest.raises(AssertionError, match="moves by more than 1"):
        assert_neighbours(case, writer, tmp_path)


def of_units(*units, victim):
    """A case whose rows have these units, of which one is left out."""
    rows = tuple((unit, place) for place, unit in enumerate(units))
    table = Table((Field("id", "text"), Field("n", "int64")), rows)
    return Case(table, frozenset(victim), ({"n": [0, 1]},), unit="id")


@pytest.mark.parametrize(
    ("units", "victim"),
    [(("a", None, "b", "a"), (0, 3)), ((None, "b"), (0,)), (("", "b", ""), (0, 2)), (("a", None, ""), (0,))],
)
def test_a_unit_more_or_less_makes_neighbours_by_every_writer(units, victim):
    case = of_units(*units, victim=victim)
    for writer in WRITERS.values():
        assert pair_of(case, writer) == (case.table, case.neighbour)


@pytest.mark.parametrize(("units", "victim"), [((None, "b", None), (0,)), (("", None), (0,)), ((None, ""), (0,))])
def test_some_rows_of_a_unit_less_make_no_neighbours(units, victim):
    case = of_units(*units, victim=victim)
    assert WRITERS["polars scan of csv"].null == ""
    with pytest.raises(UnwritableError, match="rows in both tables"):
        pair_of(case, WRITERS["polars scan of csv"])
    # Rows without a unit are not counted where nulls are read as nulls.
    assert pair_of(case, WRITERS["polars"]) == (case.table, case.neighbour)


def test_nulls_are_read_as_the_writer_says(tmp_path):
    table = Table((Field("id", "text"), Field("n", "int64")), ((None, 0), ("", 1), ("a", 2)))
    for name, read in {"polars scan of csv": ["", "", "a"], "polars scan of parquet": [None, "", "a"]}.items():
        writer = WRITERS[name]
        assert writer.write(table, tmp_path).collect()["id"].to_list() == read == [writer.null, "", "a"]


@pytest.mark.parametrize("name", ["polars scan of csv", "polars scan of parquet", "csv by csv.writer, all quoted"])
def test_nearly_all_random_cases_are_neighbours(name):
    writer, left_out = WRITERS[name], 0
    for seed in range(100):
        try:
            pair_of(random_case(seed, writer.limits), writer)
        except UnwritableError:
            left_out += 1
    assert left_out == 0 if writer.null is None else 0 < left_out <= 10
