import math
from statistics import NormalDist

import mpmath
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp_reproduction.experiments.sanitisers import (
    ALL,
    DELTAS,
    EPSILONS,
    EPSILONS_TEXT,
    OURS,
    PAPER,
    REPEATS,
    known,
    sanitiser_of,
    sanitisers_for,
    settings_of,
)

GOALS = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]


def test_the_settings_are_the_papers():
    assert (EPSILONS, DELTAS, REPEATS) == ((0.5, 1.0, 2.0), (0.01, 0.05, 0.1, 0.25), 500)
    assert EPSILONS_TEXT == (0.1,)
    assert [one.key for one in PAPER] == ["laplace", "gaussian-pdp", "gaussian-adp-classic", "ggm3-pdp"]
    assert len(settings_of(PAPER[:3], EPSILONS, DELTAS)) == 27
    assert all(one.neighbours == "add-remove" and one.support == "real" for one in PAPER)


def test_keys_and_labels_are_unique_and_groups_right():
    assert len({one.key for one in ALL}) == len({one.label for one in ALL}) == len(ALL)
    assert {one.group for one in PAPER} == {"paper"}
    assert {one.group for one in OURS} == {"ours"}


def test_only_mildew_has_order_three_of_the_paper():
    assert {one.key for one in sanitisers_for("mildew")} - {one.key for one in sanitisers_for("czech")} == {"ggm3-pdp"}


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_laplace_has_scale_one_over_epsilon(epsilon):
    noise = sanitiser_of("laplace").calibrate(epsilon)
    assert noise.order == 1.0
    assert noise.scale == pytest.approx(1 / epsilon, rel=1e-15)
    assert noise.mean_abs == noise.scale
    assert noise.std == pytest.approx(math.sqrt(2) / epsilon, rel=1e-14)


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
def test_the_gaussian_of_the_paper_has_the_lemmas_sigma(epsilon, delta):
    z = NormalDist().inv_cdf(1 - delta / 2)
    sigma = (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)
    noise = sanitiser_of("gaussian-pdp").calibrate(epsilon, delta)
    assert noise.std == pytest.approx(sigma, rel=1e-9)
    assert noise.mean_abs == pytest.approx(sigma * math.sqrt(2 / math.pi), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
def test_the_classic_gaussian_has_its_sigma_and_a_note_from_epsilon_one_on(epsilon, delta):
    noise = sanitiser_of("gaussian-adp-classic").calibrate(epsilon, delta)
    assert noise.std == pytest.approx(math.sqrt(2 * math.log(1.25 / delta)) / epsilon, rel=1e-12)
    assert ("outside the domain of the classic formula (epsilon < 1)" in "; ".join(noise.notes)) == (epsilon >= 1)


def test_order_three_of_the_paper_is_the_disjoint_closed_form():
    noise = sanitiser_of("ggm3-pdp").calibrate(1.0, 0.05)
    assert noise.scale == pytest.approx(4.662444534457, rel=1e-12)
    with mpmath.workdps(30):
        mean_abs = noise.scale * mpmath.gamma(mpmath.mpf(2) / 3) / mpmath.gamma(mpmath.mpf(1) / 3)
    assert noise.mean_abs == pytest.approx(float(mean_abs), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
def test_ours_add_less_noise_than_the_papers_for_the_same_promise(epsilon, delta):
    def error(key):
        return sanitiser_of(key).calibrate(epsilon, delta).mean_abs

    assert error("tight-gaussian-pdp") < error("gaussian-pdp")
    assert error("analytic-gaussian") < min(error("gaussian-adp-classic"), error("tight-gaussian-pdp"))
    assert error("tight-gg3-adp") < error("ggm3-pdp")
    assert error("integer-laplace") < error("laplace")
    assert error("replace-one-laplace") > error("integer-laplace")
    assert error("replace-one-gaussian") > error("analytic-gaussian")


def test_the_planner_beats_laplace_and_says_its_order():
    noise = sanitiser_of("integer-best").calibrate(2.0, 0.25)
    sampler = ggdp.IntegerNoise(order=noise.order, scale=noise.scale)
    assert noise.mean_abs < sanitiser_of("integer-laplace").calibrate(2.0).mean_abs
    assert noise.std == pytest.approx(sampler.std, rel=1e-12)
    assert f"order {noise.order:.6g} by the planner" in noise.notes[0]


def test_a_sanitiser_with_delta_needs_one():
    with pytest.raises(ArgumentError, match="delta = None: gaussian-pdp needs one"):
        sanitiser_of("gaussian-pdp").calibrate(1.0)


def test_an_unknown_sanitiser_is_refused_with_the_known_ones():
    with pytest.raises(ArgumentError, match="must be one of 'laplace', 'gaussian-pdp'"):
        sanitiser_of("gauss")


def test_settings_have_no_delta_where_none_is_used_and_no_doubles():
    laplace, gaussian = sanitiser_of("laplace"), sanitiser_of("gaussian-pdp")
    found = settings_of([laplace, gaussian], [1, 1.0, 2], [0.05])
    assert [one.key for one in found] == [
        ("laplace", 1.0, None),
        ("laplace", 2.0, None),
        ("gaussian-pdp", 1.0, 0.05),
        ("gaussian-pdp", 2.0, 0.05),
    ]


@pytest.mark.parametrize(
    ("epsilons", "deltas", "name"), [([0], [0.1], "epsilon"), ([1], [0], "delta"), ([1], [1], "delta")]
)
def test_parameters_that_are_none_are_refused(epsilons, deltas, name):
    with pytest.raises(ArgumentError, match=name):
        settings_of([sanitiser_of("gaussian-pdp")], epsilons, deltas)


def test_known_noise_is_that_of_each_setting_in_order():
    settings = settings_of([sanitiser_of("analytic-gaussian"), sanitiser_of("laplace")], [2.0, 1.0], [0.1])
    assert known(settings) == tuple(one.sanitiser.calibrate(one.epsilon, one.delta) for one in settings)
