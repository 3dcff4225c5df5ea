"""Totals that need no grid: pure losses, one shift of one coordinate, few losses on few atoms, infinite losses.

Claim (pure losses). Independent losses of at most e_i each add up to at most the sum of the e_i, where delta is 0;
randomized response and Laplace noise attain theirs.

Claim (one shift). Gaussian noise on the reals is rotation invariant: independent shifts d_i, in units of the scale, are
one shift by their l_2 norm.

Claim (infinite losses). See `ggdp.proofs.losses`: delta = q + (1 - q) delta', with delta' of the finite losses and
q the probability of an infinite one.

Claim (atoms). For independent losses on atoms, delta(x) is the sum of P(c) (1 - e^(x - loss of c))_+ over all
combinations c of atoms. n equal losses have as many combinations as there are multisets of n atoms, with multinomial
probabilities. Noise on the integers so far from 0 that its probability is negligible is left out: that can only lower
the sum, and by at most the probability that any noise is so far.

Claim (two halves). Let c be a pair of a and b, each from one half of the losses. With u = x - loss of a, the sum over b
is P(b >= u) - e^u times the sum of P(b) e^(-loss of b) over the same b: with sums over the largest b known, one for
each a is enough. Which b are above u is decided in balls; those for which it is undecided are added one by one.

Claim (one shift beside atoms). If delta of some of the losses is known at every x, also below 0, then delta(x) of the
total is the sum of P(c) times that delta at x - loss of c, over all combinations c of the other losses. So losses that
have a density, or more atoms than can be listed, may be among them if they are one shift. Its noise is symmetric, so
that P and Q change places when it is mirrored; with complements, delta(-x) is 1 - e^(-x) (1 - delta(x)).

Rounding: in balls; lower ends down, upper ends up.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from flint import arb, fmpz

from ggdp._balls import BALLS, lower_float, power, upper_float, working_precision
from ggdp.accounting.profile import LEAST_EPSILON, Between, shift_delta
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.tails import normaliser, tail_sum, weight
from ggdp.proofs.worst_case import REACHED

_PRECISION = 128


def largest_sum(losses: Sequence[CountedLoss]) -> Fraction | None:
    """Return the largest possible sum of finite losses; None where there is none."""
    total = Fraction(0)
    for counted in losses:
        loss = counted.loss
        if isinstance(loss, ResponseLoss):
            total += counted.count * Fraction(loss.epsilon)
        elif loss.law.order == 1.0:
            total += counted.count * Fraction(loss.size) / Fraction(loss.law.scale)
        else:
            return None
    return total


def shift_between(losses: Sequence[CountedLoss], epsilon: float) -> Between | None:
    """Return two floats with delta between them where the total is one shift; None where it is not."""
    shifts = [(one.loss.law, one.loss.size, one.count) for one in losses if isinstance(one.loss, CoordinateLoss)]
    if not shifts or len(shifts) < len(losses):
        return None
    if epsilon < LEAST_EPSILON:
        # delta is convex in e^epsilon with a slope of at least -1, and e^x - 1 < 2 x here.
        found = shift_between(losses, LEAST_EPSILON)
        return None if found is None else (found[0], min(found[1] + 2.0 * LEAST_EPSILON, 1.0))
    law, size, count = shifts[0]
    gaussian = all(law.order == 2.0 and law.support == "real" for law, *_ in shifts)
    if len(shifts) == 1 == count:
        low = high = shift_delta(law, size, epsilon)
        if gaussian:
            # The size is a norm that was rounded up.
            low = shift_delta(law, size * REACHED, epsilon)
        return low.lower, min(high.upper, 1.0)
    if not gaussian:
        return None
    with BALLS, working_precision(_PRECISION):
        squares = sum((count * (arb(size) / arb(law.scale)) ** 2 for law, size, count in shifts), arb(0))
        ends = lower_float(squares.sqrt()) * REACHED, upper_float(squares.sqrt())
    low, high = (shift_delta(NoiseLaw(order=2, scale=1.0), end, epsilon) for end in ends)
    return low.lower, min(high.upper, 1.0)


def with_infinite(infinite: Between, found: Between) -> Between:
    """Return bounds of delta from those of the finite losses."""
    if infinite[1] == 0.0:
        return found
    with BALLS, working_precision(_PRECISION):
        lower, upper = (q + (1 - q) * arb(delta) for q, delta in zip(map(arb, infinite), found, strict=True))
        return max(lower_float(lower), 0.0), min(upper_float(upper), 1.0)


def left_to_finite(infinite: Between, delta: float) -> Between:
    """Return the delta that is left to the finite losses: at least, and at most; below 0 where none is."""
    with BALLS, working_precision(_PRECISION):
        most, least = ((arb(delta) - arb(q)) / (1 - arb(q)) for q in infinite)
        return lower_float(least), upper_float(most)


_BITS_OF_SUMS = 192
# More combinations of one half of the losses than these are left to a grid.
_MOST = 1 << 13

Atoms = list[tuple[arb, arb]]


class _Sorted(NamedTuple):
    """Atoms by rising losses, about, with what is known of all before and of all from one on.

    `most` holds a bound of the losses of all before each atom; `least`, `masses` and `weighted` one of the losses of
    all from it on, their mass, and the sum of mass times e^(-loss).
    """

    atoms: Atoms
    losses: list[float]
    most: list[arb]
    least: list[arb]
    masses: list[arb]
    weighted: list[arb]


def enumerated_between(losses: Sequence[CountedLoss], epsilon: float) -> Between | None:
    """Return two floats with delta between them; None where there are too many combinations of losses."""
    beside, halves = _beside_shift(tuple(losses)), _halves(tuple(losses))
    with BALLS, working_precision(_BITS_OF_SUMS):
        x, lower = arb(epsilon), arb(0)
        if beside is not None:
            shift, atoms, upper = beside
            for loss, mass in atoms:
                # delta falls with x.
                lower += mass * _shift_delta(shift, upper_float(x - loss))[0]
                upper += mass * _shift_delta(shift, lower_float(x - loss))[1]
        elif halves is not None:
            first, second, left_out = halves
            for loss, mass in first:
                lower += mass * _above(second, x - loss)
            upper = lower + left_out
        else:
            return None
        return max(lower_float(lower), 0.0), min(upper_float(upper), 1.0)


@lru_cache(maxsize=8)
def _beside_shift(losses: tuple[CountedLoss, ...]) -> tuple[tuple[CountedLoss, ...], Atoms, arb] | None:
    """Return losses that are one shift and cannot be listed, all combinations of the others, and what is left out.

    None where there is no such shift, or too many combinations.
    """
    wide = tuple(counted for counted in losses if (_size(counted) or math.inf) > _MOST)
    others = [counted for counted in losses if counted not in wide]
    number = math.prod(math.comb(one.count + (_size(one) or 0) - 1, one.count) for one in others)
    # Delta of the shift is computed for each combination.
    if not wide or number > 1 << 8 or shift_between(wide, 1.0) is None:
        return None
    with BALLS, working_precision(_BITS_OF_SUMS):
        return (wide, *_combine(others))


def _shift_delta(shift: tuple[CountedLoss, ...], x: float) -> tuple[arb, arb]:
    """Return delta of one shift, at least and at most, at any x; its limit where x was rounded to infinity."""
    if math.isinf(x):
        return (arb(0), arb(0)) if x > 0.0 else (arb(1), arb(1))
    found = shift_between(shift, abs(x))
    assert found is not None
    lower, upper = map(arb, found)
    if x >= 0.0:
        return lower, upper
    rise = arb(x).exp()
    return 1 - rise * (1 - lower), 1 - rise * (1 - upper)


def _above(found: _Sorted, u: arb) -> arb:
    """Return the sum of P(b) (1 - e^(u - loss of b))_+ over all atoms b."""
    first = last = bisect_right(found.losses, float(u))
    # All before the first are at most u, all from the last on at least u.
    while first and not found.most[first] <= u:
        first -= 1
    while last < len(found.atoms) and not found.least[last] >= u:
        last += 1
    total = found.masses[last] - u.exp() * found.weighted[last]
    for loss, mass in found.atoms[first:last]:
        total += mass * (-(u - loss).expm1()).max(arb(0))
    return total


@lru_cache(maxsize=8)
def _halves(losses: tuple[CountedLoss, ...]) -> tuple[Atoms, _Sorted, arb] | None:
    """Return all combinations of losses, in two halves, and what is left out; None where there are too many."""
    halves: list[tuple[int, list[CountedLoss]]] = [(1, []), (1, [])]
    sized = []
    for counted in losses:
        size = _size(counted)
        if size is None or counted.count * size > _MOST:
            return None
        sized.append((math.comb(counted.count + size - 1, counted.count), counted))
    for number, counted in sorted(sized, key=lambda pair: -pair[0]):
        fewer, more = sorted(halves, key=lambda half: half[0])
        halves = [(fewer[0] * number, [*fewer[1], counted]), more]
        if halves[0][0] > _MOST:
            return None
    with BALLS, working_precision(_BITS_OF_SUMS):
        first, second = (_combine(half) for _, half in sorted(halves, key=lambda half: half[0]))
        # Floats only propose the order.
        atoms = sorted(second[0], key=lambda atom: float(atom[0]))
        most, least, masses, weighted = [arb(-math.inf)], [arb(math.inf)], [arb(0)], [arb(0)]
        for loss, _ in atoms:
            most.append(most[-1].max(loss.upper()))
        for loss, mass in reversed(atoms):
            least.append(least[-1].min(loss.lower()))
            masses.append(masses[-1] + mass)
            weighted.append(weighted[-1] + mass * (-loss).exp())
        floats = [float(loss) for loss, _ in atoms]
        ranked = _Sorted(atoms, floats, most, least[::-1], masses[::-1], weighted[::-1])
        return first[0], ranked, first[1] + second[1]


def _combine(losses: Sequence[CountedLoss]) -> tuple[Atoms, arb]:
    """Return all combinations of losses with their probabilities, and the probability of what is left out."""
    atoms: Atoms = [(arb(0), arb(1))]
    left_out = arb(0)
    for counted in losses:
        single, rest = _atoms(counted)
        left_out += counted.count * rest
        several = _repeat(single, counted.count)
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
    """Return the largest noise that is not left out, about: beyond |x|^p = 110 its probability is below e^-110."""
    return int(min(110.0 ** (1.0 / loss.law.order) * loss.law.scale, 1e9)) + 1


def _atoms(counted: CountedLoss) -> tuple[Atoms, arb]:
    """Return the losses of one mechanism with their probabilities, and the probability of what is left out."""
    loss = counted.loss
    if isinstance(loss, ResponseLoss) or loss.law.order == 1.0 == loss.size:
        # Laplace noise on the integers that moves by 1 is randomized response.
        e = arb(loss.epsilon) if isinstance(loss, ResponseLoss) else 1 / arb(loss.law.scale)
        truth = 1 / (1 + (-e).exp())
        # Not 1 less the truth, which of a large loss is a ball around 0.
        return [(e, truth), (-e, (-e).exp() * truth)], arb(0)
    order, scale, far, size = loss.law.order, loss.law.scale, _far(loss), int(loss.size)
    p, normal = arb(order), normaliser(order, scale)
    unit = arb(scale) ** p
    found = [
        ((power(arb(abs(k + size)), p) - power(arb(abs(k)), p)) / unit, weight(order, scale, k) / normal)
        for k in range(-far, far + 1)
    ]
    return found, 2 * tail_sum(order, scale, far + 1) / normal


def _repeat(atoms: Atoms, count: int) -> Atoms:
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
