"""The page on tables judges every aim by its own measurement, and says so when one is missed or left out."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def _scripts(monkeypatch) -> None:
    # They import each other by name, as scripts of one folder do.
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def page(_scripts) -> ModuleType:
    return importlib.import_module("tables_report")


@pytest.fixture
def rounds(_scripts) -> ModuleType:
    return importlib.import_module("tables_rounds")


def _times(over: float, seconds: float = 1.0) -> dict[str, Any]:
    quartiles = {"low": over, "middle": over, "high": over}
    return {
        "clock": seconds, "processor": seconds, "ratio": quartiles, "processor ratio": quartiles,
    }  # fmt: skip


def _found(**changed: Any) -> dict[str, Any]:
    """Return a run that meets every aim just so, with some of it changed."""
    plain = {"plain": _times(1.0)}
    found = {
        "sizes": {"rows": 10**7, "cells": 10**6, "cell_rows": 10**6, "text_rows": 10**6},
        "versions": {"ggdp": "0"}, "threads": 2, "bytes": 7e7, "load": (0.0, 1.0), "sparse cells": 700_000,
        "main": {**plain, "pure": _times(1.25), "approximate": _times(1.25), "open": _times(2.0)},
        "first": {"pure": 0.5},
        "reading": {"CSV": {**plain, "release": _times(2.0)}},
        "opendp": {
            "ggdp": _times(1.0), "public keys": _times(10.0), "keys of the data": _times(10.0),
            "plain polars": _times(1.0),
        },
        "memory": {"plain": {"peak": 2e8, "rise": 1e8}, "pure": {"peak": 2.6e8, "rise": 1.3e8}},
        "unit": {"distinct": _times(1.0, 2.0), "unit": _times(1.5, 3.0), "plain": _times(0.1)},
        "cells": [
            {
                "asked": 10**6, "cells": 10**6, "whole": {"clock": 1.5, "processor": 2.5},
                "after": {"clock": 0.5, "processor": 0.6}, "writing": {"csv": 0.2, "parquet": 0.1},
            }
        ],
        "sparse": {**plain, "counting": _times(1.5), "sparse": _times(2.0)},
        "rows": [
            {"rows": 10**7, **plain, "pure": _times(1.1, 0.3)}, {"rows": 10**8, **plain, "pure": _times(1.1, 2.7)},
        ],
        "engines": {"polars": {**plain, "release": _times(1.2)}, "spark": {"left out": "there is no Java here"}},
    }  # fmt: skip
    return {**found, **changed}


def test_aims_that_are_met_just_so_are_met(page):
    aims = page.aims(_found())
    assert len(aims) == 9
    assert all(aim.met for aim in aims)
    assert all(aim.line().endswith("| yes |") for aim in aims)


@pytest.mark.parametrize(
    ("part", "changed", "missed"),
    [
        ("main", {"pure": _times(1.26)}, "pure DP over DuckDB"),
        ("main", {"approximate": _times(1.26)}, "under aDP"),
        ("opendp", {"public keys": _times(9.9)}, "OpenDP's release with public keys"),
        ("opendp", {"keys of the data": _times(9.9)}, "OpenDP's release with keys of the data"),
        ("memory", {"pure": {"peak": 2.7e8, "rise": 1e8}}, "the most memory"),
        ("memory", {"pure": {"peak": 2e8, "rise": 1.4e8}}, "the rise of memory"),
        ("unit", {"unit": _times(1.6)}, "persons"),
        ("sparse", {"sparse": _times(2.1)}, "sparse release of 1.944e+13 cells"),
    ],
)
def test_an_aim_that_is_missed_is_the_only_one(page, part, changed, missed):
    found = _found()
    aims = page.aims(_found(**{part: {**found[part], **changed}}))
    lines = [aim.line() for aim in aims if not aim.met]
    assert len(lines) == 1
    assert missed in lines[0]
    assert lines[0].endswith("| **no** |")


def test_a_million_cells_are_judged_by_what_comes_after_counting(page):
    point = {**_found()["cells"][0], "after": {"clock": 0.51, "processor": 0.4}}
    missed = [aim for aim in page.aims(_found(cells=[point])) if not aim.met]
    assert [aim.what for aim in missed] == ["1,000,000 cells released, after counting"]
    assert missed[0].line().split("|")[3].strip() == "0.51 s"


def test_memory_that_could_not_be_measured_is_not_judged_and_the_page_says_so(page):
    found = _found(memory=None)
    assert not any("memory" in aim.what for aim in page.aims(found))
    assert "Not measured" in page.report(found)


def test_the_page_says_what_was_left_out_and_why(page):
    assert "| spark | left out: there is no Java here |" in page.report(_found())
    points = [*_found()["rows"], {"rows": 10**9, "left out": "there is not enough room on the disk"}]
    assert "| 1,000,000,000 | left out: there is not enough room on the disk |" in page.report(_found(rows=points))


def test_growth_is_from_the_last_but_one_to_the_last_that_was_timed(page):
    points = [*_found()["rows"], {"rows": 10**9, "left out": "there is not enough room on the disk"}]
    text = page.report(_found(rows=points))
    assert "From 10,000,000 to 100,000,000 rows, 10 times as many, a release takes 9.0 times as long" in text


def test_tables_of_the_page_have_as_many_cells_in_every_row_as_in_their_head(page):
    widths: list[int] = []
    for line in page.report(_found()).splitlines():
        if line.startswith("|"):
            widths.append(line.count("|"))
        else:
            assert len(set(widths)) <= 1
            widths = []


def test_a_table_is_written_only_where_twice_its_size_is_free(rounds, monkeypatch):
    monkeypatch.setattr(rounds.shutil, "disk_usage", lambda _: SimpleNamespace(free=2 * 1000 * rounds.BYTES_A_ROW))
    assert rounds.has_room(Path(), 1000)
    assert not rounds.has_room(Path(), 1001)


def test_progress_is_a_line_a_step_where_nobody_watches(rounds, capsys):
    said = rounds.Progress(2)
    for step in ("one", "two", "three"):
        said(step)
    shown, told = capsys.readouterr()
    assert shown == ""
    assert [line.split("] ")[1] for line in told.splitlines()] == ["0/2 one ...", "1/2 two ...", "2/2 three ..."]


def test_cores_are_given_back(rounds, monkeypatch):
    asked: list[set[int]] = []
    monkeypatch.setattr(rounds.os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr(rounds.os, "sched_setaffinity", lambda _, cores: asked.append(set(cores)), raising=False)
    with rounds.two_cores():
        assert asked == [{0, 1}]
    assert asked == [{0, 1}, {0, 1, 2, 3}]
