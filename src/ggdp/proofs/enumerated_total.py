"""Totals of few losses on few atoms: every combination of them, without a grid.

Claim. For independent losses on atoms, delta(x) is the sum of P(c) (1 - e^(x - loss of c))_+ over all combinations c of
atoms. n equal losses have as many combinations as there are multisets of n atoms, with multinomial probabilities. Noise
on the integers so far from 0 that its probability is negligible is left out: that can only lower the sum, and by at
most the probability that any noise is so far.

Rounding: in balls; lower ends down, upper ends up.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from flint import arb, fmpz

from ggdp._balls import BALLS, lower_float, power, upper_float, working_precision
from ggdp.proofs.integer_sums import normaliser, tail_sum, weight
from ggdp.proofs.total_loss import CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.profile import Between
    from ggdp.proofs.total_loss import CoordinateLoss

__all__ = ["enumerated_between"]

_PRECISION = 192
# More combinations than these are left to a grid.
_MOST = 1 << 13
# Noise beyond |x|^p = 110 has a probability below e^-110.
_FAR = 110.0

Atoms = list[tuple[arb, arb]]


def enumerated_between(losses: Sequence[CountedLoss], epsilon: float) -> Between | None:
    """Return two floats with delta between them; None where there are too many combinations of losses."""
    combined = _combined(tuple(losses))
    if combined is None:
        return None
    atoms, left_out = combined
    with BALLS, working_precision(_PRECISION):
        x, total = arb(epsilon), arb(0)
        for loss, mass in atoms:
            if not loss <= x:
                total += mass * (-(x - loss).expm1()).max(arb(0))
        return max(lower_float(total), 0.0), min(upper_float(total + left_out), 1.0)


@lru_cache(maxsize=8)
def _combined(losses: tuple[CountedLoss, ...]) -> tuple[Atoms, arb] | None:
    """Return all combinations of losses with their probabilities, and the probability of what is left out."""
    sizes = [_size(counted) for counted in losses]
    number = 1
    for counted, size in zip(losses, sizes, strict=True):
        if size is None or counted.count * size > _MOST:
            return None
        number *= math.comb(counted.count + size - 1, counted.count)
        if number > _MOST:
            return None
    with BALLS, working_precision(_PRECISION):
        atoms: Atoms = [(arb(0), arb(1))]
        left_out = arb(0)
        for counted in losses:
            single, rest = _atoms(counted)
            left_out += counted.count * rest
            several = _repeated(single, counted.count)
            atoms = [(loss + other, mass * share) for loss, mass in atoms for other, share in several]
    return atoms, left_out


def _size(counted: CountedLoss) -> int | None:
    """Return how many atoms a loss has; None where it has a density."""
    loss = counted.loss
    if isinstance(loss, ResponseLoss):
        return 2 if loss.delta == 0.0 else None
    if loss.law.support != "integer":
        return None
    if loss.law.order == 1.0 and loss.size == 1.0:
        return 2
    far = _far(loss)
    return None if far > _MOST else 2 * far + 1


def _far(loss: CoordinateLoss) -> int:
    """Return the largest noise that is not left out, about."""
    return int(min(_FAR ** (1.0 / loss.law.order) * loss.law.scale, 1e9)) + 1


def _atoms(counted: CountedLoss) -> tuple[Atoms, arb]:
    """Return the losses of one mechanism with their probabilities, and the probability of what is left out."""
    loss = counted.loss
    if isinstance(loss, ResponseLoss) or loss.law.order == 1.0 == loss.size:
        # Laplace noise on the integers that moves by 1 is randomised response.
        e = arb(loss.epsilon) if isinstance(loss, ResponseLoss) else 1 / arb(loss.law.scale)
        truth = 1 / (1 + (-e).exp())
        return [(e, truth), (-e, 1 - truth)], arb(0)
    order, scale, far, size = loss.law.order, loss.law.scale, _far(loss), int(loss.size)
    p, normal = arb(order), normaliser(order, scale)
    unit = arb(scale) ** p
    found = [
        ((power(arb(abs(k + size)), p) - power(arb(abs(k)), p)) / unit, weight(order, scale, k) / normal)
        for k in range(-far, far + 1)
    ]
    return found, 2 * tail_sum(order, scale, far + 1) / normal


def _repeated(atoms: Atoms, count: int) -> Atoms:
    """Return all sums of so many independent losses."""
    if count == 1:
        return atoms
    found = []
    if len(atoms) == 2:
        # The same as below, without a list of all that are chosen.
        (first, truth), (second, other) = atoms
        for k in range(count + 1):
            ways = arb(fmpz.bin_uiui(count, k))
            found.append((k * first + (count - k) * second, ways * truth**k * other ** (count - k)))
        return found
    for chosen in combinations_with_replacement(range(len(atoms)), count):
        loss, mass, ways = arb(0), arb(1), fmpz.fac_ui(count)
        for i, times in Counter(chosen).items():
            loss += times * atoms[i][0]
            mass *= atoms[i][1] ** times
            ways //= fmpz.fac_ui(times)
        found.append((loss, mass * ways))
    return found
