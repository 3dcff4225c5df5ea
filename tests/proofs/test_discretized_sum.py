"""Sums that are laid at once: both bounds beside closed forms, and each term of the proof where it matters."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from ggdp._balls import lower_float, upper_float
from ggdp.accounting.fourier_totals import discretize_sum
from ggdp.accounting.totals import plan_sum
from ggdp.calibration.loss_grids import plan_total, sample_losses
from ggdp.errors import ArgumentError, CertificateError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.loss_distribution import delta_above, delta_below, smoothings
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, ResponseLoss, total_loss

if TYPE_CHECKING:
    from ggdp.proofs.layouts import SumLayout


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(112):
        yield


def noise(order: float, scale: float, count: int, support: str = "real") -> CountedLoss:
    return CountedLoss(CoordinateLoss(NoiseLaw(order=order, scale=scale, support=support), 1.0), count)


GAUSSIAN = [noise(2.0, 12.0, 40), CountedLoss(ResponseLoss(0.1, 0.0), 20)]
MIXED = [noise(1.5, 15.0, 30), noise(3.0, 20.0, 40), noise(1.0, 30.0, 10), noise(2.5, 30.0, 20, "integer")]


def exact_delta(epsilon: float) -> mpmath.mpf:
    """The delta of GAUSSIAN: one shift beside a binomial number of true answers."""
    with mpmath.workdps(40):
        mu = mpmath.sqrt(2 * 40) / 12
        e = mpmath.mpf(0.1)
        truth = 1 / (1 + mpmath.exp(-e))
        total = mpmath.mpf(0)
        for k in range(21):
            x = mpmath.mpf(epsilon) - (2 * k - 20) * e
            delta = mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu)
            total += mpmath.binomial(20, k) * truth**k * (1 - truth) ** (20 - k) * delta
        return total


def layout_for(losses: list[CountedLoss], epsilon: float) -> SumLayout:
    samples = sample_losses(losses)
    assert samples is not None
    found = plan_sum(losses, samples, epsilon)
    assert found is not None
    return found


def bounds(losses: list[CountedLoss], layout: SumLayout, epsilon: float) -> tuple[float, float]:
    total = discretize_sum(losses, layout)
    below, above = delta_below(total, arb(epsilon), 0.0), delta_above(total, arb(epsilon))
    return max(lower_float(below), 0.0), upper_float(above)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5, 4.0, 6.0])
def test_the_exact_delta_lies_between_bounds_that_are_close(epsilon: float) -> None:
    true = exact_delta(epsilon)
    lower, upper = bounds(GAUSSIAN, layout_for(GAUSSIAN, epsilon), epsilon)
    assert lower <= true <= upper <= lower * (1 + 1e-6)


def added_one_by_one(losses: list[CountedLoss], epsilon: float) -> tuple[float, float]:
    """Bounds of delta by a sum of losses that are laid one by one."""
    samples = sample_losses(losses)
    assert samples is not None
    plan = plan_total(losses, samples, epsilon, finer=0.3)
    total = total_loss(losses, plan)
    lower = max(lower_float(delta_below(total, arb(epsilon), s)) for s in smoothings(total))
    return max(lower, 0.0), upper_float(delta_above(total, arb(epsilon)))


@pytest.mark.parametrize("seed", range(4))
def test_random_mixes_have_the_same_delta_as_losses_that_are_added_one_by_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    losses = [
        noise(
            float(random.choice([1.0, 1.3, 2.0, 2.5, 4.0])),
            float(random.uniform(10, 30)),
            int(random.integers(4, 20)),
            s,
        )
        for s in ("real", "integer", "integer")
    ]
    losses += [noise(float(random.uniform(1.2, 3.5)), 20.0, 40), CountedLoss(ResponseLoss(0.05, 0.0), 10)]
    epsilon = float(random.uniform(0.2, 3.0))
    lower, upper = bounds(losses, layout_for(losses, epsilon), epsilon)
    wide = added_one_by_one(losses, epsilon)
    # The narrow bounds lie between the wide ones, but for what both have at their ends.
    assert wide[0] <= upper
    assert lower <= wide[1]
    assert upper <= lower * (1 + 1e-5)
    assert wide[1] <= wide[0] * (1 + 1e-2)


FEW = [noise(1.5, 30.0, 4), noise(3.0, 40.0, 4), noise(6.0, 50.0, 4)]


@pytest.mark.exhaustive
def test_few_losses_are_laid_at_once_by_following_one_of_them() -> None:
    epsilon = 0.3
    layout = layout_for(FEW, epsilon)
    assert layout.further > 4 * layout.frequencies
    assert layout.followed == 0
    lower, upper = bounds(FEW, layout, epsilon)
    wide = added_one_by_one(FEW, epsilon)
    assert wide[0] <= upper
    assert lower <= wide[1]
    assert upper <= lower * (1 + 1e-6)


def test_a_loss_is_followed_at_least_as_far_as_the_others_and_is_one_of_them() -> None:
    layout = layout_for(GAUSSIAN, 1.0)
    with pytest.raises(ArgumentError, match="further"):
        replace(layout, further=layout.frequencies - 1)
    with pytest.raises(ArgumentError, match="followed"):
        replace(layout, followed=2)


@pytest.mark.parametrize("away", [-0.3, -0.01, 1e-4, 0.02, 0.4])
def test_away_from_the_epsilon_of_its_grid_a_sum_still_has_the_exact_delta_between_its_bounds(away: float) -> None:
    layout = layout_for(GAUSSIAN, 2.0)
    lower, upper = bounds(GAUSSIAN, layout, 2.0 + away)
    assert lower <= exact_delta(2.0 + away) <= upper <= lower * (1 + 1e-3)


CHANGES = {
    "few frequencies": lambda layout: replace(layout, frequencies=layout.frequencies // 3, further=layout.further // 3),
    "one frequency": lambda layout: replace(layout, frequencies=1, further=1),
    "few frequencies and one loss followed": lambda layout: replace(layout, frequencies=layout.frequencies // 3),
    "few frequencies and atoms followed": lambda layout: replace(
        layout, frequencies=layout.frequencies // 3, followed=1
    ),
    "a narrow grid": lambda layout: replace(layout, points=layout.points // 3, low=layout.low + layout.points // 3),
    "a grid too low": lambda layout: replace(layout, low=layout.low - layout.points // 2),
    "a grid too high": lambda layout: replace(layout, low=layout.low + layout.points // 2),
    "a coarse grid": lambda layout: replace(
        layout, step=layout.step * 64, low=layout.low // 64, points=layout.points // 64 + 2
    ),
    "tilts far out": lambda layout: replace(layout, below=-30.0, above=layout.above + 30.0),
    "widths too small": lambda layout: replace(layout, widths=tuple(width / 64 for width in layout.widths)),
    "widths too large": lambda layout: replace(layout, widths=tuple(width * 3 for width in layout.widths)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("epsilon", [0.3, 2.5])
def test_bounds_hold_on_every_layout_or_there_are_none(change, epsilon: float) -> None:
    layout = change(layout_for(GAUSSIAN, epsilon))
    try:
        lower, upper = bounds(GAUSSIAN, layout, epsilon)
    except CertificateError:
        return
    assert lower <= exact_delta(epsilon) <= upper


def test_what_is_above_a_grid_that_ends_early_is_counted_in_the_upper_bound() -> None:
    epsilon = 2.5
    layout = layout_for(GAUSSIAN, epsilon)
    points = math.ceil((epsilon + 0.9) / layout.step) - layout.low
    lower, upper = bounds(GAUSSIAN, replace(layout, points=points, above=layout.tilt + 1.0), epsilon)
    assert lower <= exact_delta(epsilon) <= upper


def test_masses_below_a_grid_that_starts_late_are_not_taken_for_masses_on_it() -> None:
    """The sum over frequencies is periodic: what is below the grid is seen at its upper end."""
    epsilon = 0.3
    layout = layout_for(GAUSSIAN, epsilon)
    low = math.floor((epsilon - 0.9) / layout.step)
    short = replace(layout, low=low, points=layout.points - (low - layout.low), below=-1.0)
    lower, upper = bounds(GAUSSIAN, short, epsilon)
    assert lower <= exact_delta(epsilon) <= upper


def test_most_bad_layouts_do_have_bounds_which_are_wide() -> None:
    """So that the test above does not only see layouts that are refused."""
    wide = 0
    for change in CHANGES.values():
        layout = change(layout_for(GAUSSIAN, 2.5))
        try:
            lower, upper = bounds(GAUSSIAN, layout, 2.5)
        except CertificateError:
            continue
        wide += upper > lower * (1 + 1e-6)
    assert wide >= 3


@pytest.mark.parametrize("losses", [GAUSSIAN, MIXED], ids=["Gaussian", "mixed"])
def test_the_weights_are_those_of_a_law_that_is_split_once(losses: list[CountedLoss]) -> None:
    """The masses add up to 1, and so do masses times e^(-loss), which a split keeps."""
    # A low tilt, so that both ends of the law are seen.
    layout = replace(layout_for(losses, 0.5), tilt=0.5)
    total = discretize_sum(losses, layout)
    unit, (mass, reverse) = total.slack.excess, (arb(0), arb(0))
    for j, weight in enumerate(total.weights.coeffs()):
        place = (total.low + j) * arb(total.step)
        found = (arb(weight) - unit / 2) * (total.level - layout.tilt * place).exp() / 2**50
        mass += found
        reverse += found * (-place).exp()
    assert abs(mass - 1) < 1e-6
    assert abs(reverse - 1) < 1e-6
    assert total.slack.splits == ((total.slack.splits[0][0], 1),)
    assert total.slack.splits[0][0].gap == total.step
    assert total.slack.splits[0][0].spread >= total.step**2 / 8


def test_the_weights_are_exact_up_to_their_excess() -> None:
    """On a coarse grid they are compared with integrals of the Gaussian density against the split."""
    losses = [noise(2.0, 12.0, 40)]
    layout = layout_for(losses, 1.0)
    layout = replace(layout, step=0.05, low=math.floor(layout.low * layout.step / 0.05), points=200)
    total = discretize_sum(losses, layout)
    with mpmath.workdps(25):
        mean, variance, h = mpmath.mpf(40) / 144, mpmath.mpf(80) / 144, mpmath.mpf(0.05)
        checked = 0
        for j in range(60, 160, 7):
            knot = (layout.low + j) * h

            def split(loss: mpmath.mpf, knot: mpmath.mpf = knot) -> mpmath.mpf:
                u = loss - knot
                share = (mpmath.exp(-u) - mpmath.exp(-h)) if u >= 0 else 1 - mpmath.exp(-(u + h))
                return share / (1 - mpmath.exp(-h)) * mpmath.npdf(loss, mean, mpmath.sqrt(variance))

            mass = mpmath.quad(split, [knot - h, knot, knot + h])
            unit = mpmath.exp(mpmath.mpf(float(total.level)) - layout.tilt * knot) / 2**50
            weight = int(total.weights[j])
            assert weight - total.slack.excess - 1 <= mass / unit * (1 + mpmath.mpf(10) ** -13)
            assert mass / unit * (1 - mpmath.mpf(10) ** -13) <= weight
            checked += weight > 100 * total.slack.excess
        assert checked >= 5


def test_a_sum_of_atoms_alone_has_no_plan() -> None:
    losses = [noise(1.0, 30.0, 1000), CountedLoss(ResponseLoss(0.1, 0.0), 1000)]
    samples = sample_losses(losses)
    assert samples is not None
    assert plan_sum(losses, samples, 1.0) is None


def test_atoms_laid_at_once_are_refused_since_they_do_not_vanish_at_high_frequencies() -> None:
    layout = layout_for(GAUSSIAN, 1.0)
    with pytest.raises(CertificateError, match="does not fit"):
        discretize_sum([noise(1.0, 12.0, 40), GAUSSIAN[1]], layout)


def test_a_width_that_would_be_rounded_is_refused() -> None:
    """The bound of the fourth moment needs the tilt plus and minus the same distance."""
    layout = layout_for(GAUSSIAN, 1.0)
    rounded = replace(layout, widths=(0.1 / 3.0,) * len(GAUSSIAN))
    with pytest.raises(CertificateError, match="without rounding"):
        discretize_sum(GAUSSIAN, rounded)


@pytest.mark.parametrize(
    ("name", "value"), [("step", 0.0), ("tilt", 0.0), ("below", 0.1), ("above", 0.0), ("points", 0), ("widths", (0.0,))]
)
def test_a_layout_that_proves_nothing_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ArgumentError, match=name):
        replace(layout_for(GAUSSIAN, 1.0), **{name: value})
