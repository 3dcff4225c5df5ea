"""A speculative copy of a task, which Spark starts on another machine only, leaves one committed draw."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.sources.spark.cluster import ROOT, Straggles

from ggdp.sources.spark import _java_version

_SCRIPT = """
import sys
from tests.sources.spark import cluster as spark_cluster
from ggdp.tables.executor_release import release_cells

master, path, reports = sys.argv[1:]
spark = spark_cluster.started(
    ("spark.master", master),
    ("spark.speculation", "true"),
    ("spark.speculation.interval", "100ms"),
    ("spark.speculation.multiplier", "1.01"),
    ("spark.speculation.quantile", "0.1"),
    ("spark.speculation.efficiency.enabled", "false"),
)
task = spark_cluster.executor_task(
    [("k", range(200_000))], most_files=2, source=spark_cluster.Straggles(reports)
)
release_cells(spark.range(0, 200_000, 7).selectExpr("id as cell", "id as count"), task, path)
"""


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


@contextlib.contextmanager
def standalone(folder):
    """A master and two workers, each a process with an address of its own."""
    import pyspark

    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    kinds = [
        ("127.0.0.1", "master.Master", "--port", str(port)),
        *((f"127.0.0.{host}", "worker.Worker", "--cores", "1", "--memory", "1g", url) for host in (2, 3)),
    ]
    running = []
    try:
        for address, kind, *rest in kinds:
            program = [str(Path(pyspark.__file__).parent / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
            changed = {"SPARK_LOCAL_IP": address, "SPARK_WORKER_DIR": str(folder), "PYSPARK_PYTHON": sys.executable}
            running.append(
                subprocess.Popen(
                    [*program, "--host", address, "--webui-port", "0", *rest],
                    env={**os.environ, **changed},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        yield url
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="needs several addresses of this machine, which Linux has")
def test_a_speculative_task_leaves_one_committed_draw(tmp_path):
    if (_java_version() or 0) < 17:
        pytest.skip("needs Java 17 or newer")
    reports, target = tmp_path / "reports", tmp_path / "x.parquet"
    reports.mkdir()
    with standalone(tmp_path / "work") as master:
        done = subprocess.run(
            [sys.executable, "-c", _SCRIPT, master, str(target), str(reports)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    attempts = Straggles(reports).attempts(1)
    assert [attempt.name for attempt in attempts] == ["1-0", "1-1"]
    # The second was not a retry: the first had waited for it, and nobody gave up waiting.
    assert not (reports / "late").exists()
    # Both were drawing at once, on different machines.
    assert len({line.split()[1] for attempt in attempts for line in attempt.read_text().splitlines()}) == 2
    names = sorted(os.listdir(target))
    assert len(names) == 2
    assert [k for name in names for k in pq.read_table(target / name)["k"].to_pylist()] == list(range(200_000))
    assert sorted(os.listdir(tmp_path)) == ["reports", "work", "x.parquet"]
