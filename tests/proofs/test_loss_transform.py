"""Transforms of losses beside 30 digits by other means, and how fast they are proved to fall."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from tests.cases import some

from ggdp.accounting.fourier_totals import (
    Line,
    TiltedLoss,
    counting_rule,
    decay,
    gauss_rule,
    high_frequencies,
    transform,
)
from ggdp.errors import ArgumentError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.losses import CoordinateLoss, Loss, ResponseLoss

SCALE = 20.0


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(112), mpmath.workdps(30):
        yield


def noise(order: float, support: str = "real", *, size: float = 1.0, scale: float = SCALE) -> CoordinateLoss:
    return CoordinateLoss(NoiseLaw(order=order, scale=scale, support=support), size)


def exact(loss: Loss, *zetas: mpmath.mpc) -> list[mpmath.mpc]:
    """E e^(zeta L) for each zeta, by mpmath's arithmetic: a quadrature or term by term."""
    if isinstance(loss, ResponseLoss):
        e = mpmath.mpf(loss.epsilon)
        return [(mpmath.exp((1 + zeta) * e) + mpmath.exp(-zeta * e)) / (1 + mpmath.exp(e)) for zeta in zetas]
    p, b, size = mpmath.mpf(loss.law.order), mpmath.mpf(loss.law.scale), mpmath.mpf(loss.size)
    d = size / b
    far = 1 + 2 * mpmath.mpf(70) ** (1 / p)
    if loss.law.support == "real":
        weighted, whole = _on_reals(d, far), 2 * mpmath.gamma(1 + 1 / p)
    else:
        weighted = [(k / b, mpmath.mpf(1)) for k in range(-int(far * b + size), int(far * b) + 1)]
        whole = mpmath.fsum(mpmath.exp(-(abs(x) ** p)) for x, _ in weighted)
    # Powers are the dear part, and the same for every zeta.
    powers = [(w, abs(x) ** p, abs(x + d) ** p) for x, w in weighted]
    return [mpmath.fsum(w * mpmath.exp(-q + zeta * (r - q)) for w, q, r in powers) / whole for zeta in zetas]


def _on_reals(d: mpmath.mpf, far: mpmath.mpf) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """Points and weights of an integral by the tanh-sinh rule, which does not mind what is singular at 0 and -d."""
    pieces = [far * k / 8 for k in range(1, 9)]
    ends = [*(-d - x for x in reversed(pieces)), -d, mpmath.mpf(0), *pieces]
    halves = [((low + high) / 2, (high - low) / 2) for low, high in pairwise(ends)]
    return [(c + r * x, r * w) for c, r in halves for x, w in _tanh_sinh()]


@cache
def _tanh_sinh() -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """Points and weights on (-1, 1)."""
    h = mpmath.mpf(1) / 24
    angles = [(k * h, mpmath.pi / 2 * mpmath.sinh(k * h)) for k in range(-96, 97)]
    return [(mpmath.tanh(t), h * mpmath.pi / 2 * mpmath.cosh(u) / mpmath.cosh(t) ** 2) for u, t in angles]


LOSSES = [
    ResponseLoss(0.3, 0.0),
    *(noise(order, support) for order in (1.0, 1.2, 2.0, 3.0) for support in ("real", "integer")),
    noise(1.0, "integer", size=4.0),
    noise(2.5, "integer", size=5.0),
    *(noise(6.0, support, scale=60.0) for support in ("real", "integer")),
    noise(4.0, size=3.3, scale=60.0),
]
NAMES = [repr(loss) for loss in LOSSES]


LINES = ((0.5, 0.3, 7), (6.0, 1.1, 20))


