"""The noise of a table: a certified scale on the integers, of the requested order or the best one.

Among orders, pure Laplace noise is taken where its standard deviation is within 1 % of the best: what it promises is
more. All of it is a function of the request, so it costs no privacy.

A dry run and the release that follows it need the same calibration, and finding it can take seconds. So its certificate
is kept in the user's cache directory. It depends on the request alone: no data, and nothing computed from data, is in
it. A certificate from the cache is checked against the question and proved again before it is used, so that a file that
was changed or damaged is at most ignored. Files are written beside their target and renamed, so that several processes
can share them.

The environment variable ``GGDP_CACHE`` set to ``off`` switches the cache off. Its place is ``XDG_CACHE_HOME/ggdp``
where that is set, or else the platform's directory for caches.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import flint

from ggdp._files import cache_directory, read_json, write_together
from ggdp._rounding import rounded_up
from ggdp.calibration import Calibration, calibrate
from ggdp.calibration.calibration import calibration_from
from ggdp.errors import GgdpError, SearchError
from ggdp.mechanisms import Mechanism
from ggdp.planning import plan
from ggdp.planning.best_order import estimated_best
from ggdp.privacy import Guarantee, PureDP, Sensitivity
from ggdp.proofs.certificate import Certificate
from ggdp.proofs.worst_case import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ggdp.releases.error_law import ErrorLaw
    from ggdp.tables.request import TableRequest


LAPLACE = 1.0
# From the strongest on.
NOTIONS = ("pure", "probabilistic", "approximate")
# What pure DP may cost in error before approximate DP is taken.
WORTH = 1.01
# Noise so wide hardly feels that it is on the integers: the order is found on the reals, which is faster.
WIDE = 2.0
# Noise so wide has the same standard deviation on the reals and on the integers, and an estimate is as exact as this.
VERY_WIDE, INEXACT = 100.0, 1e-3

SWITCH = "GGDP_CACHE"
# Counts up with every change of what a certificate holds or how a calibration is searched.
VERSION = 3
MOST_FILES = 256
LARGEST = 1 << 20

# Where a plan takes its noise from: for a goal, a sensitivity, and an order, or None for the best one.
NoiseFor: TypeAlias = "Callable[[Guarantee, Sensitivity, float | None], Mechanism]"


class NoisePart(NamedTuple):
    """The noise of some of the tables of a request, in the order of `tables`."""

    tables: tuple[int, ...]
    mechanism: Mechanism

    @property
    def laws(self) -> tuple[ErrorLaw, ...]:
        """The law of the noise of a cell, for each table."""
        return (self.mechanism.law,) * len(self.tables)


# Where a plan takes the noise of its tables from, for a goal of all of them.
PartsFor: TypeAlias = "Callable[[TableRequest, Guarantee], tuple[NoisePart, ...]]"


def joint(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the guarantee of independent noises together: the sums of epsilons and deltas, of the weakest notion.

    Claim: the loss of independent noises is the sum of their losses, so that it is beyond the sum of the epsilons only
    where one is beyond its own; and approximate DP composes by sums. Rounding: up.
    """
    found = list(guarantees)
    weakest = max(found, key=lambda one: NOTIONS.index(one.notion))
    total = rounded_up(sum(Fraction(one.epsilon) for one in found), of="epsilon")
    if isinstance(weakest, PureDP):
        return replace(weakest, epsilon=total)
    return replace(weakest, epsilon=total, delta=rounded_up(sum(Fraction(one.delta) for one in found), of="delta"))


def table_mechanism(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
    """Return a mechanism with the noise of counts."""
    return Mechanism(table_noise(goal, sensitivity, order))


@lru_cache(maxsize=256)
def table_noise(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration:
    """Return the calibration of integer noise for a goal; of the best order if none is requested."""
    if goal.delta == 0.0:
        return calibrate(goal, sensitivity, order=LAPLACE if order is None else order, support="integer")
    return recall_or_make(goal, sensitivity, order, lambda: _search(goal, sensitivity, order))


def _search(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration:
    """Return the noise of the order, or of the least error; pure noise if that is hardly larger."""
    if order is not None:
        return calibrate(goal, sensitivity, order=order, support="integer")
    pure = calibrate(PureDP(goal.epsilon), sensitivity, order=LAPLACE, support="integer")
    near = estimated_best(goal, sensitivity)
    if near is not None and near.error >= VERY_WIDE and pure.std <= (WORTH - INEXACT) * near.error:
        return pure
    best = None
    if near is not None and near.error >= WIDE:
        with suppress(SearchError):
            best = calibrate(goal, sensitivity, order=near.law.order, support="integer")
    if best is None:
        best = plan(goal, sensitivity, support="integer").calibration
    return pure if pure.std <= WORTH * best.std else best


def recall_or_make(
    goal: Guarantee, sensitivity: Sensitivity, order: float | None, make: Callable[[], Calibration]
) -> Calibration:
    """Return the calibration from the cache, proved again, or make it and keep it; None stands for the best order."""
    directory = None if os.environ.get(SWITCH, "").lower() == "off" else cache_directory()
    if directory is None:
        return make()
    asked = [VERSION, flint.__version__, goal.to_dict(), asdict(sensitivity), order]
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
    path = directory / "certificates" / f"{digest}.json"
    found = _read(path, goal, sensitivity, order)
    if found is None:
        found = make()
        # A disk that is full is not an error.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            record = {"pure": isinstance(found.goal, PureDP), "certificate": found.certificate.to_dict()}
            write_together({path: json.dumps(record).encode()}, overwrite=True)
            files = sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for file in files[:-MOST_FILES]:
                file.unlink(missing_ok=True)
    return found


def _read(path: Path, goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration | None:
    """Return the calibration that a file holds, proved; None if there is none that is about the question."""
    try:
        record = read_json(path, argument="cache", most=LARGEST)
        certificate = Certificate.from_dict(record["certificate"])
        kept = certificate.law.order
        if order is not None and kept != order:
            return None
        # Any order is private, so the planner's choice needs no proof; and pure DP implies every other goal.
        asked = PureDP(goal.epsilon, goal.neighbours) if record["pure"] is True else goal
        question = Question(goal=asked, sensitivity=sensitivity, order=kept, support="integer")
        found = calibration_from(question, certificate)
        found.require_proof()
    except (GgdpError, KeyError, TypeError, ValueError):
        return None
    return found
