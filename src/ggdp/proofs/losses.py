"""Losses of mechanisms, discretized and added: of coordinates that move, and of what is known by its guarantee.

Claim. If the laws of the noise do not depend on earlier results, the queries may be chosen adaptively: the pair of
products of dominating pairs dominates the whole, so that the losses add up as independent ones (Dong, Roth and Su, JRSS
B 2022, Theorem 4; Zhu, Dong and Wang, AISTATS 2022, Theorem 10). The far corner of a query is a dominating pair for
approximate DP (`ggdp.proofs.several_coordinates`); a mechanism known by its guarantee has randomized response as one.

Claim (infinite losses). Where losses are infinite with the probability q, independently of the rest, and finite ones
have delta' at an epsilon, the total has delta = q + (1 - q) delta'. A loss that is either 0 or infinite is an upper
bound only: keys above a threshold are one (`ggdp.TablePlan.losses`), and no mechanism need attain it as well as its
noise.

Losses are moved to the knots of a grid, so that the masses there dominate them:

=========  ====================================================================================================
h          step of the grid; the knots l_i are multiples of h, some of them left out
P, Q       laws of the noise and of the shifted noise; dQ = e^(-L) dP
t_i        a point at or just below which the loss L passes the knot l_i (on the integers: an integer)
b, D       scale, and how far the coordinate moves; at order 1, d = D/b is the largest loss
u          the least index with u h >= d
delta(x)   the delta of one coordinate at any x, also below 0; at order 1 it is 0 from d on, 1 - e^x up to -d
=========  ====================================================================================================

Claim. The masses dominate the loss in the sense of `ggdp.proofs.loss_distribution`. Proof: cell i holds the noise
between t_i and t_(i+1), whose losses are between L(t_i) and l_(i+1). Losses below l_i are raised to l_i, by at most
l_i - L(t_i). The masses under P and Q of the cell then say how much of it a split moves to l_(i+1): splits keep the
mass and the mean of e^(-loss). A smaller mass under Q moves more to the upper knot, down to all of it. Mass below the
lowest t_i is raised to the first knot that is certainly not below its losses, mass above the highest to infinity. Where
no noise is known to have a loss as low as a knot, its t_i is the lowest of all, and the cells below it are empty.
Single losses of a narrow law on the integers are split one by one.

A mechanism known only by (epsilon, delta) is dominated by randomized response of epsilon with a mass of delta at an
infinite loss (Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.3; Murtagh and Vadhan, TCC 2016, Lemma 3.2).

At order 1 there is a closed form: a few balls, however many knots there are.

Claim (order 1, reals). Between -d and d, delta(x) = 1 - e^((x - d)/2): the loss is above x if the noise is above
z = (x - d) b/2, which is at most 0, and delta(x) = P(X > z) - e^x P(X > z + D) = 1 - e^(z/b)/2 - e^(x - z/b - d)/2.

Claim (order 1, integers). At the losses x = d - 2j/b, j from 0 to D, delta is the same: with k = -j,
P(K >= k) - e^x P(K >= k + D) = 1 - q^(1+j)/(1+q) - q^j/(1+q) = 1 - q^j with q = e^(-1/b). There are no other losses, so
that between them delta is linear in e^x. The delta of the reals is convex in e^x, so it is not above that of the
integers. Let x_0 be such a loss, r = e^(1/b) and x = x_0 + 2 log t with t from 1 to r: e^((x_0 - d)/2) times
(r + t^2)/(r + 1) is subtracted from 1 on the integers, where t is on the reals. Their ratio is least at t = r^(1/2),
where it is 1 / cosh(1/(2b)). So the delta of the integers is at most that of the reals with
d' = d + 2 log cosh(1/(2b)), which is at most d + 1/(4 b^2), in place of d. (Below -d: 1 - e^x <= 1 - e^((x - d')/2) for
x >= -d'.) A pair with a larger delta at every x dominates, also in sums (Zhu, Dong and Wang, AISTATS 2022, Theorem 10).

Claim (order 1, masses). Split between neighboring knots, the loss has the same delta at every knot, and between them
one that is linear in e^x. The mass on a knot is e^(l_j) times the rise of the slope there:

- tanh(h/4) e^((l_j - d)/2) for |j| <= u - 2: they are in geometric progression;
- f / (1 - e^-h) on l_u, with f = 1 - e^((l_(u-1) - d)/2), the delta at l_(u-1);
- e^((l_(u-1) - d)/2) / (1 + e^(-h/2)) - f / (e^h - 1) on l_(u-1);
- e^(-l_j) times the mass on l_j on l_(-j).

Rounding: d is rounded up to a ball of one point, and d' is counted as `raised`: with the same noise the loss for d' is
above that for d by at most d' - d.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count as numbers
from itertools import pairwise
from typing import Any, Self, TypeAlias

from flint import arb, ctx

from ggdp import _validate
from ggdp._work import spend
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import require_unbounded
from ggdp.proofs.layouts import MOST_KNOTS, CornerLayout, LossLayout
from ggdp.proofs.loss_distribution import GeometricMasses, LossDistribution, Masses, add, repeat, weigh
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.one_coordinate import POWERS, crossing_estimates, loss, loss_estimate
from ggdp.proofs.tails import normaliser, partial_sum, survivals, tail_sum, tail_sums

# What a record has of a law of noise.
_NOISE = ("order", "scale", "support")
# The cells of the largest table, each of them in 10^9 releases.
MOST_LOSSES = 10**27
# More are not added on a grid: it would take long, and hardly any total of so many keeps anything.
MOST_ADDED = 10**12


@dataclass(frozen=True, slots=True)
class CoordinateLoss:
    """The loss of a coordinate that moves by `size` under noise of a law, without bounds."""

    law: NoiseLaw
    size: float

    def __post_init__(self) -> None:
        if not isinstance(self.law, NoiseLaw):
            raise ArgumentError("law", self.law, "must be a law of noise")
        require_unbounded(self.law)
        size = _validate.positive(size=self.size)
        if self.law.support == "integer" and not size.is_integer():
            raise ArgumentError("size", size, "on the integers sizes must be whole numbers")


@dataclass(frozen=True, slots=True)
class ResponseLoss:
    """The largest loss of a mechanism of which only (epsilon, delta) is known."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if _validate.finite(epsilon=self.epsilon) < 0.0:
            raise ArgumentError("epsilon", self.epsilon, "must be at least 0")
        _validate.probability(delta=self.delta)


