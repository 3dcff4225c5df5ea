"""The noise of tables: a certified scale on the integers, of the requested order or the best one.

Among orders, pure Laplace noise is taken where its standard deviation is within 1 % of the best: what it promises is
more. All of it is a function of the request, so it costs no privacy.

Several tables of the same people may need less with noise of a norm (`ggdp.proofs.minkowski`), which is pure. Its error
grows with all cells of the tables that share it. So tables of like size share it, and epsilon is split between sets:

=======  ===============================================================================================================
s(A)     the largest standard deviation of a cell of the tables A at all of epsilon, if they share noise of a norm; of a
         single table with Laplace noise, which is the same noise under add-remove neighbours
share    of epsilon for a set A: s(A) / sum of all s, rounded down; then a cell of each set is off by about that sum
=======  ===============================================================================================================

The sets are those with the least sum of s, among runs of the tables in the order of their sizes. They are taken where
the largest standard deviation is then below 99 % of that of independent noise, which is the same in every table: so no
table is worse. A goal with a delta may be kept by this pure noise, where it is better.

For approximate DP, complete tables of two cells are tried as one more set, which has all of delta: that of noise on
their common total and on the difference of each (`ggdp.noise.common_total_noise`). It is searched for where an estimate
says that it may be better, and taken where it is.

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
import math
import os
from contextlib import suppress
from dataclasses import asdict, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import flint
from attrs import frozen

from ggdp._files import cache_directory, read_json, write_together
from ggdp._rounding import rounded_up
from ggdp.calibration import Calibration, calibrate
from ggdp.calibration.calibration import calibration_from
from ggdp.errors import ArgumentError, GgdpError, SearchError
from ggdp.mechanisms import Mechanism, MinkowskiMechanism
from ggdp.noise import IntegerGeneralizedGaussian
from ggdp.noise.common_total_noise import CommonTotalNoise
from ggdp.noise.entropy import Integers, Source, is_private
from ggdp.noise.minkowski_noise import spreads
from ggdp.planning import plan
from ggdp.planning.best_order import estimated_best
from ggdp.privacy import Guarantee, PureDP, Sensitivity
from ggdp.proofs.certificate import Certificate
from ggdp.proofs.worst_case import Question
from ggdp.releases.error_law import ErrorLaw, VectorErrorLaw
from ggdp.releases.release import Release, make_release

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from ggdp.mechanisms.certified_noise import CertifiedNoise
    from ggdp.proofs.losses import CountedLoss
    from ggdp.releases.mechanism_record import NoiseRecord
    from ggdp.tables.request import TableRequest
    from ggdp.tables.statistics.statistics_plan import StatisticsPlan


LAPLACE = 1.0
# From the strongest on.
NOTIONS = ("pure", "probabilistic", "approximate")
# What pure DP may cost in error before approximate DP is taken.
WORTH = 1.01
# Noise so wide hardly feels that it is on the integers: the order is found on the reals, which is faster.
WIDE = 2.0
# Noise so wide has the same standard deviation on the reals and on the integers, and an estimate is as exact as this.
VERY_WIDE, INEXACT = 100.0, 1e-3
# A set of tables whose noise is so many times that of the best sets of its tables is not made larger.
_HOPELESS = 2.0
# Larger tables would gain nothing by noise that is shared, and noise of a larger scale would not fit in 64 bits.
_MOST_CELLS, _WIDEST = 1000, 2.0**40
# The law of wider noise with a common total would take too many sums.
_WIDEST_TOTAL = 2.0**16

SWITCH = "GGDP_CACHE"
# Counts up with every change of what a certificate holds or how a calibration is searched.
VERSION = 3
MOST_FILES = 256
LARGEST = 1 << 20

# Where a plan takes its noise from: for a goal, a sensitivity, and an order, or None for the best one.
NoiseFor: TypeAlias = "Callable[[Guarantee, Sensitivity, float | None], Mechanism]"


@frozen(repr=False)
class CommonTotalMechanism:
    """Noise of complete tables of two cells, on their common total and the difference of each (`CommonTotalNoise`).

    Parameters
    ----------
    base : Mechanism
        What adds the noise to total and differences, as they are multiplied.
    sensitivity : Sensitivity
        How far one unit can change the counts.
    total, difference : int
        The multipliers.
    """

    base: Mechanism
    sensitivity: Sensitivity
    total: int
    difference: int

    def __attrs_post_init__(self) -> None:
        query = self.sensitivity
        tables = len(query.group_cells or ())
        whole = Sensitivity.groups([2] * tables, complete=[True] * tables) if tables else None
        if query != whole:
            raise ArgumentError("sensitivity", str(query), "must be of complete tables of two cells, under add-remove")

    @cached_property
    def errors(self) -> CommonTotalNoise:
        """The errors of the counts."""
        size = {"total": self.total, "difference": self.difference, "tables": len(self.sensitivity.group_cells or ())}
        return CommonTotalNoise(order=self.base.law.order, scale=self.base.scale, **size)

    @property
    def law(self) -> VectorErrorLaw:
        """The law of the errors of the counts, for intervals."""
        return VectorErrorLaw(law=self.errors)

    @property
    def noise(self) -> CertifiedNoise:
        """What the noise of total and differences is drawn from."""
        return self.base.noise

    @property
    def scale(self) -> float:
        """Scale of the noise of total and differences."""
        return self.base.scale

    @property
    def std(self) -> float:
        """Standard deviation of the noise of a count."""
        return self.errors.std[0]

    @property
    def certificate(self) -> Certificate:
        """The proof, for total and differences."""
        return self.base.certificate

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a release, after the counts were made whole."""
        return self.base.guarantee.after_postprocessing()

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate a release in a composition."""
        return self.base.losses

    @property
    def record(self) -> NoiseRecord:
        """What a release publishes of the noise."""
        found = self.base.record
        name, item = f"common-total {found.name}", f"{found.item}; Lebeda, arXiv 2408.06853 (a common total)"
        return replace(found, name=name, item=item, sensitivity=str(self.sensitivity), law=self.law)

    def release(self, counts: Integers, *, rng: Source) -> Release:
        """Return noisy counts, of complete tables one after another."""
        noisy = self.errors.decode(self.base.release(self.errors.encode(counts), rng=rng).values, rng)
        return make_release(noisy, self.record, self.guarantee if is_private(rng) else None)


AnyMechanism: TypeAlias = Mechanism | MinkowskiMechanism | CommonTotalMechanism


class NoisePart(NamedTuple):
    """The noise of some of the tables of a request, in the order of `tables`."""

    tables: tuple[int, ...]
    mechanism: AnyMechanism

    @property
    def laws(self) -> tuple[ErrorLaw | VectorErrorLaw, ...]:
        """The law of the noise of a cell, for each table."""
        law = self.mechanism.law
        return law.of_groups if isinstance(law, VectorErrorLaw) else (law,) * len(self.tables)

    @property
    def complete(self) -> tuple[bool, ...]:
        """Whether the noise of a table adds up to a total that all such tables share, for each table."""
        law = self.mechanism.law
        found = law.norm.complete if isinstance(law, VectorErrorLaw) else None
        return found or (False,) * len(self.tables)


class TableNoise(NamedTuple):
    """The noise of all tables of a request, in parts, and the largest standard deviations of what was compared."""

    parts: tuple[NoisePart, ...]
    compared: tuple[tuple[str, float], ...] = ()


# Where a plan takes the noise of its tables from, for a goal of all of them.
PartsFor: TypeAlias = "Callable[[TableRequest, Guarantee, StatisticsPlan | None], TableNoise]"


def joint(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the guarantee of independent noises together: the sums of epsilons and deltas, of the weakest notion.

    Claim: the loss of independent noises is the sum of their losses, so that it is beyond the sum of the epsilons only
    where one is beyond its own; and approximate DP composes by sums. Rounding: up.
    """
    found = list(guarantees)
    weakest = max(found, key=lambda one: NOTIONS.index(one.notion))
    total = rounded_up(sum((Fraction(one.epsilon) for one in found), Fraction(0)), of="epsilon")
    if isinstance(weakest, PureDP):
        return replace(weakest, epsilon=total)
    delta = rounded_up(sum((Fraction(one.delta) for one in found), Fraction(0)), of="delta")
    return replace(weakest, epsilon=total, delta=delta)


