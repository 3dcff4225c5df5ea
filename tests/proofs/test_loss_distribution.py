"""Sums of losses: both bounds beside the exact delta of tiny laws, and each term of the proofs where it matters."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import mpmath
import pytest
from flint import arb, ctx

from ggdp._balls import lower_float, upper_float
from ggdp.errors import CertificateError
from ggdp.proofs.loss_distribution import (
    ONE,
    LossDistribution,
    Masses,
    Split,
    _cut,
    add,
    coarsen,
    delta_above,
    delta_below,
    repeat,
    smoothings,
    weigh,
)

STEP = 0.125
NO_CUT = -1e4


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(128):
        yield


def laid(masses: dict[int, float], *, infinite: float = 0.0, certain: float = 0.0, step: float = STEP) -> Masses:
    """Masses that lie on the knots by themselves, so that nothing was split or raised."""
    return Masses(
        step=step,
        masses={index: arb(mass) for index, mass in masses.items()},
        infinite=arb(infinite),
        certain=arb(certain),
        spread=arb(0),
        misplaced=[],
        raised=arb(0),
    )


def exact_delta(laws: list[dict[int, float]], epsilon: float, *, step: float = STEP) -> mpmath.mpf:
    """The mean of (1 - e^(epsilon - sum))_+ over all combinations of losses."""
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for point in product(*(law.items() for law in laws)):
            excess = sum(index for index, _ in point) * mpmath.mpf(step) - mpmath.mpf(epsilon)
            if excess > 0:
                total -= mpmath.expm1(-excess) * mpmath.fprod(mass for _, mass in point)
        return total


def bounds(loss: LossDistribution, epsilon: float) -> tuple[float, float]:
    lower = max(lower_float(delta_below(loss, arb(epsilon), s)) for s in [*smoothings(loss), 1e-3, 1e-2])
    return lower, upper_float(delta_above(loss, arb(epsilon)))


LAWS = [{-3: 0.25, 0: 0.25, 2: 0.375, 5: 0.125}, {-8: 0.5, 1: 0.25, 9: 0.25}, {-1: 0.75, 7: 0.25}]


@pytest.mark.parametrize("tilt", [0.0, 0.5, 4.0, 40.0])
@pytest.mark.parametrize("epsilon", [-0.4, 0.1, 1.05, 2.3, 2.6])
def test_a_sum_on_the_grid_has_its_exact_delta_between_the_bounds(tilt: float, epsilon: float) -> None:
    exact = exact_delta(LAWS, epsilon)
    first, second, third = (weigh(laid(law), tilt) for law in LAWS)
    total = add(add(first, second, tail=NO_CUT, points=100), third, tail=NO_CUT, points=100)
    lower, upper = bounds(total, epsilon)
    assert lower <= exact <= upper
    if tilt <= 4.0 or epsilon > 2.0:
        # A steeper tilt leaves no digits to small losses.
        assert upper <= exact * (1 + 1e-9) + 1e-12
        assert lower >= exact * (1 - 1e-6) - 1e-12


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7])
def test_repeated_addition_is_the_sum_of_all_copies(count: int) -> None:
    total = repeat(weigh(laid(LAWS[0]), 1.5), count, tail=NO_CUT, points=1000)
    exact = exact_delta([LAWS[0]] * count, 0.8)
    lower, upper = bounds(total, 0.8)
    assert lower <= exact <= upper <= exact * (1 + 1e-9)


@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_a_coarser_grid_keeps_the_exact_delta_between_the_bounds_and_they_part(tilt: float) -> None:
    step, law = 2.0**-8, {-3: 0.25, 0: 0.25, 2: 0.375, 5: 0.125}
    fine = repeat(weigh(laid(law, step=step), tilt), 6, tail=NO_CUT, points=1000)
    coarse = coarsen(coarsen(fine))
    exact = exact_delta([law] * 6, 0.03, step=step)
    lower, upper = bounds(coarse, 0.03)
    assert lower < exact < upper
    # The splits are counted: without them the lower bound would be above the truth.
    unsplit = replace(coarse, slack=replace(coarse.slack, splits=((Split(step, 0.0), 1),)))
    assert delta_below(unsplit, arb(0.03), 1e-5) > arb(str(exact))


def test_the_splits_of_many_losses_are_all_counted_against_the_lower_bound() -> None:
    """Every loss is half-way between two knots, so that the sum of 64 spreads by 64 splits."""
    step, count, epsilon = 2.0**-8, 64, 72 * 2.0**-8
    single = coarsen(weigh(laid({9: 0.5625, -9: 0.4375}, step=step), 2.0))
    total = repeat(single, count, tail=NO_CUT, points=1000)
    assert dict(total.slack.splits)[single.slack.splits[-1][0]] == count
    with mpmath.workdps(40):
        exact = mpmath.fsum(
            mpmath.binomial(count, k)
            * mpmath.mpf(0.5625) ** k
            * mpmath.mpf(0.4375) ** (count - k)
            * max(-mpmath.expm1(epsilon - (2 * k - count) * 9 * mpmath.mpf(step)), 0)
            for k in range(count + 1)
        )
    found = [delta_below(total, arb(epsilon), 2.0 * step * multiple) for multiple in (1.0, 1.5, 2.0, 4.0, 8.0)]
    assert all(lower <= arb(str(exact)) for lower in found)
    assert any(lower > 0 for lower in found)
    assert delta_above(total, arb(epsilon)) >= arb(str(exact))


def test_a_split_keeps_the_mass_and_its_mean_of_the_other_law() -> None:
    coarse = coarsen(weigh(laid({3: 1.0}), 2.0))
    losses = [arb(coarse.low + j) * coarse.step for j in range(coarse.points)]
    masses = [
        weight * (coarse.level - 2 * loss).exp() / ONE
        for weight, loss in zip(coarse.weights.coeffs(), losses, strict=True)
    ]
    assert abs(sum(masses, arb(0)) - 1) < 1e-12
    mean = sum((mass * (-loss).exp() for mass, loss in zip(masses, losses, strict=True)), arb(0))
    assert abs(mean - (-arb(3 * STEP)).exp()) < 1e-12
    assert coarse.slack.splits[-1][0].gap == 2 * STEP


@pytest.mark.parametrize("tail", [-20.0, -3.0, -1.0, 0.0, 50.0])
@pytest.mark.parametrize("tilt", [0.0, 1.0, 20.0])
def test_what_a_cut_takes_away_is_counted_in_both_bounds(tail: float, tilt: float) -> None:
    # A long tail above and far more knots below than have any weight after the tilt.
    law = dict.fromkeys(range(-60, 60), 2.0 ** (-40)) | {0: 0.75, 4: 0.25 - 2.0**-12, 40: 2.0**-12}
    loss = weigh(laid(law), tilt)
    after = _cut(loss, tail)
    for epsilon in (-2.0, 0.2, 1.0):
        exact = exact_delta([law], epsilon)
        lower, upper = bounds(after, epsilon)
        assert lower <= exact <= upper
    if tail >= 0.0:
        assert after.points < loss.points


def test_a_cut_above_keeps_what_is_below_the_first_knot_of_any_weight() -> None:
    """After the tilt nearly all of the weight is where the cut is, and nearly all of the mass is far below it."""
    law = {0: 1.0 - 2.0**-40, 24: 2.0**-40}
    after = _cut(weigh(laid(law), 20.0), -1.0)
    for epsilon in (-2.0, -0.5):
        assert exact_delta([law], epsilon) <= bounds(after, epsilon)[1]


def test_a_cut_below_counts_what_it_raised_as_lost() -> None:
    loss = _cut(weigh(laid({-100: 2.0**-20, 0: 0.5, 1: 0.5}), 4.0), NO_CUT)
    assert loss.points < 101
    assert loss.slack.lost >= int(loss.weights[0]) > 0


def test_three_knots_that_become_three_on_any_coarser_grid_are_left_as_they_are() -> None:
    law = {-1: 0.25, 0: 0.25, 1: 0.5}
    total = add(weigh(laid(law), 0.5), weigh(laid({0: 1.0}), 0.5), tail=NO_CUT, points=2)
    assert (total.step, total.points) == (STEP, 3)
    lower, upper = bounds(total, 0.05)
    assert lower <= exact_delta([law], 0.05) <= upper


def test_weights_beyond_the_floats_are_cut_and_bounded_as_others_are() -> None:
    """A coarser grid moves weights up by e^(tilt step), which is e^1000 here."""
    law = {-1: 0.25, 0: 0.25, 1: 0.5}
    loss = weigh(laid(law, step=1.0), 1000.0)
    wide = coarsen(loss)
    assert max(int(weight) for weight in wide.weights.coeffs()) > 10**400
    total = add(wide, weigh(laid({0: 1.0}, step=2.0), 1000.0), tail=NO_CUT, points=10)
    lower, upper = bounds(total, 0.5)
    assert lower <= exact_delta([law], 0.5, step=1.0) <= upper


def test_more_than_all_of_the_mass_at_infinity_is_not_multiplied() -> None:
    """With 2 each, 2 + 2 - 2 * 2 would leave nothing."""
    heavy = replace(weigh(laid({0: 1.0}), 0.0), infinite=arb(2))
    assert delta_above(add(heavy, heavy, tail=NO_CUT, points=10), arb(1)) >= 1


def test_infinite_losses_add_up_as_those_of_independent_losses() -> None:
    one = weigh(laid({0: 0.75}, infinite=0.25, certain=0.25), 0.0)
    total = add(one, one, tail=NO_CUT, points=10)
    assert total.infinite.overlaps(arb("0.4375"))
    lower, upper = bounds(total, 1.0)
    assert lower <= 0.4375 <= upper <= 0.4375 + 1e-9
    assert lower >= 0.4375 - 1e-9


def test_only_what_is_certain_to_be_infinite_is_in_the_lower_bound() -> None:
    one = weigh(laid({0: 0.75}, infinite=0.25), 0.0)
    assert bounds(one, 1.0)[0] <= 0.0
    assert bounds(add(one, one, tail=NO_CUT, points=10), 1.0)[0] <= 0.0


@pytest.mark.parametrize("change", ["excess", "lost", "raised"])
def test_each_kind_of_slack_lowers_the_lower_bound_by_what_it_may_hold(change: str) -> None:
    """The true law lacks a part of the weight on a knot, or has its loss a little lower."""
    epsilon = 0.5
    loss = weigh(laid({0: 0.5, 8: 0.5}), 1.0)
    if change == "raised":
        truth = 0.5 * -math.expm1(epsilon - (1.0 - 0.25))
        slack = replace(loss.slack, raised=arb("0.25"))
    else:
        truth = 0.25 * -math.expm1(epsilon - 1.0)
        half = int(loss.weights[loss.points - 1]) // 2 + 1
        slack = replace(loss.slack, **{change: half})
    before, _ = bounds(loss, epsilon)
    after, _ = bounds(replace(loss, slack=slack), epsilon)
    assert after <= truth < before


def test_slack_grows_with_the_weight_that_it_is_multiplied_by() -> None:
    loss = weigh(laid({0: 0.5, 1: 0.5}), 0.0)
    doubtful = replace(loss, slack=replace(loss.slack, excess=1000, lost=5000))
    total = add(doubtful, loss, tail=NO_CUT, points=10).slack
    assert total.excess >= 1000
    assert total.lost >= 5000
    coarse = coarsen(doubtful).slack
    assert coarse.excess >= 2000
    assert coarse.lost >= 5000


def test_a_weight_of_less_than_a_unit_is_rounded_up() -> None:
    loss = weigh(laid({0: 1.0, 9: 2.0**-60}), 0.0)
    assert int(loss.weights[9]) == 1
    assert bounds(loss, 1.0)[1] >= exact_delta([{9: 2.0**-60}], 1.0)


def test_losses_on_grids_that_do_not_fit_are_not_added() -> None:
    first, second = weigh(laid({0: 1.0}, step=0.1), 0.0), weigh(laid({0: 1.0}, step=0.15), 0.0)
    with pytest.raises(CertificateError, match="cannot be added"):
        add(first, second, tail=NO_CUT, points=10)
    with pytest.raises(CertificateError, match="cannot be added"):
        add(first, weigh(laid({0: 1.0}, step=0.1), 1.0), tail=NO_CUT, points=10)


def test_losses_on_grids_that_differ_by_a_power_of_two_are_added_on_the_coarser_one() -> None:
    total = add(weigh(laid({1: 1.0}), 0.0), weigh(laid({1: 1.0}, step=4 * STEP), 0.0), tail=NO_CUT, points=10)
    assert total.step == 4 * STEP
    exact = -math.expm1(0.1 - 5 * STEP)
    assert exact <= upper_float(delta_above(total, arb(0.1)))


@pytest.mark.parametrize("epsilon", [-50.0, -1.0, 0.3, 50.0])
def test_bounds_hold_where_epsilon_is_far_outside_of_the_grid(epsilon: float) -> None:
    lower, upper = bounds(weigh(laid(LAWS[0]), 1.0), epsilon)
    exact = exact_delta([LAWS[0]], epsilon)
    assert lower <= exact <= upper


@pytest.mark.parametrize("s", [1e-4, 1e-2, 0.05, 0.2, 10.0])
def test_every_smoothing_length_gives_a_lower_bound(s: float) -> None:
    coarse = coarsen(repeat(weigh(laid(LAWS[0]), 2.0), 4, tail=NO_CUT, points=1000))
    assert delta_below(coarse, arb(0.8), s) <= arb(str(exact_delta([LAWS[0]] * 4, 0.8)))


def test_a_sum_of_no_more_than_the_allowed_knots_is_returned() -> None:
    total = repeat(weigh(laid(LAWS[0]), 0.5), 40, tail=NO_CUT, points=16)
    assert total.points <= 16


@pytest.mark.parametrize("weight", [0, 1, 5, ONE - 1, ONE, ONE + 1, 3 * ONE])
def test_weights_are_divided_upwards_however_small_they_are(weight):
    from flint import fmpz_poly

    from ggdp.proofs.loss_distribution import _divide

    padded = [weight, 1, weight, 7]
    assert [int(w) for w in _divide(fmpz_poly(padded), ONE).coeffs()] == [-(-w // ONE) for w in padded]


@pytest.mark.parametrize("tilt", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("epsilon", [-0.3, 0.0, 0.01, 0.0625, 0.07, 0.125, 0.2, 0.31])
def test_a_sum_that_was_split_once_has_a_lower_bound_without_smoothing(tilt: float, epsilon: float) -> None:
    step, law = 2.0**-5, {-3: 0.25, 0: 0.25, 2: 0.375, 5: 0.125}
    once = coarsen(repeat(weigh(laid(law, step=step), tilt), 3, tail=NO_CUT, points=1000))
    assert smoothings(once) == [0.0]
    exact = exact_delta([law] * 3, epsilon, step=step)
    lower, upper = lower_float(delta_below(once, arb(epsilon), 0.0)), upper_float(delta_above(once, arb(epsilon)))
    assert lower <= exact <= upper
    if epsilon % (2 * step) == 0.0:
        # On a knot nothing is lost but what rounding costs.
        assert upper - lower <= 1e-12
    else:
        assert upper - lower > 1e-4


def test_a_sum_that_was_split_twice_or_over_wider_gaps_needs_smoothing() -> None:
    step, law = 2.0**-5, {-3: 0.25, 0: 0.25, 2: 0.375, 5: 0.125}
    once = coarsen(weigh(laid(law, step=step), 1.0))
    twice = add(once, once, tail=NO_CUT, points=1000)
    wider = replace(once, slack=replace(once.slack, splits=((Split(4 * step, step**2), 1),)))
    for loss in (twice, coarsen(once), wider):
        assert delta_below(loss, arb(0), 0.0) == 0
        assert min(smoothings(loss)) > 0.0


def test_lost_weight_and_raised_losses_count_against_the_bound_without_smoothing() -> None:
    law = {-3: 0.25, 0: 0.25, 2: 0.375, 5: 0.125}
    loss = weigh(laid(law), 1.0)
    exact = lower_float(delta_below(loss, arb(0.1), 0.0))
    lost = replace(loss, slack=replace(loss.slack, lost=ONE // 100))
    raised = replace(loss, slack=replace(loss.slack, raised=arb(0.05)))
    excess = replace(loss, slack=replace(loss.slack, excess=ONE // 1000))
    for worse in (lost, raised, excess):
        assert lower_float(delta_below(worse, arb(0.1), 0.0)) < exact - 1e-4
    # 1 % of the weight, wherever it is, cannot be more than this.
    assert lower_float(delta_below(lost, arb(0.1), 0.0)) > exact - 0.02
