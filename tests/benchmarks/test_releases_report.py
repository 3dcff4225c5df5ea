"""The page on releases judges its aims by the worst law, and says so when one is missed."""

from __future__ import annotations

import importlib
from pathlib import Path
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
    return importlib.import_module("releases_report")


def _law(goal: str, order: float, clock: float, extra: float = 1e-3) -> dict[str, Any]:
    quartiles = {"low": clock - 0.1, "middle": clock, "high": clock + 0.1}
    processor = {"low": 1.0, "middle": 1.0, "high": 1.0}
    return {"goal": goal, "order": order, "ratio": quartiles, "processor": processor, "extra": extra, "share": 0.25}


def _aims(page: ModuleType, integers: list[float], floats: list[float]) -> list[str]:
    rows = {
        "integer": [_law(f"aDP, epsilon {i}", 2.0, each) for i, each in enumerate(integers)],
        "real": [_law(f"pDP, epsilon {i}", 3.0, each) for i, each in enumerate(floats)],
    }
    return [line for line in page._targets(rows) if "<=" in line]


def test_aims_that_every_law_meets_are_met(page):
    counts, floats = _aims(page, [1.2, 1.5, 1.1], [2.0, 3.0])
    assert counts.endswith("| 1.50 | 1.00 | aDP, epsilon 1, order 2 | yes |")
    assert floats.endswith("| 3.00 | 1.00 | pDP, epsilon 1, order 3 | yes |")


def test_an_aim_that_one_law_misses_is_missed(page):
    counts, floats = _aims(page, [1.2, 1.51, 1.1], [2.0, 2.9])
    assert counts.endswith("| aDP, epsilon 1, order 2 | **no** |")
    assert floats.endswith("| yes |")


def test_what_must_be_clamped_is_judged_by_itself(page):
    rows = {"integer": [_law("pure, epsilon 1", 1.0, 1.2), _law("pDP, epsilon 1", 2.0, 1.6)], "real": []}
    plain, clamped = (line for line in page._targets(rows) if "<=" in line)
    assert "pure DP and aDP" in plain
    assert plain.endswith("| yes |")
    assert "clamp" in clamped
    assert clamped.endswith("| **no** |")


def test_the_cost_of_the_clamp_is_told_apart_from_that_of_the_sum(page):
    same = [_law("aDP, epsilon 1", 1.0, 1.0, extra=2e-3), _law("pDP, epsilon 1", 1.0, 1.0, extra=5e-3)]
    text = page._cost({"integer": same, "real": same})[-1]
    assert "2.00 ms for integer counts under pure DP and aDP (25% of the release)" in text
    assert "5.00 ms for integer counts under pDP (25% of the release)" in text


@pytest.mark.usefixtures("_scripts")
def test_gaussians_of_others_are_given_the_standard_deviation_and_laplaces_the_scale():
    rounds = importlib.import_module("releases_rounds")
    assert rounds.width_of("laplace", 4.0) == 4.0
    assert rounds.width_of("gaussian", 4.0) == pytest.approx(4.0 / 2.0**0.5)


@pytest.mark.parametrize(
    ("number", "shown"), [(0.0523, "0.0523"), (1.0, "1"), (13_612.0, "13,600"), (2_010_000.0, "2,010,000")]
)
def test_numbers_are_shown_to_three_digits_without_a_power_of_ten(page, number, shown):
    assert page.three_digits(number) == shown
