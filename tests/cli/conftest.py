"""What tests of several commands share."""

from pathlib import Path

import pytest
from tests.cli.people import DOMAIN, PEOPLE


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a small source and its domain, and nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("people.toml").write_text(DOMAIN, encoding="utf-8")
    return tmp_path
