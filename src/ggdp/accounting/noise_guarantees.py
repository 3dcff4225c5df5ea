"""The other direction: the delta of a noise for an epsilon, the epsilon for a delta, each between two proved floats.

What is claimed, and its proof, is in `ggdp.accounting.profile`; here are their grids, and the search for epsilon.

The guarantee of a noise whose scale was chosen by somebody else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp import _validate
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
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.several_coordinates import CornerDelta
from ggdp.proofs.worst_case import Question, require_integers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.noise_law import Support
    from ggdp.proofs.worst_case import Change


MOST_EPSILON = 1e8
EXACT_TOLERANCE = 1e-13
GRID_TOLERANCE = 1e-5
FIRST_STRIDE = 1e-3
SMALLEST = math.ulp(0.0)


def delta_between(noisy: NoisyQuery, epsilon: float) -> Between:
    """Return two floats with delta(epsilon) between them, for any finite epsilon."""
    return lower_delta(noisy, epsilon, with_layout), upper_delta(noisy, epsilon, with_layout)


def epsilon_above(noisy: NoisyQuery, delta: float, *, guess: float = 1.0) -> float:
    """Return the upper end of `epsilon_between`, in less time."""
    if delta == 0.0:
        return pure_between(noisy)[1]
    tolerance = EXACT_TOLERANCE if noisy.is_exact else GRID_TOLERANCE
    several = next((change for change in noisy.case.dominating_at_every_order if not change.is_single), None)
    if not noisy.is_exact and several is not None:
        guess = _estimate(noisy, several, delta, guess)
    return _crossing(lambda eps: upper_delta(noisy, eps, with_layout), delta, guess, tolerance)[1]


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
    tolerance = EXACT_TOLERANCE if noisy.is_exact else GRID_TOLERANCE
    upper = epsilon_above(noisy, delta, guess=guess)
    near = upper if 0.0 < upper < math.inf else guess
    lower, _ = _crossing(lambda eps: lower_delta(noisy, eps, with_layout), delta, near, tolerance)
    return min(lower, upper), upper


def _crossing(delta_at: Callable[[float], float], delta: float, guess: float, tolerance: float) -> Between:
    """Return two epsilons close together, with a falling bound of delta above the level at one and not at the other."""
    failed = 0.0

    def excess(epsilon: float) -> float:
        nonlocal failed
        value = delta_at(epsilon)
        if value > delta:
            failed = max(failed, epsilon)
        # The logarithm only leads the search: passing is decided by the floats themselves.
        distance = math.log(max(value, SMALLEST)) - math.log(max(delta, SMALLEST))
        return max(distance, math.ulp(0.0)) if value > delta else min(distance, 0.0)

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


# A bound that is proved by a convolution is stated a little above what was found.
_ABOVE = 1.0 + 1e-8


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
    if not isinstance(sensitivity, Sensitivity):
        raise ArgumentTypeError("sensitivity", sensitivity, "must be a Sensitivity, such as Sensitivity.disjoint(1)")
    if (delta is None) == (epsilon is None):
        raise ArgumentError("delta", delta, "give either delta or epsilon, and the other one is found")
    law = NoiseLaw(order=order, scale=scale, support=support)
    if support == "integer":
        require_integers(sensitivity)
    noisy = NoisyQuery(law, sensitivity)
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
                f"no epsilon is proved for delta = {slack!r} at order = {law.order!r}; use a larger delta"
            )
        # A guarantee has an epsilon above 0; any epsilon implies a larger one.
        kept = max(kept, math.ulp(0.0))
    if slack == 0.0:
        return PureDP(kept, sensitivity.neighbours)
    return ApproxDP(kept, slack, sensitivity.neighbours)


def calibration_of_law(law: NoiseLaw, sensitivity: Sensitivity, *, delta: float) -> Calibration:
    """Return the calibration of a noise without bounds whose scale is given: what it keeps at a delta, with its proof.

    Raises
    ------
    UnattainableError
        If nothing is proved of it.

    Examples
    --------
    >>> from ggdp import Sensitivity
    >>> law = NoiseLaw(order=3, scale=20.0, support="integer")
    >>> print(calibration_of_law(law, Sensitivity.histogram(), delta=1e-6).guarantee)
    (0.595, 1e-06)-aDP under add-remove neighbours
    """
    kept = guarantee_of(order=law.order, scale=law.scale, sensitivity=sensitivity, support=law.support, delta=delta)
    goal = kept if delta == 0.0 else ApproxDP(kept.epsilon * _ABOVE, delta)
    question = Question(goal=goal, sensitivity=sensitivity, order=law.order, support=law.support)
    for requirement in question.requirements():
        bound = requirement.bound
        if bound.layout_type is None:
            proposal = Proposal(bound, law, bound.enclose(law))
        else:
            laid, bits = with_layout(bound, law)  # type: ignore[arg-type]
            proposal = Proposal(laid, law, laid.at_precision(law, bits))
        if proposal.bound.stated(proposal.found, requirement.target) is not None:
            return calibration_of(question, requirement, proposal, method="tight")
    raise UnattainableError(f"nothing is proved of noise of order {law.order!r} and scale {law.scale!r} for this query")


def delta_of(noise: Calibration, epsilon: float) -> Between:
    """Return two floats with the delta of calibrated noise between them; the body of `Calibration.delta`."""
    at = _validate.finite(epsilon=epsilon)
    if noise.bounding is not None:
        return delta_of_pure(_pure_loss(noise)[1], at)
    return delta_between(NoisyQuery(noise.law, noise.question.sensitivity), at)


def epsilon_of(noise: Calibration, delta: float) -> Between:
    """Return two floats with the epsilon of calibrated noise between them; the body of `Calibration.epsilon`."""
    slack = _validate.probability(delta=delta)
    if noise.bounding is None:
        return epsilon_between(NoisyQuery(noise.law, noise.question.sensitivity), slack, guess=noise.goal.epsilon)
    lower, upper = _pure_loss(noise)
    return (lower, upper) if slack == 0.0 else (0.0, epsilon_of_pure(upper, slack))


def renyi_of(noise: Calibration, alpha: float) -> Between:
    """Return two floats with the Renyi divergence of calibrated noise between them; the body of `Calibration.renyi`."""
    if _validate.finite(alpha=alpha) <= 1.0:
        raise ArgumentError("alpha", alpha, "must be above 1")
    if noise.bounding is not None:
        return 0.0, renyi_of_pure(_pure_loss(noise)[1], alpha).upper
    return renyi_between(NoisyQuery(noise.law, noise.question.sensitivity), float(alpha))


def concentrated_of(noise: Calibration) -> Between:
    """Return two floats with the least rho of calibrated noise between them; the body of `Calibration.concentrated`."""
    if noise.bounding is not None:
        pure = _pure_loss(noise)[1]
        return 0.0, math.nextafter(pure * pure / 2.0, math.inf)
    return concentrated_between(NoisyQuery(noise.law, noise.question.sensitivity))


def _pure_loss(noise: Calibration) -> Between:
    """Return two floats with the pure loss of bounded noise between them, from its certificate."""
    bound = noise.certificate.bound
    loss = bound.enclose(noise.law)
    if bound.exact and not noise.question.joint_binds:
        return loss.lower, loss.upper
    # The loss of one coordinate that changes alone is a lower bound.
    least = 0.0
    for width, size, _ in noise.question.coordinates:
        moved = min(size, noise.question.sensitivity.largest)
        if noise.law.support == "integer":
            moved = float(math.floor(moved))
        if moved > 0.0:
            least = max(least, BoundedLoss(coordinates=((width, moved, 1),), moving=1).enclose(noise.law).lower)
    return min(least, loss.upper), loss.upper
