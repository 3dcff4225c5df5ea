import os
import sys
from pathlib import Path

import pytest

from ggdp.errors import DatasetError
from ggdp.paper.data.download_cache import default_folder, keep


def test_the_folder_is_under_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "ggdp"


@pytest.mark.parametrize("named", ["", "relative/folder"])
@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", ".cache/ggdp"), ("darwin", "Library/Caches/ggdp"), ("win32", "AppData/Local/ggdp/Cache")],
)
def test_without_it_the_folder_is_the_platforms(named, platform, folder, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert default_folder() == tmp_path / folder


def test_without_a_home_the_message_says_what_to_set(monkeypatch):
    def nowhere():
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(DatasetError, match="set XDG_CACHE_HOME, or pass cache="):
        default_folder()


def test_a_file_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "folder" / "file"
    keep(target, b"first")
    keep(target, b"second")
    assert target.read_bytes() == b"second"
    assert list(target.parent.iterdir()) == [target]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    target = tmp_path / "file"
    keep(target, b"first")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        keep(target, b"second")
    assert target.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [target]
