"""The delta of discrete Gaussian noise on a vector of known l_2 norm, against brute force over every move."""

import itertools
import math

import numpy as np
import pytest
from tests.flat import delta_of_integer_gaussian, delta_of_shift

import ggdp
from ggdp.errors import ArgumentError, CertificateError, UnprovedError
from ggdp.privacy.grid import Grid

GOAL = ggdp.ApproxDP(1.0, 1e-6)


def moves(radius, dimension):
    """Every integer move of at most this l_2 norm, up to signs and the order of its coordinates."""
    reach = range(math.floor(radius) + 1)
    for move in itertools.combinations_with_replacement(reach, dimension):
        if any(move) and sum(step * step for step in move) <= radius * radius:
            yield move


def brute_force_delta(scale, move, epsilon):
    """The hockey-stick sum over all outputs of noise with weights exp(-(k / b)^2), coordinate by coordinate."""
    reach = math.ceil(7.5 * scale) + max(move)
    k = np.arange(-reach, reach + 1.0)
    weights = np.exp(-((k / scale) ** 2))
    total = weights.sum()
    masses = np.ones(1)
    losses = np.zeros(1)
    for step in move:
        masses = np.multiply.outer(masses, weights / total).reshape(-1)
        losses = np.add.outer(losses, ((k + step) ** 2 - k**2) / scale**2).reshape(-1)
    above = losses > epsilon
    return float(-(masses[above] * np.expm1(epsilon - losses[above])).sum())


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize(
    ("scale", "radius", "dimension"),
    [(1.5, 1.0, 3), (3.0, 1.0, 2), (3.0, math.sqrt(2), 2), (4.0, 2.3, 2), (2.2, 2.0, 3), (12.0, 5.0, 2)],
)
def test_no_move_has_a_larger_delta_than_is_proved(scale, radius, dimension, epsilon):
    proved = delta_of_integer_gaussian(scale=scale, sensitivity=radius, dimension=dimension, epsilon=epsilon)
    worst = max(brute_force_delta(scale, move, epsilon) for move in moves(radius, dimension))
    assert worst <= proved.upper


def test_the_bound_is_near_the_worst_move():
    proved = delta_of_integer_gaussian(scale=20.0, sensitivity=5.0, dimension=2, epsilon=1.0).upper
    worst = max(brute_force_delta(20.0, move, 1.0) for move in moves(5.0, 2))
    assert worst <= proved <= 1.07 * worst


@pytest.mark.parametrize("dimension", [2, 1000, 10**6])
def test_with_a_fine_grid_the_bound_is_that_of_continuous_noise(dimension):
    at = {"scale": 2.0**20, "sensitivity": 2.0**18, "epsilon": 1.0}
    exact = delta_of_shift(notion="approximate", order=2.0, **at)
    proved = delta_of_integer_gaussian(dimension=dimension, **at)
    assert exact.lower < proved.upper <= exact.upper * (1 + 1e-9)


def test_more_coordinates_or_a_longer_move_never_have_a_smaller_bound():
    def bound(radius, dimension):
        return delta_of_integer_gaussian(scale=8.0, sensitivity=radius, dimension=dimension, epsilon=1.0).upper

    assert (
        bound(2.0, 1) < bound(2.0, 4) < bound(2.0, 100) == bound(2.0, 5) < bound(2.1, 100) <= bound(50.0, 10**9) <= 1.0
    )


@pytest.mark.parametrize("dimension", [2, 10, 1000])
def test_a_vector_of_known_l2_norm_is_released_at_nearly_the_continuous_scale(dimension):
    ideal = ggdp.calibrate(GOAL, ggdp.Sensitivity.norm(2, 1.0, dimension=dimension), order=2)
    mechanism = ggdp.Mechanism(ideal)
    assert ideal.std < mechanism.std < 1.001 * ideal.std
    mechanism.calibration.verify()
    release = mechanism.release(np.linspace(-1.0, 1.0, dimension))
    assert release.guarantee.implies(GOAL)
    assert release.values.shape == (dimension,)


def test_a_joint_l2_norm_beside_a_box_is_used_on_the_grid():
    query = ggdp.Sensitivity.box([1.0] * 8, norm=(2, 1.0))
    ideal = ggdp.calibrate(GOAL, query, order=2)
    mechanism = ggdp.Mechanism(ideal)
    assert mechanism.certificate.bound.name == "integer-gaussian"
    assert mechanism.std < 1.002 * ideal.std


def test_rounding_to_the_grid_is_in_the_proved_norm():
    # Five steps of 1/4 and the square root of 9 coordinates: nine of them can each move a step farther.
    ideal = ggdp.calibrate(GOAL, ggdp.Sensitivity.norm(2, 1.25, dimension=9), order=2)
    steps = ggdp.calibration.on_grid(ideal, Grid(step=0.25))
    assert 8.0 <= steps.certificate.bound.sensitivity <= 8.0 * (1 + 1e-12)


def test_a_smaller_scale_or_a_smaller_norm_is_not_proved():
    steps = ggdp.Mechanism(ggdp.calibrate(GOAL, ggdp.Sensitivity.norm(2, 1.0, dimension=10), order=2)).calibration
    forged = steps.certificate.to_dict()
    forged["parameters"]["scale"] *= 1 - 1e-6
    with pytest.raises(CertificateError, match="does not hold"):
        ggdp.verify(forged)


def test_on_the_integers_a_norm_need_not_be_a_whole_number():
    query = ggdp.Sensitivity.norm(2, math.sqrt(2), dimension=50)
    calibration = ggdp.calibrate(GOAL, query, order=2, support="integer")
    exact = ggdp.calibrate(GOAL, query, order=2)
    assert exact.std < calibration.std < 1.01 * exact.std
    assert calibration.noise().sample(3).dtype == np.int64


def test_probabilistic_dp_of_a_norm_is_refused_with_the_way_out():
    ideal = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 1.0, dimension=10), order=2)
    with pytest.raises(UnprovedError, match="an ApproxDP goal"):
        ggdp.Mechanism(ideal)


@pytest.mark.parametrize("name", ["scale", "sensitivity", "epsilon", "dimension"])
def test_bad_input_is_refused_by_name(name):
    good = {"scale": 8.0, "sensitivity": 1.0, "epsilon": 1.0, "dimension": 3}
    with pytest.raises(ArgumentError, match=f"{name} = 0"):
        delta_of_integer_gaussian(**{**good, name: 0})
