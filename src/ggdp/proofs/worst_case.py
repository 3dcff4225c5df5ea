"""How far some allowed move is known to go, beside how far all of them go at most.

`Sensitivity.lp` is an upper bound of the norms of all moves. Where a joint norm binds, or where only whole numbers
move, no move may reach it; a lower bound of a loss must not use it then.

What has to be proved for a goal: from goal, sensitivity and kind of noise to bounds with their parameters.

==========================================  ================================================================
pure, or delta = 0                          order 1: Laplace with the l_1 norm; above 1 it does not exist
one coordinate moves                        the exact delta of the shift
order 2 on the reals                        the same with the l_2 norm: Gaussian noise is rotation invariant
order 2 on the integers, a joint norm       the l_2 norm, by comparison with continuous noise: an upper bound
several coordinates, approximate            the corner, by convolution; at order 1 pure DP where that is as good
several coordinates, probabilistic          the paper's sum of absolute losses, by convolution: an upper bound
only an l_q norm, approximate               one coordinate that moves by the l_1 norm; exact for q = 1
only an l_q norm                            order 1, 2 as above; on the reals also the direction-free bound
several coordinates, no search ends         each coordinate alone, with its share of epsilon and delta: an upper bound
bounds                                      pure loss of the bounded law
==========================================  ================================================================

References
----------
Liu, arXiv 1602.06028 v5, Claim 4 (no pure DP without bounds), Cor. GGMpDP. Corner for aDP: the trade-off function of a
product is the tensor product of its factors', and each factor's is monotone in its shift since the noise is log-concave
(Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, Prop. D.1 and A.3).

All bounds by which a scale can be proved, by the names in certificates.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import upper_float
from ggdp.errors import ArgumentError, CertificateError, UnattainableError, UnprovedError
from ggdp.privacy.guarantees import ApproxDP, ProbabilisticDP, PureDP
from ggdp.proofs.bounded import BoundedJointLoss, BoundedLoss
from ggdp.proofs.layouts import MOST_MOVING
from ggdp.proofs.norms import IntegerGaussianDelta, RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss, ShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta

if TYPE_CHECKING:
    from ggdp.privacy.guarantees import Guarantee
    from ggdp.privacy.sensitivity import Sensitivity
    from ggdp.proofs.bound import Bound
    from ggdp.proofs.bounded import Coordinate
    from ggdp.proofs.certificate import Certificate
    from ggdp.proofs.noise_law import Bounding, Support


# A norm that is rounded up by some ulps is attained to within this share.
ATTAINED = 1.0 - 2.0**-40


def joint_binds(query: Sensitivity) -> bool:
    """Return whether a joint norm may exclude the far corner of the box."""
    return query.joint is not None and (
        query.kind == "norm" or replace(query, joint=None).lp(query.joint[0]) > query.joint[1]
    )


def most_l1(query: Sensitivity, support: str) -> float:
    """Return a positive upper bound of the l_1 norm of all moves; that of whole moves is a whole number."""
    size = query.lp(1)
    return float(math.floor(size)) if support == "integer" and size >= 1.0 else size


def attained_norm(query: Sensitivity, p: float, support: str) -> float:
    """Return a float that the l_p norm of some allowed move is not below, rounded down.

    Claim: without a binding joint norm the corner is a move. On the reals a joint norm of the same order is reached by
    a multiple of the corner, and a norm alone by a move of one coordinate or of all of them equally. The l_1 norm of
    whole moves grows in steps of 1, up to the least of the joint norm and the corner. Every coordinate can move alone.
    """
    if not joint_binds(query):
        return query.lp(p) * ATTAINED
    assert query.joint is not None
    q, bound = query.joint
    if support == "real" and (q == p if query.kind == "box" else query.sizes[0] == bound):
        return query.lp(p) * ATTAINED
    if support == "integer" and q == p == 1.0:
        corner = sum((Fraction(math.floor(size)) * count for size, count in query.corner), Fraction(0))
        reached = min(Fraction(math.floor(bound)), corner)
        return float(reached) if Fraction(float(reached)) <= reached else math.nextafter(float(reached), 0.0)
    return float(math.floor(query.largest)) if support == "integer" else query.largest


def is_reached(query: Sensitivity, p: float, support: str) -> bool:
    """Return whether some move reaches the upper bound of the l_p norm that proofs use, but for rounding."""
    most = most_l1(query, support) if p == 1.0 else query.lp(p)
    return attained_norm(query, p, support) >= most * ATTAINED


# An integer above it is not every float's neighbour any more: sums of such sensitivities would not be exact.
LARGEST_INTEGER = 2.0**53
# The loss of wider bounds is not computed in a reasonable time.
WIDEST = 1e25
# Below this relative distance a smaller scale than that of pure DP is not worth its convolution.
LEAST_GAIN = 1e-4
NOT_REACHED = (
    "upper bound: the {} norm of the change is bounded by way of its joint norm, and no change is known that reaches "
    "this bound"
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound and the target for its quantity: a scale at which the bound reaches the target keeps the goal.

    `note` says why the scale need not be the least; None where it is. Where the bound is about one of several
    coordinates with its share of epsilon and delta, `shares` is their number.
    """

    bound: Bound
    target: float
    note: str | None = None
    shares: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a calibration is asked for: a goal for a query, and the kind of noise without its scale.

    Attributes
    ----------
    goal : PureDP, ProbabilisticDP or ApproxDP
        What must be kept.
    sensitivity : Sensitivity
        How far one person can move the query.
    order : float
        Order of the noise.
    support : {"real", "integer"}
        Where the noise lives.
    bounds : tuple of (lower, upper), optional
        Public bounds of query and output.
    bounding : {"truncated", "boundary-inflated"}, optional
        How the output is kept in `bounds`.
    """

    goal: Guarantee
    sensitivity: Sensitivity
    order: float
    support: Support = "real"
    bounds: tuple[tuple[float, float], ...] | None = None
    bounding: Bounding | None = None

    def requirements(self) -> list[Requirement]:
        """Return the bounds of which each would prove the goal; the one with the least scale wins.

        Raises
        ------
        UnattainableError
            If the goal does not exist for this noise.
        UnprovedError
            If no bound for it is known.
        """
        if self.support == "integer":
            require_integers(self.sensitivity)
        if self.bounds is not None and self.bounding is not None:
            return self._bounded(self.bounds, self.bounding)
        if self.goal.delta == 0.0:
            if self.order != 1.0:
                message = (
                    f"pure DP (delta = 0) does not exist for unbounded noise of order = {self.order!r} above 1: the "
                    "loss grows without bound with the noise. Use order = 1 (Laplace), or a goal with delta above 0, "
                    "or bounds with bounding = 'truncated' or 'boundary-inflated'"
                )
                raise UnattainableError(message)
            return [self._laplace()]
        if self.sensitivity.moving == 1 or (self.order == 2.0 and self.support == "real"):
            return [self._shift()]
        if self.order == 1.0:
            if self.goal.notion == "probabilistic":
                return [self._laplace()]
            if self.sensitivity.kind == "norm":
                return [self._l1_norm(), self._laplace()]
            return [self._laplace()] if self._pure_is_least() else [self._corner(), self._laplace()]
        return self._several()

    def fallbacks(self) -> list[Requirement]:
        """Return bounds that prove the goal with a larger scale, for when no search by `requirements` ends.

        Claim. If each of m coordinates alone is (epsilon/m, delta/m)-DP for every move up to the largest size, all of
        them together are (epsilon, delta)-DP. Proof: basic composition of independent noises for approximate DP; for
        probabilistic DP the losses add up to more than epsilon only where one of them is above epsilon/m.
        """
        sensitivity, many = self.sensitivity, self.sensitivity.moving
        convolved = self.bounding is None and self.order > 1.0 and sensitivity.kind != "norm" and many > 1
        if not convolved or self.goal.delta == 0.0:
            return []
        epsilon, delta = (_share(value, many) for value in (self.goal.epsilon, self.goal.delta))
        if not (epsilon > 0.0 and delta > 0.0):
            return []
        notion = ProbabilisticDP if self.goal.notion == "probabilistic" else ApproxDP
        alone = replace(self, goal=notion(epsilon, delta))
        note = (
            f"upper bound: each of the {many} coordinates keeps its share of epsilon and delta on its own, since no "
            "scale was found by adding up their losses"
        )
        return [Requirement(alone._delta_of(sensitivity.largest), delta, note, many)]

    def accepted(self) -> list[Requirement]:
        """Return all requirements that a certificate for the goal may be about, those of stronger goals included.

        Probabilistic DP implies approximate DP, and the paper's formulas go by it; pure DP implies both.
        """
        found = [*self.requirements(), *self.fallbacks()]
        if self.bounding is not None:
            return found
        stronger: list[Guarantee] = []
        if isinstance(self.goal, ApproxDP) and self.goal.delta > 0.0:
            stronger.append(ProbabilisticDP(self.goal.epsilon, self.goal.delta))
        if self.order == 1.0:
            stronger.append(PureDP(self.goal.epsilon))
        for goal in stronger:
            try:
                found += Question(
                    goal=goal, sensitivity=self.sensitivity, order=self.order, support=self.support
                ).requirements()
            except UnprovedError:
                continue
        return found

    def _several(self) -> list[Requirement]:
        """Return the bounds for several moving coordinates at an order above 1, but for order 2 on the reals."""
        sensitivity, approximate = self.sensitivity, self.goal.notion == "approximate"
        found = []
        if sensitivity.kind != "norm":
            found.append(self._corner() if approximate else self._absolute_sum())
        if sensitivity.joint is not None and approximate:
            found.append(self._l1_norm())
        if sensitivity.joint is not None and self.support == "real":
            found.append(self._radial())
        if sensitivity.joint is not None and self.support == "integer" and self.order == 2.0 and approximate:
            found.append(self._integer_gaussian())
        if not found:
            message = (
                f"on the integers no bound is known for {self.goal.notion} DP with noise of order = {self.order!r} "
                "when only an l_p norm of the change is. Give per-coordinate sensitivities (Sensitivity.box or "
                "Sensitivity.cells), or use order = 1, or an ApproxDP goal"
            )
            raise UnprovedError(message)
        return found

    def _pure_is_least(self) -> bool:
        """Return whether at order 1 no scale 1e-4 below that of pure DP, Delta_1/eps, can keep an approximate goal.

        With probability 2^-r or more all r coordinates' noises are on the side where the loss is Delta_1/b, so delta is
        at least 2^-r (1 - e^(eps - Delta_1/b)), which falls as b grows. The corner is then not worth its convolution.
        """
        least = -math.expm1(-LEAST_GAIN * self.goal.epsilon) * 0.5**self.sensitivity.moving
        return least > self.goal.delta

    def _laplace(self) -> Requirement:
        note = None
        if self.goal.delta > 0.0:
            note = (
                "upper bound: at order 1 this is the scale of pure DP, which is more than the goal asks for; with "
                "several moving coordinates no smaller scale is known to be sound, or none is smaller by more than 1e-4"
            )
        elif not is_reached(self.sensitivity, 1.0, self.support):
            note = NOT_REACHED.format("l_1")
        return Requirement(LaplaceLoss(sensitivity=most_l1(self.sensitivity, self.support)), self.goal.epsilon, note)

    def _shift(self) -> Requirement:
        sensitivity = self.sensitivity
        size = sensitivity.largest if sensitivity.moving == 1 else sensitivity.lp(2)
        reached = sensitivity.moving == 1 or is_reached(sensitivity, 2.0, self.support)
        return Requirement(self._delta_of(size), self.goal.delta, None if reached else NOT_REACHED.format("l_2"))

    def _delta_of(self, size: float) -> Bound:
        """Return the exact delta of one coordinate that moves by `size`, on the integers by its whole part."""
        notion, epsilon = self.goal.notion, self.goal.epsilon
        if self.support == "integer":
            return IntegerShiftDelta(notion=notion, sensitivity=max(int(size), 1), epsilon=epsilon)  # type: ignore[arg-type]
        return ShiftDelta(notion=notion, sensitivity=size, epsilon=epsilon)  # type: ignore[arg-type]

    def _l1_norm(self) -> Requirement:
        """Return the delta of one coordinate that moves by the l_1 norm of the whole move."""
        bound = self._delta_of(most_l1(self.sensitivity, self.support))
        note = None
        if self.sensitivity.kind != "norm" or not is_reached(self.sensitivity, 1.0, self.support) or not self._alone():
            note = (
                "upper bound: the move is taken as one of a single coordinate by its l_1 norm, and no change is known "
                "that is as easy to detect"
            )
        return Requirement(bound, self.goal.delta, note)

    def _alone(self) -> bool:
        """Return whether one coordinate alone can move by the whole l_1 norm."""
        joint = self.sensitivity.joint
        return joint is not None and joint[0] == 1.0 and self.sensitivity.sizes[0] == joint[1]

    def _integer_gaussian(self) -> Requirement:
        bound = IntegerGaussianDelta(
            sensitivity=self.sensitivity.lp(2), dimension=self.sensitivity.moving, epsilon=self.goal.epsilon
        )
        note = (
            "upper bound: only the l_2 norm of the change is used, by comparison with continuous Gaussian noise; where "
            "the norm is many steps, the scale is larger than the least by a fraction of a percent"
        )
        return Requirement(bound, self.goal.delta, note)

    def _corner(self) -> Requirement:
        _require_few(self.sensitivity)
        return Requirement(CornerDelta(corner=self.sensitivity.corner, epsilon=self.goal.epsilon), self.goal.delta)

    def _absolute_sum(self) -> Requirement:
        _require_few(self.sensitivity)
        bound = AbsoluteSumDelta(
            corner=self.sensitivity.corner,
            epsilon=self.goal.epsilon,
            joint=None if self.sensitivity.joint is None else self.sensitivity.lp(self.order),
        )
        note = (
            "upper bound: for probabilistic DP with several moving coordinates the worst direction is not known, so "
            "this is the paper's bound, not the least scale"
        )
        return Requirement(bound, self.goal.delta, note)

    def _radial(self) -> Requirement:
        bound = RadialDelta(
            sensitivity=self.sensitivity.lp(self.order), dimension=self.sensitivity.moving, epsilon=self.goal.epsilon
        )
        note = (
            f"upper bound: with only an l_p norm of the change the worst direction at order {self.order:.12g} is not "
            "known, so this is the direction-free bound; per-coordinate sensitivities give a smaller scale"
        )
        return Requirement(bound, self.goal.delta, note)

    def _bounded(self, bounds: tuple[tuple[float, float], ...], bounding: Bounding) -> list[Requirement]:
        """Return the bounds for noise kept in bounds: the exact loss, and with a joint norm the paper's Eqn b1 too."""
        goal, sensitivity = self.goal, self.sensitivity
        if goal.delta > 0.0:
            message = (
                f"bounded noise is calibrated for pure DP, not for {goal}. Ask for PureDP({goal.epsilon!r}), which "
                "implies it; or add unbounded noise for this goal and clip the result, which keeps approximate DP"
            )
            raise UnprovedError(message)
        for low, high in bounds if self.support == "integer" else ():
            if not (low.is_integer() and high.is_integer()):
                raise ArgumentError("bounds", (low, high), "on the integers both ends must be whole numbers")
        coordinates = paired(sensitivity, bounds)
        note = None
        if joint_binds(sensitivity):
            note = "upper bound: the joint norm is not used, each coordinate is taken to move as far as it can alone"
        found = [Requirement(BoundedLoss(coordinates=coordinates, moving=sensitivity.moving), goal.epsilon, note)]
        if bounding == "truncated" and sensitivity.joint is not None:
            joint = BoundedJointLoss(
                coordinates=coordinates, moving=sensitivity.moving, joint=sensitivity.lp(self.order)
            )
            note = "upper bound: the paper's Eqn b1 for a joint norm, not the least scale"
            found.append(Requirement(joint, goal.epsilon, note))
        return found


