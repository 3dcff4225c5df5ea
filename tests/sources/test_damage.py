"""Damaged files: a release fails alone, with our message, and what comes after it in the same process does not.

Files are damaged at random by a seed that each failure names; `GGDP_DAMAGE_SEED` starts elsewhere.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.sources.damage import (
    DOMAIN,
    ROWS,
    SECRET,
    claim,
    contradicting,
    damaged,
    invalidating,
    parquet_files,
    people,
    text_files,
    written,
)

import ggdp
from ggdp.domain.table_domain import Domain
from ggdp.domain.value_range import ValueRange
from ggdp.errors import ArgumentError, GgdpError, SourceError
from ggdp.sources import duckdb_engine
from ggdp.sources.measures import Measure, SummedMeasure
from ggdp.sources.query import CountQuery, open_source

FIRST = int(os.environ.get("GGDP_DAMAGE_SEED", "0"))
EVERY_TIME, IN_ALL = 150, 2500
TABLE = Domain(DOMAIN).project(["town", "age"])
COLUMNS = ["person", "town", "age", "income"]
INCOME = SummedMeasure(Measure(column="income", values=ValueRange(0, 100_000, 1)), squares=True)
UNITS = {"unit": "person", "key": bytes(16)}
# By dictionaries, by DuckDB, with sums, and by units. Each row is in a cell, of units each that has a person.
QUERIES = {
    "rows": CountQuery(marginals=(TABLE,)),
    "tables": CountQuery(marginals=(TABLE.project(["town"]), TABLE.project(["age"]))),
    "floats": CountQuery(marginals=(Domain(DOMAIN).project(["income"]),)),
    "sums": CountQuery(marginals=(TABLE,), measured=(INCOME,)),
    "units": CountQuery(marginals=(TABLE,), max_cells=TABLE.size, max_rows_per_cell=ROWS, **UNITS),
}


def counted(path, query):
    """Return how many rows each marginal of a query has."""
    with open_source(path, columns=COLUMNS) as source:
        return [int(sum(sums[0].units)) for _, sums in source.sums(query)]


def number_of(cases):
    return [cases, pytest.param(cases * IN_ALL // EVERY_TIME, marks=pytest.mark.exhaustive)]


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch):
    """DuckDB keeps within a limit of memory, whatever sizes a damaged file claims."""
    connect = duckdb.connect
    limit = {"memory_limit": "400MB"}
    monkeypatch.setattr(duckdb, "connect", lambda *name, config=limit: connect(*name, config={**config, **limit}))
    duckdb_engine._database.cache_clear()
    yield
    duckdb_engine._database.cache_clear()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return parquet_files(tmp_path_factory.mktemp("written"))


@pytest.fixture(scope="module")
def plan():
    return ggdp.plan_table(by=["town"], goal=ggdp.PureDP(1.0), domain=DOMAIN)


@pytest.fixture(scope="module")
def good(tmp_path_factory, plan):
    """Release a good file: a Parquet file and a CSV file in turn."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "0.parquet").write_bytes(written(people()))
    (folder / "1.csv").write_bytes(text_files()[".csv"])
    turns = iter(sorted(folder.iterdir()) * 10**5)

    def release():
        path = next(turns)
        assert abs(int(plan.run(path).tables[0].noisy_count.sum()) - ROWS) < ROWS

    return release


def assert_quiet(failed, seed=None):
    """Check that an error says nothing about the data, nor refers to one that does."""
    said = [str(failed), *getattr(failed, "__notes__", ())]
    assert not any(SECRET[:6] in text for text in said), (seed, said)
    assert failed.__cause__ is None, seed
    assert failed.__context__ is None or isinstance(failed.__context__, GgdpError), seed


@pytest.mark.parametrize("cases", number_of(EVERY_TIME))
def test_after_each_damaged_parquet_file_a_good_file_is_released(cases, files, good, tmp_path):
    """And the damaged one has all its rows, or fails with our error, within bounds of memory."""
    path, names, failures = tmp_path / "damaged.parquet", sorted(files), 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seed in range(FIRST, FIRST + cases):
        rng = random.Random(seed)
        name = rng.choice(names)
        what, data = damaged(files[name], rng)
        path.write_bytes(data)
        query = rng.choice(sorted(QUERIES))
        try:
            found = counted(path, QUERIES[query])
            right = [ROWS] * len(QUERIES[query].marginals)
            # Another column may stand in the place of the persons.
            assert found == right or (query == "units" and found < right), (seed, name, what, query)
        except GgdpError as failed:
            assert_quiet(failed, seed)
            failures += 1
        except BaseException as failed:
            failed.add_note(f"seed {seed}")
            raise
        good()
    assert failures > cases // 3
    # A damaged header can claim terabytes: DuckDB takes its limit, and Arrow no more.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20, "KiB"


