"""Whatever the arguments, `calibrate` returns a proved scale or raises an error of ggdp, and warns of nothing."""

import itertools
import random
import warnings

import pytest
from tests.flat import delta_of_corner

import ggdp
from ggdp import ApproxDP, ProbabilisticDP, PureDP, Sensitivity

EPSILONS = (5e-324, 1e-300, 1e-9, 0.01, 1.0, 5.0, 700.0, 1e6, 1e300)
DELTAS = (0.0, 5e-324, 1e-300, 1e-30, 1e-6, 0.5, 0.999999, 1.0 - 2.0**-53)
ORDERS = (1.0, 1.0 + 2.0**-52, 1.0001, 1.02, 1.5, 2.0, 3.0, 100.0, 1e6, 1e300)
SIZES = (5e-324, 1e-300, 1e-9, 0.01, 1.0, 2.0, 1e9, 1e300, 1.7e308)
SENSITIVITIES = (
    *(lambda d=d: Sensitivity.disjoint(d) for d in SIZES),
    lambda: Sensitivity.cells(2, 1),
    lambda: Sensitivity.cells(2, 1e300),
    lambda: Sensitivity.box([1, 0.01]),
    lambda: Sensitivity.box([1, 2, 3]),
    lambda: Sensitivity.box([10, 2]),
    lambda: Sensitivity.box([1e-300, 1e300]),
    lambda: Sensitivity.box([1, 1], norm=(2, 1e-9)),
    lambda: Sensitivity.norm(2, 1, dimension=3),
    lambda: Sensitivity.norm(1, 1e300, dimension=1000),
)
BOUNDS = (None, (0, 1), (0, 10), (0, 1e25), (-1e300, 1e300), (1e300, 1.7e308))


def one_of_each(rng):
    """Random arguments of one call."""
    notion = rng.choice(["pure", "probabilistic", "approximate"])
    epsilon, delta = rng.choice(EPSILONS), rng.choice(DELTAS)
    goal = {"pure": lambda: PureDP(epsilon)}.get(
        notion, lambda: (ProbabilisticDP if notion == "probabilistic" else ApproxDP)(epsilon, delta)
    )
    bounds = rng.choice(BOUNDS)
    return {
        "goal": goal(),
        "sensitivity": rng.choice(SENSITIVITIES)(),
        "order": rng.choice(ORDERS),
        "support": rng.choice(["real", "integer"]),
        "bounds": bounds,
        "bounding": None if bounds is None else rng.choice(["truncated", "boundary-inflated"]),
        "method": rng.choice(["tight", "tight", "paper"]),
    }


