"""The cache of certificates: what comes from it is what would have been found, and nothing is believed unproved."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

import ggdp
from ggdp.tables import table_noise
from ggdp.tables.table_noise import SWITCH, recall_or_make

# The search itself, once for each question.
_search = cache(table_noise._search)
GOAL = ggdp.ApproxDP(1.0, 1e-3)
QUERIES = {
    "two cells": (ggdp.Sensitivity.histogram(max_cells=2), 3.0),
    "one cell": (ggdp.Sensitivity.histogram(), None),
    "an upper bound": (ggdp.Sensitivity.norm(2, 3.0, dimension=4), 2.0),
}


@pytest.fixture(autouse=True)
def directory(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(SWITCH, "on")
    return tmp_path / "ggdp" / "certificates"


def unused():
    pytest.fail("what is in the cache was searched for again")


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_read_is_what_was_search(name, directory):
    query, order = QUERIES[name]
    found = recall_or_make(GOAL, query, order, lambda: _search(GOAL, query, order))
    assert len(list(directory.iterdir())) == 1
    assert recall_or_make(GOAL, query, order, unused) == found
    ggdp.Mechanism(recall_or_make(GOAL, query, order, unused))


def test_other_questions_are_not_answered():
    query, order = QUERIES["two cells"]
    recall_or_make(GOAL, query, order, lambda: _search(GOAL, query, order))
    for goal, asked, p in (
        (ggdp.ApproxDP(1.0, 1e-4), query, order),
        (GOAL, ggdp.Sensitivity.histogram(max_cells=3), order),
        (GOAL, query, 2.0),
        (GOAL, query, None),
    ):
        with pytest.raises(LookupError):
            recall_or_make(goal, asked, p, lambda: (_ for _ in ()).throw(LookupError))


def changed(record, how):
    parameters = record["certificate"]["parameters"]
    if how == "a smaller scale":
        parameters["scale"] *= 0.5
    elif how == "a larger epsilon":
        parameters["epsilon"] = 9.0
    elif how == "fewer cells":
        parameters["corner"] = [[1.0, 1]]
    elif how == "another order":
        parameters["order"] = 2.0
    elif how == "a pure goal":
        record["pure"] = True
    elif how == "no certificate":
        del record["certificate"]
    return record


@pytest.mark.parametrize(
    "how", ["a smaller scale", "a larger epsilon", "fewer cells", "another order", "a pure goal", "no certificate"]
)
def test_a_file_that_was_changed_is_not_believed(how, directory):
    query, order = QUERIES["two cells"]
    found = recall_or_make(GOAL, query, order, lambda: _search(GOAL, query, order))
    (file,) = directory.iterdir()
    file.write_text(json.dumps(changed(json.loads(file.read_text()), how)))
    again = []
    assert recall_or_make(GOAL, query, order, lambda: again.append(found) or found) == found
    assert again == [found]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"pure": false}'])
def test_a_damaged_file_is_ignored_and_replaced(content, directory):
    query, order = QUERIES["two cells"]
    found = recall_or_make(GOAL, query, order, lambda: _search(GOAL, query, order))
    (file,) = directory.iterdir()
    file.write_bytes(content)
    assert recall_or_make(GOAL, query, order, lambda: found) == found
    assert recall_or_make(GOAL, query, order, unused) == found


def test_the_cache_can_be_switched_off(monkeypatch, directory):
    monkeypatch.setenv(SWITCH, "off")
    query, order = QUERIES["two cells"]
    recall_or_make(GOAL, query, order, lambda: _search(GOAL, query, order))
    assert not directory.exists()


def test_a_directory_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    query, order = QUERIES["two cells"]
    found = _search(GOAL, query, order)
    assert recall_or_make(GOAL, query, order, lambda: found) == found


def test_old_files_are_removed(monkeypatch, directory):
    monkeypatch.setattr(table_noise, "MOST_FILES", 2)
    query = ggdp.Sensitivity.histogram()
    for order in (1.5, 2.0, 2.5, 3.0):
        recall_or_make(GOAL, query, order, lambda order=order: _search(GOAL, query, order))
    assert len(list(directory.iterdir())) == 2


def test_many_threads_share_a_file(directory):
    query, order = QUERIES["two cells"]
    found = _search(GOAL, query, order)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: recall_or_make(GOAL, query, order, lambda: found), range(40)))
    assert all(result == found for result in results)
    assert [file.suffix for file in directory.iterdir()] == [".json"]


def test_a_release_after_a_dry_run_searches_for_nothing(tmp_path, directory):
    (tmp_path / "people.csv").write_text("ward,person\nbirths,1\neyes,2\n")
    command = [sys.executable, "-m", "ggdp", "release", "people.csv", "--by", "ward", "--levels", "ward=births,eyes"]
    command += ["--epsilon", "1", "--delta", "1e-6", "--unit", "person", "--max-cells", "2", "--order", "2"]
    environment = os.environ | {"PYTHONWARNINGS": "error"}
    subprocess.run([*command, "--dry-run"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    (file,) = directory.iterdir()
    written = file.stat().st_mtime_ns
    subprocess.run([*command, "--out", "out.csv"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert file.stat().st_mtime_ns == written
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    assert manifest["mechanism"]["certificate"] == json.loads(file.read_text())["certificate"]