def has_choice(request: TableRequest) -> bool:
    """Return whether the noise of the tables may be that of a norm: several declared tables of counts, of any order."""
    is_plain = not request.statistics and request.percent_of is None and request.order == "auto"
    return is_plain and request.regime == "declared" and len(request.by) > 1


def groups_of(request: TableRequest, tables: Sequence[int]) -> Sensitivity:
    """Return how far one unit can change the counts of some tables, a group each; it may be in no cell of a group.

    Where each unit is in one cell of every one of several tables that are complete, it is not.
    """
    sizes, most = [request.sizes[table] or 0 for table in tables], max(request.most_cells[table] for table in tables)
    # Of a table of one cell under replace-one nothing would be hidden.
    least = 1 if request.neighbours == "add-remove" else 2
    whole = [most == 1 and request.complete[table] and size >= least for table, size in zip(tables, sizes, strict=True)]
    return Sensitivity.groups(sizes, most, request.most_in_a_cell, complete=whole, neighbours=request.neighbours)


def cells_of(request: TableRequest, tables: Sequence[int]) -> Sensitivity:
    """Return how far one unit can change the counts of some tables, for noise that is independent in every cell."""
    moving = sum(request.changing[table] for table in tables)
    return Sensitivity.cells(moving, request.most_in_a_cell, neighbours=request.neighbours)


