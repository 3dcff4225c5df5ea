"""Every number of the page on mechanisms."""

import math

from scipy import special

import ggdp

PAGES = ("explanation/theory/mechanisms.md",)


def inflated_loss(order, scale, width, size):
    """The loss at a boundary atom, log[S((w - D)/b) / S(w/b)], in floats."""
    near, far = (special.gammaincc(1 / order, (x / scale) ** order) for x in (width - size, width))
    return math.log(near / far)


def test_the_paper_scale_of_boundary_inflated_noise(says):
    query = ggdp.Sensitivity.disjoint(1)
    how = {"order": 2, "bounds": [(0, 10)], "bounding": "boundary-inflated", "method": "paper"}
    enough = ggdp.calibrate(ggdp.PureDP(1.0), query, **how)
    says("inflated-paper-loss", enough.guarantee.epsilon)
    says("inflated-paper-loss", inflated_loss(2, math.sqrt(2 * (11**2 - 10**2)), 10, 1))
    says("inflated-paper-overrun", inflated_loss(4, (2 / 0.1 * (2**4 - 1)) ** 0.25, 1, 1) / 0.1)


def test_every_number_of_the_page_is_tested(untested):
    assert untested == set()