def answered(goal, sensitivity, **how):
    """Calibrate with warnings as errors; whatever is not an error of ggdp goes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = ggdp.calibrate(goal, sensitivity, **how)
        except ggdp.GgdpError:
            return None
        assert found.scale > 0.0
        return found


def fast(arguments):
    """Return whether a call takes no convolution and no branch and bound, which may take seconds."""
    if arguments["bounds"] is not None or arguments["sensitivity"].moving > 1:
        return arguments["order"] == 1.0 and arguments["goal"].delta == 0.0 and arguments["bounds"] is None
    return arguments["order"] in (1.0, 1.5, 2.0, 3.0, 100.0) and arguments["goal"].delta < 0.9


@pytest.mark.parametrize("seed", range(3))
def test_extreme_arguments_raise_errors_of_ggdp_alone(seed):
    rng = random.Random(seed)
    drawn = (one_of_each(rng) for _ in itertools.count())
    for arguments in itertools.islice(filter(fast, drawn), 40):
        answered(**arguments)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(100, 106))
def test_extreme_arguments_of_every_kind_raise_errors_of_ggdp_alone(seed):
    rng = random.Random(seed)
    drawn = (one_of_each(rng) for _ in itertools.count())
    # Next to order 1 and without end a proof takes minutes.
    for arguments in itertools.islice((one for one in drawn if 1.01 < one["order"] < 1e9), 25):
        answered(**arguments)


def test_a_large_order_on_the_integers_is_calibrated():
    found = answered(ProbabilisticDP(5, 0.5), Sensitivity.cells(2, 1), order=100, support="integer")
    found.verify()
    assert found.certificate.bound.name == "absolute-sum"


def test_a_width_that_floats_can_hardly_hold_is_calibrated():
    how = {"bounds": (0, 1e25), "bounding": "truncated"}
    found = answered(PureDP(0.3333), Sensitivity.box([10, 2]), order=1.02, **how)
    found.verify()
    # On bounds without end this is Laplace noise but for its order of 1.02, and half of its scale is not enough.
    assert 18.0 < found.scale < 50.0 * 12 / 0.3333


def test_the_error_of_an_order_without_end_is_that_of_the_uniform_law():
    how = {"bounds": (0, 1e25), "bounding": "boundary-inflated"}
    found = answered(PureDP(700), Sensitivity.box([1, 1]), order=1e300, **how)
    # Uniform noise of the scale of the bounds, clamped to them: the worst variance is that at the middle, 1/6.
    assert found.std == pytest.approx(1e25 / 6**0.5, rel=1e-6)


def test_numbers_that_leave_the_floats_are_a_search_without_an_end():
    with pytest.raises(ggdp.errors.SearchError, match="leave the 64-bit floats"):
        ggdp.calibrate(PureDP(5e-324), Sensitivity.disjoint(2), order=1.02, bounds=(0, 10), bounding="truncated")


@pytest.mark.exhaustive
def test_a_tiny_delta_at_a_large_order_is_calibrated_by_the_papers_method():
    found = answered(ProbabilisticDP(1, 1e-30), Sensitivity.box([1, 0.01]), order=100, method="paper")
    found.verify()
    # One coordinate alone needs a scale of about 5,800; the floats that lead the search end before so small a delta.
    alone = answered(ProbabilisticDP(1, 1e-30), Sensitivity.disjoint(1), order=100)
    assert 0.9 * alone.scale < found.scale < 1.3 * alone.scale
    # Where floats mislead the search, it goes on with proofs until one ends near the goal.
    assert 0.98e-30 < found.certificate.proved <= 1e-30


@pytest.mark.exhaustive
@pytest.mark.parametrize(("order", "epsilon", "delta"), [(2.5, 5, 1e-20), (3, 0.1, 1e-30)])
def test_a_small_delta_of_the_papers_bound_is_reached_and_not_passed_by_far(order, epsilon, delta):
    found = answered(ProbabilisticDP(epsilon, delta), Sensitivity.box([1, 0.01]), order=order, method="paper")
    assert 0.98 * delta < found.certificate.proved <= delta


def test_a_papers_scale_that_the_grid_cannot_prove_is_refused_without_a_convolution(monkeypatch):
    ideal = answered(ProbabilisticDP(0.01, 0.5), Sensitivity.box([1, 2, 3]), order=2, method="paper")
    tried = "ggdp.proofs.several_coordinates.AbsoluteSumDelta._delta"
    monkeypatch.setattr(tried, lambda *_, **__: pytest.fail("a convolution was tried"))
    with pytest.raises(ggdp.errors.UnattainableError, match="on the grid the paper's scale"):
        ggdp.Mechanism(ideal)


@pytest.mark.exhaustive
def test_a_million_coordinates_are_added_and_all_of_them_count():
    how = {"order": 2.0, "scale": 5974.8, "epsilon": 1.0, "support": "integer"}
    exact = ggdp.calibrate(ApproxDP(1, 1e-6), Sensitivity.norm(2, 999_983**0.5, dimension=999_983), order=2)
    assert exact.scale < how["scale"] < exact.scale * (1 + 5e-5)
    assert 0.99e-6 < delta_of_corner(corner=((1.0, 999_983),), **how).upper < 1e-6
