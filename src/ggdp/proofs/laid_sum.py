"""The sum of many losses, laid on a grid at once, by the transforms of the losses.

=========  ====================================================================================================
S          the sum of independent losses; M(zeta) = E e^(zeta S), the product of the transforms of all losses
theta      tilt, above 0; S has the tilted law P_theta, e^(theta S) / M(theta) times its own
h, N       step and number of knots l_j = (low + j) h, the first of which are in use; T = N h
k(u)       how much of a loss that is u above a knot is split to it, between -h and h
K(zeta)    the integral of k(u) e^(-zeta u)
omega_k    2 pi k / T; phi(omega) = M(theta + i omega) / M(theta) for real frequencies
=========  ====================================================================================================

A sum of thousands of losses that are added one by one is split thousands of times. Here it is split once.

Claim. With w_j = E_theta e^(-theta (S - l_j)) k(S - l_j), the mass of the split sum on the knot l_j is
M(theta) e^(-theta l_j) w_j, for all integers j. The sum of w_(j + m N) over all integers m is
W_j = 1/T sum over all k of K(theta + i omega_k) phi(omega_k) e^(-i omega_k l_j). Proof: k is continuous and vanishes
outside of -h to h, so its periodic sum has an absolutely convergent Fourier series, with these coefficients. A split
keeps the mass and the mean of e^(-loss), so k'' + k' is (delta_-h - (1 + q) delta_0 + q delta_h) / (1 - q) with
q = e^-h, and K(zeta) = (e^(zeta h) - 1) (1 - e^(-(1 + zeta) h)) / ((1 - q) zeta (1 + zeta)).

1. (Frequencies left out.) |K(theta + i omega)| is at most K(theta), as k >= 0, and at most C / omega^2 with
   C = (1 + e^(theta h)) (1 + e^(-(1 + theta) h)) / (1 - q). Where |phi| <= Phi between two frequencies a and b
   (`ggdp.proofs.transform_decay`), there are at most 1 + (b - a) T / 2 pi of the omega_k, and |K phi| is at most
   Phi min(K(theta), C / a^2); from a on, 1 / omega_k^2 adds up to at most 1 / a^2 + T / (2 pi a). Up to a further
   frequency |phi| is bounded at each omega_k by that of one kind of loss alone, since no factor of phi is above 1: its
   transform takes less time than those of all. Frequencies below 0 count the same.
2. (Knots left out.) W_j >= w_j, and all W_j together are above the w_j by the sum of w over all knots outside. Split
   to such a knot is S <= l_0 or S >= l_(N-1), and k(u) e^(-theta u) adds up to at most e^(theta h). By Chernoff,
   P_theta(S <= l_0) <= M(t) / M(theta) e^((theta - t) l_0) for t <= theta, and likewise above for t >= theta.
3. (Below the grid.) All this is raised to the lowest knot. For t <= 0 its weight there is at most
   E_theta e^(theta (l_0 - S)) over S <= l_0, and at most M(t) / M(theta) e^((theta - t) l_0).
4. (Above the grid.) This becomes infinite; its mass is at most P(S >= l_(N-1)) <= M(t) e^(-t l_(N-1)) for t >= 0.

So the weights W_j rounded up dominate S in the sense of `ggdp.proofs.loss_distribution`, with one split over the gap h;
the errors are their `Slack`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import acb, arb, fmpq, fmpz, fmpz_mat, fmpz_poly

from ggdp._balls import upper_float
from ggdp.errors import CertificateError
from ggdp.proofs.loss_distribution import ONE, LossDistribution, Slack, Split
from ggdp.proofs.loss_transform import transform
from ggdp.proofs.transform_blocks import Line
from ggdp.proofs.transform_decay import Range, TiltedLoss, decay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.layouts import SumLayout
    from ggdp.proofs.total_loss import CountedLoss

# Factors of the weights are integers times 2^-_BITS.
_BITS = 96


def laid_sum(losses: Sequence[CountedLoss], layout: SumLayout) -> LossDistribution:
    """Lay the sum of finite losses on a grid; the layout decides how tight the bounds are, never whether they hold."""
    step, tilt, number = arb(layout.step), arb(layout.tilt), layout.points
    period = step * number
    spacing = 2 * arb.pi() / period
    tilted = []
    for i, (counted, s) in enumerate(zip(losses, layout.widths, strict=True)):
        beside = layout.tilt + s, layout.tilt - s
        if not (arb(beside[0]) == tilt + arb(s) and arb(beside[1]) == tilt - arb(s)):
            message = f"the width {s!r} cannot be added to the tilt {layout.tilt!r} without rounding"
            raise CertificateError(message)
        reals = (layout.below, layout.above, *beside)
        last = layout.further if i == layout.followed else layout.frequencies
        line = Line(tilt=layout.tilt, spacing=spacing, last=last, reals=reals)
        tilted.append(TiltedLoss(counted.loss, counted.count, transform(counted.loss, line), s))
    level = _level(tilted, None)
    shape = [_product(tilted, k) for k in range(layout.frequencies + 1)]
    kernels = [_kernel(acb(tilt, spacing * k), step) for k in range(layout.frequencies + 1)]
    coefficients = [value * kernel / period for value, kernel in zip(shape, kernels, strict=True)]

    ranges = decay(tilted, layout.tilt, spacing, spacing * (layout.further + 1))
    followed = [
        Range(spacing * k, spacing * k, _modulus(tilted[layout.followed], k))
        for k in range(layout.frequencies + 1, layout.further + 1)
    ]
    left_out = _left_out([*followed, *ranges], kernels[0].real, step, tilt, spacing) / period
    inexact = coefficients[0].real.rad() + 2 * sum((_radius(value) for value in coefficients[1:]), arb(0))
    low, high = layout.low * step, (layout.low + number - 1) * step
    lowest = (_level(tilted, 0) - level + (tilt - layout.below) * low).exp()
    highest = (_level(tilted, 1) - level + (tilt - layout.above) * high).exp()
    infinite = (_level(tilted, 1) - layout.above * high).exp()
    if not (left_out + inexact < 1 and coefficients[0].real < 1 and lowest < 1 and highest < 1 and infinite < 1):
        message = "the sum of the losses does not fit the grid"
        raise CertificateError(message)

    weights = _weights(coefficients, layout.low, number)
    # A unit for the rounding of factors, one for that of weights.
    error = _ceil(ONE * (left_out + inexact)) + 2
    raised = _ceil(ONE * lowest)
    added = [error] * number
    added[0] += raised
    outside = _ceil(ONE * (lowest + highest) * (tilt * step).exp())
    return LossDistribution(
        step=layout.step,
        tilt=layout.tilt,
        low=layout.low,
        weights=weights + fmpz_poly(added),
        level=level,
        infinite=infinite.upper(),
        certain=arb(0),
        slack=Slack(
            excess=2 * error,
            lost=raised + outside,
            raised=arb(0),
            splits=((Split(layout.step, upper_float(step**2 / 8)), 1),),
        ),
    )


def _level(losses: Sequence[TiltedLoss], real: int | None) -> arb:
    """Return the logarithm of M at the tilt, or at a real point of the lines."""
    found = arb(0)
    for one in losses:
        found += one.count * (one.transform.values[0].real if real is None else one.transform.reals[real]).log()
    return found


def _product(losses: Sequence[TiltedLoss], k: int) -> acb:
    """Return phi at a frequency."""
    found = acb(1)
    if k:
        for one in losses:
            found *= (one.transform.values[k] / one.transform.values[0].real) ** one.count
    return found


def _modulus(one: TiltedLoss, k: int) -> arb:
    """Bound |phi| at a frequency by the factor of one kind of loss."""
    return abs(one.transform.values[k] / one.transform.values[0].real).upper() ** one.count


def _kernel(zeta: acb, step: arb) -> acb:
    """Return K(zeta)."""
    rising, falling = (zeta * step).expm1(), -(-(1 + zeta) * step).expm1()
    return rising * falling / (-(-step).expm1() * zeta * (1 + zeta))


def _left_out(ranges: Sequence[Range], first: arb, step: arb, tilt: arb, spacing: arb) -> arb:
    """Bound the sum of |K phi| over all frequencies that are left out."""
    most = (1 + (tilt * step).exp()) * (1 + (-(1 + tilt) * step).exp()) / -(-step).expm1()
    total = arb(0)
    for start, end, bound in ranges:
        falling = most / start**2
        if end is None:
            total += bound * (falling + most / (spacing * start))
        else:
            total += bound * first.min(falling) * (1 + (end - start) / spacing)
    return 2 * total


def _radius(value: acb) -> arb:
    return value.real.rad() + value.imag.rad()


def _ceil(x: arb) -> int:
    found = x.upper().ceil().unique_fmpz()
    assert found is not None
    return max(int(found), 0)


def _weights(coefficients: Sequence[acb], low: int, number: int) -> fmpz_poly:
    """Return ONE times the sum of coefficients[k] e^(-2 pi i k (low + j) / N) over all |k|, for all j: rounded down.

    Middles of balls are taken; the error is below a unit. j is a multiple of a block plus a rest, and the sums for all
    pairs of them are products of two matrices of integers.
    """
    block = math.isqrt(number - 1) + 1
    unit = fmpz(1) << _BITS
    rows: list[list[fmpz]] = []
    for a in range(-(-number // block)):
        row: list[fmpz] = []
        for k, value in enumerate(coefficients):
            turned = (value.mid() if k == 0 else 2 * value.mid()) * _root(-k * (low + a * block), number)
            row += [_rounded(turned.real * unit), _rounded(-turned.imag * unit)]
        rows.append(row)
    columns: list[list[fmpz]] = []
    for k in range(len(coefficients)):
        roots = [_root(-k * c, number) for c in range(block)]
        columns += [[_rounded(root.real * unit) for root in roots], [_rounded(root.imag * unit) for root in roots]]
    entries = (fmpz_mat(rows) * fmpz_mat(columns)).entries()[:number]
    shift = 2 * _BITS - (ONE.bit_length() - 1)
    return fmpz_poly([entry >> shift for entry in entries])


def _root(k: int, number: int) -> acb:
    """Return e^(2 pi i k / number)."""
    turn = fmpq(2 * (k % number), number)
    sine, cosine = arb.sin_cos_pi_fmpq(turn)
    return acb(cosine, sine)


def _rounded(x: arb) -> fmpz:
    """Return an integer within 1 of all points of a narrow ball."""
    found = (x.mid() + 0.5).floor().unique_fmpz()
    if found is None or not x.rad() < 0.5:
        message = "a factor of the weights is too wide a ball"
        raise CertificateError(message)
    return found
