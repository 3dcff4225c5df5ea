"""The guarantee of a given noise: its delta for an epsilon, the epsilon for a delta, each between two proved floats.

What is claimed, and its proof, is in `ggdp.accounting.profile`; here are the grids, and the search for epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

from attrs import frozen

from ggdp import _validate
from ggdp.accounting.composition import losses_of
from ggdp.accounting.profile import (
    LEAST_EPSILON,
    Between,
    NoisyQuery,
    delta_of_pure,
    epsilon_of_pure,
    lower_delta,
    pure_between,
    upper_delta,
)
from ggdp.accounting.renyi import concentrated_between, renyi_between, renyi_of_pure
from ggdp.calibration.calibration import Calibration, calibration_of
from ggdp.calibration.scale_for_several_coordinates import corner_excess, with_layout
from ggdp.calibration.search import Proposal, passing_end
from ggdp.errors import ArgumentError, ArgumentTypeError, UnattainableError
from ggdp.privacy import ApproxDP, PureDP, Sensitivity
from ggdp.proofs.bounded import BoundedLoss
from ggdp.proofs.losses import CountedLoss
from ggdp.proofs.noise_law import NoiseLaw, Support
from ggdp.proofs.several_coordinates import CornerDelta
from ggdp.proofs.worst_case import Change, Question, require_integers

MOST_EPSILON = 1e8
FIRST_STRIDE = 1e-3
# What noise keeps by itself is stated at this delta.
DELTA = 1e-6


def delta_between(noisy: NoisyQuery, epsilon: float) -> Between:
    """Return two floats with delta(epsilon) between them, for any finite epsilon."""
    return lower_delta(noisy, epsilon, with_layout), upper_delta(noisy, epsilon, with_layout)


def epsilon_above(noisy: NoisyQuery, delta: float, *, guess: float = 1.0) -> float:
    """Return the upper end of `epsilon_between`, in less time."""
    if delta == 0.0:
        return pure_between(noisy)[1]
    several = next((change for change in noisy.case.dominating_at_every_order if not change.is_single), None)
    if not noisy.is_exact and several is not None:
        guess = _estimate(noisy, several, delta, guess)
    return _crossing(noisy, upper_delta, delta, guess)[1]


def _estimate(noisy: NoisyQuery, several: Change, delta: float, guess: float) -> float:
    """Return about eps(delta) of a change, in floats: each evaluation in balls takes a hundred times as long."""

    def fails(epsilon: float) -> bool:
        asked = CornerDelta(corner=several.sizes, epsilon=epsilon)
        return corner_excess(asked, noisy.law, delta, rough=True) > 0.0

    low = high = guess
    if fails(guess):
        while fails(high := 2.0 * (low := high)):
            if high > MOST_EPSILON:
                return guess
    else:
        while not fails(low := 0.5 * (high := low)):
            if low < LEAST_EPSILON:
                return guess
    while high - low > FIRST_STRIDE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fails(middle) else (low, middle)
    return high


def epsilon_between(noisy: NoisyQuery, delta: float, *, guess: float = 1.0) -> Between:
    """Return two floats with eps(delta) between them; infinite where no epsilon has this delta."""
    if delta == 0.0:
        return pure_between(noisy)
    upper = epsilon_above(noisy, delta, guess=guess)
    lower, _ = _crossing(noisy, lower_delta, delta, upper if 0.0 < upper < math.inf else guess)
    return min(lower, upper), upper


def _crossing(noisy: NoisyQuery, bound: Callable[..., float], delta: float, guess: float) -> Between:
    """Return two epsilons close together, with a falling bound of delta above the level at one and not at the other."""
    tolerance, failed = 1e-13 if noisy.is_exact else 1e-5, 0.0

    def excess(epsilon: float) -> float:
        nonlocal failed
        value = bound(noisy, epsilon, with_layout)
        if value > delta:
            failed = max(failed, epsilon)
        # The logarithm only leads the search: passing is decided by the floats themselves.
        least = math.ulp(0.0)
        distance = math.log(max(value, least)) - math.log(max(delta, least))
        return max(distance, least) if value > delta else min(distance, 0.0)

    failing, passing, stride = 0.0, guess, FIRST_STRIDE
    if excess(passing) > 0.0:
        while excess(passing := (failing := passing) * (1.0 + stride)) > 0.0:
            stride *= 8.0
            if passing > MOST_EPSILON:
                return failed, math.inf
    else:
        while excess(below := passing / (1.0 + stride)) <= 0.0:
            passing, stride = below, 8.0 * stride
            if below < LEAST_EPSILON:
                return (failed, below) if excess(0.0) > 0.0 else (0.0, 0.0)
        failing = below
    passing = passing_end(excess, failing, passing, tolerance=tolerance, resolution=1e-15)
    return failed, passing


def guarantee_of(
    *,
    order: float,
    scale: float,
    sensitivity: Sensitivity,
    support: Support = "real",
    delta: float | None = None,
    epsilon: float | None = None,
) -> PureDP | ApproxDP:
    """Return the guarantee that noise of a given order and scale has.

    Parameters
    ----------
    order, scale : float
        Order (at least 1) and scale of the noise. At order 2 the scale is the square root of 2 times sigma.
    sensitivity : Sensitivity
        How far one person can move the query.
    support : {"real", "integer"}, default "real"
        Where the noise lives.
    delta, epsilon : float
        Exactly one of them; the other one is found. With ``delta=0`` the guarantee is pure.

    Returns
    -------
    PureDP or ApproxDP
        The guarantee, proved and rounded up, for the neighbours of the sensitivity.

    Raises
    ------
    ArgumentError
        If an argument is wrong.
    UnattainableError
        If no epsilon has this delta, such as ``delta=0`` at an order above 1.

    Notes
    -----
    Claim and proof: `ggdp.accounting.profile`. It is the least guarantee but for rounding where one coordinate moves,
    and at order 2 on the reals (at an epsilon below 1e-12 delta may be larger by 2e-12); for boxes and cells it is
    larger by 1e-4 or so; where only a norm is known, at other orders, it is an upper bound.
    `Calibration.epsilon` and `Calibration.delta` give lower bounds too.

    This describes a law. Noise on the reals must not be drawn in floating point: `ggdp.Mechanism` draws on a grid.

    Examples
    --------
    >>> import ggdp
    >>> one = ggdp.Sensitivity.disjoint(1)
    >>> print(ggdp.guarantee_of(order=2, scale=2**0.5 * 4.2247, sensitivity=one, delta=1e-6))
    (1, 1e-06)-aDP under add-remove neighbours
    >>> print(ggdp.guarantee_of(order=1, scale=2.0, sensitivity=one, support="integer", delta=0))
    0.5-DP under add-remove neighbours
    """
    if (delta is None) == (epsilon is None):
        raise ArgumentError("delta", delta, "give either delta or epsilon, and the other one is found")
    noisy = _noisy_query(order, scale, sensitivity, support)
    if epsilon is not None:
        kept = _validate.positive(epsilon=epsilon)
        slack = delta_between(noisy, kept)[1]
        if slack >= 1.0:
            raise UnattainableError(
                f"no delta below 1 is proved for epsilon = {kept!r} with this noise; use a larger scale"
            )
    else:
        slack = _validate.probability(delta=delta)
        kept = epsilon_above(noisy, slack)
        if math.isinf(kept):
            raise UnattainableError(
                f"no epsilon is proved for delta = {slack!r} at order = {noisy.law.order!r}; use a larger delta"
            )
        # A guarantee has an epsilon above 0; any epsilon implies a larger one.
        kept = max(kept, math.ulp(0.0))
    if slack == 0.0:
        return PureDP(kept, sensitivity.neighbours)
    return ApproxDP(kept, slack, sensitivity.neighbours)


@frozen(init=False, kw_only=True)
class Noise:
    """Noise of a given order and scale on a query: a part of `ggdp.compose`, and of a ledger.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1: 1 is Laplace, 2 is Gaussian.
    scale, std : float
        Exactly one of them: the scale, or the standard deviation that the noise has on the reals. At order 2 the scale
        is the square root of 2 times the standard deviation.
    sensitivity : Sensitivity
        How much one person can change the query.
    support : {"real", "integer"}, default "real"
        Where the noise lives.

    Notes
    -----
    This describes noise that was added elsewhere, or will be; it draws none. It is composed by the exact losses of its
    worst case (`ggdp.compose`), and `guarantee` is what it keeps by itself.

    Examples
    --------
    >>> import ggdp
    >>> one = ggdp.Sensitivity.disjoint(1)
    >>> laplace = ggdp.Noise(order=1, scale=3, sensitivity=one)
    >>> gaussian = ggdp.Noise(order=2, std=5, sensitivity=one)
    >>> lower, upper = ggdp.compose([(laplace, 40), gaussian]).delta(10)
    >>> print(f"{lower:.7e} {upper:.7e}")
    2.2396632e-06 2.2396632e-06
    """

    order: float
    scale: float
    sensitivity: Sensitivity
    support: Support

    def __init__(
        self,
        *,
        order: float,
        scale: float | None = None,
        std: float | None = None,
        sensitivity: Sensitivity,
        support: Support = "real",
    ) -> None:
        if (scale is None) == (std is None):
            raise ArgumentError("scale", scale, "give either scale or std")
        if scale is None:
            p = _validate.order(order=order)
            scale = _validate.positive(std=std) * math.exp((math.lgamma(1.0 / p) - math.lgamma(3.0 / p)) / 2.0)
        noisy = _noisy_query(order, scale, sensitivity, support)
        self.__attrs_init__(
            order=noisy.law.order, scale=noisy.law.scale, sensitivity=sensitivity, support=noisy.law.support
        )

    @property
    def described(self) -> str:
        """The noise in a few words, such as "Laplace noise of scale 3"."""
        name = {1.0: "Laplace noise", 2.0: "Gaussian noise"}.get(self.order, f"noise of order {self.order:g}")
        return f"{name} of scale {self.scale:g}"

    @cached_property
    def guarantee(self) -> PureDP | ApproxDP:
        """What it keeps by itself: pure DP at order 1, else approximate DP with a delta of 1e-6."""
        delta = 0.0 if self.order == 1.0 else DELTA
        return guarantee_of(
            order=self.order, scale=self.scale, sensitivity=self.sensitivity, support=self.support, delta=delta
        )

    @cached_property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that together dominate it."""
        noisy = _noisy_query(self.order, self.scale, self.sensitivity, self.support)
        return losses_of(noisy.law, noisy.case, self.guarantee)


