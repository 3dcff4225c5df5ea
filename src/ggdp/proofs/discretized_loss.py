"""The loss of Laplace noise on the knots of a grid, by its closed form: a few balls, however many knots there are.

=========  ====================================================================================================
b, D       scale, and how far the coordinate moves; d = D/b is the largest loss
h          step of the grid; the knots are l_j = j h
u          the least index with u h >= d
delta(x)   the delta of one coordinate at any x, also below 0: 0 from d on, 1 - e^x up to -d
=========  ====================================================================================================

Claim (reals). Between -d and d, delta(x) = 1 - e^((x - d)/2): the loss is above x if the noise is above
z = (x - d) b/2, which is at most 0, and delta(x) = P(X > z) - e^x P(X > z + D) = 1 - e^(z/b)/2 - e^(x - z/b - d)/2.

Claim (integers). At the losses x = d - 2j/b, j from 0 to D, delta is the same: with k = -j,
P(K >= k) - e^x P(K >= k + D) = 1 - q^(1+j)/(1+q) - q^j/(1+q) = 1 - q^j with q = e^(-1/b). There are no other losses, so
that between them delta is linear in e^x. The delta of the reals is convex in e^x, so it is not above that of the
integers. Let x_0 be such a loss, r = e^(1/b) and x = x_0 + 2 log t with t from 1 to r: e^((x_0 - d)/2) times
(r + t^2)/(r + 1) is subtracted from 1 on the integers, where t is on the reals. Their ratio is least at t = r^(1/2),
where it is 1 / cosh(1/(2b)). So the delta of the integers is at most that of the reals with
d' = d + 2 log cosh(1/(2b)), which is at most d + 1/(4 b^2), in place of d. (Below -d: 1 - e^x <= 1 - e^((x - d')/2) for
x >= -d'.) A pair with a larger delta at every x dominates, also in sums (Zhu, Dong and Wang, AISTATS 2022, Theorem 10).

Claim (masses). Split between neighbouring knots, the loss has the same delta at every knot, and between them one that
is linear in e^x. The mass on a knot is e^(l_j) times the rise of the slope there:

- tanh(h/4) e^((l_j - d)/2) for |j| <= u - 2: they are in geometric progression;
- f / (1 - e^-h) on l_u, with f = 1 - e^((l_(u-1) - d)/2), the delta at l_(u-1);
- e^((l_(u-1) - d)/2) / (1 + e^(-h/2)) - f / (e^h - 1) on l_(u-1);
- e^(-l_j) times the mass on l_j on l_(-j).

Rounding: d is rounded up to a ball of one point, and d' is counted as `raised`: with the same noise the loss for d' is
above that for d by at most d' - d.

The loss of one coordinate, or of a mechanism known by its guarantee, on the knots of a grid, so that it dominates.

=========  ==========================================================================================
h          step of the grid; the knots l_i are multiples of h, some of them left out
P, Q       laws of the noise and of the shifted noise; dQ = e^(-L) dP
t_i        a point at or just below which the loss L passes the knot l_i (on the integers: an integer)
=========  ==========================================================================================

Claim. The masses dominate the loss in the sense of `ggdp.proofs.loss_distribution`. Proof: cell i holds the noise
between t_i and t_(i+1), whose losses are between L(t_i) and l_(i+1). Losses below l_i are raised to l_i, by at most
l_i - L(t_i). The masses under P and Q of the cell then say how much of it a split moves to l_(i+1): splits keep the
mass and the mean of e^(-loss). A smaller mass under Q moves more to the upper knot, down to all of it. Mass below the
lowest t_i is raised to the first knot that is certainly not below its losses, mass above the highest to infinity. Where
no noise is known to have a loss as low as a knot, its t_i is the lowest of all, and the cells below it are empty.
Single losses of a narrow law on the integers are split one by one.

A mechanism known only by (epsilon, delta) is dominated by randomised response of epsilon with a mass of delta at an
infinite loss (Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.3; Murtagh and Vadhan, TCC 2016, Lemma 3.2).
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from flint import arb, ctx

from ggdp._balls import power
from ggdp._work import spend
from ggdp.errors import ArgumentError
from ggdp.proofs.layouts import MOST_KNOTS
from ggdp.proofs.loss_distribution import GeometricMasses, Masses
from ggdp.proofs.one_coordinate import POWERS, crossing_estimates, loss, loss_estimate
from ggdp.proofs.tails import normaliser, partial_sum, survivals, tail_sum, tail_sums

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.proofs.layouts import LossLayout
    from ggdp.proofs.noise_law import NoiseLaw


# On the integers fewer losses than these are laid one by one.
_MANY = 4096
# Scale times step, at least the root of 2, from which on d' - d is at most h^2 / 8, which bounds what a split adds to a
# loss. Its square may be beyond the floats.
_WIDE = 1.4143


def laid_laplace(law: NoiseLaw, shift: float, layout: LossLayout) -> Masses | None:
    """Lay the loss of a coordinate that moves by `shift`; None where the closed form is not at hand or not tight."""
    if law.order != 1.0:
        return None
    if law.support == "integer" and (shift < _MANY or law.scale * layout.step < _WIDE):
        return None
    b, h = arb(law.scale), arb(layout.step)
    exact = arb(shift) / b
    d = (exact + 2 * (1 / (2 * b)).cosh().log() if law.support == "integer" else exact).upper()
    if not d <= layout.high * h:
        # Not looked for: knots so far above the grid may be beyond what can be counted one by one.
        return None
    last = math.ceil(float(d / h))
    while not d <= last * h:
        last += 1
    while d <= (last - 1) * h:
        last -= 1
    # The two knots next to the lowest one are kept, or none of the three.
    if not (last >= 2 and layout.low <= last - 2):
        return None
    first = max(layout.low, -last)

    def height(index: int) -> arb:
        return ((index * h - d) / 2).exp()

    missing = 1 - height(last - 1)
    ends = {last: -missing / (-h).expm1(), last - 1: height(last - 1) / (1 + (-h / 2).exp()) - missing / h.expm1()}
    masses = ends | {-index: mass * (-index * h).exp() for index, mass in ends.items() if -index >= first}
    low, high = max(first, 2 - last), last - 2
    run = GeometricMasses(low, high, height(high) * (h / 4).tanh(), h / 2)
    misplaced = []
    if first > -last:
        # All that is below the grid is raised to its first knot.
        below = 1 - run.total() - sum(masses.values(), arb(0))
        masses[first] = masses.get(first, arb(0)) + below
        misplaced.append((first, below))
    return Masses(
        step=layout.step,
        masses=masses,
        infinite=arb(0),
        certain=arb(0),
        spread=h**2 / 8,
        misplaced=misplaced,
        raised=d - exact,
        run=run,
    )


# Noise beyond |x|^p = 220 has a probability below e^-220, and is not told apart.
_FAR = 220.0
# Near order 1 no noise of any weight has a loss as low as the lowest knots: it is cut off here instead.
_FARTHEST = 1e3
# A single loss so close to a knot, in steps, belongs on it.
_ON_KNOT = 2.0**-40
# A knot within this relative distance of the one loss of all noise above 0, at order 1, belongs at 0.
_AT_ZERO = 1e-12
# Tails at points so close share their far part; a sum afresh costs as much as some dozens of terms.
_NEAR = 100
# From here on, and from this scale on, tails are found many at a time.
_FAR_OUT = 4096
# Losses that are raised by more than this part of a step are counted as misplaced.
_NEGLIGIBLE = 2.0**-20
# Units of work of a knot, and of where the loss passes it.
KNOT, _CROSSING = 2, 10


class _Atom(NamedTuple):
    loss: arb
    mass: arb


def laid_coordinate(law: NoiseLaw, shift: float, layout: LossLayout) -> Masses:
    """Lay the loss of a coordinate that moves by `shift`, in the unit of the scale."""
    spend(KNOT * len(layout.knots()), ctx.prec)
    closed = laid_laplace(law, shift, layout)
    if closed is not None:
        return closed
    if law.support == "real":
        return _cells(layout, *_real_tails(law, shift, layout))
    whole, knots = int(shift), layout.high - layout.low
    if law.order == 1.0:
        # A grid that was cut below has still room for all of them: no loss is below the negative of the largest.
        room = max(knots, 2 * layout.high)
        if 2 * whole <= room and 2.0 * shift / law.scale <= room * layout.step:
            return _atoms(layout.step, *_laplace_atoms(law, whole))
    else:
        low, high = (_noise_at(law, whole, layout.step * end) for end in (layout.low, layout.high))
        if high - low <= knots:
            # The loss of `high` may be far above the highest knot.
            return _atoms(layout.step, *_integer_atoms(law, whole, low, max(high - 1, low)))
    return _cells(layout, *_integer_tails(law, whole, layout))


def laid_response(epsilon: float, delta: float, step: float) -> Masses:
    """Lay the loss of randomised response, with a mass of delta at infinity."""
    if not epsilon <= MOST_KNOTS * step:
        raise ArgumentError("step", step, f"must be at least a part of {MOST_KNOTS:,} of epsilon = {epsilon!r}")
    e = arb(epsilon)
    truth, finite = 1 / (1 + (-e).exp()), 1 - arb(delta)
    atoms = [_Atom(-e, (1 - truth) * finite), _Atom(e, truth * finite)]
    return _atoms(step, atoms, arb(delta), arb(delta), None)


def _laplace_atoms(law: NoiseLaw, shift: int) -> tuple[list[_Atom], arb, arb, None]:
    """Return the losses at order 1, where all noise from 0 on has one loss, and all noise up to -shift another."""
    b = arb(law.scale)
    tail = integer_tail(law, range(1 - shift, 1))
    inner = [_Atom((2 * k + shift) / b, tail[k] - tail[k + 1]) for k in range(1 - shift, 0)]
    return [_Atom(-shift / b, 1 - tail[1 - shift]), *inner, _Atom(shift / b, tail[0])], arb(0), arb(0), None


def _integer_atoms(law: NoiseLaw, shift: int, low: int, high: int) -> tuple[list[_Atom], arb, arb, arb]:
    """Return the losses of the integers from low to high with their masses, and the masses above and below."""
    p, b, normal = arb(law.order), law.scale, normaliser(law.order, law.scale)
    unit = arb(b) ** p
    powers = {k: power(arb(k), p) / unit for k in {abs(k) for k in range(low, high + shift + 1)}}
    atoms = [
        _Atom(powers[abs(k + shift)] - powers[abs(k)], (-powers[abs(k)]).exp() / normal) for k in range(low, high + 1)
    ]
    tail = integer_tail(law, {low, high + 1})
    return atoms, tail[high + 1], arb(0), 1 - tail[low]


def _atoms(step: float, atoms: list[_Atom], infinite: arb, certain: arb, below: arb | None) -> Masses:
    """Split single losses, in rising order, between their neighbouring knots; mass below them goes to the first."""
    h = arb(step)
    width = (-h).expm1()
    raised, spread, on_knot = arb(0), arb(0), h * _ON_KNOT
    placed: list[tuple[int, arb, arb]] = []
    misplaced: list[tuple[int, arb]] = []
    for atom in atoms:
        top = atom.loss.upper()
        raised = raised.max(top - atom.loss.lower())
        index = math.floor(float(top / h))
        while not index * h <= top:
            index -= 1
        # For certain not above the upper knot; below the lower one it is raised to it.
        while not top <= (index + 1) * h:
            index += 1
        share = (index * h - top).expm1() / width
        if not share >= 0:
            share, raised = arb(0), raised.max(index * h - atom.loss.lower())
        if (index + 1) * h - top <= on_knot:
            # On the upper knot but for rounding: raised to it, rather than split over a whole step.
            raised = raised.max((index + 1) * h - atom.loss.lower())
            placed.append((index + 1, atom.mass, arb(0)))
            continue
        placed.append((index, atom.mass, share))
        if top - index * h <= on_knot:
            # On the lower knot but for rounding: what a split moves up is misplaced, the rest is not above the truth.
            misplaced.append((index + 1, atom.mass * share))
        else:
            spread = spread.max((index + share) * h - top)
    masses: defaultdict[int, arb] = defaultdict(arb)
    for index, mass, share in placed:
        moved = mass * share
        masses[index] += mass - moved
        masses[index + 1] += moved
    if below is not None:
        first = min(masses) + 1
        masses[first] += below
        misplaced.append((first, below))
    return Masses(
        step=step,
        masses=masses,
        infinite=infinite,
        certain=certain,
        spread=spread,
        misplaced=misplaced,
        raised=raised,
    )


def _real_tails(law: NoiseLaw, shift: float, layout: LossLayout) -> tuple[list[arb], list[arb], list[arb]]:
    """Return P and Q of the noise from each t_i on, and L(t_i)."""
    p, d, step = arb(law.order), arb(shift) / arb(law.scale), arb(layout.step)
    points, least = [], []
    z = math.inf
    for index, guess in zip(reversed(layout.knots()), reversed(_thresholds(law, shift, layout)), strict=True):
        # Thresholds fall with the knots, whatever the rounding of the guesses. Cells below the last one are empty.
        z = max(min(z, guess), -_FARTHEST)
        found, back = loss(p, arb(z), d), math.ulp(z)
        while not found <= index * step and z > -_FARTHEST:
            spend(POWERS, ctx.prec)
            z, back = max(z - back, -_FARTHEST), 4.0 * back
            found = loss(p, arb(z), d)
        points.append(arb(z))
        least.append(found)
    first, second = survivals(p, points), survivals(p, [z + d for z in points])
    return first[::-1], second[::-1], least[::-1]


def _integer_tails(law: NoiseLaw, shift: int, layout: LossLayout) -> tuple[list[arb], list[arb], list[arb]]:
    """The same on the integers, where t_i is the least noise that may have a loss above the knot."""
    p, unit, step = arb(law.order), arb(law.scale) ** arb(law.order), arb(layout.step)

    def loss_at(k: int) -> arb:
        return (power(arb(abs(k + shift)), p) - power(arb(abs(k)), p)) / unit

    guesses = [math.floor(z * law.scale) + 1 for z in _thresholds(law, float(shift), layout)]
    bottom = min(guesses) - 2 * shift - 2
    cuts: list[int] = []
    for index, guess in zip(reversed(layout.knots()), reversed(guesses), strict=True):
        k, jump = min(guess, cuts[-1]) if cuts else guess, 1
        # All losses below the cut are at most the knot; an undecided tie is counted as above it.
        while k > bottom and not loss_at(k - 1) <= index * step:
            spend(POWERS, ctx.prec)
            k, jump = k - jump, 4 * jump
        cuts.append(max(k, bottom))
    cuts.reverse()
    tail = integer_tail(law, {*cuts, *(k + shift for k in cuts)})
    return [tail[k] for k in cuts], [tail[k + shift] for k in cuts], [loss_at(k) for k in cuts]


def _thresholds(law: NoiseLaw, shift: float, layout: LossLayout) -> list[float]:
    """Return about where the loss passes each knot, in units of the scale, in floats."""
    d, h, knots = shift / law.scale, layout.step, layout.knots()
    spend(_CROSSING * len(knots), ctx.prec)
    found = crossing_estimates(law.order, d, [h * index for index in knots], far=_FAR ** (1.0 / law.order))
    if law.order == 1.0:
        found = [0.0 if abs(h * index / d - 1.0) < _AT_ZERO else z for index, z in zip(knots, found, strict=True)]
    return found


def _noise_at(law: NoiseLaw, shift: int, level: float) -> int:
    """Return about where the loss passes a level on the integers, in floats; any integer will do."""
    far: int = math.ceil(_FAR ** (1.0 / law.order) * law.scale) + 1
    low, high = -far - shift, far
    while low < high:
        middle = (low + high) // 2
        if loss_estimate(law.order, middle / law.scale, shift / law.scale) < level:
            low = middle + 1
        else:
            high = middle
    return low


def integer_tail(law: NoiseLaw, points: Iterable[int]) -> dict[int, arb]:
    """Enclose P(K >= k) at each of the points."""
    p, b = law.order, law.scale
    last, total = 0, arb(0)
    places = sorted({k if k > 0 else 1 - k for k in points})
    far = [k for k in places if k >= _FAR_OUT] if b >= _FAR_OUT else []
    sums = dict(zip(far, tail_sums(p, b, far), strict=True))
    normal = normaliser(p, b)
    for k in reversed(places[: len(places) - len(far)]):
        near = 0 < last - k <= _NEAR
        total = total + partial_sum(p, b, k, last - 1) if near else tail_sum(p, b, k)
        sums[k], last = total, k
    return {k: sums[k] / normal if k > 0 else 1 - sums[1 - k] / normal for k in points}


def _cells(layout: LossLayout, first: list[arb], second: list[arb], least: list[arb]) -> Masses:
    """Split every cell between its knots; `first` and `second` are P and Q of the noise from t_i on, `least` L(t_i)."""
    knots, step = layout.knots(), arb(layout.step)
    masses = dict.fromkeys(knots, arb(0))
    infinite, raised, negligible = first[-1], arb(0), step * _NEGLIGIBLE
    misplaced: list[tuple[int, arb]] = []
    # The losses of the noise below t_0 are at most L(t_0).
    reached = next((index for index in knots if least[0] <= index * step), None)
    if reached is None:
        infinite += 1 - first[0]
    else:
        masses[reached] += 1 - first[0]
        misplaced.append((reached, 1 - first[0]))
    widths = {upper - lower: -((lower - upper) * step).expm1() for lower, upper in pairwise(knots)}
    for i, (lower, upper) in enumerate(pairwise(knots)):
        here, there = first[i] - first[i + 1], second[i] - second[i + 1]
        knot = lower * step
        short = (knot - least[i]).upper()
        moved = here - knot.exp() * there
        if short > 0:
            # Less is seen under Q than under P times e^(-l_i), which would move more than a split does.
            more = here * short.expm1()
            moved += more
            if short <= negligible:
                misplaced.append((upper, more / widths[upper - lower]))
                raised = raised.max(short)
        moved /= widths[upper - lower]
        # Where it is not certain that the split is one, all goes up.
        if not moved <= here:
            moved = here
            misplaced.append((upper, here))
        masses[lower] += here - moved
        masses[upper] += moved
        if upper - lower > 1 or short > negligible:
            misplaced += [(lower, here - moved), (upper, moved)]
    return Masses(
        step=layout.step,
        masses=masses,
        infinite=infinite,
        certain=arb(0),
        spread=step**2 / 8,
        misplaced=misplaced,
        raised=raised,
    )
