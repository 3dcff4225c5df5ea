import math

import numpy as np
import pytest

from ggdp.noise import bounded_law
from ggdp.noise.bounded_law import (
    BoundedIntegerErrors,
    largest_errors,
    running_sums,
)

BOUNDINGS = ["truncated", "boundary-inflated"]


def enumerated(order, scale, width, bounding):
    """Bias, standard deviation and mean absolute error at every true value, from the definition of the law."""
    far = 60 * math.ceil(scale) + width
    biases, deviations, absolutes = [], [], []
    for s in range(width + 1):
        if bounding == "truncated":
            x = np.arange(width + 1)
            weights = np.exp(-((np.abs(x - s) / scale) ** order))
        else:
            k = np.arange(-far, far + 1)
            weights = np.exp(-((np.abs(k) / scale) ** order))
            x = np.clip(s + k, 0, width)
        weights = weights / weights.sum()
        mean = np.sum(weights * x)
        biases.append(mean - s)
        deviations.append(math.sqrt(np.sum(weights * (x - mean) ** 2)))
        absolutes.append(np.sum(weights * np.abs(x - s)))
    return np.array(biases), np.array(deviations), np.array(absolutes)


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize(("scale", "width"), [(0.5, 10), (3.0, 10), (20.0, 10), (2.0, 1)])
def test_the_worst_errors_are_those_of_the_enumerated_law(bounding, order, scale, width):
    found = largest_errors(order, scale, (5, 5 + width), bounding, "integer")
    _, deviation, absolute = enumerated(order, scale, width, bounding)
    assert found == pytest.approx((deviation.max(), absolute.max()), rel=1e-9)


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize(("scale", "width"), [(0.5, 10), (3.0, 41), (20.0, 10), (2.0, 1)])
def test_the_errors_at_every_true_value_are_those_of_the_enumerated_law(bounding, order, scale, width):
    found = BoundedIntegerErrors(order, scale, width, bounding).moments(np.arange(width + 1))
    bias, deviation, absolute = enumerated(order, scale, width, bounding)
    assert found.bias == pytest.approx(bias, rel=1e-9, abs=1e-13 * scale)
    assert found.std == pytest.approx(deviation, rel=1e-9)
    assert found.mean_abs_error == pytest.approx(absolute, rel=1e-9)
    assert found.mean_squared_error == pytest.approx(bias**2 + deviation**2, rel=1e-9)


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize(("order", "scale", "width"), [(1.0, 2.0, 9), (2.0, 4.0, 12), (6.0, 40.0, 9)])
def test_masses_sum_to_one_and_give_the_bias(bounding, order, scale, width):
    errors = BoundedIntegerErrors(order, scale, width, bounding)
    below = np.arange(width + 1)
    masses = np.array([errors.mass(below, output) for output in range(width + 1)])
    assert masses.sum(axis=0) == pytest.approx(np.ones(width + 1), rel=1e-12)
    mean = (np.arange(width + 1)[:, None] * masses).sum(axis=0)
    assert mean - below == pytest.approx(errors.moments(below).bias, rel=1e-9, abs=1e-12)


def test_a_tiny_bias_far_from_both_bounds_keeps_its_digits():
    """At 40 and 60 scales from the bounds the bias is the tail of the nearer side: a geometric sum."""
    q = math.exp(-1.0)
    found = BoundedIntegerErrors(1.0, 1.0, 100, "boundary-inflated").moments(np.array([40])).bias[0]
    # The sum of T(k) = q^k / (1 + q) over k > 40, less that over k > 60.
    exact = (q**41 - q**61) / ((1 + q) * (1 - q))
    assert found == pytest.approx(exact, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize(("order", "scale", "width"), [(1.0, 2e4, 150_000), (2.0, 2e4, 30_000), (5.0, 3e4, 100_000)])
def test_without_a_table_the_midpoint_rule_is_good_to_nine_digits(bounding, order, scale, width, monkeypatch):
    below = np.unique(np.concatenate([np.arange(50), np.linspace(0, width, 301).astype(np.int64)]))
    exact = BoundedIntegerErrors(order, scale, width, bounding)
    monkeypatch.setattr(bounded_law, "_MOST_ENTRIES", 0)
    smooth = BoundedIntegerErrors(order, scale, width, bounding)
    one, other = exact.moments(below), smooth.moments(below)
    assert other.bias == pytest.approx(one.bias, rel=1e-9, abs=1e-9 * scale)
    assert other.std == pytest.approx(one.std, rel=1e-9)
    assert other.mean_abs_error == pytest.approx(one.mean_abs_error, rel=2e-9)
    for output in (0, 1, width - 1, width):
        assert smooth.mass(below, output) == pytest.approx(exact.mass(below, output), rel=1e-6)
    worst = [largest_errors(order, scale, (0, width), bounding, "integer")]
    monkeypatch.undo()
    worst.append(largest_errors(order, scale, (0, width), bounding, "integer"))
    assert worst[0] == pytest.approx(worst[1], rel=1e-8)


@pytest.mark.parametrize("bounding", BOUNDINGS)
def test_narrow_noise_in_very_wide_bounds_is_not_taken_for_that_on_the_reals(bounding):
    wide, narrow = (largest_errors(2.0, 0.7, (0, width), bounding, "integer") for width in (1 << 60, 60))
    assert wide == narrow


def test_running_sums_are_those_of_exact_addition():
    terms = np.random.default_rng(0).random(2000) * np.exp(-np.arange(2000) / 50.0)
    exact = [math.fsum(terms[:n]) for n in range(2001)]
    assert running_sums(terms) == pytest.approx(exact, rel=1e-14)
    assert running_sums(np.zeros(0)).tolist() == [0.0]


@pytest.mark.parametrize("bounding", BOUNDINGS)
def test_very_wide_bounds_are_those_of_the_real_law(bounding):
    wide = largest_errors(2.0, 1e6, (0, 10_000_000), bounding, "integer")
    less_wide = largest_errors(2.0, 1e6, (0, 3_900_000), bounding, "integer")
    assert wide[0] == pytest.approx(1e6 / math.sqrt(2.0), rel=1e-3)
    assert less_wide[1] <= wide[1] * (1 + 1e-3)
