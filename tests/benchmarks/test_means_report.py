"""The page on means computes errors alike for all libraries, and says so when an aim is missed."""

from __future__ import annotations

import copy
import importlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = ("flights", "weeks", "earnings", "words", "age")


def _script(monkeypatch: pytest.MonkeyPatch, name: str) -> ModuleType:
    # They import each other by name, as scripts of one folder do.
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module(name)


@pytest.fixture
def page(monkeypatch) -> ModuleType:
    return _script(monkeypatch, "means_report")


@pytest.fixture
def rounds(monkeypatch) -> ModuleType:
    return _script(monkeypatch, "means_rounds")


@pytest.fixture
def cells(monkeypatch) -> ModuleType:
    return _script(monkeypatch, "means_cells")


@pytest.fixture
def data(monkeypatch) -> ModuleType:
    return _script(monkeypatch, "means_data")


def _table(libraries: tuple[str, ...], ratio: float = 0.4) -> dict[str, Any]:
    ours = {"repeats": 200, "mean": 1e-4, "error": 1e-6, "groups": [1e-4]}
    other = {"repeats": 200, "mean": 1e-4 / ratio, "error": 1e-6, "groups": [1e-4 / ratio]}
    measured = {**other, "ratio": ratio, "error": 0.01, "typical": ratio}
    return {"ours": ours, "others": {library: dict(measured) for library in libraries}, "covered": [955, 1000]}


def _found() -> dict[str, Any]:
    pure = ("OpenDP", "PipelineDP", "diffprivlib, rows public", "Tumult Analytics")
    goals = {"epsilon 1": pure, "epsilon 0.1": pure[:3], "epsilon 1, delta 1e-6": ("PipelineDP, Gaussian noise",)}
    share = {str(size): [955, 1000] for size in (0, 1, 5, 20, 100, 1000)}
    statistics = {name: copy.deepcopy(share) for name in ("count", "sum", "mean", "variance")}
    for name in ("mean", "variance"):
        del statistics[name]["0"]
    times = {"clock": 0.1, "ratio": {"middle": 1.2, "low": 1.1, "high": 1.3}, "processor ratio": {"middle": 1.25}}
    return {
        "versions": {"ggdp": "0.1.0"},
        "load": (0.5, 1.5),
        "sizes": {"rows": 10**7, "coverage": 500},
        "tables": {name: {"rows": 1000, "smallest": 29} for name in NAMES},
        "errors": {goal: {name: _table(libraries) for name in NAMES} for goal, libraries in goals.items()},
        "coverage": {goal: copy.deepcopy(statistics) for goal in goals},
        "speed": {
            "bytes": 9e7,
            "beside": {"plain": copy.deepcopy(times), "release": times},
            "opendp": {"clock": {"ggdp": 0.2, "OpenDP": 12.0}, "ratio": 60.0},
        },
    }


def _missed(page: ModuleType, found: dict[str, Any]) -> list[str]:
    return [aim.what for aim in page.aims(found) if aim.verdict == "**no**"]


def test_aims_that_are_met_are_met(page):
    judged = page.aims(_found())
    assert {aim.verdict for aim in judged} == {"yes"}
    # Two libraries at two goals and one at a third, each on five tables and on all; five of coverage, two of time.
    assert len(judged) == 5 * 6 + 5 + 2


def test_an_error_above_half_of_another_library_misses_its_aim(page):
    found = _found()
    found["errors"]["epsilon 1"]["weeks"]["others"]["PipelineDP"]["ratio"] = 0.54
    assert _missed(page, found) == ["epsilon 1: weeks, error over that of PipelineDP"]


def test_an_error_that_may_be_half_is_said_to_be_within_its_error(page):
    found = _found()
    found["errors"]["epsilon 1"]["weeks"]["others"]["PipelineDP"]["ratio"] = 0.51
    verdicts = [aim.verdict for aim in page.aims(found)]
    assert verdicts.count("within its error") == 1
    assert _missed(page, found) == []


def test_libraries_that_take_other_facts_as_public_set_no_aim(page):
    found = _found()
    found["errors"]["epsilon 1"]["weeks"]["others"]["diffprivlib, rows public"]["ratio"] = 3.0
    assert _missed(page, found) == []


