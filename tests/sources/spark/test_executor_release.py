"""Noise on the executors of a real Spark cluster is drawn once, whatever fails, and the folder tells nothing else."""

import hashlib
import os
import random
import signal
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources.spark import cluster as spark_cluster
from tests.sources.spark.cluster import (
    AlwaysFails,
    DiesOnce,
    FailsOnce,
    KillsExecutor,
    Meets,
    OwnBits,
    Reporting,
    Same,
    executor_task,
)

from ggdp import IntegerNoise
from ggdp.errors import ArgumentError
from ggdp.noise import SecureSource, SeededSource

# Half-widths at 95 % are 7.
LAW = {"order": 2, "scale": 5.0}
LETTERS = list("abcdefgh")
DAYS = pa.array(range(100), pa.date32()).to_pylist()


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


@pytest.fixture
def reports(tmp_path):
    folder = tmp_path / "reports"
    folder.mkdir()
    return folder


def release_cells(counted, *, path, columns, false_cells=None, **changed):
    from ggdp.tables.executor_release import release_cells

    task = executor_task(columns, **changed)
    files = release_cells(counted, task, path, false_cells)
    return SimpleNamespace(path=files[0].parent, files=tuple(file.name for file in files), private=task.private)


def frame(spark, cells):
    from ggdp.sources.spark import quiet

    with quiet():
        table = pa.table(
            {"cell": pa.array(list(cells), pa.int64()), "count": pa.array(list(cells.values()), pa.int64())}
        )
        return spark.createDataFrame(table)


def keys(*lengths):
    """Columns of numbers 0, 1, ..."""
    return [(f"k{place}", range(length)) for place, length in enumerate(lengths)]


def rows(written):
    return pa.concat_tables(pq.read_table(written.path / name) for name in written.files)


def told(path):
    """All that a file tells; the order in which it lists encodings changes with the Java process alone."""
    facts = pq.read_metadata(path).to_dict()
    for column in [column for group in facts["row_groups"] for column in group["columns"]]:
        column["encodings"] = sorted(column["encodings"])
    return path.name[:11], path.stat().st_size, pq.read_table(path), facts, pq.read_schema(path).metadata


def seeded(seed, part, size):
    """The noise of a part by the documented rule, drawn on the driver."""
    own = int.from_bytes(hashlib.sha256(b"ggdp part %d of seed %d" % (part, seed)).digest(), "big")
    return IntegerNoise(order=LAW["order"], scale=LAW["scale"]).sample(size, rng=SeededSource(seed=own))


def test_every_cell_has_its_count_and_the_noise_of_its_part(spark, tmp_path):
    counts = {0: 10, 3: 20, 4: 5, 1000: 7, 1599: 9}
    columns = [("letter", LETTERS), ("half", [False, True]), ("day", DAYS)]
    written = release_cells(
        frame(spark, counts),
        columns=columns,
        most_files=4,
        nonnegative=True,
        path=tmp_path / "a %20 [1]*? é.parquet",
        rng=SeededSource(seed=3),
    )
    table = rows(written)
    true = np.zeros(1600, dtype=np.int64)
    true[list(counts)] = list(counts.values())
    noisy = true + np.concatenate([seeded(3, part, 400) for part in range(4)])
    assert table["noisy_count"].to_pylist() == noisy.tolist()
    assert table["count"].to_pylist() == np.maximum(noisy, 0).tolist()
    assert table["lower"].to_pylist() == np.maximum(noisy - 7, 0).tolist()
    assert table["upper"].to_pylist() == np.maximum(noisy + 7, 0).tolist()
    assert table["letter"].to_pylist() == [letter for letter in "abcdefgh" for _ in range(200)]
    assert table["half"].to_pylist() == [half for _ in range(8) for half in (False, True) for _ in range(100)]
    assert table["day"].cast(pa.int32()).to_pylist() == list(range(100)) * 16
    assert not written.private


def test_a_cell_is_drawn_once_and_never_by_looking_at_the_result(spark, tmp_path, reports, capsys):
    # Fewer than 512 draws at a time take 8 bytes each.
    source = Reporting(reports)
    written = release_cells(
        frame(spark, {5: 5}), columns=keys(1000), most_files=4, path=tmp_path / "x.parquet", rng=source
    )

    def drawn():
        return {
            path.name: sum(int(line.split()[0]) for line in path.read_text().splitlines()) for path in reports.iterdir()
        }

    once = {f"{part}-0": 8 * 250 for part in range(4)}
    assert drawn() == once
    read = spark.read.parquet(str(written.path))
    assert read.count() == 1000
    read.show(3)
    first, second = read.collect(), read.collect()
    assert first == second
    assert drawn() == once
    assert "upper" in capsys.readouterr().out


