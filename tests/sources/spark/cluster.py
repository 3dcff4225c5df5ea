"""A real Spark cluster for tests, two workers with an executor each, and sources of bits that report from executors."""

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from tests.certified import certified

import ggdp
from ggdp.noise import SeededSource
from ggdp.releases.mechanism_record import Threshold
from ggdp.sources.spark import _java_version, quiet
from ggdp.tables.request import TableRequest
from ggdp.tables.table_plan import plan_request

ROOT = Path(__file__).parents[3]
# Short lives: classes are loaded without being verified again, and compiled quickly rather than well.
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
_CONF = {
    "spark.app.name": "ggdp tests",
    "spark.master": "local-cluster[2,1,1024]",
    "spark.executor.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Messages that nobody reads.
    "spark.log.level": "WARN",
    # Executors unpickle the sources below, and draw by the source that is tested, whatever is installed.
    "spark.executorEnv.PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    # Tests kill executors, as often as they like.
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.task.maxFailures": "8",
    "spark.stage.maxConsecutiveAttempts": "20",
    # Parts go to whichever worker is free.
    "spark.locality.wait": "0s",
}


def cluster():
    """The one cluster of this process; it ends with it. Without Java the test is skipped."""
    pytest.importorskip("pyspark", reason="needs pyspark, of the extra 'spark'")
    if not _has_java():
        pytest.skip("needs Java 17 or newer")
    return started()


def executor_task(columns, *, order=2, scale=5.0, threshold=None, nonnegative=False, **named):
    """The work of executors for one table of these columns and levels, with noise of any law and any threshold."""
    from ggdp.tables.executor_release import NoiseTask

    noise = ggdp.Mechanism(certified(order, scale).calibration)
    given = {"nonnegative": nonnegative, "false_cells": None if threshold is None else 1}
    request = TableRequest([name for name, _ in columns], ggdp.PureDP(1.0), dict(columns), **given)
    plan = plan_request(request, lambda *_: noise)
    if threshold is not None:
        plan = replace(plan, threshold=Threshold(value=threshold, cells=request.cells, false_cells=1))
    return NoiseTask(plan=plan, **named)


@functools.cache
def _has_java():
    return (_java_version() or 0) >= 17


@functools.cache
def started(*changes):
    """A session on a cluster, by default of this process's own; `changes` are pairs of a setting and its value."""
    import pyspark
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    # A process has one Spark context: that of the tests before, which use a session of ggdp's own, ends here.
    if (running := SparkContext._active_spark_context) is not None:
        running.stop()
        gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
        gateway.shutdown()
        # Its Java process waits for this.
        gateway.proc.stdin.close()
        gateway.proc.wait()
    folder = tempfile.mkdtemp(prefix="ggdp-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    conf = SparkConf(loadDefaults=False)
    for key, value in {**_CONF, "spark.local.dir": folder, "spark.sql.warehouse.dir": folder, **dict(changes)}.items():
        conf.set(key, value)
    # The workers of a local cluster keep their logs in Spark's home, which is otherwise the installed package.
    home = Path(folder, "home")
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (home / part.name).symlink_to(part)
    environment = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home)}
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with quiet(), mock.patch.dict(os.environ, environment):
        context = SparkContext(conf=conf, gateway=launch_gateway(conf, popen_kwargs=silent))
        session = SparkSession.builder.getOrCreate()
    atexit.register(context.stop)
    return session