def proved_guarantee(question: Question, certificate: Certificate) -> Guarantee:
    """Return the guarantee that a certificate proves for a question, under the neighbours of the sensitivity.

    The certificate itself is not proved here.

    Raises
    ------
    CertificateError
        If the certificate is not about the question.
    """
    shares = [
        requirement.shares
        for requirement in question.accepted()
        if requirement.bound == certificate.bound.claim
        and requirement.target == certificate.target
        and (certificate.tight is None or requirement.note is None)
    ]
    if not shares:
        message = "the certificate is not about this calibration; use ggdp.calibrate to make one"
        raise CertificateError(message)
    goal, neighbours = question.goal, question.sensitivity.neighbours
    if max(shares) > 1:
        # What is proved of one coordinate is a share of the goal.
        return goal.under(neighbours)
    if certificate.quantity == "epsilon":
        return PureDP(certificate.proved, neighbours)
    if certificate.proved == 0.0:
        return PureDP(goal.epsilon, neighbours)
    notion = ProbabilisticDP if goal.notion == "probabilistic" else ApproxDP
    return notion(goal.epsilon, certificate.proved, neighbours)


def _share(value: float, many: int) -> float:
    """Return the largest float, or one next to it, of which `many` times is at most a value."""
    share = value / many
    return share if many * Fraction(share) <= Fraction(value) else math.nextafter(share, 0.0)


