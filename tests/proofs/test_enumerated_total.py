"""Totals of few losses on few atoms beside every outcome in 40 digits."""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest

from ggdp.accounting.exact_totals import enumerated_between
from ggdp.proofs import NoiseLaw
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, ResponseLoss

Outcomes = list[tuple[mpmath.mpf, mpmath.mpf]]


def noise(order: float, scale: float, size: float = 1.0, count: int = 1, support: str = "integer") -> CountedLoss:
    return CountedLoss(CoordinateLoss(NoiseLaw(order=order, scale=scale, support=support), size), count)


def outcomes(counted: CountedLoss) -> Outcomes:
    """The losses of one mechanism and their probabilities."""
    loss = counted.loss
    if isinstance(loss, ResponseLoss):
        e = mpmath.mpf(loss.epsilon)
        return [(e, 1 / (1 + mpmath.exp(-e))), (-e, 1 / (1 + mpmath.exp(e)))]
    p, b, size = mpmath.mpf(loss.law.order), mpmath.mpf(loss.law.scale), int(loss.size)
    points = range(-150, 151)
    weights = [mpmath.exp(-((abs(k) / b) ** p)) for k in points]
    whole, found = mpmath.fsum(weights), dict[str, tuple[mpmath.mpf, mpmath.mpf]]()
    for k, weight in zip(points, weights, strict=True):
        loss_at = (abs(mpmath.mpf(k + size)) ** p - abs(mpmath.mpf(k)) ** p) / b**p
        # At order 1 most noise has one of two losses.
        key = mpmath.nstr(loss_at, 30)
        if weight > mpmath.mpf(10) ** -40:
            found[key] = (loss_at, found.get(key, (loss_at, mpmath.mpf(0)))[1] + weight / whole)
    return list(found.values())


def exact_delta(losses: list[CountedLoss], epsilon: float) -> mpmath.mpf:
    total = mpmath.mpf(0)
    for outcome in product(*(outcomes(counted) for counted in losses for _ in range(counted.count))):
        excess = mpmath.fsum(loss for loss, _ in outcome) - mpmath.mpf(epsilon)
        if excess > 0:
            total -= mpmath.expm1(-excess) * mpmath.fprod(mass for _, mass in outcome)
    return total


MIXES = {
    "responses of two kinds": [CountedLoss(ResponseLoss(0.6, 0.0), 5), CountedLoss(ResponseLoss(0.4, 0.0), 2)],
    "orders 2 and 8": [noise(8.0, 1.43, 3.0), noise(2.0, 2.57, 3.0)],
    "three of order 6": [noise(6.0, 1.2, count=3)],
    "Laplace and responses": [noise(1.0, 2.0, count=4), CountedLoss(ResponseLoss(0.7, 0.0), 3)],
}


@pytest.mark.parametrize("losses", MIXES.values(), ids=MIXES)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.7, 3.7, 9.0])
def test_the_exact_delta_lies_between_bounds_of_all_digits(losses: list[CountedLoss], epsilon: float) -> None:
    found = enumerated_between(losses, epsilon)
    assert found is not None
    with mpmath.workdps(40):
        true = exact_delta(losses, epsilon)
        assert found[0] <= true * (1 + mpmath.mpf(10) ** -30)
        assert true * (1 - mpmath.mpf(10) ** -30) <= found[1]
        assert found[1] <= found[0] * (1 + 1e-14) + 1e-40


def test_random_responses_have_their_exact_delta_between_the_bounds() -> None:
    random = np.random.default_rng(14)
    for _ in range(20):
        losses = [CountedLoss(ResponseLoss(float(e), 0.0), int(random.integers(1, 4))) for e in random.uniform(0, 2, 3)]
        epsilon = float(random.uniform(0.0, 4.0))
        found = enumerated_between(losses, epsilon)
        assert found is not None
        with mpmath.workdps(40):
            assert found[0] <= exact_delta(losses, epsilon) <= found[1] <= found[0] * (1 + 1e-14) + 1e-300


def test_many_combinations_are_enumerated_in_two_halves() -> None:
    """84,537 combinations, beside a sum of them all in floats."""
    losses = [noise(1.5, 2.2), noise(3.0, 2.6), noise(3.0, 3.1)]
    total, masses = np.zeros(1), np.ones(1)
    for counted in losses:
        p, b = counted.loss.law.order, counted.loss.law.scale
        k = np.arange(-60, 61)
        weights = np.exp(-((np.abs(k) / b) ** p))
        each = (np.abs(k + 1) / b) ** p - (np.abs(k) / b) ** p
        keep = weights > 1e-25
        total = np.add.outer(total, each[keep]).ravel()
        masses = np.outer(masses, weights[keep] / weights.sum()).ravel()
    for epsilon in (0.0, 1.1, 7.63, 12.85):
        true = float(masses @ -np.expm1(np.minimum(epsilon - total, 0.0)))
        lower, upper = enumerated_between(losses, epsilon) or (0.0, 1.0)
        assert lower <= upper <= lower * (1 + 1e-14)
        assert abs(upper / true - 1) < 1e-11


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.5])
def test_sums_of_both_halves_at_epsilon_itself_do_not_count(epsilon: float) -> None:
    """0.5 is a float, and so are all sums: which are above epsilon is a tie that balls may not decide."""
    losses = [CountedLoss(ResponseLoss(0.5, 0.0), 3), noise(1.0, 2.0, count=2)]
    found = enumerated_between(losses, epsilon)
    assert found is not None
    with mpmath.workdps(40):
        assert found[0] <= exact_delta(losses, epsilon) <= found[1] <= found[0] * (1 + 1e-14) + 1e-50


