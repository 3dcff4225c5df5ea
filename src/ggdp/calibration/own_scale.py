"""The guarantee of a noise whose scale was chosen by somebody else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp.calibration.calibration import Calibration, calibration_of
from ggdp.calibration.privacy_profile import delta_between, epsilon_above
from ggdp.calibration.scale_for_several_coordinates import laid_out
from ggdp.calibration.search import Proposal
from ggdp.errors import ArgumentError, ArgumentTypeError, UnattainableError
from ggdp.privacy import ApproxDP, PureDP, Sensitivity
from ggdp.proofs.corner import CornerDelta
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.profile import NoisyQuery
from ggdp.proofs.requirements import Question, require_integers

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import Support

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
    Claim and proof: `ggdp.proofs.profile`. It is the least guarantee but for rounding where one coordinate moves,
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
            message = f"no delta below 1 is proved for epsilon = {kept!r} with this noise; use a larger scale"
            raise UnattainableError(message)
    else:
        slack = _validate.probability(delta=delta)
        kept = epsilon_above(noisy, slack)
        if math.isinf(kept):
            message = f"no epsilon is proved for delta = {slack!r} at order = {law.order!r}; use a larger delta"
            raise UnattainableError(message)
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
        if isinstance(bound, CornerDelta):
            laid, bits = laid_out(bound, law)
            proposal = Proposal(laid, law, laid.at_precision(law, bits))
        else:
            proposal = Proposal(bound, law, bound.enclose(law))
        if proposal.bound.stated(proposal.found, requirement.target) is not None:
            return calibration_of(question, requirement, proposal, method="tight")
    message = f"nothing is proved of noise of order {law.order!r} and scale {law.scale!r} for this query"
    raise UnattainableError(message)