def require_integers(sensitivity: Sensitivity) -> None:
    """Refuse sensitivities of coordinates that are not whole numbers; a norm of whole numbers need not be one."""
    for size in sensitivity.sizes:
        if not (size.is_integer() or sensitivity.kind == "norm") or size > LARGEST_INTEGER:
            raise ArgumentError(
                "sensitivity",
                size,
                "on the integers it must be a whole number of at most 2^53; scale the query, or use support = 'real'",
            )


def _require_few(sensitivity: Sensitivity) -> None:
    if sensitivity.moving > MOST_MOVING:
        raise ArgumentError(
            "sensitivity",
            str(sensitivity),
            f"more than {MOST_MOVING:,} coordinates that move at once are not convolved; use order = 2 on the reals, "
            "where the l_2 norm is enough, or order = 1 with a pure goal",
        )


def paired(sensitivity: Sensitivity, bounds: tuple[tuple[float, float], ...]) -> tuple[Coordinate, ...]:
    """Return (width, sensitivity, how many) of each kind of coordinate; one pair of bounds serves all coordinates."""
    if sensitivity.kind == "norm":
        message = (
            "bounded noise needs per-coordinate sensitivities: use Sensitivity.box or Sensitivity.cells, not a norm"
        )
        raise UnprovedError(message)
    # Rounding up is safe: the loss grows with the width.
    widths = [upper_float(arb(high) - arb(low)) for low, high in bounds]
    sizes = list(sensitivity.sizes)
    if len(widths) == 1:
        widths *= len(sizes)
    if sensitivity.kind == "cells":
        sizes *= len(widths)
        copies = sensitivity.moving if len(bounds) == 1 else 1
        if len(bounds) > 1 and len(bounds) < sensitivity.moving:
            raise ArgumentError(
                "bounds", bounds, f"give one pair, or one for each of at least {sensitivity.moving} cells"
            )
    else:
        copies = 1
        if len(widths) != len(sizes):
            raise ArgumentError("bounds", bounds, f"give one pair, or one for each of the {len(sizes)} coordinates")
    for width, size in zip(widths, sizes, strict=True):
        if width > WIDEST * size:
            raise ArgumentError(
                "bounds", bounds, f"a width of more than {WIDEST:g} times the sensitivity {size!r} is not supported"
            )
        if width < size:
            raise ArgumentError(
                "bounds",
                bounds,
                f"a width of {width!r} is narrower than the sensitivity {size!r}: a query inside the bounds cannot "
                "move farther than their width, so lower the sensitivity or widen the bounds",
            )
    return tuple((width, size, copies * n) for (width, size), n in Counter(zip(widths, sizes, strict=True)).items())


BOUNDS: dict[str, type[Bound]] = {
    bound.name: bound
    for bound in (
        LaplaceLoss,
        ShiftDelta,
        IntegerShiftDelta,
        IntegerGaussianDelta,
        CornerDelta,
        AbsoluteSumDelta,
        RadialDelta,
        BoundedLoss,
        BoundedJointLoss,
    )
}
