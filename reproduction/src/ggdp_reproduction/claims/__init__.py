"""Every claim of the paper's Sections 2 to 5 that can be measured, with its numbers and its verdict.

A function yields the claims of one subject: it computes their numbers and derives the verdicts from them; no verdict is
hard-coded.
Sections 2, 3 and 5 are about formulas and need no experiment. Those of Section 4 need a run, and are "not measured"
where it was not made, or where its standard errors are too large to decide.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ggdp_reproduction.claims import bounded, experiments, gaussian, noise
from ggdp_reproduction.claims.verdicts import STATEMENTS, not_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp_reproduction.results import Claim, Results

# What yields the claims that need no run.
FORMULAS = (*noise.CLAIMS, *bounded.CLAIMS, *gaussian.CLAIMS, experiments.of_tables, experiments.of_cells)


def judge(results: Results, progress: Callable[[int, int], None] | None = None) -> list[Claim]:
    """Return every claim with its verdict, in the order of the paper; what a run does not have is not measured."""
    found: list[Claim] = []
    total = sum(not statement.needs for statement in STATEMENTS.values())
    for claim in chain.from_iterable(make() for make in FORMULAS):
        found.append(claim)
        if progress is not None:
            progress(len(found), total)
    if results.bounds is not None:
        found += noise.of_lower_bounds(results.bounds)
    found += experiments.of_counts(results)
    found += experiments.of_adult(results)
    measured = {claim.key for claim in found}
    found += [not_run(key) for key in STATEMENTS if key not in measured]

    def section(claim: Claim) -> tuple[int, ...]:
        return tuple(int(number) for number in claim.place.split(",")[0].removeprefix("Section ").split("."))

    return sorted(found, key=section)
