"""Scales over the order: the paper's bound and the least ones."""

import numpy as np
import pytest
from scipy import special
from tests.reference.fifty_digits import real_delta

import ggdp
from ggdp_reproduction.comparisons import PAPER_BOX, scales_by_order


def test_the_table_of_the_theory():
    found = scales_by_order([1, 3], 1.0, 0.05)
    assert found.paper[0] == found.pdp[0] == 1.0
    assert found.paper[1] == pytest.approx(4.662444534457, abs=1e-12)
    assert found.adp[0] == pytest.approx(0.906958247253, abs=1e-12)
    middle = scales_by_order(1.5, 0.5, 0.01)
    assert middle.paper[0] == pytest.approx(4.77583477990, abs=1e-11)
    assert middle.pdp[0] == pytest.approx(4.68878351666, abs=1e-11)
    assert middle.adp[0] == pytest.approx(3.20136815487, abs=1e-11)


@pytest.mark.parametrize("order", [1.25, 2.0, 3.0, 7.0])
@pytest.mark.parametrize("size", [0.5, 1.0])
def test_with_one_coordinate_each_scale_is_what_it_says(order, size):
    found = scales_by_order([order], 0.7, 0.02, [size])
    closed = special.gammainccinv(1 / order, 0.02)
    paper = size / ((closed + 0.7) ** (1 / order) - closed ** (1 / order))
    assert found.paper[0] == pytest.approx(paper, rel=1e-12)
    for notion, scale in (("probabilistic", found.pdp[0]), ("approximate", found.adp[0])):
        assert real_delta(notion, order, scale * (1 - 1e-9), size, 0.7) > 0.02
        assert real_delta(notion, order, scale, size, 0.7) <= 0.02


def test_the_orders_of_the_scales_are_those_of_the_guarantees():
    found = scales_by_order(np.linspace(1.0, 12.0, 12), 0.5, 0.05)
    assert np.all(found.adp < found.pdp)
    assert np.all(found.pdp <= found.paper)
    # "The results also suggest b increases with p".
    for scales in (found.paper, found.pdp, found.adp):
        assert np.all(np.diff(scales) > 0.0)
    # But so does not the standard deviation of the least scale for aDP: order 1 is not its best.
    std = found.std(found.adp)
    assert std.argmin() not in (0, 11)


def test_the_standard_deviation_is_that_of_the_law():
    found = scales_by_order([1.0, 2.0, 4.0], 1.0, 0.05)
    for p, b, std in zip(found.orders, found.adp, found.std(found.adp), strict=True):
        exact = b * np.sqrt(special.gamma(3 / p) / special.gamma(1 / p))
        assert std == pytest.approx(exact, rel=1e-13)


def test_the_papers_box_has_the_scales_of_the_theory():
    found = scales_by_order([1, 2, 3], 1.0, 0.05, PAPER_BOX)
    assert found.paper == pytest.approx([1.15, 3.258265, 4.815736], abs=1e-6)
    assert np.isnan(found.pdp[[0, 2]]).all()
    assert round(found.pdp[1], 4) == 2.8726
    query = ggdp.Sensitivity.box(PAPER_BOX)
    gaussian = ggdp.calibrate(ggdp.ApproxDP(1.0, 0.05), query, order=2)
    assert found.adp[1] == gaussian.scale
    assert np.all(found.adp < found.paper)


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", [1.5, 4.0])
def test_with_several_coordinates_the_scales_are_those_that_calibration_proves(order):
    found = scales_by_order([order], 1.0, 0.05, PAPER_BOX)
    query = ggdp.Sensitivity.box(PAPER_BOX)
    paper = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.05), query, order=order, method="paper").scale
    least = ggdp.calibrate(ggdp.ApproxDP(1.0, 0.05), query, order=order).scale
    assert found.paper[0] == pytest.approx(paper, rel=2e-6)
    assert found.adp[0] == pytest.approx(least, rel=2e-6)