def _noisy_query(order: float, scale: float, sensitivity: Sensitivity, support: Support) -> NoisyQuery:
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")
    law = NoiseLaw(order=order, scale=scale, support=support)
    if support == "integer":
        require_integers(sensitivity)
    return NoisyQuery(law, sensitivity)


def calibration_of_law(law: NoiseLaw, sensitivity: Sensitivity, *, delta: float) -> Calibration:
    """Return the calibration of unbounded noise whose scale is given: what it keeps at a delta, with its proof."""
    kept = guarantee_of(order=law.order, scale=law.scale, sensitivity=sensitivity, support=law.support, delta=delta)
    # A bound that is proved by a convolution is stated a little above what was found.
    goal = kept if delta == 0.0 else ApproxDP(kept.epsilon * (1.0 + 1e-8), delta)
    question = Question(goal=goal, sensitivity=sensitivity, order=law.order, support=law.support)
    for requirement in question.requirements():
        bound = requirement.bound
        if bound.layout_type is None:
            found = bound.enclose(law)
        else:
            bound, bits = with_layout(bound, law)  # type: ignore[arg-type]
            found = bound.at_precision(law, bits)
        if bound.value_to_state(found, requirement.target) is not None:
            return calibration_of(question, requirement, Proposal(bound, law, found), method="tight")
    raise UnattainableError(f"nothing is proved of noise of order {law.order!r} and scale {law.scale!r} for this query")