Loss: TypeAlias = CoordinateLoss | ResponseLoss


@dataclass(frozen=True, slots=True)
class CountedLoss:
    """A loss, and how many independent ones there are of it."""

    loss: Loss
    count: int

    def __post_init__(self) -> None:
        _validate.integer(count=self.count, at_least=1, at_most=MOST_LOSSES)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, ready for JSON."""
        if isinstance(self.loss, ResponseLoss):
            return {"kind": "response", **asdict(self.loss), "count": self.count}
        noise = {name: getattr(self.loss.law, name) for name in _NOISE}
        return {"kind": "noise", **noise, "size": self.loss.size, "count": self.count}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the losses that `to_dict` wrote."""
        names = {"response": ("epsilon", "delta"), "noise": (*_NOISE, "size")}
        kind = record.get("kind") if isinstance(record, Mapping) else None
        if kind not in names or set(record) != {"kind", "count", *names[kind]}:
            raise ArgumentError("losses", record, "is not a record of losses")
        if kind == "response":
            return cls(ResponseLoss(record["epsilon"], record["delta"]), record["count"])
        return cls(CoordinateLoss(NoiseLaw(**{name: record[name] for name in _NOISE}), record["size"]), record["count"])


def total_loss(losses: Sequence[CountedLoss], layout: CornerLayout) -> LossDistribution:
    """Add all losses, each discretized on its grid.

    Rounding: see `ggdp.proofs.loss_distribution`; the layout decides how tight the bounds are, never whether they hold.
    """
    _validate.integer(count=sum(counted.count for counted in losses), at_least=1, at_most=MOST_ADDED)
    # The sum of n copies of each of several losses is n copies of their sum, which takes fewer additions.
    together: dict[tuple[int, float], list[LossDistribution]] = {}
    for counted, grid in zip(losses, layout.sizes, strict=True):
        one = counted.loss
        if isinstance(one, ResponseLoss):
            masses = discretize_response(one.epsilon, one.delta, grid.step)
        else:
            masses = discretize_coordinate(one.law, one.size, grid)
        together.setdefault((counted.count, grid.step), []).append(weigh(masses, layout.tilt))
    sums = [
        repeat(_sum(equal, layout), count, tail=layout.tail, points=layout.points)
        for (count, _), equal in together.items()
    ]
    return _sum(sums, layout)


