"""No row is written to disk but into a directory that somebody chose, and from there it is gone with the process."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import one_in

from ggdp.errors import ArgumentError, OutOfMemoryError
from ggdp.sources import duckdb_engine, engine
from ggdp.sources.duckdb_engine import choose_directory, private_directory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no such locks and signals")

SPILLS = "SELECT count(*) FROM (SELECT DISTINCT 'patient-' || i AS u FROM range({rows}) t(i))"


def limited(temp_dir=None):
    connection = duckdb_engine.connect(temp_dir)
    connection.execute("SET memory_limit = '60MB'")
    return connection


def test_without_a_directory_nothing_is_spilled_and_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    connection = limited()
    try:
        with pytest.raises(OutOfMemoryError, match=r"temp_dir .*GGDP_TEMP_DIR") as raised:
            engine.hide_errors("t.csv", lambda: connection.execute(SPILLS.format(rows=2_000_000)).fetchall())
    finally:
        connection.execute("RESET memory_limit")
    assert raised.value.__context__ is None
    assert list(tmp_path.iterdir()) == []


HOLDS = """
import sys
from pathlib import Path
from ggdp.sources import duckdb_engine
from ggdp.sources import duckdb_engine
connection = duckdb_engine.connect(Path(sys.argv[1]))
connection.execute("SET memory_limit = '20MB'")
connection.execute("CREATE TEMP TABLE t AS SELECT md5('patient-' || i) AS u FROM range(800000) t(i)")
print(*duckdb_engine._guards, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", one_in(3, [signal.SIGKILL, signal.SIGTERM, None]))
def test_what_was_spilled_is_removed_however_the_process_ends(tmp_path, number):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    guard = os.pidfd_open(int(process.stdout.readline()))
    (directory,) = tmp_path.iterdir()
    assert directory.stat().st_mode & 0o777 == 0o700
    assert any(file.stat().st_size > 0 for file in directory.iterdir())
    if number is not None:
        process.send_signal(number)
    process.communicate()
    # Readable once the guard has ended.
    select.select([guard], [], [])
    os.close(guard)
    assert list(tmp_path.iterdir()) == []


STARTS = """
import sys
from pathlib import Path
from ggdp.sources.duckdb_engine import private_directory
private_directory(Path(sys.argv[1]))
"""


def test_directories_of_processes_that_are_gone_are_removed_and_others_kept(tmp_path):
    abandoned = tmp_path / "ggdp-abandoned"
    abandoned.mkdir()
    (abandoned / "owner").touch()
    (abandoned / "rows.tmp").write_text("patient-1")
    foreign = tmp_path / "ggdp-notes.txt"
    foreign.write_text("mine")
    first = private_directory(tmp_path)
    subprocess.run([sys.executable, "-c", STARTS, str(tmp_path)], check=True)
    assert not abandoned.exists()
    assert first.is_dir()
    assert foreign.exists()


def test_the_directory_is_the_callers_or_that_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("GGDP_TEMP_DIR", raising=False)
    assert choose_directory(None) is None
    monkeypatch.setenv("GGDP_TEMP_DIR", str(tmp_path))
    assert choose_directory(None) == tmp_path.resolve()
    with pytest.raises(ArgumentError, match="is not a directory; create it first"):
        choose_directory(tmp_path / "none")
    assert choose_directory(Path(tmp_path)) == tmp_path.resolve()