def test_both_workers_take_part_with_noise_of_their_own(spark, tmp_path, reports):
    written = release_cells(
        frame(spark, {}),
        columns=keys(400),
        most_files=2,
        path=tmp_path / "x.parquet",
        rng=Meets(reports),
    )
    assert len({report.read_text().split()[1] for report in reports.iterdir()}) == 2
    assert rows(written).num_rows == 400


def test_noise_differs_between_parts_and_between_releases(spark, tmp_path):
    counted, seen = frame(spark, {}), set()
    for place in range(2):
        written = release_cells(counted, columns=keys(1200), most_files=4, path=tmp_path / f"{place}.parquet")
        assert written.private
        seen |= {tuple(pq.read_table(written.path / name)["count"].to_pylist()) for name in written.files}
    # Two draws of 300 are equal with a probability below 10^-200.
    assert len(seen) == 8


@pytest.mark.parametrize("kind", [pytest.param(FailsOnce, marks=pytest.mark.exhaustive), DiesOnce])
def test_a_task_that_fails_after_drawing_leaves_one_committed_draw(spark, tmp_path, reports, kind):
    written = release_cells(
        frame(spark, {0: 5, 199_999: 6}),
        columns=keys(200_000),
        most_files=2,
        path=tmp_path / "x.parquet",
        rng=kind(reports),
    )
    assert len(kind(reports).attempts(1)) == 2
    assert rows(written)["k0"].to_pylist() == list(range(200_000))
    assert sorted(os.listdir(written.path)) == list(written.files)
    assert sorted(os.listdir(tmp_path)) == ["reports", "x.parquet"]


CELLS, PARTS = 400_000, 4


def lost_and_counted_again(spark, folder, source):
    """Release counts that go through a shuffle before they get to their parts, and return the files."""
    counted = spark.range(0, CELLS, 7).selectExpr("id as cell", "id as count").repartition(4, "cell")
    counted = counted.groupBy("cell").sum("count").withColumnRenamed("sum(count)", "count")
    return release_cells(counted, columns=keys(CELLS), most_files=PARTS, path=folder / "x.parquet", rng=source)


def assert_one_draw(written, source):
    """Check that each part has the counts, with the noise of exactly one of its attempts from the first cell on."""
    width, true = CELLS // PARTS, np.zeros(CELLS, dtype=np.int64)
    true[::7] = np.arange(0, CELLS, 7)
    for part, name in enumerate(written.files):
        noise = pq.read_table(written.path / name)["count"].to_numpy() - true[part * width : (part + 1) * width]
        law = IntegerNoise(order=LAW["order"], scale=LAW["scale"])
        assert sum(np.array_equal(noise, drawn) for drawn in source.noise(law, part, width)) == 1
    assert sorted(os.listdir(written.path)) == list(written.files)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes as Linux lists them")