# Every loss on one line or the other, in turn.
@pytest.mark.parametrize(
    ("place", "line"),
    some(product(range(len(LOSSES)), range(len(LINES))), fast=lambda place, line: (place + line) % 2 == 0),
)
def test_a_transform_holds_the_exact_value_and_is_narrow(place: int, line: int) -> None:
    loss, (tilt, spacing, last) = LOSSES[place], LINES[line]
    on = Line(tilt=tilt, spacing=arb(spacing), last=last, reals=(-0.7, tilt + 3.0))
    found = transform(loss, on)
    assert len(found.values) == last + 1
    at_ends = [mpmath.mpc(tilt, k * mpmath.mpf(spacing)) for k in (0, last)]
    *ends, first, second = exact(loss, *at_ends, *map(mpmath.mpf, on.reals))
    for k, true in zip((0, last), ends, strict=True):
        value = found.values[k]
        for part, true_part in ((value.real, true.real), (value.imag, true.imag)):
            assert abs(part.mid() - arb(mpmath.nstr(true_part, 25))) <= part.rad() + 1e-20 * abs(found.values[0])
            assert part.rad() < 1e-11 * abs(found.values[0])
    for true, value in zip((first, second), found.reals, strict=True):
        assert abs(value.mid() - arb(mpmath.nstr(true, 25))) <= value.rad() + 1e-20 * value
        assert value.rad() < 1e-11 * value


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_mirrored_losses_have_the_same_transform(loss: Loss) -> None:
    found = transform(loss, Line(tilt=0.5, spacing=arb(1), last=1, reals=(0.8, -1.8, 0.0)))
    assert abs(found.reals[0] - found.reals[1]) < 1e-10
    assert abs(found.reals[2] - 1) < 1e-10


def test_few_points_have_an_error_that_is_counted() -> None:
    """The rules are exact for polynomials of their degree, and off by at most the bound for 1 / (x - 2)."""
    rho = arb(3)
    # On the ellipse of 3 the nearest point to 2 is 5/3.
    largest = arb(3)
    for number in (2, 4, 8):
        for rule, true in (
            (gauss_rule(number, ctx.prec), -arb(3).log()),
            (counting_rule(50, number, ctx.prec), sum((1 / (arb(2 * k) / 49 - 3) for k in range(50)), arb(0))),
        ):
            found = sum((w / (x - 2) for x, w in zip(rule.points, rule.weights, strict=True)), arb(0))
            off, bound = abs(found - true), rule.error(largest, rho)
            assert 0 < off < bound
            assert bound < rule.size * 100 * rho**-rule.degree
            for degree in range(rule.degree + 1):
                power = sum((w * x**degree for x, w in zip(rule.points, rule.weights, strict=True)), arb(0))
                if rule.size == 4:
                    assert power.overlaps(arb(1 + (-1) ** degree) / (degree + 1))
                else:
                    assert power.overlaps(sum(((arb(2 * k) / 49 - 1) ** degree for k in range(50)), arb(0)))


def test_a_line_with_an_infinite_loss_or_left_of_the_mirror_is_refused() -> None:
    line = Line(tilt=1.0, spacing=arb(1), last=1)
    with pytest.raises(ArgumentError, match="no transform"):
        transform(ResponseLoss(0.3, 0.1), line)
    with pytest.raises(ArgumentError, match="above -1/2"):
        transform(ResponseLoss(0.3, 0.0), Line(tilt=-0.5, spacing=arb(1), last=1))


SPACING = 2.0


def tilted(loss: Loss, count: int, tilt: float) -> TiltedLoss:
    """A loss with its transform; s is about 0.4 over its deviation."""
    (rough,) = in_floats(loss, tilt, [1.0])
    s = 0.4 / math.sqrt(1 - rough**2)
    line = Line(tilt=tilt, spacing=arb(SPACING), last=1, reals=(tilt + s, tilt - s))
    return TiltedLoss(loss, count, transform(loss, line), s)


def in_floats(loss: Loss, tilt: float, frequencies: list[float]) -> np.ndarray:
    """|phi| of one tilted loss, on a fine grid of noise."""
    if isinstance(loss, ResponseLoss):
        losses = np.array([loss.epsilon, -loss.epsilon])
        weights = np.exp((0.5 + tilt) * losses)
    else:
        d, far = loss.size / loss.law.scale, 12.0
        x = np.linspace(-far - d, far, 50_001)
        if loss.law.support == "integer":
            x = np.arange(-int(far * loss.law.scale), int(far * loss.law.scale)) / loss.law.scale
        losses = np.abs(x + d) ** loss.law.order - np.abs(x) ** loss.law.order
        weights = np.exp(-(np.abs(x) ** loss.law.order) + tilt * losses)
    return np.array([abs(weights @ np.exp(1j * omega * losses)) / weights.sum() for omega in frequencies])


