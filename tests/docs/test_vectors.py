"""Every number of the page on vectors."""

import pytest

import ggdp

PAGES = ("explanation/theory/vectors.md",)


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


def test_the_price_of_the_randomised_rounding(says):
    says("vector-price", 2.0**2 / (2 * 4000.0**2))


@pytest.mark.parametrize(
    ("dimension", "mark"),
    [(2, "vector-2"), (10, "vector-10"), (1000, "vector-1000"), (100_000, "vector-100000")],
)
def test_what_is_drawn_is_hardly_wider_than_continuous_noise(says, dimension, mark):
    ideal = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 1.0, dimension=dimension), order=2)
    says(mark, ggdp.Mechanism(ideal).std / ideal.std)
