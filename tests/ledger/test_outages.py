"""What the tests of faults make happen does happen."""

import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.ledger.outages import PAGE, Cut, leave_free, ordinary_user, small_disk
from tests.ledger.writers import Ended, Keeper, Task, people_in

import ggdp


def test_a_small_disk_is_full_when_so_many_pages_are_written(tmp_path):
    try:
        with small_disk(tmp_path / "disk", 1 << 16) as disk:
            leave_free(disk, 3)
            (disk / "fits").write_bytes(bytes(3 * PAGE))
            with pytest.raises(OSError, match="No space") as refused:
                (disk / "more").write_bytes(bytes(PAGE))
            assert refused.value.errno == errno.ENOSPC
    except PermissionError as refused:
        pytest.skip(str(refused))
    assert list((tmp_path / "disk").iterdir()) == []


def test_an_ordinary_user_may_not_write_where_it_is_not_allowed():
    before = os.geteuid()
    with TemporaryDirectory(prefix="ggdp-") as name:
        Path(name).chmod(0o555)
        with ordinary_user(), pytest.raises(PermissionError):
            (Path(name) / "file").touch()
    assert os.geteuid() == before


def test_a_way_that_is_cut_at_commits_carries_everything_else_to_postgresql(server):
    import psycopg

    with (
        TemporaryDirectory(prefix="ggdp-") as name,
        Cut(Path(name), server.directory, "before") as way,
        psycopg.connect(server.url(directory=Path(name)), autocommit=True) as connection,
    ):
        assert connection.execute("SELECT repeat('x', 100000)").fetchone() == ("x" * 100_000,)
        assert way.commits == 0
        connection.execute("BEGIN")
        with pytest.raises(psycopg.OperationalError):
            connection.execute("COMMIT")
        assert way.commits == 1


def test_a_keeper_counts_writers_that_fail(tmp_path, capfd):
    people_in(tmp_path)
    with Keeper() as keeper:
        found = keeper.ended(Task(str(tmp_path / "none.ledger"), str(tmp_path), "publish", writers=2))
        assert found == Ended(kills=0, refused=0, failed=2)
        # It goes on with the next task.
        ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(0.125))
        found = keeper.ended(Task(str(tmp_path / "people.ledger"), str(tmp_path), "publish", writers=2))
        assert found == Ended(kills=0, refused=2, failed=0)
    assert capfd.readouterr().err.count("there is no such file") == 2
