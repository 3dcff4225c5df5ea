"""The worst case of a query under noise: the one place where it is decided what is known of it.

The changes that one person can make to a query are a set of vectors, its `Sensitivity`. A change dominates the set if,
under the noise, it is at least as easy to detect as every change in the set. Certificates, profiles, Renyi curves,
totals, manifests and plans all follow from the changes that dominate, and from the bounds that apply:

==========================================  ================================================================
bounds                                      pure loss of the bounded law
pure, or delta = 0                          order 1: Laplace with the l_1 norm; above 1 it does not exist
one coordinate changes                      the exact delta of its largest change
order 2 on the reals                        the same with the l_2 norm: Gaussian noise is rotation invariant
order 2 on the integers, a joint norm       the l_2 norm, by comparison with continuous noise: an upper bound
several coordinates, approximate            the largest change of all of them, by convolution; at order 1 pure DP where
                                            that is as good
several coordinates, probabilistic          the paper's sum of absolute losses, by convolution: an upper bound
only an l_q norm, approximate               one coordinate that changes by the l_1 norm; exact for q = 1
noise of a norm of the whole vector         its pure loss, and no other bound
only an l_q norm                            order 1, 2 as above; on the reals also the direction-free bound
several coordinates, no search ends         each coordinate alone, with its share of epsilon and delta: an upper bound
==========================================  ================================================================

Claim (largest change). Among all changes with |d_k| <= D_k the largest, (D_1, ..., D_r), dominates: the trade-off
function of a product is the tensor product of its factors', and each factor's falls as its shift grows, since the noise
is log-concave.

Claim (l_1 norm). A change of l_1 norm s is no easier to detect than a change of one coordinate by s, at every order
p >= 1, on the reals and, for whole changes, on the integers. Proof: let psi_s(a) be the largest power of a test of
level a against a shift of one coordinate by s. For a test phi(x, y) of level a, fixed x and a shift of y by t,
E phi(x, y + t) <= psi_t(E phi(x, y)); averaged over x, since psi_t is concave, E phi(x, y + t) <= psi_t(a). For fixed y
likewise with the shift s of x, so that the power is at most psi_s(psi_t(a)). Log-concave noise has monotone likelihood
ratios: the best tests are half-lines, the same for all shifts, so psi_s(psi_t(a)) = psi_(s+t)(a). Induct over the
coordinates.

Both claims are about trade-off functions, hence about every epsilon and every Renyi order at once. Probabilistic DP
does not follow from domination, only from equal losses: where one coordinate changes, and for Gaussian noise.

`Sensitivity.lp` is an upper bound of the norms of all changes. Where a joint norm binds, or where only whole numbers
change, no change may reach it; a lower bound of a loss must not use it then (`reached_norm`).

A new bound is a class (`ggdp.proofs.bound.Bound`) and its line in `BOUNDS`.

References
----------
Liu, arXiv 1602.06028 v5, Claim 4 (no pure DP without bounds), Cor. GGMpDP. Dong, Roth and Su, "Gaussian Differential
Privacy", JRSS B 2022, Prop. D.1 and A.3 (trade-off functions of products and of shifts).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import upper_float
from ggdp._rounding import rounded_up
from ggdp.errors import ArgumentError, CertificateError, UnattainableError, UnprovedError
from ggdp.privacy.guarantees import ApproxDP, Guarantee, ProbabilisticDP, PureDP
from ggdp.privacy.sensitivity import Sensitivity, norm_of
from ggdp.proofs.bound import Applicable, Bound
from ggdp.proofs.bounded import BoundedJointLoss, BoundedLoss, Coordinate
from ggdp.proofs.layouts import MOST_MOVING
from ggdp.proofs.minkowski import MinkowskiLoss
from ggdp.proofs.noise_law import Bounding, Norm, NormKind, Support
from ggdp.proofs.norms import IntegerGaussianDelta, RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss, ShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, Corner, CornerDelta

if TYPE_CHECKING:
    from ggdp.proofs.certificate import Certificate


# A norm that is rounded up by some ulps is reached to within this share.
REACHED = 1.0 - 2.0**-40
# The loss of wider bounds is not computed in a reasonable time.
WIDEST = 1e25
BY_L1_NORM = (
    "upper bound: proved as if a single coordinate changed by the whole l_1 norm; no change is known that is as easy "
    "to detect"
)
NOT_REACHED = (
    "upper bound: the {} norm of the change is bounded by way of its joint norm, and no change is known that reaches "
    "this bound"
)


@dataclass(frozen=True, slots=True)
class Change:
    """Coordinates that change together: distinct sizes, the largest first, and how many coordinates change by each."""

    sizes: Corner
    # Why no change of the query is known to be as easy to detect; None where one is.
    note: str | None = None
    # Whether a scale is searched by way of this change.
    searched: bool = True

    @property
    def is_single(self) -> bool:
        """Whether it is a change of one coordinate."""
        return len(self.sizes) == 1 and self.sizes[0][1] == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstCase:
    """What is known of the changes of a query that are easiest to detect under noise of one kind at any scale."""

    sensitivity: Sensitivity  # how far one person can change the query
    order: float  # order of the noise
    support: Support = "real"  # where the noise lives
    bounds: tuple[tuple[float, float], ...] | None = None  # public bounds of query and output
    bounding: Bounding | None = None  # how the output is kept in `bounds`
    norm: Norm | None = None  # of noise on the whole vector; None where noise is independent in every coordinate

    @property
    def is_single(self) -> bool:
        """Whether a change of one coordinate is the worst: only one can change, or the noise is rotation invariant."""
        if self.bounding is not None or self.norm is not None:
            return False
        return self.sensitivity.moving == 1 or (self.order == 2.0 and self.support == "real")

    @property
    def dominating(self) -> tuple[Change, ...]:
        """Changes that each dominate all changes of the query, the least ones known."""
        query = self.sensitivity
        if not self.is_single:
            return self.dominating_at_every_order
        if query.moving == 1:
            return (Change(((query.largest, 1),)),)
        return (Change(((query.lp(2), 1),), self.note_on_norm(2.0)),)

    @property
    def dominating_at_every_order(self) -> tuple[Change, ...]:
        """All coordinates at once, and one coordinate by the l_1 norm, where these are known."""
        query, found = self.sensitivity, []
        if self.bounding is not None or self.norm is not None:
            return ()
        if query.kind != "norm":
            found.append(Change(query.corner))
        if query.joint is not None:
            # One coordinate alone may be able to change by the whole norm.
            alone = query.kind == "norm" and query.joint == (1.0, query.sizes[0])
            note = None if alone and self.is_reached(1.0) else BY_L1_NORM
            searched = self.order > 1.0 or query.kind == "norm"
            found.append(Change(((self.l1_norm, 1),), note, searched))
        return tuple(found)

    @property
    def largest_norm(self) -> float:
        """An upper bound of the norms of all changes, for noise of a norm; proved in `ggdp.proofs.minkowski`."""
        assert self.norm is not None
        return largest_change(self.sensitivity, self.norm)

    @property
    def composed_change(self) -> Change | None:
        """The change whose losses are added up in totals; None where only the guarantee is known.

        Every change that dominates would do. No other is chosen where another would be better for some totals, since
        manifests and reserved ledgers name the losses of this one.
        """
        query = self.sensitivity
        if self.bounding is not None or self.norm is not None:
            return None
        if self.order == 2.0 and self.support == "real":
            return Change(((query.lp(2), 1),))
        if query.joint is not None and query.joint[0] == 1.0:
            return Change(((self.l1_norm, 1),))
        return None if query.kind == "norm" else Change(query.corner)

    @property
    def reaches_every_norm(self) -> bool:
        """Whether some change has every norm as large as the sensitivity says."""
        query = self.sensitivity
        alone = query.kind == "norm" and query.joint is not None and query.sizes[0] == query.joint[1]
        return alone or not self.joint_binds

    @property
    def possible_changes(self) -> tuple[Change, ...]:
        """Changes that the sensitivity allows, for lower bounds."""
        query, found = self.sensitivity, []
        if self.support == "real" or query.largest >= 1.0:
            found.append(Change(((query.largest, 1),)))
        if query.kind != "norm" and query.moving > 1 and self.reaches_every_norm:
            found.append(Change(query.corner))
        return tuple(found)

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """(width, sensitivity, how many) of each kind of coordinate that is kept in bounds."""
        if self.bounds is None:
            raise CertificateError("the bounds are missing that the noise is kept in")
        return bounded_coordinates(self.sensitivity, self.bounds)

    @property
    def joint_binds(self) -> bool:
        """Whether a joint norm may exclude the largest change of all coordinates."""
        query = self.sensitivity
        return query.joint is not None and (
            query.kind == "norm" or replace(query, joint=None).lp(query.joint[0]) > query.joint[1]
        )

    @property
    def l1_norm(self) -> float:
        """A positive upper bound of the l_1 norm of all changes; that of whole changes is a whole number."""
        size = self.sensitivity.lp(1)
        return float(math.floor(size)) if self.support == "integer" and size >= 1.0 else size

    def reached_norm(self, p: float) -> float:
        """Return a float that the l_p norm of some allowed change is not below, rounded down.

        Claim: without a binding joint norm all coordinates can change at once. On the reals a joint norm of the same
        order is reached by a multiple of that change, and a norm alone by a change of one coordinate or of all of them
        equally. The l_1 norm of whole changes grows in steps of 1, up to the least of the joint norm and the largest
        change. Every coordinate can change alone.
        """
        query = self.sensitivity
        if not self.joint_binds:
            return query.lp(p) * REACHED
        assert query.joint is not None
        q, bound = query.joint
        if self.support == "real" and (q == p if query.kind == "box" else query.sizes[0] == bound):
            return query.lp(p) * REACHED
        if self.support == "integer" and q == p == 1.0:
            largest = sum((Fraction(math.floor(size)) * count for size, count in query.corner), Fraction(0))
            reached = min(Fraction(math.floor(bound)), largest)
            return float(reached) if Fraction(float(reached)) <= reached else math.nextafter(float(reached), 0.0)
        return float(math.floor(query.largest)) if self.support == "integer" else query.largest

    def is_reached(self, p: float) -> bool:
        """Return whether some change reaches the upper bound of the l_p norm that proofs use, but for rounding."""
        most = self.l1_norm if p == 1.0 else self.sensitivity.lp(p)
        return self.reached_norm(p) >= most * REACHED

    def note_on_norm(self, p: float) -> str | None:
        """Return the note that no change is known to reach the l_p norm; None where one is."""
        return None if self.is_reached(p) else NOT_REACHED.format(f"l_{p:.0f}")

    def applicable(self, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return all bounds that apply, for "pure", "probabilistic" or "approximate" DP with an epsilon."""
        # Every other bound takes noise to be independent in every coordinate.
        bounds = BOUNDS.values() if self.norm is None else (MinkowskiLoss,)
        return chain.from_iterable([bound.applicable(self, notion, epsilon) for bound in bounds])


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound and the target for its quantity: a scale at which the bound reaches the target keeps the goal."""

    bound: Bound
    target: float
    # Why the scale need not be the least; None where it is.
    note: str | None = None
    # How many coordinates have a share of epsilon and delta each, of which the bound is about one.
    shares: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(WorstCase):
    """What a calibration is asked for: a goal for a query, and the kind of noise without its scale."""

    goal: Guarantee  # what must be kept

    def requirements(self) -> list[Requirement]:
        """Return the bounds of which each would prove the goal; the one with the least scale wins.

        Raises
        ------
        UnattainableError
            If the goal does not exist for this noise.
        UnprovedError
            If no bound for it is known.
        """
        goal, query = self.goal, self.sensitivity
        if self.support == "integer":
            require_integers(query)
        if self.bounding is not None and goal.delta > 0.0:
            raise UnprovedError(
                f"bounded noise is calibrated for pure DP, not for {goal}. Ask for PureDP({goal.epsilon!r}), "
                "which implies it; or add unbounded noise for this goal and clip the result, which keeps approximate DP"
            )
        if self.bounding is not None and self.support == "integer":
            for low, high in self.bounds or ():
                if not (low.is_integer() and high.is_integer()):
                    raise ArgumentError("bounds", (low, high), "on the integers both ends must be whole numbers")
        notion = "pure" if goal.delta == 0.0 else goal.notion
        found = [one for one in self.applicable(notion, goal.epsilon) if one.searched]
        if notion == "approximate" and self._pure_is_least():
            found = [one for one in found if one.bound.quantity == "epsilon"]
        if any(query.moving > (one.bound.most_moving or query.moving) for one in found):
            expected = (
                f"more than {MOST_MOVING:,} coordinates that move at once are not convolved; use order = 2 on the "
                "reals, where the l_2 norm is enough, or order = 1 with a pure goal"
            )
            raise ArgumentError("sensitivity", str(query), expected)
        if not found and notion == "pure":
            raise UnattainableError(
                f"pure DP (delta = 0) does not exist for unbounded noise of order = {self.order!r} above 1: the "
                "loss grows without bound with the noise. Use order = 1 (Laplace), or a goal with delta above 0, "
                "or bounds with bounding = 'truncated' or 'boundary-inflated'"
            )
        if not found:
            raise UnprovedError(
                f"on the integers no bound is known for {goal.notion} DP with noise of order = {self.order!r} "
                "when only an l_p norm of the change is. Give per-coordinate sensitivities (Sensitivity.box or "
                "Sensitivity.cells), or use order = 1, or an ApproxDP goal"
            )
        targets = {"delta": goal.delta, "epsilon": goal.epsilon}
        return [Requirement(one.bound, targets[one.bound.quantity], one.note) for one in found]

    def fallbacks(self) -> list[Requirement]:
        """Return bounds that prove the goal with a larger scale, for when no search by `requirements` ends.

        Claim. If each of m coordinates alone is (epsilon/m, delta/m)-DP for every change up to the largest size, all of
        them together are (epsilon, delta)-DP. Proof: basic composition of independent noises for approximate DP; for
        probabilistic DP the losses add up to more than epsilon only where one of them is above epsilon/m.
        """
        query, many = self.sensitivity, self.sensitivity.moving
        convolved = self.bounding is None and self.order > 1.0 and query.kind != "norm" and many > 1
        if not convolved or self.goal.delta == 0.0:
            return []
        epsilon, delta = (_share(value, many) for value in (self.goal.epsilon, self.goal.delta))
        # A joint norm need not be whole; on the integers a coordinate changes by whole steps within it.
        largest = float(math.floor(query.largest)) if self.support == "integer" else query.largest
        if not (epsilon > 0.0 and delta > 0.0 and largest > 0.0):
            return []
        notion = ProbabilisticDP if self.goal.notion == "probabilistic" else ApproxDP
        one = Sensitivity.cells(1, largest, neighbours=query.neighbours)
        note = (
            f"upper bound: each of the {many} coordinates keeps its share of epsilon and delta on its own, since no "
            "scale was found by adding up their losses"
        )
        alone = replace(self, goal=notion(epsilon, delta), sensitivity=one)
        return [replace(found, note=note, shares=many) for found in alone.requirements()]

    def acceptable(self) -> Iterator[Requirement]:
        """Return all requirements that a certificate for the goal may be about, those of stronger goals included.

        Probabilistic DP implies approximate DP, and the paper's formulas go by it; pure DP implies both.
        """
        yield from self.requirements()
        yield from self.fallbacks()
        if self.bounding is not None:
            return
        stronger: list[Guarantee] = []
        if isinstance(self.goal, ApproxDP) and self.goal.delta > 0.0:
            stronger.append(ProbabilisticDP(self.goal.epsilon, self.goal.delta))
        if self.order == 1.0:
            stronger.append(PureDP(self.goal.epsilon))
        for goal in stronger:
            with suppress(UnprovedError):
                yield from replace(self, goal=goal).requirements()

    def _pure_is_least(self) -> bool:
        """Return whether at order 1 no scale 1e-4 below that of pure DP, Delta_1/eps, can keep an approximate goal.

        With probability 2^-r or more all r coordinates' noises are on the side where the loss is Delta_1/b, so delta is
        at least 2^-r (1 - e^(eps - Delta_1/b)), which falls as b grows. A convolution is then not worth its time.
        """
        if self.order != 1.0 or self.norm is not None or self.is_single or self.sensitivity.kind == "norm":
            return False
        least = -math.expm1(-1e-4 * self.goal.epsilon) * 0.5**self.sensitivity.moving
        return least > self.goal.delta


def proved_guarantee(question: Question, certificate: Certificate) -> Guarantee:
    """Return the guarantee that a certificate proves for a question, under the neighbours of the sensitivity.

    The certificate itself is not proved here. It is a `CertificateError` if it is not about the question.
    """
    claim = certificate.bound.claim
    # A claim has one number of shares: that of a coordinate alone has another epsilon.
    for accepted in question.acceptable():
        may_be_tight = certificate.tight is None or accepted.note is None
        if accepted.bound == claim and accepted.target == certificate.target and may_be_tight:
            shares = accepted.shares
            break
    else:
        raise CertificateError("the certificate is not about this calibration; use ggdp.calibrate to make one")
    goal, neighbours = question.goal, question.sensitivity.neighbours
    if shares > 1:
        # What is proved of one coordinate is a share of the goal.
        return goal.under(neighbours)
    if certificate.bound.quantity == "epsilon":
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
        # Sums of larger ones would not be exact.
        if not (size.is_integer() or sensitivity.kind == "norm") or size > 2.0**53:
            raise ArgumentError(
                "sensitivity",
                size,
                "on the integers it must be a whole number of at most 2^53; scale the query, or use support = 'real'",
            )


def largest_change(sensitivity: Sensitivity, norm: Norm) -> float:
    """Return an upper bound of the largest norm of a change, by `ggdp.proofs.minkowski`; raise where there is none."""
    relation = {"add-remove": "added", "replace-one": "replaced"}[sensitivity.neighbours]
    if sensitivity.kind == "groups":
        same = (norm.cells, norm.complete) == (sensitivity.group_cells, sensitivity.complete)
        if norm.kind == relation and same:
            return sensitivity.largest_group
    elif sensitivity.kind in ("box", "norm") and norm.cells == (1,) * sensitivity.moving and norm.kind == "signed":
        return float(math.floor(sensitivity.lp(math.inf)))
    elif sensitivity.kind in ("box", "norm") and norm.groups == (sensitivity.moving,) and norm.order is not None:
        if norm.sizes is None:
            return sensitivity.lp(norm.order)
        if sensitivity.kind == "box":
            shares = zip(sensitivity.sizes, norm.sizes, strict=True)
            return norm_of(
                ((rounded_up(Fraction(d) / Fraction(size), of="sizes"), 1) for d, size in shares), norm.order
            )
    raise UnprovedError(f"no bound is known for noise of the norm {norm} when {sensitivity}")


def norm_for(query: Sensitivity, *, on_grid: bool = False) -> Norm:
    """Return the norm whose noise is the least for a query; values of a box of one whole size are integers."""
    if query.kind == "groups" and query.group_cells is not None:
        which = query.complete or (False,) * len(query.group_cells)
        free = tuple(k - one for k, one in zip(query.group_cells, which, strict=True))
        relation: NormKind = "added" if query.neighbours == "add-remove" else "replaced"
        return Norm(kind=relation, groups=free, complete=query.complete)
    if query.kind == "norm" and query.joint is not None:
        return Norm(kind="lp", groups=(query.moving,), order=query.joint[0])
    if query.kind != "box":
        expected = "must say how many values there are: use Sensitivity.groups, Sensitivity.box or Sensitivity.norm"
        raise ArgumentError("sensitivity", str(query), expected)
    alike = len(set(query.sizes)) == 1
    if alike and query.sizes[0].is_integer() and not on_grid:
        return Norm(kind="signed", groups=(1,) * query.moving)
    return Norm(kind="lp", groups=(query.moving,), order=math.inf, sizes=None if alike else query.sizes)


def bounded_coordinates(sensitivity: Sensitivity, bounds: tuple[tuple[float, float], ...]) -> tuple[Coordinate, ...]:
    """Return (width, sensitivity, how many) of each kind of coordinate; one pair of bounds serves all coordinates."""
    if sensitivity.kind == "norm":
        raise UnprovedError(
            "bounded noise needs per-coordinate sensitivities: use Sensitivity.box or Sensitivity.cells, not a norm"
        )
    # Rounding up is safe: the loss grows with the width.
    widths = [upper_float(arb(high) - arb(low)) for low, high in bounds]
    sizes, copies = list(sensitivity.sizes), 1
    if not sensitivity.has_fixed_dimension:
        if 1 < len(bounds) < sensitivity.moving:
            expected = f"give one pair, or one for each of at least {sensitivity.moving} cells"
            raise ArgumentError("bounds", bounds, expected)
        sizes *= len(widths)
        copies = sensitivity.moving if len(bounds) == 1 else 1
    elif len(bounds) == 1:
        widths *= len(sizes)
    elif len(bounds) != len(sizes):
        raise ArgumentError("bounds", bounds, f"give one pair, or one for each of the {len(sizes)} coordinates")
    for width, size in zip(widths, sizes, strict=True):
        if width > WIDEST * size:
            expected = f"a width of more than {WIDEST:g} times the sensitivity {size!r} is not supported"
            raise ArgumentError("bounds", bounds, expected)
        if width < size:
            expected = (
                f"a width of {width!r} is narrower than the sensitivity {size!r}: a query inside the bounds cannot "
                "move farther than their width, so lower the sensitivity or widen the bounds"
            )
            raise ArgumentError("bounds", bounds, expected)
    return tuple((width, size, copies * n) for (width, size), n in Counter(zip(widths, sizes, strict=True)).items())


# In the order in which they are tried: of equal scales the first wins.
BOUNDS: dict[str, type[Bound]] = {
    bound.name: bound
    for bound in (
        CornerDelta,
        AbsoluteSumDelta,
        ShiftDelta,
        IntegerShiftDelta,
        RadialDelta,
        IntegerGaussianDelta,
        LaplaceLoss,
        MinkowskiLoss,
        BoundedLoss,
        BoundedJointLoss,
    )
}
