"""The transform of one loss: E e^(zeta L) on a line of complex points, and at a few real ones.

=========  ====================================================================================================
L          the loss of noise of order p that moves by d, in units of its scale: |x + d|^p - |x|^p
M(zeta)    E e^(zeta L)
theta      tilt: the line is zeta = theta + i omega, with omega at multiples of a spacing
=========  ====================================================================================================

Claim. Mirrored about -d/2 noise has the loss -L, so that M(zeta) = M(-1 - zeta). Closed forms: randomised response;
order 1, where all noise above 0 has one loss and that below -d another; order 2 on the reals, exp(d^2 zeta (1 + zeta));
order 2 on the integers, the same up to a ratio of theta functions, since by Poisson's formula the sum of
exp(-(k - a)^2 / b^2) over the integers k is b sqrt(pi) (1 + 2 sum over m of exp(-(pi b m)^2) cos(2 pi m a)). Other
orders: `ggdp.proofs.transform_blocks`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import acb, arb

from ggdp.errors import ArgumentError
from ggdp.proofs.total_loss import ResponseLoss
from ggdp.proofs.transform_blocks import Transform, summed_transform

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.total_loss import CoordinateLoss, Loss
    from ggdp.proofs.transform_blocks import Line


def transform(loss: Loss, line: Line) -> Transform:
    """Enclose M at all points of a line, which lies to the right of -1/2."""
    if not line.tilt > -0.5:
        raise ArgumentError("tilt", line.tilt, "must be above -1/2")
    if isinstance(loss, ResponseLoss):
        return _closed(line, _of_response(loss))
    d = arb(loss.size) / arb(loss.law.scale)
    if loss.law.order == 1.0:
        return _closed(line, _of_laplace(d) if loss.law.support == "real" else _of_integer_laplace(loss, d))
    if loss.law.order == 2.0:
        return _closed(line, lambda zeta: (d**2 * zeta * (1 + zeta)).exp() * _ratio(loss, zeta))
    return summed_transform(loss.law, loss.size, line)


def _closed(line: Line, value: Callable[[acb], acb]) -> Transform:
    points = [acb(arb(line.tilt), line.spacing * k) for k in range(line.last + 1)]
    # M(zeta) = M(-1 - zeta).
    reals = [value(acb(arb(real) if real > -0.5 else -1 - arb(real))).real for real in line.reals]
    return Transform([value(point) for point in points], reals)


def _of_response(loss: ResponseLoss) -> Callable[[acb], acb]:
    if loss.delta != 0.0:
        raise ArgumentError("delta", loss.delta, "must be 0: an infinite loss has no transform")
    e = arb(loss.epsilon)
    truth = 1 / (1 + (-e).exp())
    return lambda zeta: truth * (zeta * e).exp() + (1 - truth) * (-zeta * e).exp()


def _of_laplace(d: arb) -> Callable[[acb], acb]:
    def value(zeta: acb) -> acb:
        # The two atoms, and between them losses d - 2 x of noise -x.
        turn = 1 + 2 * zeta
        return ((zeta * d).exp() * (1 - (-turn * d).expm1() / turn) + (-(1 + zeta) * d).exp()) / 2

    return value


def _of_integer_laplace(loss: CoordinateLoss, d: arb) -> Callable[[acb], acb]:
    fall, size = -1 / arb(loss.law.scale), int(loss.size)
    q = fall.exp()

    def value(zeta: acb) -> acb:
        ratio = (fall * (1 + 2 * zeta)).exp()
        between = (1 - q) * (ratio - ratio**size) / (1 - ratio)
        return ((zeta * d).exp() * (1 + between) + (-(1 + zeta) * d).exp()) / (1 + q)

    return value


def _ratio(loss: CoordinateLoss, zeta: acb) -> acb:
    """Return 1 on the reals, and on the integers the ratio of two theta functions."""
    if loss.law.support == "real":
        return acb(1)
    b, size = arb(loss.law.scale), arb(loss.size)
    # The sum over m >= 1 of exp(-(pi b m)^2 + 2 pi m |Im zeta| size) is at most that over powers of its first term.
    first = (-((arb.pi() * b) ** 2) + 2 * arb.pi() * abs(zeta.imag) * size).exp()
    if not first < 0.5:
        return acb(math.nan)
    most = 2 * first / (1 - first)
    off = arb(0, most.upper())
    return acb(1 + off, off) / (1 + off)
