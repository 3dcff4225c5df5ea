"""The page on composition judges its aims by the worst case, and says so when one is missed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mpmath import mp, mpf

if TYPE_CHECKING:
    from types import ModuleType

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
FEW, MANY = "1,000 releases of 20 laws, mixed", "1,000 releases of 1,000 laws, mixed"


@pytest.fixture
def _scripts(monkeypatch) -> None:
    # They import each other by name, as scripts of one folder do.
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def page(_scripts) -> ModuleType:
    return importlib.import_module("composition_report")


@pytest.fixture
def exact(_scripts) -> ModuleType:
    return importlib.import_module("composition_exact")


def _timed(what: str, seconds: float | None) -> dict[str, Any]:
    ours = {"failed": "more than 25 s"} if seconds is None else {"lower": 2.0, "upper": 2.5, "seconds": seconds}
    google = {"0.0001": {"epsilon": 3.0, "seconds": 4.0}}
    return {"what": what, "at": 2.5, "epsilon": ours, "delta": ours, "google": google, "prv": None}


def _bounds(lower: float, upper: float, *, true: str | None = None, google: float = 1.0) -> dict[str, Any]:
    bounds = {"lower": lower, "upper": upper, "seconds": 0.1}
    peers = {"0.0001": google, "1e-05": google}
    return {"what": "a mix", "epsilon": 1.0, "delta": bounds, "true": true, "google": peers}


GOOD = [_bounds(1e-6, 1.00009e-6, true="0.00000100005"), _bounds(1e-18, 1.009e-18)]


def _aims(page: ModuleType, timed: list[dict[str, Any]], bounds: list[dict[str, Any]]) -> list[str]:
    return ["no" if line.endswith("**no** |") else "yes" for line in page.judged(timed, bounds)]


def test_aims_that_every_case_meets_are_met(page):
    assert _aims(page, [_timed(FEW, 0.9), _timed(MANY, 19.0)], GOOD) == ["yes"] * 9


@pytest.mark.parametrize("seconds", [1.1, None])
def test_an_answer_that_is_late_or_missing_misses_its_aim(page, seconds):
    assert _aims(page, [_timed(FEW, seconds)], GOOD) == ["no", "no", "yes", "yes", "yes", "yes", "yes"]


@pytest.mark.parametrize(("worse", "missed"), [
    (_bounds(1e-6, 1.00011e-6), {0}),
    (_bounds(0.0, 1e-6), {0}),
    ({**_bounds(0.0, 1e-6), "delta": {"failed": "more than 5 s"}}, {0}),
    (_bounds(1e-18, 1.011e-18), {1}),
    (_bounds(1e-6, 1.00001e-6, true="0.000001000011"), {2}),
    (_bounds(1e-6, 1.00001e-6, true="0.00000099999"), {2}),
    (_bounds(1e-6, 1.00001e-6, google=1.000005e-6), {3, 4}),
    ({**_bounds(1e-6, 1.00001e-6), "google": {"0.0001": 1.0, "1e-05": 1.000005e-6}}, {4}),
])  # fmt: skip
def test_an_aim_that_one_case_misses_is_missed(page, worse, missed):
    assert _aims(page, [], [*GOOD, worse]) == ["no" if i in missed else "yes" for i in range(5)]


def test_the_page_marks_what_is_no_bound(page):
    assert page.bound_row(_bounds(1e-6, 2e-6)).count("**missed**") == 1
    assert page.bound_row(_bounds(1e-6, 1.00001e-6, true="0.5")).count("**no**") == 1
    assert page.bound_row(_bounds(1e-6, 1.00001e-6, google=0.9e-6)).count("**too small**") == 2
    assert "**" not in page.bound_row(_bounds(1e-6, 1.00001e-6, true="0.000001000005"))


def test_the_page_shows_times_of_others_over_ours_where_both_have_one(page):
    versions = {"ggdp": "0.1.0"}
    text = page.report({"versions": versions, "timed": [_timed(FEW, 0.5), _timed(MANY, None)], "tight": GOOD})
    assert f"| {FEW} | 0.5 | 0.5 | 4 | - | - | 8 | - | - |" in text
    assert f"| {MANY} | more than 25 s | more than 25 s | 4 | - | - | - | - | - |" in text


@pytest.mark.exhaustive
def test_a_binomial_sum_is_the_enumeration_of_its_responses(exact):
    laplace = {
        "kind": "noise",
        "order": 1.0,
        "scale": 2.0,
        "support": "integer",
        "size": 1.0,
        "count": 1,
        "releases": 2,
    }
    epsilons = [0.0, 0.3, 0.9]
    one, other = exact.binomial([laplace], epsilons), exact.enumeration([laplace], epsilons)
    for found, again in zip(one, other, strict=True):
        assert abs(found - again) < mpf(10) ** -40


def test_gaussian_noise_beside_responses_that_lose_nothing_is_gaussian_noise(exact):
    noise = {"kind": "noise", "order": 2.0, "scale": 2.0, "support": "real", "size": 1.0, "count": 2, "releases": 1}
    response = {"kind": "response", "epsilon": 0.0, "delta": 0.0, "count": 1, "releases": 3}
    # Two moves by 1 at sigma = sqrt 2 are one by mu = 1.
    expected = mp.ncdf(mpf(-1) / 2) - mp.exp(1) * mp.ncdf(mpf(-3) / 2)
    for losses in ([noise], [noise, response]):
        assert abs(exact.binomial(losses, [1.0])[0] - expected) < mpf(10) ** -45


@pytest.mark.usefixtures("_scripts")
def test_a_call_that_takes_longer_than_it_may_is_given_up():
    timing = importlib.import_module("timing")

    def endless() -> None:
        while True:
            pass

    with pytest.raises(timing.TooLongError):
        timing.processor_time(endless, most=0.01)
    assert timing.processor_time(lambda: 3, most=100.0)[0] == 3
