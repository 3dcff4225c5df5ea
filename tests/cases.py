"""Parameters of tests, of which a well-chosen part is run every time and the rest is marked `exhaustive`."""

from __future__ import annotations

import os
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def some(cases: Iterable[Any], fast: Callable[..., bool]) -> list[Any]:
    """All cases; those that are not `fast` are exhaustive. A case is a tuple of arguments, or the only argument."""
    return [_case(case, is_fast=bool(fast(*_arguments(case)))) for case in cases]


def one_in(number: int, cases: Iterable[Any]) -> list[Any]:
    """All cases; all but the first of each `number` in a row are exhaustive."""
    return [_case(case, is_fast=place % number == 0) for place, case in enumerate(cases)]


def covering(*axes: Iterable[Any]) -> list[Any]:
    """All combinations of the values of several axes; those that no pair of values needs are exhaustive.

    Any two values of different axes occur together in a combination that is run every time. Combinations are chosen
    greedily: the next one is the first of those that have the most pairs that did not occur yet.
    """
    values = [list(axis) for axis in axes]
    places = list(product(*(range(len(axis)) for axis in values)))
    # A single axis has no pairs, and is run as a whole.
    pairs = {case: frozenset(combinations(enumerate(case), min(2, len(axes)))) for case in places}
    missing = set().union(*pairs.values())
    chosen = set()
    while missing:
        best = max(places, key=lambda case: len(pairs[case] & missing))
        chosen.add(best)
        missing -= pairs[best]
    return [
        pytest.param(*(axis[place] for axis, place in zip(values, case, strict=True)), marks=_marks(case in chosen))
        for case in places
    ]


def examples(fast: int, exhaustive: int) -> int:
    """How many examples Hypothesis draws: more in `make test-all` and where sabotages are tried."""
    return exhaustive if os.environ.get("HYPOTHESIS_PROFILE") in ("fresh", "many") else fast


def _arguments(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def _case(case: Any, *, is_fast: bool) -> Any:
    return pytest.param(*_arguments(case), marks=_marks(is_fast))


def _marks(is_fast: bool) -> tuple[Any, ...]:
    return () if is_fast else (pytest.mark.exhaustive,)
