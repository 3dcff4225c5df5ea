"""The tests of fit do what they promise: their levels and their power hold in full enumerations of small samples."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2
from tests.statistical import budget, fit, laws

LEVELS = (0.5, 0.1, 0.01, 1e-4, 1e-8)


def samples(n, masses):
    """Every sample of n draws of 0, 1, ..., sorted, with its probability."""
    for cuts in itertools.combinations(range(n + len(masses) - 1), len(masses) - 1):
        counts = np.diff([-1, *cuts, n + len(masses) - 1]) - 1
        ways = math.factorial(n) / math.prod(math.factorial(count) for count in counts)
        yield (
            np.repeat(np.arange(len(masses)), counts),
            ways * math.prod(p**c for p, c in zip(masses, counts, strict=True)),
        )


def law_of(masses):
    return laws.dense(0, np.array(masses))


class Level:
    """An allowance of any level, for scripted draws."""

    def __init__(self, level):
        self.level = lambda: level


@pytest.mark.parametrize("masses", [(0.5, 0.5), (0.2, 0.3, 0.5), (0.01, 0.29, 0.7), (0.1, 0.2, 0.3, 0.4)])
def test_no_test_rejects_more_often_than_its_level(masses, monkeypatch):
    """Without pooling, so that chi-square has all its cells although few draws are expected in each."""
    monkeypatch.setattr(fit, "pooled", lambda probabilities, n: np.arange(probabilities.size))  # noqa: ARG005
    found = [(fit.examined(draws, law_of(masses), 1.0).found, mass) for draws, mass in samples(14, masses)]
    assert sum(mass for _, mass in found) == pytest.approx(1.0)
    cells = law_of(masses).edges.size + 1
    for level in LEVELS:
        critical = {
            fit.CHI_SQUARE: fit.chi_square_critical(cells, level),
            fit.KOLMOGOROV: fit.kolmogorov_critical(14, level),
            fit.EDGES: fit.edges_critical(2 * cells - 1, level),
        }
        for name, value in critical.items():
            assert sum(mass for statistics, mass in found if statistics[name][0] >= value) <= level


@pytest.mark.parametrize("name", fit.ALL)
def test_rare_samples_are_rejected(name):
    masses = (0.2, 0.3, 0.5)
    verdict = fit.examined(np.zeros(400, dtype=np.int64), law_of(masses), 1e-12)
    assert name in verdict.rejected
    assert not fit.examined(np.repeat([0, 1, 2], [80, 120, 200]), law_of(masses), 0.5).rejected


@pytest.mark.parametrize("other", [(0.6, 0.3, 0.1), (0.02, 0.28, 0.7), (0.5, 0.3, 0.2)])
def test_a_distorted_law_is_missed_no_more_often_than_computed(other):
    law, n, level = law_of((0.2, 0.3, 0.5)), 60, 0.3
    misses = fit.missed(law, law_of(other).below, n, level)
    verdicts = [(fit.examined(draws, law, level).rejected, mass) for draws, mass in samples(n, other)]
    for name, miss in misses.items():
        assert sum(mass for rejected, mass in verdicts if name not in rejected) <= miss + 1e-12
    assert min(misses.values()) < 0.5


def test_the_law_itself_is_always_missed():
    law = law_of((0.2, 0.3, 0.5))
    assert set(fit.missed(law, law.below, 10**6, 1e-12).values()) == {1.0}
    assert fit.missed_between(law, law.below, 10**6, 1e-12) == 1.0


@pytest.mark.parametrize("name", fit.ALL)
def test_power_grows_with_the_number_of_draws(name):
    law, other = law_of((0.2, 0.3, 0.5)), law_of((0.21, 0.3, 0.49)).below
    misses = [fit.missed(law, other, n, 1e-12)[name] for n in (10**4, 10**6, 10**7)]
    assert misses[0] == 1.0
    assert misses[2] < 1e-30


def test_two_samples_of_one_law_differ_no_more_often_than_the_level():
    masses, n = (0.3, 0.7), 12
    found = [
        (fit.compared(first, second, law_of(masses), 1.0)[0], mass * other)
        for (first, mass), (second, other) in itertools.product(list(samples(n, masses)), repeat=2)
    ]
    for level in LEVELS:
        critical = fit.compared(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), law_of(masses), level)[1]
        assert sum(mass for statistic, mass in found if statistic >= critical) <= level


def test_samples_of_two_laws_are_missed_no_more_often_than_computed():
    one, other, n, level = (0.2, 0.8), (0.8, 0.2), 120, 0.1
    miss = fit.missed_between(law_of(one), law_of(other).below, n, level)
    truly = 0.0
    for (first, mass), (second, share) in itertools.product(list(samples(n, one)), list(samples(n, other))):
        statistic, critical = fit.compared(first, second, law_of(one), level)
        truly += mass * share * (statistic < critical)
    assert truly <= miss < 0.2


def test_samples_of_two_sizes_are_not_compared():
    with pytest.raises(ValueError, match="samples of one size"):
        fit.compared(np.zeros(3, dtype=np.int64), np.zeros(4, dtype=np.int64), law_of((0.5, 0.5)), 0.1)


@pytest.mark.parametrize("cells", [3, 10, 50])
@pytest.mark.parametrize("level", [1e-6, 1e-13])
def test_the_proved_value_of_chi_square_is_above_the_approximate_one_and_not_far(cells, level):
    approximate = chi2.isf(level, cells - 1) / 2.0
    assert approximate < fit.chi_square_critical(cells, level) < 2.5 * approximate


def test_fitting_draws_pass_and_others_fail():
    law, fitting = law_of((0.25, 0.25, 0.5)), np.tile([0, 1, 2, 2], 1000)
    fit.assert_fits(fitting, law, Level(1e-12))
    with pytest.raises(AssertionError, match="do not fit"):
        fit.assert_fits(fitting + 1, law, Level(1e-12))
    fit.assert_same(fitting, fitting[::-1], law, Level(1e-12))
    with pytest.raises(AssertionError, match="samples differ"):
        fit.assert_same(fitting, np.minimum(fitting, 1), law, Level(1e-12))


def test_a_control_that_is_not_seen_fails():
    law, fitting = law_of((0.25, 0.25, 0.5)), np.tile([0, 1, 2, 2], 1000)
    other = law_of((0.5, 0.25, 0.25)).below
    fit.assert_seen(2 - fitting, law, other, Level(1e-12))
    fit.assert_told_apart(fitting, 2 - fitting, law, other, Level(1e-12))
    with pytest.raises(AssertionError, match="was not seen"):
        fit.assert_seen(fitting, law, other, Level(1e-12))
    with pytest.raises(AssertionError, match="was not seen"):
        fit.assert_told_apart(fitting, fitting, law, other, Level(1e-12))


def test_a_control_without_power_fails_even_if_it_happens_to_be_seen():
    law, near = law_of((0.25, 0.25, 0.5)), law_of((0.2501, 0.25, 0.4999)).below
    with pytest.raises(AssertionError, match="too little power"):
        fit.assert_seen(np.zeros(4000, dtype=np.int64), law, near, Level(1e-12))
    with pytest.raises(AssertionError, match="too little power"):
        fit.assert_told_apart(np.zeros(40, dtype=np.int64), np.full(40, 2), law, near, Level(1e-12))
    with pytest.raises(AssertionError, match="no distortion of the ladder"):
        fit.weakest(law, [(1.0, near)], 4000, 1e-12)


def test_the_weakest_sure_distortion_is_chosen():
    law = law_of((0.5, 0.5))
    ladder = [(x, law_of((0.5 + x, 0.5 - x)).below) for x in (0.001, 0.1, 0.2, 0.4)]
    assert fit.weakest(law, ladder, 4000, 1e-12) == 0.2
    assert fit.weakest(law, ladder, 10**5, 1e-12) == 0.1


def test_an_assertion_spends_one_comparison():
    allowance = budget.Allowance("binomial", 2)
    fit.assert_fits(np.tile([0, 1], 100), law_of((0.5, 0.5)), allowance)
    assert allowance.left == 1


@pytest.mark.parametrize("n", [10**4, 10**7])
def test_pools_hold_all_cells_and_enough_draws(n):
    P = np.diff(laws.integer(2.0, 30.0).below(np.arange(-200, 201)))
    starts = fit.pooled(P, n)
    assert starts[0] == 0
    assert np.all(np.diff(starts) > 0)
    assert n * np.add.reduceat(P, starts).min() >= 50.0 * (1 - 1e-9)
    assert 20 < starts.size < 80