@pytest.mark.parametrize("cases", number_of(60))
def test_after_each_damaged_text_file_a_good_file_is_released(cases, good, tmp_path):
    """A damaged text may have other rows, but what does not unpack fails."""
    found = text_files()
    for seed in range(FIRST, FIRST + cases):
        rng = random.Random(seed)
        suffix = rng.choice(sorted(found))
        path = tmp_path / f"damaged{suffix}"
        path.write_bytes(damaged(found[suffix], rng)[1])
        try:
            counted(path, rng.choice(list(QUERIES.values())))
        except GgdpError as failed:
            assert_quiet(failed, seed)
        except BaseException as failed:
            failed.add_note(f"seed {seed}")
            raise
        good()


@pytest.mark.parametrize("suffix", [".csv.gz", ".jsonl.gz", ".csv.zst"])
def test_a_packed_file_that_was_cut_fails(suffix, tmp_path):
    data, path = text_files()[suffix], tmp_path / f"cut{suffix}"
    for size in (len(data) - 1, len(data) * 2 // 3, len(data) // 2, 20):
        path.write_bytes(data[:size])
        with pytest.raises(SourceError, match="damaged or incomplete"):
            counted(path, QUERIES["rows"])


@pytest.fixture
def poison(files, tmp_path):
    """A file after which a database of DuckDB answers nothing more."""
    path = tmp_path / "poison.parquet"
    path.write_bytes(invalidating(files["pyarrow 0"]))
    with duckdb.connect() as connection:
        with pytest.raises(duckdb.InternalException):
            connection.execute(f"SELECT town FROM read_parquet('{path}')").fetchall()
        with pytest.raises(duckdb.FatalException, match="invalidated"):
            connection.cursor().execute("SELECT 1")
    return path


@pytest.mark.parametrize("query", [query for query in QUERIES if query != "floats"])
def test_a_file_that_invalidates_a_database_fails_alone(query, poison, good):
    for _ in range(2):
        with pytest.raises(SourceError, match="may be damaged or incomplete: write it again") as failed:
            counted(poison, QUERIES[query])
        assert_quiet(failed.value)
        good()
        good()


def test_sources_that_are_open_when_a_database_is_invalidated_are_counted(poison, tmp_path):
    """By another thread; each is counted in a new database then."""
    sources = []
    for name, data in {"open.parquet": written(people()), **{f"open{k}": v for k, v in text_files().items()}}.items():
        (tmp_path / name).write_bytes(data)
        sources.append(open_source(tmp_path / name, columns=COLUMNS))
    relation = duckdb.connect().from_arrow(people())
    sources.append(open_source(relation, columns=COLUMNS))
    with ThreadPoolExecutor(1) as other, pytest.raises(SourceError):
        other.submit(counted, poison, QUERIES["units"]).result()
    for source in sources:
        with source:
            assert sum(source.count(QUERIES["units"])[0].counts) == ROWS


def test_of_two_threads_one_may_poison_the_database_again_and_again(poison, good, tmp_path):
    """The other one is counted, or fails; what comes later is counted."""
    path = tmp_path / "good.parquet"
    path.write_bytes(written(people()))

    def outcome(file):
        try:
            return counted(file, QUERIES["units"])
        except SourceError:
            return None

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(outcome, [poison, path] * 8))
    assert found[::2] == [None] * 8
    assert all(rows in ([ROWS], None) for rows in found[1::2])
    good()
    good()


# In a process of its own, which Arrow's Python package would end.
COUNTS = """
import sys
from tests.sources.test_damage import QUERIES, SourceError, counted
for path in sys.argv[1:]:
    for name in ("rows", "tables", "sums", "units"):
        try:
            print("counted", counted(path, QUERIES[name]))
        except SourceError:
            print("failed")
"""


