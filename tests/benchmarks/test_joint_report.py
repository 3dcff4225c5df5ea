"""The page on many tables asks all libraries for the same numbers, and says so when an aim is missed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
LIBRARIES = ("ggdp, independent noise", "OpenDP", "PipelineDP", "Tumult Analytics")


@pytest.fixture
def scripts(monkeypatch) -> Any:
    # They import each other by name, as scripts of one folder do.
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def page(scripts) -> ModuleType:
    return scripts("joint_report")


@pytest.fixture
def data(scripts) -> ModuleType:
    return scripts("joint_data")


def _found(page: ModuleType) -> dict[str, Any]:
    errors = {}
    for name, case in page.CASES.items():
        aim = case.aim or 5.0
        mine = {"repeats": 100, "mean": 1e-4 if case.by else (0.9 * aim) ** 2, "error": 1e-6}
        over = {"ratio": 0.9 * aim if case.by else 0.3, "error": 0.001}
        errors[name] = {
            "noise": "Minkowski",
            "agree": float(case.by is None and case.complete and not case.delta),
            "covered": {"share": 0.955, "error": 0.001},
            "ours": mine,
            "others": {library: {**mine, "over": dict(over)} for library in LIBRARIES},
        }
    return {
        "versions": {"ggdp": "0.1.0"},
        "load": (0.5, 1.5),
        "rows": dict.fromkeys(page.CASES, 1000),
        "errors": errors,
        "requests": {"worst": 1.0, "other": 300, "count": 500},
        "draws": {"columns": 0.25, "numbers": 15.0, "first": 0.03, "tables": 0.002},
        "plan": 1.5,
        "time": {name: dict.fromkeys(("ggdp", *LIBRARIES[1:]), 0.05) for name in page.TIMED},
    }


def _missed(page: ModuleType, found: dict[str, Any]) -> list[str]:
    return [aim.what for aim in page.aims(found) if aim.verdict == "**no**"]


def test_aims_that_are_met_are_met(page):
    judged = page.aims(_found(page))
    assert {aim.verdict for aim in judged} == {"yes"}
    assert len(judged) == sum(case.aim is not None for case in page.CASES.values()) + 7


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda e: e["health, ten tables"]["ours"].update(mean=5.4**2), "health, ten tables: root mean square error"),
        (lambda e: e["patients, 100 tables"]["ours"].update(mean=42.0**2), "patients, 100 tables: root mean square"),
        (
            lambda e: e["health, five means"]["others"]["ggdp, independent noise"]["over"].update(ratio=0.21),
            "health, five means: error over independent noise",
        ),
        (lambda e: e["workers, six tables"].update(agree=0.999), "complete tables under pure DP have one total"),
        (lambda e: [each["covered"].update(share=0.93) for each in e.values()], "95 % intervals of a count"),
    ],
)
def test_an_error_above_its_aim_is_missed(page, change, what):
    found = _found(page)
    change(found["errors"])
    assert _missed(page, found)[0].startswith(what)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"requests": {"worst": 1.01, "other": 3, "count": 500}}, "500 random requests"),
        ({"draws": {"columns": 0.6, "numbers": 15.0, "first": 0.03, "tables": 0.002}}, "million coordinates"),
        ({"draws": {"columns": 0.2, "numbers": 15.0, "first": 0.03, "tables": 0.03}}, "noise of ten tables"),
        ({"plan": 2.1}, "a plan of twenty tables"),
    ],
)
def test_what_is_too_slow_or_too_large_is_missed(page, change, what):
    (missed,) = _missed(page, _found(page) | change)
    assert missed.startswith(what)


def test_other_libraries_set_no_aim(page):
    found = _found(page)
    found["errors"]["health, five means"]["others"]["OpenDP"]["over"]["ratio"] = 3.0
    assert _missed(page, found) == []


def test_too_many_intervals_that_hold_are_wide(page):
    assert [page.between(share, 0.001) for share in (0.94, 0.9435, 0.95, 0.97)] == [
        "**no**",
        "within its error",
        "yes",
        "wide",
    ]


def test_the_page_shows_every_library_and_case(page):
    text = page.report(_found(page))
    for name in page.CASES:
        assert all(f"| {name} | {library} |" in text for library in ("ggdp", *LIBRARIES))


def test_means_are_clamped_and_in_widths_of_their_range(page):
    case = page.CASES["opinions, three means, missing values"]
    groups = [str(k) for k in range(9)]
    known = {"levels": {case.by: groups}, "true": [10.0] * 9 + [51.5] * 9 + [12.0] * 9}
    (errors,) = page.squares("opinions, three means, missing values", known, [[-5.0] * 9 + [None] * 9 + [36.0] * 9])
    assert errors == [0.25] * 9 + [0.0] * 9 + [0.25] * 9


def _frame(case: Any) -> Any:
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(28)
    if case.ranges is None:
        frame = {
            name: rng.choice(["no", "yes", None] if not case.complete else ["no", "yes"], 60) for name in case.columns
        }
        return pd.DataFrame(frame)
    frame = pd.DataFrame({case.by: rng.choice(["a", "b"], 60)})
    for name, (low, high) in case.ranges.items():
        frame[name] = rng.uniform(low - 3, high + 3, 60)
        frame.loc[rng.random(60) < 0.2, name] = None
    return frame


@pytest.mark.parametrize(
    "name",
    ["schooling, ten tables", "opinions, ten tables", "health, three means", "health, five means, missing values"],
)
def test_long_form_has_the_same_numbers_and_the_sensitivity_that_others_are_given(
    page, data, monkeypatch, tmp_path, name
):
    pandas = pytest.importorskip("pandas")
    case = data.CASES[name]
    monkeypatch.setattr(data, "_frame", lambda _: _frame(case))
    found = data.write(name, tmp_path)
    long = pandas.read_parquet(found["long"])
    sums = long.groupby("cell")["number"].sum()
    answer = {"cells": found["cells"], "sums": [[sums[key] for key in found["cells"]]]}
    assert page.values_of(name, found, answer)[0] == pytest.approx(found["true"])
    assert long["number"].abs().max() <= 1.0
    assert not long.duplicated(["unit", "cell"]).any()
    most = long.groupby("unit").size().max()
    assert most <= case.numbers_of_a_unit
    assert most == case.numbers_of_a_unit or not case.complete


@pytest.mark.parametrize("name", ["schooling, ten tables", "health, three means"])
def test_independent_noise_is_that_of_before(scripts, data, name):
    case = data.CASES[name]
    levels = {case.by: ["1", "2"]} if case.by else {column: ["no", "yes"] for column in case.columns}
    plans = [scripts("joint").planned(name, levels, independent=independent) for independent in (False, True)]
    assert [plan.mechanism.record.name for plan in plans] == ["Minkowski", "Laplace"]
    assert {plan.guarantee.epsilon for plan in plans} == {1.0}
