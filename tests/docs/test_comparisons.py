"""Every number of the page on comparisons, beside values that do not come from ggdp_reproduction.comparisons."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, special

from ggdp_reproduction.comparisons import (
    PAPER_BOX,
    bounded_errors,
    exponential_losses,
    gaussian_bounds,
    scales_by_order,
    tail_turn,
)

PAGES = ("explanation/theory/comparisons.md",)


def normal_tail(x):
    return math.erfc(x / math.sqrt(2)) / 2


def lemma_10(epsilon, delta):
    z = -special.ndtri(delta / 2)
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


def losses_of_gaussian(sigma, epsilon):
    """(pDP delta, aDP delta) from the normal law of the loss."""
    over, under = epsilon * sigma - 0.5 / sigma, epsilon * sigma + 0.5 / sigma
    return normal_tail(over) + normal_tail(under), normal_tail(over) - math.exp(epsilon) * normal_tail(under)


def least_sigma(epsilon, delta, notion):
    index = ("pdp", "adp").index(notion)
    return optimize.brentq(lambda sigma: losses_of_gaussian(sigma, epsilon)[index] - delta, 0.05, 100.0, xtol=1e-13)


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


def turn(epsilon, sigma):
    """Least log ratio, its place, and the crossing, by a search over t."""

    def log_ratio(t):
        return -t * epsilon - math.log(2.0) - special.log_ndtr(-t / sigma)

    place = optimize.minimize_scalar(log_ratio, bounds=(0.0, 30 * sigma), method="bounded", options={"xatol": 1e-10}).x
    return log_ratio(place), place, optimize.brentq(log_ratio, 1.01 * place, 60 * sigma, xtol=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "delta", "least", "place", "crossing", "tail"),
    [
        (0.1, 0.01, "tails-a-least", "tails-a-place", "tails-a-crossing", "tails-a-tail"),
        (1.0, 0.01, "tails-b-least", "tails-b-place", "tails-b-crossing", "tails-b-tail"),
        (1.0, 0.05, "tails-c-least", "tails-c-place", "tails-c-crossing", "tails-c-tail"),
        (2.0, 0.2, "tails-d-least", "tails-d-place", "tails-d-crossing", "tails-d-tail"),
    ],
)
def test_the_table_of_tails(says, epsilon, delta, least, place, crossing, tail):
    found = tail_turn(epsilon, delta)
    lowest, at, past = turn(epsilon, lemma_10(epsilon, delta))
    for minimum, t, end in ((math.exp(lowest), at, past), (found.minimum, found.t_minimum, found.t_crossing)):
        says(least, minimum)
        says(place, t)
        says(crossing, end)
        says(tail, math.exp(-epsilon * float(end)))


def test_the_tails_of_the_least_gaussian(says):
    lowest, _, past = turn(1.0, least_sigma(1.0, 0.05, "adp"))
    says("tails-analytic-least", math.exp(lowest))
    says("tails-analytic-crossing", past)


def test_the_limit_of_the_same_tail(says):
    says("same-tail-limit", -special.ndtri(0.025) * math.sqrt(math.pi / 2) + math.pi / 4)


@pytest.mark.parametrize(
    ("epsilon", "paper", "pdp", "adp"),
    [
        (0.1, "equal-paper-a", "equal-pdp-a", "equal-adp-a"),
        (1.0, "equal-paper-b", "equal-pdp-b", "equal-adp-b"),
        (4.0, "equal-paper-c", "equal-pdp-c", "equal-adp-c"),
    ],
)
def test_the_deltas_of_equal_variance(says, epsilon, paper, pdp, adp):
    least, approximate = losses_of_gaussian(math.sqrt(2) / epsilon, epsilon)
    says(paper, 2 * normal_tail(math.sqrt(2) - epsilon / (2 * math.sqrt(2))))
    says(pdp, least)
    says(adp, approximate)


def test_lemma_11(says):
    says("equal-lemma", 2 * normal_tail(math.sqrt(2)))


def test_the_four_sigmas(says):
    classic = math.sqrt(2 * math.log(1.25 / 0.01)) / 0.5
    paper, pdp, adp = lemma_10(0.5, 0.01), least_sigma(0.5, 0.01, "pdp"), least_sigma(0.5, 0.01, "adp")
    says("sigma-classic", classic)
    says("sigma-paper", paper)
    says("sigma-pdp", pdp)
    says("sigma-adp", adp)
    says("bounds-formulas", paper / classic)
    says("bounds-least", pdp / adp)
    says("bounds-least-small", least_sigma(0.1, 0.01, "pdp") / least_sigma(0.1, 0.01, "adp"))
    found = gaussian_bounds([0.5, 0.1], 0.01)
    says("bounds-least", found.tight_pdp_to_analytic[0])
    says("bounds-least-small", found.tight_pdp_to_analytic[1])


def box_deltas(p, b):
    """(delta of Corollary 7, aDP delta) of the paper's box, by quadrature over the two small coordinates."""
    main, *others = (size / b for size in PAPER_BOX)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    half = 60.0 ** (1 / p)
    # Gauss's rule on either side of 0, where the density has no derivative.
    x = np.concatenate([half * (nodes - 1) / 2, half * (nodes + 1) / 2])
    mass = np.tile(half * weights / 2, 2) * np.exp(-(np.abs(x) ** p)) / (2 * math.gamma(1 + 1 / p))
    joint = np.multiply.outer(mass, mass)

    def survival(z):
        upper = special.gammaincc(1 / p, np.abs(z) ** p) / 2
        return np.where(z >= 0, upper, 1 - upper)

    def crossing(loss, level, low, high):
        low, high = np.full(level.shape, low), np.full(level.shape, high)
        for _ in range(60):
            middle = (low + high) / 2
            above = loss(middle) > level
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return high

    sums = [(np.abs(x) + d) ** p - np.abs(x) ** p for d in others]
    level = 1.0 - np.add.outer(*sums)
    z = crossing(lambda y: (y + main) ** p - y**p, level, 0.0, 60.0)
    paper = np.where(level > main**p, 2 * survival(z), 1.0)
    signed = [np.abs(x + d) ** p - np.abs(x) ** p for d in others]
    level = 1.0 - np.add.outer(*signed)
    z = crossing(lambda y: np.abs(y + main) ** p - np.abs(y) ** p, level, -60.0, 60.0)
    approximate = survival(z) - np.exp(level) * survival(z + main)
    return float(np.sum(joint * paper)), float(np.sum(joint * approximate))


