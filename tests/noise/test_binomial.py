"""The number of events among very many, exactly."""

from fractions import Fraction
from math import comb

import pytest
from flint import arb
from mpmath import mp, mpf
from tests.noise.scripted import Scripted

from ggdp._balls import working_precision
from ggdp.errors import ArgumentError, UnprovedError
from ggdp.noise import Binomial
from ggdp.noise import integer_noise as module
from ggdp.noise.entropy import SECURE
from ggdp.proofs.tails import tail


def rational_thresholds(n, q):
    """P(X < k) for k = 0, ..., n + 1."""
    q = Fraction(q)
    sums = [Fraction(0)]
    for k in range(n + 1):
        sums.append(sums[-1] + comb(n, k) * q**k * (1 - q) ** (n - k))
    return sums


@pytest.mark.parametrize(("n", "q"), [(1, 0.25), (5, 0.5), (7, 0.3), (40, 0.9), (200, 0.01), (60, 1 - 2.0**-40)])
def test_the_words_of_k_are_those_between_its_rational_thresholds(n, q):
    binomial, below = Binomial(trials=n, probability=q), rational_thresholds(n, q)
    tried = 0
    for k in range(n + 1):
        first, last = int(below[k] * 2**64) + 1 if k else 0, int(below[k + 1] * 2**64) - 1
        for word in (first, (first + last) // 2, last) if first <= last else ():
            # A threshold that is itself a 64-bit number is bracketed by both its neighbours, and read beyond.
            assert binomial.sample(1, rng=Scripted.words(word, 2**63)).tolist() == [k]
            tried += 1
    assert tried > 3


def test_a_word_that_holds_a_threshold_is_decided_by_more_bits():
    below = rational_thresholds(7, 0.3)[3] * 2**64
    word, more = int(below), int((below - int(below)) * 2**64)
    for next_word, k in ((more - 1, 2), (more + 1, 3)):
        source = Scripted.words(word, next_word)
        assert Binomial(trials=7, probability=0.3).sample(1, rng=source).tolist() == [k]
        assert source.spent


@pytest.mark.parametrize(("n", "q"), [(1, 1e-30), (5, 1e-4), (3, 2.0**-30)])
def test_the_last_value_is_no_likelier_than_it_should_be(n, q):
    """P(X = n) is below 2^-64 here, so that one word alone must not give n."""
    most = 2**64 - 1
    below = rational_thresholds(n, q)[n]
    digits = int(below * 2**192)

    def words_of(number):
        return number >> 128, number >> 64 & most, number & most

    assert words_of(digits)[0] == most
    draws = [
        Binomial(trials=n, probability=q).sample(1, rng=Scripted.words(*number, 2**63)).tolist()
        for number in (words_of(digits - 1), words_of(digits + 1))
    ]
    assert draws == [[n - 1], [n]]


@pytest.mark.exhaustive
def test_a_million_events_among_10_to_the_18_are_counted_to_the_last_bit():
    """P(X < k) summed at 60 digits, near the middle and 6 deviations out."""
    n, q = 10**18, 1e-12
    binomial = Binomial(trials=n, probability=q)
    mean = 10**6
    with mp.workdps(60):
        for k in (mean - 6000, mean - 1000, mean, mean + 1, mean + 2500, mean + 6000):
            x = mpf(q)
            choose = mp.loggamma(n + 1) - mp.loggamma(k) - mp.loggamma(n - k + 2)
            term = mp.exp(choose + (k - 1) * mp.log(x) + (n - k + 1) * mp.log1p(-x))
            total, j = mpf(0), k - 1
            while term > mpf(10) ** -40 and j >= 0:
                total += term
                term *= j * (1 - x) / ((n - j + 1) * x)
                j -= 1
            word = int(mp.floor(total * mpf(2) ** 64))
            assert binomial.sample(1, rng=Scripted.words(word - 1)).tolist() == [k - 1]
            assert binomial.sample(1, rng=Scripted.words(word + 1)).tolist() == [k]


def test_a_probability_may_be_an_enclosure_that_is_as_narrow_as_it_is_asked():
    binomial = Binomial(trials=10**13, probability=lambda: tail(1.0, 1.0, 30))
    with mp.workdps(60):
        q = mp.exp(-30) / (1 + mp.exp(-1))
        below = (1 - q) ** (10**13)
        word, more = divmod(int(mp.floor(below * mpf(2) ** 128)), 2**64)
    assert binomial.sample(1, rng=Scripted.words(word, more - 1)).tolist() == [0]
    assert binomial.sample(1, rng=Scripted.words(word, more + 1)).tolist() == [1]


def test_a_fixed_interval_decides_what_it_can_and_refuses_the_rest():
    binomial = Binomial(trials=1, probability=arb(0.5, 2.0**-20))
    assert binomial.sample(1, rng=Scripted.words(2**62)).tolist() == [0]
    assert binomial.sample(1, rng=Scripted.words(3 * 2**62)).tolist() == [1]

    class Half:
        private = True
        first = True

        def fill(self, buffer):
            written = SECURE.fill(buffer)
            if self.first:
                buffer[:] = [0, 0, 0, 0, 0, 0, 0, 128]
                self.first = False
            return written

    with pytest.raises(UnprovedError, match="enclose it more narrowly"):
        binomial.sample(1, rng=Half())


@pytest.mark.parametrize(("n", "q", "k"), [(0, 0.5, 0), (10**18, 0.0, 0), (10**18, 1.0, 10**18)])
def test_where_nothing_is_left_to_chance_no_bits_are_read(n, q, k):
    assert Binomial(trials=n, probability=q).sample(3, rng=Scripted()).tolist() == [k] * 3


@pytest.mark.parametrize(
    ("n", "q", "message"),
    [
        (-1, 0.5, "trials = -1"),
        (10**19, 0.5, r"trials = .*must be at most 10\^18"),
        (2.5, 0.5, r"trials = 2\.5"),
        (5, 1.5, "probability"),
        (5, -0.1, "probability"),
        (5, float("nan"), "probability"),
        (5, arb(0.9, 0.2), "probability"),
        (10**18, 0.5, "spreads too far"),
        (5, lambda: None, "probability"),
    ],
)
def test_arguments_that_make_no_law_are_refused(n, q, message):
    with pytest.raises(ArgumentError, match=message):
        Binomial(trials=n, probability=q).sample(2)


@pytest.mark.parametrize(("n", "q", "k"), [(40, 0.3, 12), (200, 0.01, 2), (40, 0.9, 36)])
def test_the_rest_of_the_sum_is_held_by_its_bound(n, q, k):
    below = rational_thresholds(n, q)
    with working_precision(200):
        terms, rest, least = module._terms_down(n, arb(q), k, max(k - 4, 0), floor=arb(2) ** -300)
        assert len(terms) == k - least + 1
        exact = arb(below[least].numerator) / arb(below[least].denominator)
        assert rest.lower() <= exact <= rest.upper()
        assert rest.upper() < 20 * exact or least == 0


def test_a_table_is_made_once():
    binomial = Binomial(trials=1000, probability=0.25)
    binomial.sample(1)
    first = binomial._sampler
    binomial.sample(1)
    assert binomial._sampler is first


def test_a_law_by_an_interval_equals_itself():
    ball = arb(0.5, 1e-3)
    assert Binomial(trials=3, probability=ball) == Binomial(trials=3, probability=ball)