@pytest.mark.parametrize(
    ("held", "verdict"), [(9000, "**no**"), (9430, "within its error"), (9500, "yes"), (9900, "wide")]
)
def test_coverage_is_judged_on_both_sides(page, held, verdict):
    assert page.between([held, 10_000]) == verdict


def test_a_statistic_that_fails_in_small_cells_misses_its_aim(page):
    found = _found()
    for goal in found["coverage"].values():
        goal["mean"]["1"] = [500, 1000]
    assert _missed(page, found) == ["95 % intervals of a mean, cells of 0 to 1,000 people"]


def test_a_slow_release_misses_its_aim(page):
    found = _found()
    found["speed"]["beside"]["release"]["ratio"]["middle"] = 1.4
    assert _missed(page, found) == ["count, mean and variance over DuckDB's plain query, time"]


def test_the_page_shows_every_library_and_table(page):
    text = page.report(_found())
    for name in NAMES:
        assert text.count(f"| {name} | OpenDP |") == 2
        assert text.count(f"| {name} | Tumult Analytics |") == 1
        assert text.count(f"| {name} | PipelineDP, Gaussian noise |") == 1
    assert "| epsilon 0.1 | variance |  | 95.50 |" in text


def test_estimates_are_clamped_and_missing_ones_are_the_middle(rounds, data):
    request = data.REQUESTS["age"]
    found = [rounds.usable(estimate, request) for estimate in (None, math.nan, -5.0, 1e9, 40.0)]
    assert found == [59.0, 59.0, 18.0, 100.0, 40.0]


def test_errors_are_in_units_of_the_range_and_ratios_of_their_means(rounds, data):
    request = data.REQUESTS["words"]
    true = [5.0, 6.0]
    ours = rounds.summary(rounds.squared_errors([[6.0, 6.0], [5.0, 7.0]], true, request))
    theirs = rounds.summary(rounds.squared_errors([[7.0, 6.0], [5.0, 9.0]], true, request))
    assert ours["mean"] == pytest.approx(0.005)
    assert ours["error"] == 0.0
    assert theirs["groups"] == pytest.approx([0.02, 0.045])
    measured = rounds.over(ours, theirs)
    assert measured["ratio"] == pytest.approx(0.005 / 0.0325)
    assert measured["typical"] == pytest.approx((0.005 / 0.02 + 0.005 / 0.045) / 2)
    # Repeats of 0.02 and 0.045 have the mean 0.0325 with a standard error of 0.0125.
    assert measured["error"] == pytest.approx(measured["ratio"] * 0.0125 / 0.0325)


def test_intervals_are_counted_with_their_ends(rounds):
    found = {"lower": [[0.0, 2.0], [1.1, 2.0]], "upper": [[1.0, 3.0], [2.0, 2.0]]}
    assert rounds.inside(found, [1.0, 2.0]) == [3, 4]


def test_true_values_of_the_small_cells_are_those_of_their_rows(cells):
    true = cells.truth()
    assert {(key, each["count"]) for key, each in true.items()} == {
        (key, len(held)) for key, held in cells.cells().items()
    }
    assert {each["count"] for each in true.values()} == set(cells.SIZES)
    table = cells.table()
    keys, values = table["key"].to_numpy(zero_copy_only=False), table["value"].to_numpy()
    assert cells.LOW <= values.min() <= values.max() <= cells.HIGH
    for key, each in true.items():
        held = values[keys == key]
        assert (each["count"], each["sum"]) == (len(held), held.sum())
        if each["count"] == 0:
            assert each["mean"] is None
            assert each["variance"] is None
        else:
            assert each["mean"] == pytest.approx(np.mean(held))
            assert each["variance"] == pytest.approx(np.var(held))


def test_there_are_five_requests_and_each_lists_its_groups_once(data):
    assert tuple(data.REQUESTS) == NAMES
    for request in data.REQUESTS.values():
        assert len(set(request.groups)) == len(request.groups)
        assert request.low < request.high
        assert (request.width / request.step) == pytest.approx(round(request.width / request.step))