@pytest.mark.parametrize(
    ("order", "paper", "adp", "std"),
    [
        (2, "box-paper-2", "box-adp-2", "box-std-2"),
        (3, "box-paper-3", "box-adp-3", "box-std-3"),
        (4, "box-paper-4", "box-adp-4", "box-std-4"),
    ],
)
def test_the_papers_box(says, printed, order, paper, adp, std):
    found = scales_by_order([order], 1.0, 0.05, PAPER_BOX)
    says(paper, found.paper[0])
    says(adp, found.adp[0])
    says(std, found.adp[0] * math.sqrt(math.gamma(3 / order) / math.gamma(1 / order)))
    for index, mark in enumerate((paper, adp)):
        unit = 10.0 ** printed[mark].as_tuple().exponent
        below, above = float(printed[mark]) - unit, float(printed[mark]) + unit
        assert box_deltas(order, above)[index] < 0.05 < box_deltas(order, below)[index]


def normaliser(p, b, low, high):
    return integrate.quad(lambda y: math.exp(-((abs(y) / b) ** p)), -low, high, points=[0.0])[0]


def exponential_loss(p, w=10.0, D=1.0, epsilon=1.0):
    """The largest loss at the output w, over the true value s on a fine grid."""
    b = (2 * (w**p - (w - D) ** p) / epsilon) ** (1 / p)
    worst = -math.inf
    for s in np.linspace(0.0, w - D, 361):
        ratio = math.log(normaliser(p, b, s, w - s) / normaliser(p, b, s + D, w - s - D))
        worst = max(worst, ((w - s) ** p - (w - s - D) ** p) / b**p + ratio)
    return worst


def test_the_costs_of_the_exponential_mechanism(says):
    says("cost-order-1", exponential_loss(1))
    says("cost-order-2", exponential_loss(2))
    says("cost-order-3", exponential_loss(3))
    says("cost-constant", 1.0 / (2.0 / 1.0))
    least = optimize.minimize_scalar(
        lambda p: exponential_losses([p], 1.0, bounds=(0.0, 10.0)).loss[0], bounds=(1.4, 2.4), method="bounded"
    )
    says("cost-least-order", least.x)
    says("cost-least", exponential_loss(least.x))
    half = optimize.brentq(
        lambda p: exponential_losses([p], 1.0, bounds=(0.0, 10.0)).loss[0] - 0.5, 1.1, 1.4, xtol=1e-6
    )
    says("cost-half-order", half)
    assert exponential_loss(half) == pytest.approx(0.5, abs=1e-4)


def squared_error(p, b, s, w, clamped):
    inner = integrate.quad(lambda y: y * y * math.exp(-((abs(y) / b) ** p)), -s, w - s, points=[0.0])[0]
    if not clamped:
        return inner / normaliser(p, b, s, w - s)
    atoms = (special.gammaincc(1 / p, (side / b) ** p) / 2 * side**2 for side in (s, w - s))
    return inner / (2 * b * math.gamma(1 + 1 / p)) + sum(atoms)


def test_the_errors_of_bounded_noise(says):
    marks = {
        (2, 5.0): ("bounded-cut-middle", "bounded-clamped-middle"),
        (2, 0.0): ("bounded-cut-end", "bounded-clamped-end"),
        (1, 5.0): ("bounded-one-cut-middle", "bounded-one-clamped-middle"),
        (1, 0.0): ("bounded-one-cut-end", "bounded-one-clamped-end"),
    }
    for (order, s), (cut, clamped) in marks.items():
        found = bounded_errors(order, 1.0, (0.0, 10.0), location=[s])
        for mark, law, atoms in ((cut, found.truncated, False), (clamped, found.boundary_inflated, True)):
            says(mark, law.rmse[0])
            says(mark, math.sqrt(squared_error(order, law.scale, s, 10.0, atoms)))


def test_at_order_1_boundary_inflated_noise_is_better_everywhere(says):
    found = bounded_errors(1, 1.0, (0.0, 10.0))
    assert np.all(found.rmse_ratio > 1.0)
    says("bounded-one-clamped-scale", found.boundary_inflated.scale)
    says("bounded-one-cut-scale", found.truncated.scale)
