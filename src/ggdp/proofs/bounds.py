"""All bounds by which a scale can be proved, by the names in certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.proofs.absolute_sum import AbsoluteSumDelta
from ggdp.proofs.bounded_vector import BoundedJointLoss, BoundedLoss
from ggdp.proofs.corner import CornerDelta
from ggdp.proofs.integer_gaussian import IntegerGaussianDelta
from ggdp.proofs.integer_shift import IntegerShiftDelta
from ggdp.proofs.laplace import LaplaceLoss
from ggdp.proofs.radial import RadialDelta
from ggdp.proofs.shift import ShiftDelta

if TYPE_CHECKING:
    from ggdp.proofs.bound import Bound

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
