"""Every claim of the paper's Sections 2 to 5 that can be measured, with its numbers and its verdict.

A function yields the claims of one subject: it computes their numbers and derives the verdicts from them; no verdict is
hard-coded.
Sections 2, 3 and 5 are about formulas and need no experiment. Those of Section 4 need a run, and are "not measured"
where it was not made, or where its standard errors are too large to decide.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ggdp_reproduction.claims import (
    adult_and_classifier,
    bounded_noise,
    discussion,
    gaussian_mechanism,
    noise_family,
    probabilistic_dp,
    sanitised_counts,
)
from ggdp_reproduction.claims.statements import STATEMENTS, not_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp_reproduction.results import Claim, Results

__all__ = ["judge"]

# What yields the claims that need no run.
FORMULAS = (
    *noise_family.CLAIMS,
    *bounded_noise.CLAIMS,
    *probabilistic_dp.CLAIMS,
    *gaussian_mechanism.CLAIMS,
    *sanitised_counts.CLAIMS,
    adult_and_classifier.of_cells,
    *discussion.CLAIMS,
)


def judge(results: Results, progress: Callable[[int, int], None] | None = None) -> list[Claim]:
    """Return every claim with its verdict, in the order of the paper; what a run does not have is not measured.

    Examples
    --------
    >>> from ggdp_reproduction.results import Results
    >>> claims = judge(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1))
    >>> len(claims) >= 25
    True
    """
    found: list[Claim] = []
    total = sum(not statement.needs for statement in STATEMENTS.values())
    for claim in chain.from_iterable(make() for make in FORMULAS):
        found.append(claim)
        if progress is not None:
            progress(len(found), total)
    if results.bounds is not None:
        found += probabilistic_dp.of_lower_bounds(results.bounds)
    found += sanitised_counts.of_counts(results)
    found += adult_and_classifier.of_adult(results)
    measured = {claim.key for claim in found}
    found += [not_run(key) for key in STATEMENTS if key not in measured]
    return sorted(found, key=_section)


def _section(claim: Claim) -> tuple[int, ...]:
    """Return the numbers of the section, for the order of the paper."""
    return tuple(int(number) for number in claim.place.split(",")[0].removeprefix("Section ").split("."))