def test_metadata_that_contradict_the_schema_end_no_process(files, tmp_path):
    for number, writer in enumerate(("pyarrow 0", "polars zstd", "duckdb COMPRESSION zstd")):
        (tmp_path / f"{number}.parquet").write_bytes(contradicting(files[writer]))
    command = [sys.executable, "-c", COUNTS, *map(str, sorted(tmp_path.iterdir()))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["failed"] * 12


@pytest.mark.exhaustive
@pytest.mark.parametrize("writer", ["pyarrow 0", "polars zstd", "duckdb COMPRESSION zstd"])
def test_every_byte_of_a_footer_may_be_another(writer, files, good, tmp_path):
    data, path = files[writer], tmp_path / "damaged.parquet"
    size = int.from_bytes(data[-8:-4], "little")
    for place in range(len(data) - 8 - size, len(data) - 8):
        path.write_bytes(data[:place] + bytes([255]) + data[place + 1 :])
        try:
            assert counted(path, QUERIES["rows" if place % 2 else "sums"]) == [ROWS], place
        except GgdpError as failed:
            assert_quiet(failed, place)
        if place % 20 == 0:
            good()


@pytest.mark.parametrize("query", [query for query in QUERIES if query != "floats"])
def test_the_rows_of_a_damaged_part_are_not_left_out(query, files, tmp_path):
    data, path = files["pyarrow 1"], tmp_path / "parts.parquet"
    path.write_bytes(data)
    found = pq.read_metadata(path)
    for number in (0, 3, found.num_row_groups - 1):
        column = found.row_group(number).column(1)
        start = column.dictionary_page_offset
        stop = start + column.total_compressed_size
        path.write_bytes(data[:start] + bytes(stop - start) + data[stop:])
        with pytest.raises(SourceError):
            counted(path, QUERIES[query])


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("claimed", [0, ROWS - 1, ROWS + 1, 2**45, -1])
def test_all_rows_are_counted_whatever_metadata_claim(query, claimed, files, tmp_path):
    """A file, its only part and each column of it claim a number of rows; one of them is another number."""
    data, path = files["pyarrow 0"], tmp_path / "claims.parquet"
    start, right = len(data) - 8 - int.from_bytes(data[-8:-4], "little"), claim(ROWS)
    places = [place for place in range(start, len(data)) if data.startswith(right, place)]
    assert len(places) >= 2 + len(COLUMNS)
    failures = 0
    for place in places:
        footer = data[start:place] + claim(claimed) + data[place + len(right) : -8]
        path.write_bytes(data[:start] + footer + len(footer).to_bytes(4, "little") + data[-4:])
        try:
            assert counted(path, QUERIES[query]) == [ROWS] * len(QUERIES[query].marginals)
        except SourceError:
            failures += 1
    # At least what the file itself claims is decisive.
    assert failures


def test_arrow_leaves_no_row_out_either(files, tmp_path, monkeypatch):
    """Where DuckDB finds nothing wrong with the metadata: a column claims a negative number of values."""
    monkeypatch.setattr(duckdb_engine, "require_all_rows", lambda *_: None)
    data, path = files["pyarrow 2"], tmp_path / "negative.parquet"
    place = data.index(claim(ROWS), data.rindex(b"\x19\x18\x06income"))
    path.write_bytes(data[:place] + claim(-429) + data[place + len(claim(ROWS)) :])
    assert [batch.num_rows for batch in pq.ParquetFile(path).iter_batches(columns=["income"])] == []
    for query in ("sums", "floats"):
        try:
            assert counted(path, QUERIES[query]) == [ROWS]
        except SourceError:
            continue


def test_a_damaged_file_among_others_fails_the_release_of_all(files, good, tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.parquet").write_bytes(files["pyarrow 0"])
    assert counted(f"{tmp_path}/*.parquet", QUERIES["rows"]) == [4 * ROWS]
    for seed in range(20):
        (tmp_path / "2.parquet").write_bytes(damaged(files["pyarrow 0"], random.Random(seed))[1])
        try:
            assert counted(f"{tmp_path}/*.parquet", QUERIES["rows"]) == [4 * ROWS], seed
        except GgdpError as failed:
            assert_quiet(failed, seed)
    (tmp_path / "2.parquet").write_bytes(invalidating(files["pyarrow 0"]))
    with pytest.raises(SourceError):
        counted(f"{tmp_path}/*.parquet", QUERIES["rows"])
    good()


@pytest.mark.parametrize("data", [b"", b"PAR1", b"town\na\n", b"PAR1 and no more"])
def test_a_parquet_file_that_is_incomplete_is_refused_as_such(data, tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(data)
    with pytest.raises(ArgumentError, match="incomplete or not a Parquet file"):
        open_source(path, columns=["town"])


def test_lazy_frames_of_damaged_files_fail_alone(files, good, tmp_path):
    path = tmp_path / "damaged.parquet"
    for seed in range(30):
        path.write_bytes(damaged(files["polars zstd"], random.Random(seed))[1])
        try:
            frame = pl.scan_parquet(path)
            with open_source(frame, columns=COLUMNS) as source:
                source.count(QUERIES["rows"])
        except GgdpError as failed:
            assert_quiet(failed, seed)
    good()
