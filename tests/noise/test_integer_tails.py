"""The one search for thresholds and half-widths: least, safe where no precision tells, and from any start."""

import pytest
from flint import arb
from mpmath import mp, mpf

from ggdp.noise.integer_law import least_with_tail
from ggdp.proofs.tails import tail


@pytest.mark.parametrize(("order", "scale"), [(1.0, 1.0), (1.0, 2.0**50), (2.0, 6.0), (2.0, 2.0**40), (9.0, 0.7)])
def test_where_no_precision_tells_the_next_integer_is_returned(order, scale):
    """A tail beside itself: an equality that balls never see."""
    k = round(3 * scale)
    assert least_with_tail(order, scale, lambda: tail(order, scale, k), at_least=0) == k + 1
    assert least_with_tail(order, scale, lambda: tail(order, scale, k) * (1 + arb(2) ** -200), at_least=0) == k
    assert least_with_tail(order, scale, lambda: tail(order, scale, k) * (1 - arb(2) ** -200), at_least=0) == k + 1


@pytest.mark.parametrize("k", [-20, -3, 0, 1, 2, 17, 300])
def test_laplace_tails_are_found_by_their_closed_form(k):
    """P(K >= k) = r^k / (1 + r) for k >= 1, and 1 - r^(1 - k) / (1 + r) below."""
    with mp.workdps(200):
        r = mp.exp(mpf(-1) / 2)
        exact = r**k / (1 + r) if k >= 1 else 1 - r ** (1 - k) / (1 + r)
        above, below = (mp.nstr(exact * (1 + sign * mpf(10) ** -120), 150) for sign in (1, -1))
    assert least_with_tail(1.0, 2.0, lambda: arb(above), at_least=-100) == k
    assert least_with_tail(1.0, 2.0, lambda: arb(below), at_least=-100) == k + 1


def test_bounds_beyond_all_floats_are_reached():
    k = least_with_tail(1.0, 3.0, lambda: arb(10) ** -5000, at_least=0)
    assert 3 * 5000 * 2.302585 - 3 < k < 3 * 5000 * 2.302586 + 3
    assert least_with_tail(2.0, 3.0, lambda: arb(1), at_least=-7) == -7