def delta_of(noise: Calibration, epsilon: float) -> Between:
    """Return two floats with the delta of calibrated noise between them; the body of `Calibration.delta`."""
    at = _validate.finite(epsilon=epsilon)
    if _is_pure_only(noise):
        return delta_of_pure(_pure_loss(noise)[1], at)
    return delta_between(NoisyQuery(noise.law, noise.question.sensitivity), at)


def epsilon_of(noise: Calibration, delta: float) -> Between:
    """Return two floats with the epsilon of calibrated noise between them; the body of `Calibration.epsilon`."""
    slack = _validate.probability(delta=delta)
    if not _is_pure_only(noise):
        return epsilon_between(NoisyQuery(noise.law, noise.question.sensitivity), slack, guess=noise.goal.epsilon)
    lower, upper = _pure_loss(noise)
    return (lower, upper) if slack == 0.0 else (0.0, epsilon_of_pure(upper, slack))


def renyi_of(noise: Calibration, alpha: float) -> Between:
    """Return two floats with the Renyi divergence of calibrated noise between them; the body of `Calibration.renyi`."""
    if _validate.finite(alpha=alpha) <= 1.0:
        raise ArgumentError("alpha", alpha, "must be above 1")
    if _is_pure_only(noise):
        return 0.0, renyi_of_pure(_pure_loss(noise)[1], alpha).upper
    return renyi_between(NoisyQuery(noise.law, noise.question.sensitivity), float(alpha))


def concentrated_of(noise: Calibration) -> Between:
    """Return two floats with the least rho of calibrated noise between them; the body of `Calibration.concentrated`."""
    if _is_pure_only(noise):
        pure = _pure_loss(noise)[1]
        return 0.0, math.nextafter(pure * pure / 2.0, math.inf)
    return concentrated_between(NoisyQuery(noise.law, noise.question.sensitivity))


def _is_pure_only(noise: Calibration) -> bool:
    """Return whether only the pure loss of noise is known: it is kept in bounds, or of a norm."""
    return noise.bounding is not None or noise.law.norm is not None


def _pure_loss(noise: Calibration) -> Between:
    """Return two floats with the pure loss of such noise between them, from its certificate."""
    bound = noise.certificate.bound
    loss = bound.enclose(noise.law)
    if bound.exact and not noise.question.joint_binds:
        return loss.lower, loss.upper
    if noise.law.norm is not None:
        return 0.0, loss.upper
    # The loss of one coordinate that changes alone is a lower bound.
    least = 0.0
    for width, size, _ in noise.question.coordinates:
        moved = min(size, noise.question.sensitivity.largest)
        if noise.law.support == "integer":
            moved = float(math.floor(moved))
        if moved > 0.0:
            least = max(least, BoundedLoss(coordinates=((width, moved, 1),), moving=1).enclose(noise.law).lower)
    return min(least, loss.upper), loss.upper
