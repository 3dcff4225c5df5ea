"""The bounded integer losses hold the exact ones over all pairs of inputs and all outputs."""

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.flat import loss_of_integer_boundary_inflated, loss_of_integer_truncated

from ggdp.errors import ArgumentError
from ggdp.proofs import bounded


def exact_loss(bounding, p, b, w, D):
    """Return the greatest loss over all outputs and all shifts up to D at 50 digits, from the definition."""
    with mp.workdps(50):
        p, b = mp.mpf(p), mp.mpf(b)

        def weight(k):
            return mp.exp(-((abs(mp.mpf(k)) / b) ** p))

        beyond = 5 + w + int(b * 120 ** (1 / p))
        laws = []
        for s in range(w + 1):
            law = [weight(x - s) for x in range(w + 1)]
            if bounding == "boundary-inflated":
                law[0] += mp.fsum(weight(s + j) for j in range(1, beyond))
                law[w] += mp.fsum(weight(w - s + j) for j in range(1, beyond))
            total = mp.fsum(law)
            laws.append([mp.log(x / total) for x in law])
        return max(
            abs(laws[s][x] - laws[t][x])
            for s in range(w + 1)
            for t in range(s + 1, min(s + D, w) + 1)
            for x in range(w + 1)
        )


LOSSES = {"truncated": loss_of_integer_truncated, "boundary-inflated": loss_of_integer_boundary_inflated}


@given(
    bounding=st.sampled_from(sorted(LOSSES)),
    p=st.sampled_from([1.0, 1.00001, 1.3, 1.7, 2.0, 3.0, 9.0]),
    relative=st.floats(0.2, 4.0),
    w=st.integers(1, 7),
    D=st.integers(1, 7),
)
@settings(deadline=None, max_examples=examples(15, 40))
def test_the_enclosure_holds_the_greatest_loss_of_the_definition(bounding, p, relative, w, D):
    b, D = relative * w, min(D, w)
    if p > 5 and relative < 0.6:
        b = 0.6 * w
    proved = LOSSES[bounding](order=p, scale=b, width=w, sensitivity=D)
    exact = exact_loss(bounding, p, b, w, D)
    with mp.workdps(50):
        slack = mp.mpf(10) ** -40
        assert proved.lower - slack <= exact <= proved.upper + slack
    assert proved.upper - proved.lower <= 1e-12 * proved.upper


@pytest.mark.parametrize("p", [1.0, 1.00001, 1.3, 1.7, 2.0, 3.0, 50.0])
@pytest.mark.parametrize(("w", "D"), [(200, 1), (230, 7), (256, 100)])
@pytest.mark.parametrize("relative", [0.02, 0.3, 1.5])
def test_branch_and_bound_finds_what_looking_at_every_input_finds(p, w, D, relative, monkeypatch):
    b = w * (relative if p < 10 else 0.5 + relative)
    every = loss_of_integer_truncated(order=p, scale=b, width=w, sensitivity=D)
    monkeypatch.setattr(bounded, "_SHORT", 0)
    blocks = loss_of_integer_truncated(order=p, scale=b, width=w, sensitivity=D)
    assert max(every.lower, blocks.lower) <= min(every.upper, blocks.upper)
    assert blocks.upper <= every.upper * (1 + 1e-12)


def test_the_slope_of_a_block_holds_all_its_slopes(monkeypatch):
    monkeypatch.setattr(bounded, "_SHORT", 0)
    near = [(1.4, 9.0, 60, 3), (2.0, 20.0, 60, 1), (5.0, 50.0, 70, 20), (1.0, 5.0, 40, 2), (1.5, 4.0, 80, 40)]
    wide = [(1.4, 300.0, 60, 3), (1.999, 200.0, 61, 4), (2.0, 400.0, 60, 2), (3.0, 500.0, 60, 5)]
    for p, b, w, D in near + wide:
        losses = bounded.TruncatedLosses(p, b, w, D)
        values = [losses.loss(s) for s in range(w - D + 1)]
        for first in range(0, w - D, 7):
            for last in range(first + 1, w - D + 1, 5):
                slope = losses._slope(first, last)
                for s in range(first, last):
                    assert slope.overlaps(values[s + 1] - values[s])


def test_laplace_noise_put_on_the_bounds_loses_what_it_loses_without_them():
    proved = loss_of_integer_boundary_inflated(order=1, scale=4.0, width=1000, sensitivity=2)
    assert proved.lower <= 0.5 <= proved.upper


def test_a_loss_beyond_the_exponential_is_the_difference_of_exponents():
    proved = loss_of_integer_boundary_inflated(order=50, scale=0.01, width=10, sensitivity=1)
    with mp.workdps(50):
        exact = (10 / mp.mpf(0.01)) ** 50 - (9 / mp.mpf(0.01)) ** 50
        assert proved.lower <= exact <= proved.upper
    assert proved.upper - proved.lower <= 1e-12 * proved.upper


def test_two_outputs_under_truncation_have_their_closed_form():
    # Width 1: the normalisers are equal, and the loss is b^-p.
    proved = loss_of_integer_truncated(order=3, scale=2.0, width=1, sensitivity=1)
    assert proved.lower <= 0.125 <= proved.upper


@pytest.mark.parametrize("p", [1.2, 1.5, 2.0, 3.0, 50.0])
def test_a_width_of_a_billion_is_enclosed_to_twelve_digits(p):
    proved = loss_of_integer_truncated(order=p, scale=4e6 if p < 10 else 9e8, width=10**9, sensitivity=10**5)
    assert 0 < proved.upper - proved.lower <= 1e-12 * proved.upper


@pytest.mark.parametrize("loss", LOSSES.values())
def test_a_width_below_the_sensitivity_is_refused(loss):
    with pytest.raises(ArgumentError, match=r"^width = 3"):
        loss(order=2, scale=1.0, width=3, sensitivity=4)