def table_parts(request: TableRequest, goal: Guarantee, _: object = None) -> TableNoise:
    """Return the noise of several tables with the least error: independent, or of norms of sets of like size."""
    every = tuple(range(len(request.by)))
    independent = table_mechanism(goal, request.sensitivity, None)
    if independent.scale > _WIDEST:
        return TableNoise((NoisePart(every, independent),))
    # On the integers s is not quite in proportion to 1/epsilon: between one set and one for each table.
    tried = [_split(request, goal.epsilon, _sets(request, goal.epsilon / most)) for most in (1, len(every))]
    worst, shares = min(tried)
    made: list[NoisePart] = []
    if (found := _with_common_total(request, goal, independent, min(worst, independent.std))) is not None:
        worst, made = found
    if WORTH * worst > independent.std:
        return TableNoise((NoisePart(every, independent),))
    made = made or [NoisePart(tables, _mechanism_of_set(request, tables, PureDP(share))) for tables, share in shares]
    kinds = dict.fromkeys(part.mechanism.record.name for part in made)
    compared = ((" and ".join(kinds), worst), (f"independent {independent.record.name}", independent.std))
    return TableNoise(tuple(made), compared)


def _with_common_total(
    request: TableRequest, goal: Guarantee, independent: Mechanism, least: float
) -> tuple[float, list[NoisePart]] | None:
    """Return the largest standard deviation of a cell, below `least`, and the parts; None if that is not reached."""
    every = range(len(request.by))
    pairs = tuple(table for table in every if request.complete[table] and request.sizes[table] == 2)
    if goal.notion != "approximate" or request.neighbours != "add-remove" or len(pairs) < 2:
        return None
    # That of Gaussian noise has this ratio to independent noise; of other orders it is close.
    root, number = math.sqrt(len(pairs)), len(every)
    near = independent.std * (1.0 + root) / (2.0 * math.sqrt(independent.sensitivity.moving))
    others = _sets(request, goal.epsilon / number, (table for table in every if table not in pairs))
    sets = [(pairs, near), *((of, error / number) for of, error in others)]
    if near > _WIDEST_TOTAL or sum(error for _, error in sets) > 1.02 * least:
        return None
    (_, share), *shares = _shares(goal.epsilon, sets)
    made = NoisePart(pairs, common_total_mechanism(replace(goal, epsilon=share), groups_of(request, pairs)))
    worst = max([made.mechanism.std, *(_deviation(request, of, share) for of, share in shares)])
    if WORTH * worst > least:
        return None
    return worst, [made, *(NoisePart(of, _mechanism_of_set(request, of, PureDP(share))) for of, share in shares)]