def _sum(losses: list[LossDistribution], layout: CornerLayout) -> LossDistribution:
    """Add losses, always the two narrowest ones."""
    order = numbers()
    heap = [(loss.step * loss.points, next(order), loss) for loss in losses]
    heapq.heapify(heap)
    while len(heap) > 1:
        (_, _, first), (_, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        total = add(first, second, tail=layout.tail, points=layout.points)
        heapq.heappush(heap, (total.step * total.points, next(order), total))
    return heap[0][2]


# Noise beyond |x|^p = 220 has a probability below e^-220, and is left out.
_FAR = 220.0
# Near order 1 no noise of any weight has a loss as low as the lowest knots: it is cut off here instead.
_FARTHEST = 1e3
# From here on, and from this scale on, tails are found many at a time.
_FAR_OUT = 4096
# Units of work of a knot.
KNOT = 2


def discretize_laplace(law: NoiseLaw, shift: float, layout: LossLayout) -> Masses | None:
    """Discretize the loss of a coordinate that moves by `shift`; None without a closed form that is tight."""
    if law.order != 1.0:
        return None
    # On the integers few losses are moved one by one. Where scale times step, whose square may be beyond the floats, is
    # at least the root of 2, d' - d is at most h^2 / 8, which bounds what a split adds to a loss.
    if law.support == "integer" and (shift < 4096 or law.scale * layout.step < 1.4143):
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
    raised, spread = d - exact, h**2 / 8
    return Masses(step=layout.step, masses=masses, spread=spread, misplaced=misplaced, raised=raised, run=run)


def discretize_coordinate(law: NoiseLaw, shift: float, layout: LossLayout) -> Masses:
    """Discretize the loss of a coordinate that moves by `shift`, in the unit of the scale."""
    spend(KNOT * len(layout.knots()), ctx.prec)
    closed = discretize_laplace(law, shift, layout)
    if closed is not None:
        return closed
    if law.support == "real":
        return _cells(layout, *_real_tails(law, shift, layout))
    whole, knots = int(shift), layout.high - layout.low
    if law.order == 1.0:
        # A grid that was cut below has still room for all of them: no loss is below the negative of the largest.
        room = max(knots, 2 * layout.high)
        if 2 * whole <= room and 2.0 * shift / law.scale <= room * layout.step:
            # All noise from 0 on has one loss, and all noise up to -shift another.
            b, tail = arb(law.scale), integer_tail(law, range(1 - whole, 1))
            inner = [((2 * k + whole) / b, tail[k] - tail[k + 1]) for k in range(1 - whole, 0)]
            atoms = [(-whole / b, 1 - tail[1 - whole]), *inner, (whole / b, tail[0])]
            return _atoms(layout.step, atoms)
    else:
        low, high = (_noise_at(law, whole, layout.step * end) for end in (layout.low, layout.high))
        if high - low <= knots:
            # The loss of `high` may be far above the highest knot.
            high = max(high - 1, low)
            p, normal = arb(law.order), normaliser(law.order, law.scale)
            unit = arb(law.scale) ** p
            powers = {k: arb(k) ** p / unit for k in {abs(k) for k in range(low, high + whole + 1)}}
            places = [(powers[abs(k)], powers[abs(k + whole)]) for k in range(low, high + 1)]
            atoms = [(moved - here, (-here).exp() / normal) for here, moved in places]
            tail = integer_tail(law, {low, high + 1})
            return replace(_atoms(layout.step, atoms, 1 - tail[low]), infinite=tail[high + 1])
    return _cells(layout, *_integer_tails(law, whole, layout))


def discretize_response(epsilon: float, delta: float, step: float) -> Masses:
    """Discretize the loss of randomized response, with a mass of delta at infinity."""
    if not epsilon <= MOST_KNOTS * step:
        raise ArgumentError("step", step, f"must be at least a part of {MOST_KNOTS:,} of epsilon = {epsilon!r}")
    e = arb(epsilon)
    truth, finite = 1 / (1 + (-e).exp()), 1 - arb(delta)
    atoms = [(-e, (1 - truth) * finite), (e, truth * finite)]
    return replace(_atoms(step, atoms), infinite=arb(delta), certain=arb(delta))


def _atoms(step: float, atoms: list[tuple[arb, arb]], below: arb | None = None) -> Masses:
    """Split losses with their masses, in rising order, between neighboring knots; mass below goes to the first."""
    h = arb(step)
    width = (-h).expm1()
    # A loss this close to a knot belongs on it.
    raised, spread, on_knot = arb(0), arb(0), h * 2.0**-40
    masses: defaultdict[int, arb] = defaultdict(arb)
    misplaced: list[tuple[int, arb]] = []
    for value, mass in atoms:
        top = value.upper()
        raised = raised.max(top - value.lower())
        index = math.floor(float(top / h))
        while not index * h <= top:
            index -= 1
        # For certain not above the upper knot; below the lower one it is raised to it.
        while not top <= (index + 1) * h:
            index += 1
        share = (index * h - top).expm1() / width
        if not share >= 0:
            share, raised = arb(0), raised.max(index * h - value.lower())
        if (index + 1) * h - top <= on_knot:
            # On the upper knot but for rounding: raised to it, rather than split over a whole step.
            raised = raised.max((index + 1) * h - value.lower())
            masses[index + 1] += mass
            continue
        masses[index] += mass - mass * share
        masses[index + 1] += mass * share
        if top - index * h <= on_knot:
            # On the lower knot but for rounding: what a split moves up is misplaced, the rest is not above the truth.
            misplaced.append((index + 1, mass * share))
        else:
            spread = spread.max((index + share) * h - top)
    if below is not None:
        first = min(masses) + 1
        masses[first] += below
        misplaced.append((first, below))
    return Masses(step=step, masses=masses, spread=spread, misplaced=misplaced, raised=raised)


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
        return (arb(abs(k + shift)) ** p - arb(abs(k)) ** p) / unit

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
    spend(10 * len(knots), ctx.prec)
    found = crossing_estimates(law.order, d, [h * index for index in knots], far=_FAR ** (1.0 / law.order))
    if law.order == 1.0:
        # A knot at the one loss of all noise above 0, but for rounding, belongs at 0.
        found = [0.0 if abs(h * index / d - 1.0) < 1e-12 else z for index, z in zip(knots, found, strict=True)]
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
        # Points so close share their far part: a sum afresh costs as much as some dozens of terms.
        near = 0 < last - k <= 100
        total = total + partial_sum(p, b, k, last - 1) if near else tail_sum(p, b, k)
        sums[k], last = total, k
    return {k: sums[k] / normal if k > 0 else 1 - sums[1 - k] / normal for k in points}


def _cells(layout: LossLayout, first: list[arb], second: list[arb], least: list[arb]) -> Masses:
    """Split every cell between its knots; `first` and `second` are P and Q of the noise from t_i on, `least` L(t_i)."""
    knots, step = layout.knots(), arb(layout.step)
    masses = dict.fromkeys(knots, arb(0))
    # Losses that are raised by more than what is negligible are counted as misplaced.
    infinite, raised, negligible = first[-1], arb(0), step * 2.0**-20
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
    spread = step**2 / 8
    return Masses(step=layout.step, masses=masses, infinite=infinite, spread=spread, misplaced=misplaced, raised=raised)
