"""The delta of a corner: several coordinates move at once, each by its own known amount.

=========  =========================================================================
corner     ((D_1, n_1), (D_2, n_2), ...): n_j coordinates that move by D_j
L          the loss of one coordinate, |x + d|^p - |x|^p with d = D/b
delta      E (1 - e^(epsilon - sum of the losses))_+
=========  =========================================================================

Claim: among all moves with |d_k| <= D_k the corner is the worst for approximate DP. The law is log-concave, so the
trade-off function of one coordinate falls as its shift grows, and the trade-off function of a product falls with
its factors; hence so does delta.

The losses are laid on a grid (`ggdp.proofs.laid_loss`) and added (`ggdp.proofs.loss_distribution`). One distribution
gives both bounds: no step can lower the upper one, and the lower one counts what the steps may have added.

References
----------
Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, Prop. D.1 and A.3 (trade-off functions of products and
of shifts); Doroshenko et al., PETS 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Bound, Quantity, require_unbounded
from ggdp.proofs.enclosures import EXACT, Enclosure
from ggdp.proofs.layouts import CornerLayout
from ggdp.proofs.loss_bounds import delta_above, delta_below, smoothings
from ggdp.proofs.total_loss import MOST_LOSSES, CoordinateLoss, LaidLoss, total_loss

if TYPE_CHECKING:
    from ggdp.proofs.loss_distribution import LossDistribution
    from ggdp.proofs.noise_law import NoiseLaw

# Distinct sizes, and how many coordinates move by each.
Corner: TypeAlias = tuple[tuple[float, int], ...]

# A bound with so many accurate bits would not be smaller with more: what remains is what the grid costs.
_ENOUGH_BITS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerDelta(Bound):
    """An upper bound of delta when all coordinates of a corner move.

    Attributes
    ----------
    corner : tuple of (size, count)
        Distinct sizes and how many coordinates move by each; whole numbers where the noise is on the integers.
    epsilon : float
        The epsilon of the guarantee.
    layout : CornerLayout, optional
        The grids of the proof. Without one nothing is proved but the pure loss at order 1.

    Notes
    -----
    Rounding: every step moves losses up. The bound holds for every layout; a good one makes it tight.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = CornerDelta(corner=((1.0, 2),), epsilon=1.0)
    >>> delta.enclose(NoiseLaw(order=1, scale=2.0)).upper
    0.0
    """

    name: ClassVar[str] = "corner"
    quantity: ClassVar[Quantity] = "delta"
    statement: ClassVar[str] = (
        "the far corner of the sensitivity is the worst change: its delta by pessimistic convolution"
    )
    exact: ClassVar[bool] = False
    layout_type: ClassVar[type[CornerLayout]] = CornerLayout
    # Thresholds are proposed in floats, whose last digits another machine may round differently.
    margin: ClassVar[float] = 2.0**-30

    corner: Corner
    epsilon: float
    layout: CornerLayout | None = None

    def __post_init__(self) -> None:
        require_corner(self.corner)
        _validate.positive(epsilon=self.epsilon)
        if self.layout is not None:
            self._require_all(self.layout)

    def _require_all(self, layout: CornerLayout) -> None:
        """Check that a layout has a grid for each size of the corner."""
        if not isinstance(layout, CornerLayout):
            raise ArgumentError("layout", layout, "must be the layout of a corner")
        if len(layout.sizes) != len(self.corner):
            raise ArgumentError("layout", layout, f"must have a grid for each of the {len(self.corner)} sizes")

    @property
    def claim(self) -> Self:
        """The same bound without a layout."""
        return replace(self, layout=None)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Bound delta from above with so many bits."""
        require_unbounded(law)
        require_whole(law, self.corner)
        if law.order == 1.0 and _l1_norm(self.corner) <= Fraction(self.epsilon) * Fraction(law.scale):
            # At order 1 the losses add up to at most the l_1 norm over the scale.
            return Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        if self.layout is None:
            return Enclosure(lower=0.0, upper=1.0, precision=EXACT, exhausted=True)
        with BALLS, working_precision(bits):
            value = delta_above(self._sum(law, self.layout), arb(self.epsilon))
            decided = value.rel_accuracy_bits() >= _ENOUGH_BITS
            return Enclosure(lower=0.0, upper=min(upper_float(value), 1.0), precision=bits, exhausted=decided)

    def _sum(self, law: NoiseLaw, layout: CornerLayout) -> LossDistribution:
        """Add the losses of all coordinates."""
        parts = [
            LaidLoss(CoordinateLoss(law, size), count, grid)
            for (size, count), grid in zip(self.corner, layout.sizes, strict=True)
        ]
        return total_loss(parts, tilt=layout.tilt, tail=layout.tail, points=layout.points)

    def lower(self, law: NoiseLaw, bits: int) -> float:
        """Bound from below the delta of the corner itself, on the grid of the layout."""
        require_unbounded(law)
        require_whole(law, self.corner)
        if self.layout is None:
            return 0.0
        with BALLS, working_precision(bits):
            total, epsilon = self._sum(law, self.layout), arb(self.epsilon)
            found = [lower_float(delta_below(total, epsilon, s)) for s in smoothings(total)]
            return max(*found, 0.0)


def require_corner(corner: Corner) -> None:
    """Check that a corner has sizes above 0 and whole counts of at least 1."""
    for pair in _validate.non_empty(corner=corner):
        items = _validate.non_empty(corner=pair)
        if len(items) != 2:
            raise ArgumentError("corner", corner, "must be pairs of a size and a count")
        _validate.positive(corner=items[0])
        _validate.integer(corner=items[1], at_least=1, at_most=MOST_LOSSES)


def require_whole(law: NoiseLaw, corner: Corner) -> None:
    """Check that on the integers the sizes of a corner are whole numbers."""
    for size, _ in corner:
        if law.support == "integer" and not float(size).is_integer():
            raise ArgumentError("corner", size, "on the integers sizes must be whole numbers")


def _l1_norm(corner: Corner) -> Fraction:
    return sum((count * Fraction(size) for size, count in corner), Fraction(0))