def common_total_mechanism(goal: Guarantee, sensitivity: Sensitivity) -> CommonTotalMechanism:
    """Return noise on the common total and the differences of complete tables of two cells."""
    tables = len(sensitivity.group_cells or ())
    # Best for Gaussian noise, to a half; at other orders the error is flat there, too.
    total, difference = Fraction(round(2.0 * tables**0.25), 2).as_integer_ratio()
    noise = table_noise(goal, CommonTotalNoise.changes(total, difference, tables), None)
    return CommonTotalMechanism(Mechanism(noise), sensitivity, total, difference)


def _split(
    request: TableRequest, epsilon: float, sets: list[tuple[tuple[int, ...], float]]
) -> tuple[float, list[tuple[tuple[int, ...], float]]]:
    """Return the largest standard deviation of a cell, and the epsilon of each set, in proportion to its deviation."""
    shares = _shares(epsilon, sets)
    return max(_deviation(request, of, share) for of, share in shares), shares


def _shares(epsilon: float, sets: list[tuple[tuple[int, ...], float]]) -> list[tuple[tuple[int, ...], float]]:
    """Return the epsilon of each set, in proportion to its standard deviation at all of epsilon."""
    total = sum(Fraction(error) for _, error in sets)
    return [(of, -rounded_up(-Fraction(epsilon) * Fraction(error) / total, of="epsilon")) for of, error in sets]


def _is_independent(request: TableRequest, tables: tuple[int, ...]) -> bool:
    """Return whether a set of tables is a single one that has Laplace noise, which is as good."""
    is_large = (request.sizes[tables[0]] or 0) > _MOST_CELLS
    return len(tables) == 1 and (is_large or request.neighbours == "add-remove")


def _mechanism_of_set(
    request: TableRequest, tables: tuple[int, ...], goal: Guarantee
) -> Mechanism | MinkowskiMechanism:
    if _is_independent(request, tables):
        return table_mechanism(goal, cells_of(request, tables), LAPLACE)
    return MinkowskiMechanism(goal, groups_of(request, tables))


@lru_cache(maxsize=1024)
def _largest_spread(groups: tuple[int, ...], kind: str, scale: float) -> float:
    return max(spreads(groups, kind, scale))


def _deviation(request: TableRequest, tables: tuple[int, ...], epsilon: float) -> float:
    """Return the largest standard deviation of a cell of a set of tables, about."""
    if _is_independent(request, tables):
        scale = request.changing[tables[0]] * request.most_in_a_cell / epsilon
        return IntegerGeneralizedGaussian(order=LAPLACE, scale=scale).std
    found = groups_of(request, tables)
    complete = found.complete or (False,) * len(tables)
    free = sorted(size - is_whole for size, is_whole in zip(found.group_cells or (), complete, strict=True))
    kind = "added" if request.neighbours == "add-remove" else "replaced"
    return _largest_spread(tuple(free), kind, found.largest_group / epsilon)


def _sets(
    request: TableRequest, epsilon: float, among: Iterable[int] | None = None
) -> list[tuple[tuple[int, ...], float]]:
    """Return the sets of tables that share noise, and the largest standard deviation of each at all of epsilon."""
    # Tables alike are in one set: classes of them, in the order of their sizes. A large one is a set of its own.
    alike: dict[tuple[int, ...], list[int]] = {}
    for table in range(len(request.by)) if among is None else among:
        size = request.sizes[table] or 0
        alone = table if size > _MOST_CELLS else -1
        alike.setdefault((size - request.complete[table], request.most_cells[table], alone), []).append(table)
    classes = [alike[key] for key in sorted(alike)]
    # Of the first classes: the least sum, and the sets that have it, with the deviation of each.
    best: list[tuple[float, tuple[tuple[tuple[int, ...], float], ...]]] = [(0.0, ())]
    for end in range(1, len(classes) + 1):
        found = []
        for start in range(end - 1, -1, -1):
            tables = tuple(sorted(table for one in classes[start:end] for table in one))
            if len(tables) > 1 and max(request.sizes[table] or 0 for table in tables) > _MOST_CELLS:
                break
            error = _deviation(request, tables, epsilon)
            before, sets = best[start]
            found.append((before + error, (*sets, (tables, error))))
            if error > _HOPELESS * min(found)[0]:
                # Larger sets of these are larger still.
                break
        best.append(min(found))
    return sorted(best[-1][1])


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