def test_an_executor_that_is_killed_in_the_middle_leaves_one_committed_draw(spark, tmp_path, reports):
    source = KillsExecutor(reports)
    written = lost_and_counted_again(spark, tmp_path, source)
    assert len(source.attempts(1)) == 2
    assert_one_draw(written, source)
    assert sorted(os.listdir(tmp_path)) == ["reports", "x.parquet"]


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes as Linux lists them")
def test_executors_that_are_killed_at_random_leave_one_committed_draw_or_nothing(spark, tmp_path, record_property):
    from pyspark.errors import PySparkException

    chance, kills, attempts, failed = random.Random(), 0, 0, 0
    for trial in range(12):
        folder = tmp_path / str(trial)
        (folder / "reports").mkdir(parents=True)
        source, over, killed = OwnBits(folder / "reports"), threading.Event(), []

        def kill(over=over, killed=killed, source=source):
            drawing = chance.random() < 0.7
            for _ in range(chance.choice([1, 1, 2, 3])):
                while drawing and not any(source.folder.iterdir()) and not over.wait(0.01):
                    pass
                if over.wait(chance.uniform(0, 1.2)):
                    return
                if running := spark_cluster.executors():
                    killed.append(chance.choice(running))
                    os.kill(killed[-1], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            assert_one_draw(lost_and_counted_again(spark, folder, source), source)
        except PySparkException:
            # Too many attempts in a row were killed.
            failed += 1
            assert os.listdir(folder) == ["reports"]
        else:
            assert sorted(os.listdir(folder)) == ["reports", "x.parquet"]
        finally:
            over.set()
            killer.join()
        kills += len(killed)
        attempts += len(os.listdir(source.folder))
    assert kills
    assert failed < 6
    record_property(
        "counts", f"12 releases, {kills} executors killed, {attempts} attempts at 48 parts, {failed} failed"
    )


def test_thresholded_cells_are_kept_from_the_threshold_on_and_mixed_with_false_ones_in_order(spark, tmp_path):
    total, rng = 10**18, np.random.default_rng(1)
    cells = np.unique(rng.integers(0, total, 3000))
    counts = dict(zip(cells.tolist(), rng.integers(1, 60, cells.size).tolist(), strict=True))
    false = {total // 3 * 2: 30, 17: 31, total - 1: 44}
    written = release_cells(
        frame(spark, counts),
        columns=keys(10**6, 10**6, 10**6),
        most_files=8,
        threshold=30,
        false_cells=pa.table({"cell": list(false), "noisy": list(false.values())}),
        path=tmp_path / "x.parquet",
        rng=SeededSource(seed=9),
    )
    expected = dict(false)
    for part in range(8):
        own = cells[cells // (total // 8) == part]
        noisy = np.array([counts[cell] for cell in own.tolist()]) + seeded(9, part, own.size)
        expected |= {cell: value for cell, value in zip(own.tolist(), noisy.tolist(), strict=True) if value >= 30}
    table = rows(written)
    index = [
        (a * 10**6 + b) * 10**6 + c for a, b, c in zip(*(table[f"k{k}"].to_pylist() for k in range(3)), strict=True)
    ]
    assert index == sorted(expected)
    noisy = [expected[cell] for cell in index]
    assert table["count"].to_pylist() == noisy
    assert table["lower"].to_pylist() == [value - 7 if value > 37 else min(value - 7, 0) for value in noisy]


@pytest.mark.exhaustive
def test_a_file_holds_the_cells_of_its_part_in_order_however_spark_would_cut_them(spark, tmp_path):
    eager = {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "1g",
    }
    before = {name: spark.conf.get(name) for name in eager}
    for name, value in eager.items():
        spark.conf.set(name, value)
    try:
        dense, kept = (
            release_cells(
                frame(spark, dict.fromkeys(range(950, 1000), 10**6)),
                columns=keys(1000),
                most_files=10,
                path=tmp_path / f"{threshold}.parquet",
                threshold=threshold,
            )
            for threshold in (None, 1000)
        )
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    for written, first in ((dense, 0), (kept, 950)):
        assert sorted(written.files) == list(written.files) == sorted(os.listdir(written.path))
        assert len(written.files) == 10
        found = [pq.read_table(written.path / name)["k0"].to_pylist() for name in written.files]
        assert found == [list(range(max(start, first), start + 100)) for start in range(0, 1000, 100)]


def test_cells_that_are_left_out_leave_no_trace_in_the_files(spark, tmp_path):
    released = {100: 500, 150: 600, 950: 700}
    written = [
        release_cells(
            frame(spark, counts),
            columns=[*keys(125), ("letter", LETTERS)],
            most_files=5,
            threshold=400,
            path=tmp_path / f"{place}.parquet",
            rng=Same(),
        )
        for place, counts in enumerate([released, {**released, 0: 399, 101: 3, 500: 1, 999: 50}])
    ]
    first, second = ([told(each.path / name) for name in each.files] for each in written)
    assert first == second
    assert len(first) == 5
    # Files without rows have the schema and the metadata of the others.
    assert len({str(pq.read_schema(written[0].path / name)) for name in written[0].files}) == 1


@pytest.mark.exhaustive
def test_a_table_of_nobody_has_all_its_cells_and_files(spark, tmp_path):
    dense, kept = (
        release_cells(
            frame(spark, {}),
            columns=keys(60),
            most_files=3,
            threshold=threshold,
            path=tmp_path / f"{threshold}.parquet",
        )
        for threshold in (None, 10)
    )
    assert [pq.read_metadata(dense.path / name).num_rows for name in dense.files] == [20, 20, 20]
    assert [pq.read_metadata(kept.path / name).num_rows for name in kept.files] == [0, 0, 0]
    assert rows(kept).schema == rows(dense).schema


@pytest.mark.exhaustive
def test_a_failure_leaves_no_files(spark, tmp_path, reports):
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException):
        release_cells(
            frame(spark, {}),
            columns=keys(900),
            most_files=3,
            path=tmp_path / "x.parquet",
            rng=AlwaysFails(reports),
        )
    assert AlwaysFails(reports).attempts(1)
    assert os.listdir(tmp_path) == ["reports"]


def test_a_path_that_exists_is_refused_before_any_draw(spark, tmp_path, reports):
    taken = [tmp_path / "folder.parquet", tmp_path / "file.parquet", tmp_path / "nowhere" / "x.parquet"]
    taken[0].mkdir()
    taken[1].write_text("")
    for path in (*taken, "hdfs://host/x.parquet"):
        with pytest.raises(ArgumentError, match="path"):
            release_cells(frame(spark, {}), columns=keys(9), path=path, rng=Reporting(reports))
    assert not list(reports.iterdir())
    assert sorted(os.listdir(tmp_path)) == ["file.parquet", "folder.parquet", "reports"]


def test_another_way_of_committing_files_is_refused(spark, tmp_path):
    setting = "spark.sql.sources.commitProtocolClass"
    spark.conf.set(setting, "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol")
    try:
        with pytest.raises(ArgumentError, match="two draws"):
            release_cells(frame(spark, {}), columns=keys(9), path=tmp_path / "x.parquet")
    finally:
        spark.conf.unset(setting)
    assert not list(tmp_path.iterdir())


@pytest.mark.exhaustive
def test_a_path_that_somebody_makes_meanwhile_is_refused(spark, tmp_path, monkeypatch):
    from ggdp.tables import executor_release

    tidied = executor_release.keep_parts

    def makes_it(folder, plan):
        (tmp_path / "x.parquet").mkdir()
        return tidied(folder, plan)

    monkeypatch.setattr(executor_release, "keep_parts", makes_it)
    with pytest.raises(ArgumentError, match="exists"):
        release_cells(frame(spark, {}), columns=keys(9), path=tmp_path / "x.parquet")
    assert os.listdir(tmp_path) == ["x.parquet"]
    assert not os.listdir(tmp_path / "x.parquet")


@pytest.mark.parametrize("cells", [300_000, pytest.param(5_000_000, marks=pytest.mark.exhaustive)])
def test_nothing_of_a_table_comes_to_the_driver(spark, tmp_path, monkeypatch, cells):
    from pyspark.sql.classic.dataframe import DataFrame

    def refused(*_, **__):
        raise AssertionError

    counted = spark.range(0, cells, 3).selectExpr("id as cell", "id % 100 as count")
    for name in ("collect", "toArrow", "toPandas", "toLocalIterator", "take", "head", "count", "cache", "persist"):
        monkeypatch.setattr(DataFrame, name, refused)
    written = release_cells(counted, columns=keys(cells), path=tmp_path / "x.parquet")
    assert sum(pq.read_metadata(written.path / name).num_rows for name in written.files) == cells
    assert len(written.files) == -(-cells // 2**20)


def test_cells_outside_the_domain_are_counted_nowhere(spark, tmp_path):
    counted = frame(spark, {-1: 50, 2: 60, 10: 70, 10**17: 80})
    written = release_cells(counted, columns=keys(10), path=tmp_path / "x.parquet", rng=Same())
    assert rows(written)["count"].to_pylist() == [0, 0, 60, 0, 0, 0, 0, 0, 0, 0]


def test_only_the_operating_systems_bits_are_private():
    class Claims(Same):
        private = True

    sources = [None, SecureSource(), SecureSource(entropy=lambda size: bytes(size)), SeededSource(seed=1), Claims()]
    # Copies of another source may share their bits, whatever it says of itself.
    tasks = [executor_task(keys(1), rng=source) for source in sources]
    assert [task.private for task in tasks] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"columns": [("Count", [1, 2, 3])]}, "columns"),
        ({"columns": [("k", [1, 2, 3]), ("K", [1])]}, "columns"),
        ({"most_files": 0}, "most_files"),
        ({"false_cells": pa.table({"cell": [1], "noisy": [2]})}, "false_cells"),
        ({"order": 0.5}, "order"),
        ({"rng": 7}, "rng"),
    ],
)
def test_what_does_not_fit_is_refused_by_name_without_a_look_at_the_counts(tmp_path, changed, named):
    asked = {"columns": keys(3), "path": tmp_path / "x.parquet", **changed}
    with pytest.raises(ArgumentError) as refused:
        release_cells(None, **asked)
    assert refused.value.argument == named
    assert not list(tmp_path.iterdir())