def largest(losses: list[TiltedLoss], tilt: float, start: float) -> float:
    """The largest bound of any frequency from a start on; the ranges follow each other without a gap."""
    ranges = decay(losses, tilt, arb(SPACING), arb(start))
    assert ranges[0].first == start
    assert all(before.last is not None and before.last.overlaps(after.first) for before, after in pairwise(ranges))
    assert ranges[-1].last is None
    return max(float(one.bound) for one in ranges)


@pytest.mark.parametrize("order", [1.3, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("tilt", [0.2, 5.0])
def test_no_frequency_from_the_start_on_is_above_the_bound(order: float, tilt: float) -> None:
    loss, other = noise(order, scale=60.0 if order > 4.0 else SCALE), noise(1.0, "integer")
    losses = [tilted(loss, 30, tilt), tilted(other, 5, tilt)]
    for start in (6.0, 20.0, 60.0, 300.0):
        frequencies = [start * factor for factor in (1.0, 1.05, 1.3, 2.0, 3.3)]
        highest = (in_floats(loss, tilt, frequencies) ** 30 * in_floats(other, tilt, frequencies) ** 5).max()
        assert highest <= largest(losses, tilt, start) * (1 + 1e-9) + 1e-12
    # It is of use: far out hardly anything is left.
    assert largest(losses, tilt, 3e3) < 1e-3


@pytest.mark.parametrize("order", [1.5, 3.0, 6.0])
@pytest.mark.parametrize("tilt", [0.7, 8.0])
def test_the_noise_whose_density_is_not_followed_is_bounded_from_above_and_closely(order: float, tilt: float) -> None:
    """The last pair is that of all noise but a little around 0 and -d."""
    loss = noise(order, scale=60.0)
    d, whole = 1 / 60.0, exact(loss, mpmath.mpc(tilt))[0].real
    pairs, _ = high_frequencies(loss, tilt, arb(mpmath.nstr(whole, 25)))
    x = np.linspace(-d - 0.01, 0.01, 20_001)
    logs = -(np.abs(x) ** order) + tilt * (np.abs(x + d) ** order - np.abs(x) ** order)
    outside = np.exp(logs).mean() * (d + 0.02) / (2 * math.gamma(1 + 1 / order) * float(whole))
    assert outside <= float(pairs[-1][0]) <= 1.05 * outside + 1e-4


@pytest.mark.parametrize(("order", "tilt", "last"), [(1.5, 0.7, 3000), (1.5, 9.0, 400), (6.0, 9.0, 300)])
def test_transforms_at_high_frequencies_hold_sums_in_floats(order: float, tilt: float, last: int) -> None:
    """Where a loss is followed far, blocks are short; tilts beside it need not be those of the line."""
    loss = noise(order, scale=40.0)
    found = transform(loss, Line(tilt=tilt, spacing=arb(1), last=last, reals=(tilt + 9.0, -12.0)))
    frequencies = [0.0, last // 3, last // 2, last]
    true = in_floats(loss, tilt, frequencies)
    for k, value in zip(frequencies, true, strict=True):
        ratio = abs(found.values[int(k)] / found.values[0])
        assert abs(float(ratio) - value) < 1e-6
        assert float(ratio.rad()) < 1e-10


@pytest.mark.parametrize("loss", [noise(1.0), noise(1.0, "integer"), noise(3.0, "integer"), ResponseLoss(0.1, 0.0)])
def test_losses_with_atoms_are_not_said_to_vanish_at_high_frequencies(loss: Loss) -> None:
    assert decay([tilted(loss, 1000, 1.0)], 1.0, arb(SPACING), arb(10))[-1].bound >= 1
    # Those of a density do.
    assert decay([tilted(noise(3.0), 1000, 1.0)], 1.0, arb(SPACING), arb(10))[-1].bound < 1e-6


def test_a_transform_of_too_large_a_move_is_wide_and_not_wrong() -> None:
    found = transform(noise(3.0, "integer", size=1e5), Line(tilt=1.0, spacing=arb(1), last=1))
    assert not found.values[1].is_finite()