def test_an_epsilon_at_an_atom_does_not_count_it() -> None:
    """The largest loss is 3 times 0.5: at that epsilon delta is 0, and just below it is not."""
    losses = [CountedLoss(ResponseLoss(0.5, 0.0), 3)]
    assert enumerated_between(losses, 1.5) == (0.0, 0.0)
    lower, upper = enumerated_between(losses, 1.5 - 1e-9) or (0.0, 0.0)
    assert 0.0 < lower <= upper <= lower * (1 + 1e-6)


@pytest.mark.parametrize(
    "losses",
    [
        [noise(3.0, 1.0, count=2, support="real")],
        [noise(2.0, 100.0, count=4)],
        [CountedLoss(ResponseLoss(0.1, 0.1), 1)],
    ],
)
def test_densities_and_many_combinations_are_not_enumerated(losses: list[CountedLoss]) -> None:
    assert enumerated_between(losses, 1.0) is None


BESIDE = [CountedLoss(ResponseLoss(0.6, 0.0), 2), noise(1.0, 2.0)]


def shift_delta(order: float, d: float, x: mpmath.mpf) -> mpmath.mpf:
    """Delta of noise of scale 1 on the reals at any x, by its density on both sides."""
    p, normal = mpmath.mpf(order), 2 * mpmath.gamma(1 + 1 / mpmath.mpf(order))

    def tail(z: mpmath.mpf) -> mpmath.mpf:
        upper = mpmath.gammainc(1 / p, abs(z) ** p) / (normal * p)
        return upper if z >= 0 else 1 - upper

    if order == 1.0 and abs(x) >= d:
        return mpmath.mpf(0) if x > 0 else -mpmath.expm1(x)
    z = mpmath.findroot(lambda z: abs(z + d) ** p - abs(z) ** p - x, (-20, 20), solver="bisect", tol=1e-30)
    return tail(z) - mpmath.exp(x) * tail(z + d)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.2, 2.1])
def test_a_shift_beside_atoms_has_its_exact_delta_between_the_bounds(order: float, epsilon: float) -> None:
    """For some combinations of the atoms what is left of epsilon is below 0."""
    found = enumerated_between([*BESIDE, noise(order, 2.0, 1.5, support="real")], epsilon)
    assert found is not None
    with mpmath.workdps(30):
        outer = product(*(outcomes(counted) for counted in BESIDE for _ in range(counted.count)))
        true = mpmath.fsum(
            mpmath.fprod(mass for _, mass in outcome)
            * shift_delta(order, 0.75, mpmath.mpf(epsilon) - mpmath.fsum(loss for loss, _ in outcome))
            for outcome in outer
        )
        assert found[0] <= true * (1 + mpmath.mpf(10) ** -20)
        assert true * (1 - mpmath.mpf(10) ** -20) <= found[1] <= found[0] * (1 + 1e-9)


def test_responses_of_a_large_loss_beside_a_shift_keep_their_digits() -> None:
    """What speaks against the truth has a probability of e^-238, far below the last digit of what speaks for it."""
    losses = [CountedLoss(ResponseLoss(238.0, 0.0), 3), noise(2.0, 2.0, 1.5, support="real")]
    lower, upper = enumerated_between(losses, 714.0) or (0.0, 1.0)
    with mpmath.workdps(30):
        true = shift_delta(2.0, 0.75, mpmath.mpf(0))
        assert lower <= true * (1 + mpmath.mpf(10) ** -20)
        assert true * (1 - mpmath.mpf(10) ** -20) <= upper <= lower * (1 + 1e-9)


@pytest.mark.parametrize("count", [1, 3])
def test_sums_of_losses_beyond_the_floats_are_bounded(count: int) -> None:
    losses = [CountedLoss(ResponseLoss(1e308, 0.0), count), noise(2.0, 2.0, 1.5, support="real")]
    lower, upper = enumerated_between(losses, 1.0) or (0.0, 1.0)
    assert 0.0 <= lower <= 1.0 == upper


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.3])
def test_wide_laplace_noise_on_the_integers_beside_atoms_is_a_sum_over_all_noise(epsilon: float) -> None:
    scale, size = 300.0, 200
    k = np.arange(-size, 1)
    q = np.exp(-1.0 / scale)
    masses = (1.0 - q) / (1.0 + q) * np.exp(k / scale)
    masses[0], masses[-1] = np.exp(-size / scale) / (1.0 + q), 1.0 / (1.0 + q)
    true = 0.0
    for outcome in product(*(outcomes(counted) for counted in BESIDE for _ in range(counted.count))):
        x = epsilon - float(mpmath.fsum(loss for loss, _ in outcome))
        share = float(mpmath.fprod(mass for _, mass in outcome))
        true += share * float(masses @ -np.expm1(np.minimum(x - (2.0 * k + size) / scale, 0.0)))
    lower, upper = enumerated_between([*BESIDE, noise(1.0, scale, float(size))], epsilon) or (0.0, 1.0)
    assert lower <= upper <= lower * (1 + 1e-13)
    assert abs(upper / true - 1) < 1e-12


def test_two_shifts_that_are_not_one_are_not_enumerated() -> None:
    assert enumerated_between([*BESIDE, noise(1.0, 2.0, support="real"), noise(2.0, 2.0, support="real")], 1.0) is None
