"""Bounds and searches as functions of plain keywords, for tests that try many settings."""

from __future__ import annotations

from dataclasses import replace

from ggdp.accounting.renyi import renyi_of_shift as renyi_of_law
from ggdp.calibration.least_scale import propose
from ggdp.calibration.scale_for_several_coordinates import plan_absolute_sum, with_layout
from ggdp.proofs import NoiseLaw
from ggdp.proofs.bounded import BoundedLoss
from ggdp.proofs.norms import IntegerGaussianDelta, RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, ShiftDelta
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta

ANY = 1.0


def delta_of_shift(*, order, scale, **parameters):
    """Enclose the delta of one moving coordinate on the reals."""
    return ShiftDelta(**parameters).enclose(NoiseLaw(order=order, scale=scale))


def delta_of_integer_shift(*, order, scale, **parameters):
    """Enclose the delta of one moving coordinate on the integers."""
    return IntegerShiftDelta(**parameters).enclose(NoiseLaw(order=order, scale=scale, support="integer"))


def delta_of_integer_gaussian(*, scale, **parameters):
    """Bound the delta of discrete Gaussian noise on a vector of known l_2 norm."""
    return IntegerGaussianDelta(**parameters).enclose(NoiseLaw(order=2, scale=scale, support="integer"))


def delta_of_radial(*, order, scale, **parameters):
    """Enclose the direction-free bound of delta."""
    return RadialDelta(**parameters).enclose(NoiseLaw(order=order, scale=scale))


def delta_of_corner(*, order, scale, support, **parameters):
    """Bound the delta of a corner, on the grid that a search would choose."""
    law = NoiseLaw(order=order, scale=scale, support=support)
    bound, bits = with_layout(CornerDelta(**parameters), law)
    return bound.at_precision(law, bits)


def least_delta_of_corner(*, order, scale, support, **parameters):
    """Bound the delta of a corner from below, on the grid that a search would choose."""
    law = NoiseLaw(order=order, scale=scale, support=support)
    bound, bits = with_layout(CornerDelta(**parameters), law)
    return bound.lower(law, bits)


def delta_of_absolute_sum(*, order, scale, support, **parameters):
    """Bound the delta of the paper's sum, on the grid that a search would choose."""
    law, bound = NoiseLaw(order=order, scale=scale, support=support), AbsoluteSumDelta(**parameters)
    planned = plan_absolute_sum(bound, law) if order > 1 else None
    if planned is None:
        return bound.at_precision(law, 0)
    return replace(bound, layout=planned.layout).at_precision(law, planned.precision)


def loss_of_bounded(*, bounding, order, scale, support="real", **parameters):
    """Enclose the pure loss of bounded noise."""
    law = NoiseLaw(order=order, scale=scale, support=support, bounding=bounding)
    return BoundedLoss(**parameters).enclose(law)


def _one(width, sensitivity):
    return {"coordinates": ((width, sensitivity, 1),), "moving": 1}


def loss_of_truncated(*, width, sensitivity, **law):
    """Enclose the pure loss of truncated noise in one coordinate."""
    return loss_of_bounded(bounding="truncated", **_one(width, sensitivity), **law)


def loss_of_boundary_inflated(*, width, sensitivity, **law):
    """Enclose the pure loss of boundary-inflated noise in one coordinate."""
    return loss_of_bounded(bounding="boundary-inflated", **_one(width, sensitivity), **law)


def loss_of_integer_truncated(**law):
    """Enclose the pure loss of truncated integer noise in one coordinate."""
    return loss_of_truncated(support="integer", **law)


def loss_of_integer_boundary_inflated(**law):
    """Enclose the pure loss of boundary-inflated integer noise in one coordinate."""
    return loss_of_boundary_inflated(support="integer", **law)


def renyi_of_shift(*, order, scale, support, **parameters):
    """Enclose the Renyi divergence of one moving coordinate."""
    return renyi_of_law(NoiseLaw(order=order, scale=scale, support=support), **parameters)


def scale_for_integer_shift(*, order, delta, **parameters):
    """Return the least scale found on the integers."""
    law = NoiseLaw(order=order, scale=ANY, support="integer")
    return propose(IntegerShiftDelta(**parameters), law, delta).law.scale


def scale_for_radial(*, order, delta, **parameters):
    """Return the least scale of the direction-free bound."""
    return propose(RadialDelta(**parameters), NoiseLaw(order=order, scale=ANY), delta).law.scale


def scale_for_corner(*, order, support, delta, **parameters):
    """Return the least scale found for a corner."""
    law = NoiseLaw(order=order, scale=ANY, support=support)
    return propose(CornerDelta(**parameters), law, delta).law.scale


def scale_for_absolute_sum(*, order, support, delta, **parameters):
    """Return the least scale found for the paper's sum."""
    law = NoiseLaw(order=order, scale=ANY, support=support)
    return propose(AbsoluteSumDelta(**parameters), law, delta).law.scale


def scale_for_integer_bounded(*, bounding, order, width, sensitivity, epsilon):
    """Return the least scale found of bounded integer noise in one coordinate."""
    law = NoiseLaw(order=order, scale=ANY, support="integer", bounding=bounding)
    return propose(BoundedLoss(**_one(width, sensitivity)), law, epsilon).law.scale
