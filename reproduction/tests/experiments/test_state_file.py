import json
import os
import resource

import pytest

from ggdp.errors import ArgumentError, GgdpError
from ggdp_reproduction.experiments.classifier import StateFile


def finished(path, fingerprint):
    with StateFile(path, fingerprint) as state:
        return dict(state.finished)


def test_a_later_run_finds_what_was_noted_and_no_other_run_does(tmp_path):
    path = tmp_path / "state.jsonl"
    with StateFile(path, "one") as state:
        state.note("a", 1)
        # Already on the disk, whatever becomes of this process.
        assert finished(path, "one") == {"a": 1}
        state.note("b", 2)
    assert finished(path, "one") == {"a": 1, "b": 2}
    assert finished(path, "two") == {}


@pytest.mark.parametrize("cut", range(1, 44))
def test_a_line_that_was_cut_off_is_no_line_and_the_next_is_whole(tmp_path, cut):
    path = tmp_path / "state.jsonl"
    with StateFile(path, "run") as state:
        state.note("a", 1)
        state.note("b", 2)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with StateFile(path, "run") as state:
        # Only the line's end is missing after a cut of one byte.
        assert state.finished == ({"a": 1, "b": 2} if cut == 1 else {"a": 1})
        state.note("c", 3)
    assert finished(path, "run").items() >= {"a": 1, "c": 3}.items()


@pytest.mark.parametrize(
    "line", ["", "[]", "7", "null", '{"run": "run"}', '{"run": "run", "piece": "x", "result": "y"}']
)
def test_other_lines_are_left_alone(tmp_path, line):
    path = tmp_path / "state.jsonl"
    path.write_text(line + "\n" + json.dumps({"run": "run", "piece": "a", "result": 1}) + "\n", encoding="utf-8")
    assert finished(path, "run") == {"a": 1}
    assert path.read_text(encoding="utf-8").startswith(line)


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="state_file"), StateFile(tmp_path / "none" / "state", "run"):
        pass


@pytest.fixture
def limit_of_files():
    """Return what limits the size of files, for one test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", [0, 20])
def test_a_file_that_grows_too_large_is_named_and_what_was_finished_stays(tmp_path, limit_of_files, room):
    path = tmp_path / "state.jsonl"
    with StateFile(path, "run") as state:
        state.note("a", 1)
        limit_of_files(path.stat().st_size + room)
        with pytest.raises(GgdpError, match=r"state\.jsonl: File too large.*free some space") as failed:
            state.note("b", 2)
    assert not isinstance(failed.value, OSError)
    assert state.finished == {"a": 1}
    limit_of_files(resource.RLIM_INFINITY)
    with StateFile(path, "run") as state:
        assert state.finished == {"a": 1}
        state.note("c", 3)
    assert finished(path, "run") == {"a": 1, "c": 3}


def test_a_file_that_cannot_be_mended_is_named(tmp_path, limit_of_files):
    path = tmp_path / "state.jsonl"
    path.write_text('{"run": "cut o', encoding="utf-8")
    limit_of_files(path.stat().st_size)
    with pytest.raises(GgdpError, match=r"state\.jsonl: File too large"), StateFile(path, "run"):
        pass


def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/full", "/dev/null"):
        with pytest.raises(ArgumentError, match=r"state_file = .*: must be a regular file"), StateFile(path, "run"):
            pass
