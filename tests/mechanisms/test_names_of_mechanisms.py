import pytest

import ggdp
from ggdp.calibration import classic_gaussian, exponential_calibration
from ggdp.mechanisms import Mechanism
from ggdp.mechanisms.additive import kind_of

PURE, PROBABILISTIC, APPROXIMATE = ggdp.PureDP(0.5), ggdp.ProbabilisticDP(0.5, 0.01), ggdp.ApproxDP(0.5, 0.01)
ONE, TWO = ggdp.Sensitivity.histogram(), ggdp.Sensitivity.histogram(neighbours="replace-one")
# Which takes a third of the time.
LOOSE = ggdp.ProbabilisticDP(5.0, 0.2)
NORM = ggdp.Sensitivity.norm(3, 1, dimension=3)
BOUNDS = {"bounds": [(0, 10)]}


@pytest.mark.parametrize(
    ("goal", "query", "how", "name", "item"),
    [
        (PURE, ONE, {"order": 1}, "Laplace", "Claim 4"),
        (PURE, TWO, {"order": 1}, "Laplace", "Claim 4"),
        (APPROXIMATE, ONE, {"order": 1}, "Laplace", "Section 2.3 (the noise); the scale for aDP is ours (least scale)"),
        (PROBABILISTIC, ONE, {"order": 2, "method": "paper"}, "Gaussian", "Lemma 10"),
        (PROBABILISTIC, ONE, {"order": 2}, "Gaussian", "Lemma 10 (least scale)"),
        (APPROXIMATE, ONE, {"order": 2, "method": "paper"}, "classic Gaussian", "Eqn privacybook; Dwork and Roth"),
        (APPROXIMATE, ONE, {"order": 2}, "analytic Gaussian", "Balle and Wang"),
        (PROBABILISTIC, ONE, {"order": 3, "method": "paper"}, "generalized Gaussian", "Corollary 8"),
        (PROBABILISTIC, ONE, {"order": 3}, "generalized Gaussian", "Corollary 8 (least scale)"),
        (PROBABILISTIC, TWO, {"order": 3}, "generalized Gaussian", "Corollary 7 (an upper bound)"),
        pytest.param(
            LOOSE,
            TWO,
            {"order": 2, "support": "integer"},
            "discrete Gaussian",
            "Corollary 7 (an upper bound)",
            marks=pytest.mark.exhaustive,
        ),
        (APPROXIMATE, ONE, {"order": 2, "support": "integer"}, "discrete Gaussian", "Canonne, Kamath and Steinke"),
        (
            APPROXIMATE,
            TWO,
            {"order": 2, "support": "integer"},
            "discrete Gaussian",
            "ours (least scale, to within 1e-4)",
        ),
        (APPROXIMATE, NORM, {"order": 3}, "generalized Gaussian", "for aDP is ours (an upper bound)"),
        (APPROXIMATE, ONE, {"order": 3, "method": "paper"}, "generalized Gaussian", "Corollary 8; pDP implies aDP"),
        (APPROXIMATE, ONE, {"order": 1.5}, "generalized Gaussian", "for aDP is ours (least scale)"),
        (
            PURE,
            ONE,
            {"order": 2, "bounding": "truncated", **BOUNDS},
            "truncated Gaussian",
            "Definition 5 (least scale)",
        ),
        (
            PURE,
            ONE,
            {"order": 3, "bounding": "truncated", "method": "paper", **BOUNDS},
            "truncated generalized Gaussian",
            "Definition 5 (Eqns b1 and b2)",
        ),
        (
            PURE,
            ONE,
            {"order": 1, "bounding": "boundary-inflated", **BOUNDS},
            "boundary-inflated Laplace",
            "Definition 6 (least scale)",
        ),
        (
            PURE,
            ONE,
            {"order": 2, "bounding": "boundary-inflated", "method": "paper", **BOUNDS},
            "boundary-inflated Gaussian",
            "Definition 6 (scale of Eqn b2)",
        ),
    ],
)
def test_every_kind_has_its_name_and_item(goal, query, how, name, item):
    calibration = ggdp.calibrate(goal, query, **how)
    found = kind_of(calibration)
    assert found[0] == name
    assert item in found[1]


def test_a_mechanism_on_the_grid_is_of_the_kind_that_was_asked_for():
    assert Mechanism(ggdp.calibrate(APPROXIMATE, ONE, order=2)).record.name == "analytic Gaussian"
    assert Mechanism(classic_gaussian(APPROXIMATE, ONE)).record.name == "classic Gaussian"
    form = Mechanism(exponential_calibration(PURE, ONE, order=2, bounds=[(0, 10)]))
    assert form.record.name == "Exponential mechanism, generalized Gaussian form"
    assert "Eqn explp1 and Lemma 9" in form.record.item
    assert "Eqn explp0" in kind_of(exponential_calibration(PURE, ONE, order=1))[1]
    assert form.release([3.0]).mechanism.method == "exponential"


def test_noise_of_order_two_on_the_integers_is_called_discrete_gaussian_whatever_moves():
    goal = ggdp.ApproxDP(1.0, 1e-3)
    for query in (ggdp.Sensitivity.cells(3, 1), ggdp.Sensitivity.norm(2, 3, dimension=3)):
        found = ggdp.calibrate(goal, query, order=2, support="integer")
        assert kind_of(found)[0] == "discrete Gaussian"


def test_a_scale_on_bounds_that_ignores_a_joint_norm_is_not_called_the_least():
    query = ggdp.Sensitivity.box([1, 1], norm=(1, 1))
    found = ggdp.calibrate(ggdp.PureDP(1.0), query, order=2, bounds=(0, 10), bounding="boundary-inflated")
    assert "an upper bound" in kind_of(found)[1]
