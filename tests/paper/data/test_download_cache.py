import sys
from pathlib import Path

import pytest

from ggdp.errors import DatasetError
from ggdp.paper.data.download_cache import default_directory


def test_the_directory_is_under_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "ggdp"


@pytest.mark.parametrize("named", ["", "relative/directory"])
@pytest.mark.parametrize(
    ("platform", "directory"),
    [("linux", ".cache/ggdp"), ("darwin", "Library/Caches/ggdp"), ("win32", "AppData/Local/ggdp/Cache")],
)
def test_without_it_the_directory_is_the_platforms(named, platform, directory, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert default_directory() == tmp_path / directory


def test_without_a_home_the_message_says_what_to_set(monkeypatch):
    def nowhere():
        raise RuntimeError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(DatasetError, match="set XDG_CACHE_HOME, or pass cache="):
        default_directory()