class Reporting:
    """A source that reports every request for bits: a line in a folder's file for each attempt of a part.

    The bits are a seed's, another one for each part.
    """

    private = False

    def __init__(self, folder, *, seed=0):
        self.folder, self.seed, self.own = Path(folder), seed, None

    def fill(self, buffer):
        from pyspark import TaskContext

        context = TaskContext.get()
        part, attempt = context.partitionId(), context.attemptNumber()
        if self.own is None:
            self.own = SeededSource(seed=1000 * self.seed + part)
            self.requests = 0
        self.requests += 1
        written = self.own.fill(buffer)
        with (self.folder / f"{part}-{attempt}").open("a") as report:
            report.write(f"{buffer.size} {Path.cwd().name}\n")
        self.after(part, attempt)
        return written

    def after(self, part, attempt):
        """What a test wants to happen after a request."""

    def attempts(self, part):
        return sorted(self.folder.glob(f"{part}-*"))

    def until(self, condition):
        """Wait for another task, which is already running; a minute at most."""
        end = time.monotonic() + 60
        while not condition():
            if time.monotonic() > end:
                (self.folder / "late").touch()
                raise TimeoutError
            time.sleep(0.02)


class FailsOnce(Reporting):
    """Fails in the first attempt of part 1, after that part has handed over some rows."""

    def after(self, part, attempt):
        if (part, attempt) == (1, 0) and self.requests == 4:
            raise OSError


class DiesOnce(FailsOnce):
    """Ends the Python process of the first attempt of part 1, after that part has handed over some rows."""

    def after(self, part, attempt):
        if (part, attempt) == (1, 0) and self.requests == 4:
            os._exit(1)


class OwnBits(Reporting):
    """Every attempt of a part has bits of its own, so that what is written tells whose draw it is."""

    def fill(self, buffer):
        from pyspark import TaskContext

        context = TaskContext.get()
        part, attempt = context.partitionId(), context.taskAttemptId()
        if self.own is None:
            self.own, self.requests = SeededSource(seed=1000 * attempt + part), 0
            (self.folder / f"{part}-{attempt}").touch()
        self.requests += 1
        written = self.own.fill(buffer)
        self.after(part, attempt)
        return written

    def noise(self, law, part, size):
        """The noise of a part by each of its attempts, drawn again."""
        for path in self.attempts(part):
            source = SeededSource(seed=1000 * int(path.name.partition("-")[2]) + part)
            # As executors draw it, in batches of 65,536.
            sizes = [min(1 << 16, size - start) for start in range(0, size, 1 << 16)]
            yield np.concatenate([law.sample(batch, rng=source) for batch in sizes])


class KillsExecutor(OwnBits):
    """Kills the executor, a Java process, of the first attempt of part 1 in the middle of its rows."""

    def after(self, part, attempt):
        if part == 1 and attempt >= 0 and len(self.attempts(1)) == 1 and self.requests == 4:
            os.kill(parent(os.getppid()), signal.SIGKILL)


def parent(pid):
    """The process that started another one."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def executors():
    """The executors of clusters that this process has started."""

    def is_mine(pid):
        while pid > 1 and pid != os.getpid():
            pid = parent(pid)
        return pid == os.getpid()

    found = []
    for process in Path("/proc").iterdir():
        # A process may end meanwhile.
        with contextlib.suppress(OSError):
            if process.name.isdigit() and b"CoarseGrainedExecutorBackend" in (process / "cmdline").read_bytes():
                found += [int(process.name)] if is_mine(int(process.name)) else []
    return found


class AlwaysFails(Reporting):
    """Fails in every attempt of part 1, after it has drawn noise."""

    def after(self, part, attempt):
        if part == 1 and attempt >= 0:
            raise OSError


class Meets(Reporting):
    """Parts 0 and 1 go on once both have begun, so two executors do them."""

    def after(self, part, attempt):
        if part < 2 and attempt == 0:
            self.until(lambda: self.attempts(0) and self.attempts(1))


class Straggles(Reporting):
    """The first attempt of part 1 goes on once a second one has drawn as much as it has."""

    def after(self, part, attempt):
        if part == 1 and attempt == 0 and self.requests == 4:
            self.until(lambda: len(self.attempts(1)) > 1 and len(self.attempts(1)[1].read_text().splitlines()) >= 4)


class Same:
    """A source of the same byte again and again: noise of 0, which leaves every count as it is."""

    private = False

    def fill(self, buffer):
        buffer[:] = np.uint8(0x80)
        return buffer.size
