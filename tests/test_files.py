"""Files that are written together, all of them or none, and the directory of the cache."""

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from ggdp._files import cache_directory, write_together


def test_all_files_are_written_and_nothing_else_is_left(tmp_path):
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=False)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}


def test_one_file_that_is_there_keeps_the_others_from_being_written(tmp_path):
    (tmp_path / "b").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=False)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"b": b"old"}


def test_what_is_there_is_replaced_when_that_is_asked_for(tmp_path):
    (tmp_path / "b").write_bytes(b"old")
    write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"1", "b": b"2"}


def test_a_disk_that_is_full_leaves_nothing(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_together({tmp_path / "a": b"1", tmp_path / "b": b"2"}, overwrite=False)
    assert list(tmp_path.iterdir()) == []


def test_of_many_writers_at_once_one_writes_all_files(tmp_path):
    outcomes = []

    def write(number):
        try:
            write_together({tmp_path / name: b"%d" % number for name in "ab"}, overwrite=False)
            outcomes.append(number)
        except FileExistsError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 1
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"%d" % outcomes[0]} | {
        "b": b"%d" % outcomes[0]
    }


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_files_are_as_readable_as_every_file_of_their_writer(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write_together({tmp_path / "a": b"1"}, overwrite=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_the_cache_directory_is_under_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "ggdp"


@pytest.mark.parametrize("named", ["", "relative/directory"])
@pytest.mark.parametrize(
    ("platform", "directory"),
    [("linux", ".cache/ggdp"), ("darwin", "Library/Caches/ggdp"), ("win32", "AppData/Local/ggdp/Cache")],
)
def test_without_it_the_cache_directory_is_the_platforms(named, platform, directory, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_directory() == tmp_path / directory
