"""Thresholds are safe and tight; the delta of unknown keys is that of the worst pair of neighbours, enumerated.

The sparse sampler has the law of noise on all cells followed by the threshold.

Keys that are not public: what is shown is what has a unit and a noisy count from the threshold on.
"""

import math
from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples
from tests.certified import certified

from ggdp.errors import ArgumentError
from ggdp.mechanisms import certified_noise
from ggdp.noise import IntegerNoise, SeededSource
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP
from ggdp.tables import thresholds as module
from ggdp.tables.thresholds import (
    kept_keys,
    key_delta,
    key_threshold,
    noise_share,
    open_guarantee,
    sparse_cells,
    sparse_threshold,
    threshold_share,
)

ADULT = 19_440_000_000_000
LAWS = [(1.0, 1.0), (1.0, 7.3), (1.5, 4.0), (2.0, 5.98322484490), (3.0, 2.57663333443), (8.0, 20.0), (2.0, 0.05)]


@cache
def tail(order, scale, k):
    """P(K >= k) for k >= 1, in 50 digits, from the definition."""
    with mp.workdps(50):
        p, b = mpf(order), mpf(scale)

        def weights(first):
            j, terms = first, []
            while not terms or terms[-1] > terms[0] * mpf(10) ** -60:
                terms.append(mp.exp(-((mpf(j) / b) ** p)))
                j += 1
            return mp.fsum(terms)

        return weights(k) / (1 + 2 * weights(1)) if k >= 1 else 1 - weights(1 - k) / (1 + 2 * weights(1))


@pytest.mark.parametrize(("order", "scale"), LAWS)
@pytest.mark.parametrize(("cells", "most"), [(ADULT, 1.0), (ADULT, 1e-6), (10**18, 1e7), (100, 0.5), (2, 1.9)])
def test_a_sparse_threshold_is_the_least_with_so_few_false_cells(order, scale, cells, most):
    tau = sparse_threshold(order, scale, cells=cells, false_cells=most)
    with mp.workdps(50):
        assert cells * tail(order, scale, tau) <= mpf(most)
        assert tau == 1 or cells * tail(order, scale, tau - 1) > mpf(most)


def test_the_threshold_of_the_adult_table_is_31_on_the_integers():
    """On the reals it would be 29.9, and 30 shows 1.33 false cells."""
    assert sparse_threshold(1, 1.0, cells=ADULT, false_cells=1) == 31
    assert 1.32 < ADULT * tail(1.0, 1.0, 30) < 1.34
    assert sparse_threshold(1, 1.0, cells=ADULT, false_cells=1.34) == 30


@pytest.mark.parametrize(("order", "scale"), LAWS)
@pytest.mark.parametrize(
    ("delta", "m"), [(1e-6, 1), (1e-12, 1), (1e-6, 20), (1e-300, 3), (0.3, 2), (0.99, 1), (1e-9, 10**9)]
)
def test_a_threshold_of_keys_is_the_least_that_hides_a_unit(order, scale, delta, m):
    tau = key_threshold(order, scale, delta=delta, cells_of_a_unit=m)
    with mp.workdps(50):

        def shown(threshold):
            return -mp.expm1(m * mp.log1p(-tail(order, scale, threshold - 1)))

        assert shown(tau) <= mpf(delta)
        assert tau == 1 or shown(tau - 1) > mpf(delta)
        proved = mpf(key_delta(order, scale, threshold=tau, cells_of_a_unit=m))
        assert shown(tau) <= proved <= max(shown(tau) * (1 + mpf(10) ** -12), mpf(10) ** -320)


@given(st.floats(1.0, 12.0), st.floats(0.3, 60.0), st.floats(1e-15, 0.4), st.integers(1, 50))
@settings(deadline=None, max_examples=examples(15, 40))
def test_thresholds_rise_with_what_is_asked_for(order, scale, delta, m):
    tau = key_threshold(order, scale, delta=delta, cells_of_a_unit=m)
    assert key_threshold(order, scale, delta=delta / 3, cells_of_a_unit=m) >= tau
    assert key_threshold(order, scale, delta=delta, cells_of_a_unit=m + 1) >= tau
    assert key_delta(order, scale, threshold=tau, cells_of_a_unit=m) <= delta
    cells = 10**6 * m
    assert sparse_threshold(order, scale, cells=cells, false_cells=delta) <= sparse_threshold(
        order, scale, cells=2 * cells, false_cells=delta
    )


@pytest.mark.parametrize("scale", [2.0**40, 2.0**55])
def test_thresholds_of_wide_noise_are_those_of_the_reals_but_for_a_share(scale):
    tau = key_threshold(1, scale, delta=1e-6, cells_of_a_unit=1)
    assert tau / scale == pytest.approx(-math.log(2e-6), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"false_cells": 0}, "false_cells"),
        ({"false_cells": -1.0}, "false_cells"),
        ({"false_cells": math.nan}, "false_cells"),
        ({"false_cells": math.inf}, "false_cells"),
        ({"false_cells": 1000}, "false_cells"),
        ({"false_cells": 1e8, "cells": 10**12}, "false_cells"),
        ({"cells": 0}, "cells"),
        ({"cells": 10**18 + 1}, "cells"),
        ({"cells": 1e6}, "cells"),
        ({"order": 0.9}, "order"),
        ({"scale": 0.0}, "scale"),
    ],
    ids=str,
)
def test_a_sparse_threshold_that_makes_no_sense_is_refused(change, name):
    with pytest.raises(ArgumentError) as refused:
        sparse_threshold(**({"order": 1, "scale": 1.0, "cells": 1000, "false_cells": 1} | change))
    assert refused.value.argument == name


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"cells_of_a_unit": 0}, "cells_of_a_unit"),
        ({"cells_of_a_unit": 1.0}, "cells_of_a_unit"),
        ({"order": math.nan}, "order"),
    ],
    ids=str,
)
def test_a_threshold_of_keys_that_makes_no_sense_is_refused(change, name):
    with pytest.raises(ArgumentError) as refused:
        key_threshold(**({"order": 1, "scale": 1.0, "delta": 1e-6, "cells_of_a_unit": 1} | change))
    assert refused.value.argument == name


# How delta is shared.


@pytest.mark.parametrize("m", [1, 2, 7])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("delta", [1e-6, 0.1, 3e-11])
def test_the_shares_never_come_to_more_than_the_whole(delta, neighbours, m):
    for noise in (
        PureDP(1.0, neighbours),
        ApproxDP(1.0, noise_share(delta, cells_of_a_unit=m, neighbours=neighbours), neighbours),
        ProbabilisticDP(1.0, 0.7 * noise_share(delta, cells_of_a_unit=m, neighbours=neighbours), neighbours),
    ):
        left = threshold_share(delta, noise, cells_of_a_unit=m)
        together = Fraction(left) + Fraction(noise.delta)
        if m == 1 and neighbours == "add-remove":
            assert left == delta
        else:
            assert Fraction(delta) * (1 - Fraction(1, 10**15)) <= together <= Fraction(delta)
        tau = key_threshold(2, 3.0, delta=left, cells_of_a_unit=m)
        proved = open_guarantee(noise, order=2, scale=3.0, threshold=tau, cells_of_a_unit=m)
        assert type(proved) is ApproxDP
        assert (proved.epsilon, proved.neighbours) == (1.0, neighbours)
        assert noise.delta <= proved.delta <= delta


def test_noise_that_takes_all_of_delta_leaves_no_threshold():
    with pytest.raises(ArgumentError, match="leaves none of delta"):
        threshold_share(1e-6, ApproxDP(1.0, 1e-6, "replace-one"), cells_of_a_unit=1)


def test_a_guarantee_without_neighbours_is_refused():
    with pytest.raises(ArgumentError, match="add-remove"):
        open_guarantee(PureDP(1.0), order=1, scale=1.0, threshold=9, cells_of_a_unit=1)


# Every pair of neighbours of a tiny universe.


@cache
def noise_of(order, scale):
    """The noise as far as a float notices, with its probabilities."""
    far = math.ceil(scale * 42 ** (1 / order))
    k = np.arange(-far, far + 1)
    return k, IntegerGeneralizedGaussian(order=order, scale=scale).pmf(k)


@cache
def cell_law(order, scale, count, threshold, last):
    """Probabilities of a key's outcomes: not shown, then threshold to last."""
    k, q = noise_of(order, scale)
    law = np.zeros(last - threshold + 2)
    if count == 0:
        law[0] = 1.0
        return law
    np.add.at(law, np.clip(count + k - threshold + 1, 0, law.size - 1), q)
    return law


def divergence(first, second, epsilon):
    """The hockey-stick divergence of two products of laws, outcome by outcome."""
    p, q = np.array([1.0]), np.array([1.0])
    for a, b in zip(first, second, strict=True):
        if a is b:
            continue
        p, q = np.outer(p, a).reshape(-1), np.outer(q, b).reshape(-1)
        # Outcomes that neither of the two has say nothing.
        seen = (p > 0) | (q > 0)
        p, q = p[seen], q[seen]
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def worst(order, scale, epsilon, threshold, pairs):
    """The largest divergence over pairs of tables, in both directions."""
    last = 12 + noise_of(order, scale)[0][-1]

    def laws(counts):
        return [cell_law(order, scale, count, threshold, last) for count in counts]

    return max(
        divergence(laws(x), laws(y), epsilon) for first, second in pairs for x, y in ((first, second), (second, first))
    )


def noise_delta(order, scale, epsilon, moving):
    """The delta of the noise alone, where so many cells move by one, in the worst direction of signs."""
    _, q = noise_of(order, scale)
    wide = np.concatenate([[0.0], q, [0.0]])
    up, down = np.append(wide[1:], 0.0), np.insert(wide[:-1], 0, 0.0)
    found = 0.0
    for signs in product((up, down), repeat=moving):
        p, r = np.array([1.0]), np.array([1.0])
        for moved in signs:
            p, r = np.outer(p, wide).reshape(-1), np.outer(r, moved).reshape(-1)
        found = max(found, float(np.maximum(p - math.exp(epsilon) * r, 0.0).sum()))
    return found


def table(cells, base):
    return tuple(count + (i in cells) for i, count in enumerate(base))


def pairs_of(neighbours, m, universe, bases):
    """All pairs of neighbours over a universe of keys: one unit in at most m of them, beside some other units."""
    sets = [frozenset(i for i in range(universe) if bits >> i & 1) for bits in range(1 << universe)]
    units = [s for s in sets if len(s) <= m]
    for base in product(bases, repeat=universe):
        for unit in units:
            if neighbours == "add-remove":
                yield base, table(unit, base)
            else:
                yield from ((table(unit, base), table(other, base)) for other in units)


CASES = [
    # order, scale, epsilon, threshold
    (1.0, 1.0, 1.0, 4),
    (1.0, 1.0, 2.0, 6),
    (2.0, 1.3, 1.0, 4),
    (2.0, 1.3, 2.0, 3),
    (3.0, 1.5, 1.5, 3),
]


@pytest.mark.parametrize(("order", "scale", "epsilon", "threshold"), CASES)
@pytest.mark.parametrize(
    ("neighbours", "m", "universe", "bases"),
    [
        ("add-remove", 1, 2, (0, 1, 2, 5)),
        ("add-remove", 2, 3, (0, 1, 3)),
        ("replace-one", 1, 3, (0, 1, 3)),
    ],
)
def test_no_pair_of_neighbours_has_more_than_the_proved_delta(
    order, scale, epsilon, threshold, neighbours, m, universe, bases
):
    found = worst(order, scale, epsilon, threshold, pairs_of(neighbours, m, universe, bases))
    moving = m if neighbours == "add-remove" else 2 * m
    # Rounding of the sums above.
    delta_n = noise_delta(order, scale, epsilon, moving)
    noise = PureDP(epsilon, neighbours) if delta_n < 1e-14 else ApproxDP(epsilon, delta_n, neighbours)
    proved = open_guarantee(noise, order=order, scale=scale, threshold=threshold, cells_of_a_unit=m)
    assert found <= proved.delta * (1 + 1e-9) + 1e-14
    of_keys = key_delta(order, scale, threshold=threshold, cells_of_a_unit=m)
    # A unit with m keys of its own is hidden no better than that.
    assert found >= of_keys * (1 - 1e-9)
    if noise.delta == 0.0 or (m == 1 and neighbours == "add-remove" and of_keys >= delta_n):
        assert found == pytest.approx(proved.delta, rel=1e-9)


@pytest.mark.parametrize(("order", "scale", "epsilon"), [(1.0, 0.5, 8.0), (2.0, 0.9, 2.0)])
def test_two_keys_replaced_by_two_others_are_within_the_exponent_of_two(order, scale, epsilon):
    """Under replace-one with M = 2: keys of one's own in both tables, beside keys that others have too."""
    pairs = [
        ((1, 1, 0, 0), (0, 0, 1, 1)),
        ((1, 1, 0, 0), (0, 0, 0, 0)),
        ((1, 3, 0, 2), (0, 2, 1, 3)),
        ((2, 3, 1, 2), (1, 2, 2, 3)),
        ((1, 3, 2, 2), (0, 2, 3, 3)),
        ((1, 1, 2, 2), (0, 0, 3, 3)),
    ]
    threshold = 3
    found = worst(order, scale, epsilon, threshold, pairs)
    # Laplace noise of four moves of one is pure at this epsilon.
    delta_n = 0.0 if order == 1.0 else noise_delta(order, scale, epsilon, 4)
    noise = PureDP(epsilon, "replace-one") if delta_n == 0.0 else ApproxDP(epsilon, delta_n, "replace-one")
    proved = open_guarantee(noise, order=order, scale=scale, threshold=threshold, cells_of_a_unit=2)
    of_keys = key_delta(order, scale, threshold=threshold, cells_of_a_unit=2)
    assert of_keys * (1 - 1e-9) <= found <= proved.delta * (1 + 1e-9) + 1e-14
    # An exponent of 1 would be too little, and one of 4 more than there is.
    assert key_delta(order, scale, threshold=threshold, cells_of_a_unit=1) < found
    assert found < key_delta(order, scale, threshold=threshold, cells_of_a_unit=4) or noise.delta > 0


@pytest.mark.parametrize(
    ("order", "scale", "epsilon", "threshold"), [(3.0, 3.0, 1.0, 4), (1.0, 2.0, 0.1, 3), (2.0, 3.0, 0.1, 3)]
)
def test_the_larger_of_the_two_deltas_is_not_enough_under_replace_one(order, scale, epsilon, threshold):
    """A key of one's own is replaced by one that others have too: both deltas are spent."""
    found = worst(order, scale, epsilon, threshold, [((1, 20), (0, 21))])
    delta_n = noise_delta(order, scale, epsilon, 2)
    proved = open_guarantee(
        ApproxDP(epsilon, delta_n, "replace-one"), order=order, scale=scale, threshold=threshold, cells_of_a_unit=1
    )
    d = key_delta(order, scale, threshold=threshold, cells_of_a_unit=1)
    assert 1.2 * max(delta_n, d) < found <= proved.delta


# Rows of units, and declared tables beside open ones.


def whole_law(order, scale, count, last):
    """Probabilities of the noisy count of a declared cell, which is always shown."""
    k, q = noise_of(order, scale)
    law = np.zeros(2 * last + 1)
    np.add.at(law, count + k + last, q)
    return law


def shifted_delta(order, scale, epsilon, moving, by):
    """The delta of the noise alone, where so many cells move by so much, in the worst direction of signs."""
    last = 2 * by + noise_of(order, scale)[0][-1]
    return max(
        divergence(
            [whole_law(order, scale, by, last) for _ in range(moving)],
            [whole_law(order, scale, by + sign * by, last) for sign in signs],
            epsilon,
        )
        for signs in product((-1, 1), repeat=moving)
    )


def pairs_of_rows(neighbours, most, keys, bases, beside):
    """Pairs over open keys and perhaps a declared cell: a unit has up to `most` rows in one key and in that cell."""
    units = [(0,) * keys]
    units += [tuple(rows * (i == key) for i in range(keys)) for key in range(keys) for rows in range(1, most + 1)]
    units = [(*unit, *extra) for unit in units for extra in product(range(most + 1), repeat=beside)]
    for base in product(bases, repeat=keys):
        for unit in units:
            others = [(0,) * (keys + beside)] if neighbours == "add-remove" else units
            for other in others:
                yield tuple(
                    tuple(b + u for b, u in zip((*base, *[4] * beside), who, strict=True)) for who in (unit, other)
                )


@pytest.mark.parametrize(("order", "scale", "epsilon"), [(1.0, 1.2, 2.0), (2.0, 1.1, 1.5)])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(("most", "beside"), [(3, 0), (1, 1), (2, 1)])
def test_rows_of_units_and_declared_tables_are_within_the_proved_delta(order, scale, epsilon, neighbours, most, beside):
    threshold = 4 + most
    last = 12 + noise_of(order, scale)[0][-1]

    def laws(counts):
        opened = [cell_law(order, scale, count, threshold, last) for count in counts[:2]]
        return opened + [whole_law(order, scale, count, last) for count in counts[2:]]

    found = 0.0
    for first, second in pairs_of_rows(neighbours, most, 2, (0, 3), beside):
        for x, y in ((first, second), (second, first)):
            a, b = laws(x), laws(y)
            b = [p if i == j else q for p, q, i, j in zip(a, b, x, y, strict=True)]
            found = max(found, divergence(a, b, epsilon))
    moving = (1 if neighbours == "add-remove" else 2) + beside
    delta_n = shifted_delta(order, scale, epsilon, moving, most)
    proved = open_guarantee(
        ApproxDP(epsilon, delta_n, neighbours),
        order=order,
        scale=scale,
        threshold=threshold,
        cells_of_a_unit=1,
        declared_cells=beside,
        most_in_a_cell=most,
    )
    of_keys = key_delta(order, scale, threshold=threshold, cells_of_a_unit=1, most_in_a_cell=most)
    # The key of one unit alone, with all its rows.
    assert of_keys == pytest.approx(float(tail(order, scale, threshold - most)), rel=1e-9)
    assert of_keys * (1 - 1e-9) <= found <= proved.delta * (1 + 1e-9) + 1e-14
    if most > 1:
        # To hide a single row is too little.
        assert key_delta(order, scale, threshold=threshold, cells_of_a_unit=1) < found / 2


def test_a_declared_table_beside_an_open_one_spends_both_deltas_on_one_pair():
    """A unit with a key of its own that is also in a declared cell: the larger of the two deltas is too little."""
    order, scale, epsilon, threshold = 8.0, 2.2, 0.1, 3
    last = 12 + noise_of(order, scale)[0][-1]
    with_unit = [cell_law(order, scale, 1, threshold, last), whole_law(order, scale, 1, last)]
    without = [cell_law(order, scale, 0, threshold, last), whole_law(order, scale, 0, last)]
    found = divergence(with_unit, without, epsilon)
    d = key_delta(order, scale, threshold=threshold, cells_of_a_unit=1)
    alone = divergence(with_unit[1:], without[1:], epsilon)
    assert found > 1.2 * max(alone, d)
    noise = ApproxDP(epsilon, shifted_delta(order, scale, epsilon, 2, 1), "add-remove")
    proved = open_guarantee(noise, order=order, scale=scale, threshold=threshold, cells_of_a_unit=1, declared_cells=1)
    assert found <= proved.delta
    assert proved.delta == pytest.approx(noise.delta + d)


@pytest.mark.parametrize("most", [2, 50])
@pytest.mark.parametrize(("order", "scale"), [(1.0, 1.0), (2.0, 5.98322484490)])
def test_a_threshold_hides_all_rows_of_a_unit_and_is_the_least(order, scale, most):
    tau = key_threshold(order, scale, delta=1e-6, cells_of_a_unit=3, most_in_a_cell=most)
    assert tau == key_threshold(order, scale, delta=1e-6, cells_of_a_unit=3) + most - 1
    with mp.workdps(50):
        shown = [-mp.expm1(3 * mp.log1p(-tail(order, scale, value - most))) for value in (tau, tau - 1)]
        assert shown[0] <= mpf("1e-6") < shown[1]


def test_noise_on_the_keys_that_occur_alone_hides_nobody_without_a_threshold():
    found = worst(1.0, 1.0, 1.0, 1, [((0,), (1,))])
    assert found > 0.3


# A small law of noise, in exact numbers.
LAW = {-2: Fraction(1, 11), -1: Fraction(2, 11), 0: Fraction(4, 11), 1: Fraction(3, 11), 2: Fraction(1, 11)}


class Chooser:
    """A source of decisions: it replays a path through the tree of them, and says where the path ends."""

    private = False

    def __init__(self, path):
        self.path, self.taken = path, []

    def fill(self, buffer):
        raise AssertionError(f"{buffer.size} bytes were read past the scripted parts")

    def choose(self, options):
        """One of the (value, probability) pairs."""
        options = [(value, mass) for value, mass in options if mass]
        place = self.path[len(self.taken)] if len(self.taken) < len(self.path) else 0
        self.taken.append((place, len(options)))
        value, mass = options[place]
        self.mass = getattr(self, "mass", Fraction(1)) * mass
        return value


def outcomes(sampler):
    """The exact law of a sampler that takes its decisions from a `Chooser`."""
    law, path = defaultdict(Fraction), []
    while True:
        source = Chooser(path)
        outcome = sampler(source)
        law[outcome] += getattr(source, "mass", Fraction(1))
        taken = source.taken
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return dict(law)
        path = [place for place, _ in taken[:-1]] + [taken[-1][0] + 1]


class SmallNoise:
    """Noise of the small law, whatever order and scale."""

    def __init__(self, *, order, scale, least=-2):
        self.order, self.scale, self.threshold = order, scale, least

    def at_least(self, threshold):
        return SmallNoise(order=self.order, scale=self.scale, least=threshold)

    def sample(self, size, *, rng):
        whole = sum(mass for k, mass in LAW.items() if k >= self.threshold)
        options = [(k, mass / whole) for k, mass in LAW.items() if k >= self.threshold]
        return np.array([rng.choose(options) for _ in range(size)], dtype=np.int64)


class SmallBinomial:
    def __init__(self, *, trials, probability):
        self.trials, self.probability = trials, probability()

    def sample(self, size, *, rng):
        assert size == 1
        n, q = self.trials, self.probability
        return np.array([rng.choose([(k, comb(n, k) * q**k * (1 - q) ** (n - k)) for k in range(n + 1)])])


def small_tail(_order, _scale, k):
    return sum((mass for j, mass in LAW.items() if j >= k), Fraction(0))


def small_set(total, size, source):
    sets = list(combinations(range(total), size))
    return np.array(source.choose([(s, Fraction(1, len(sets))) for s in sets]), dtype=np.int64)


@pytest.fixture
def exact_parts(monkeypatch):
    """The parts, each of which has its own tests of its law, replaced by their exact laws on a small scale."""
    monkeypatch.setattr(certified_noise, "IntegerNoise", SmallNoise)
    monkeypatch.setattr(certified_noise, "Binomial", SmallBinomial)
    monkeypatch.setattr(certified_noise, "tail", small_tail)
    monkeypatch.setattr(module, "distinct_integers", small_set)


def dense_law(counts, threshold):
    """Noise on every cell, then the threshold: the law of the shown cells and counts."""
    law = defaultdict(Fraction)
    for noise in product(LAW, repeat=len(counts)):
        mass = Fraction(1)
        for k in noise:
            mass *= LAW[k]
        noisy = [c + k for c, k in zip(counts, noise, strict=True)]
        law[tuple((i, y) for i, y in enumerate(noisy) if y >= threshold)] += mass
    return dict(law)


@pytest.mark.parametrize("threshold", [1, 2])
@pytest.mark.parametrize(
    "counts",
    [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 1], [1, 0, 3, 0], [0, 1, 1, 0], [1, 1, 1], [0, 2, 0, 0], [2, 0, 0, 1]],
    ids=str,
)
@pytest.mark.usefixtures("exact_parts")
def test_the_law_is_that_of_noise_on_all_cells_and_then_the_threshold(counts, threshold):
    cells = np.flatnonzero(counts)

    def sampler(source):
        shown, noisy = sparse_cells(
            cells,
            np.array(counts)[cells],
            total_cells=len(counts),
            noise=certified(1, 1.0),
            threshold=threshold,
            rng=source,
        )
        return tuple(zip(shown.tolist(), noisy.tolist(), strict=True))

    assert outcomes(sampler) == dense_law(counts, threshold)


@pytest.mark.usefixtures("exact_parts")
def test_false_cells_that_may_fall_on_others_would_be_seen(monkeypatch):
    """A control: with ranks taken as cells the law is another one."""
    monkeypatch.setattr(module.np, "searchsorted", lambda _, ranks, **__: np.zeros_like(ranks))

    def sampler(source):
        cells, one = np.array([0]), np.array([1])
        shown, noisy = sparse_cells(cells, one, total_cells=3, noise=certified(1, 1.0), threshold=1, rng=source)
        return tuple(zip(shown.tolist(), noisy.tolist(), strict=True))

    assert outcomes(sampler) != dense_law([1, 0, 0], 1)


@given(st.sets(st.integers(0, 29)), st.integers(0, 2**32))
@settings(deadline=None, max_examples=examples(20, 60))
def test_the_ranks_of_empty_cells_lead_to_all_of_them_and_to_no_other(chosen, seed):
    cells = np.array(sorted(chosen), dtype=np.int64)
    empty = 30 - cells.size
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "distinct_integers", lambda total, *_: np.arange(total))
        patched.setattr(certified_noise, "Binomial", lambda *, trials, **_: Always(trials))
        # No noise takes these counts to the threshold, so that all cells that are shown are false.
        none = np.full(cells.size, -(10**6))
        how = {"total_cells": 30, "noise": certified(1, 1.0), "threshold": 5}
        places, noisy = sparse_cells(cells, none, rng=SeededSource(seed=seed), **how)
    assert places.tolist() == sorted(set(range(30)) - chosen)
    assert noisy.size == empty
    assert np.all(noisy >= 5)


class Always:
    def __init__(self, value):
        self.value = value

    def sample(self, size, *, rng):  # noqa: ARG002
        return np.full(size, self.value)


def test_a_sparse_release_of_the_adult_table():
    threshold = sparse_threshold(1, 1.0, cells=ADULT, false_cells=1000)
    cells = np.sort(np.random.default_rng(3).choice(10**6, 40_000, replace=False)) * (ADULT // 10**6)
    counts = np.full(40_000, 100)
    shown, noisy = sparse_cells(cells, counts, total_cells=ADULT, noise=certified(1, 1.0), threshold=threshold)
    false = ~np.isin(shown, cells)
    # Poisson with a mean of at most 1000 and at least 1000/e: its tails beyond these are below 1e-40.
    assert 100 < false.sum() < 1500
    assert np.all(np.diff(shown) > 0)
    assert np.all(noisy >= threshold)
    assert shown[0] >= 0
    assert shown[-1] < ADULT
    # Noise takes a count of 100 below the threshold of 23 or so with a probability of e^-70.
    assert np.isin(cells, shown).all()


def test_false_cells_stand_among_the_others_in_the_order_of_cells():
    cells = np.arange(0, 10**6, 2)
    shown, _ = sparse_cells(
        cells,
        np.full(cells.size, 50),
        total_cells=10**6,
        noise=certified(2, 3.0),
        threshold=5,
        rng=SeededSource(seed=5),
    )
    false = np.flatnonzero(shown % 2)
    assert false.size > 1000
    assert np.all(np.diff(shown) > 0)
    # Neither all before nor all after the non-empty ones.
    assert 0.4 * shown.size < np.median(false) < 0.6 * shown.size


def test_the_noise_of_cells_with_units_is_drawn_last():
    """So that the draws of false cells are the same for as many non-empty cells."""
    how = {"total_cells": 10**9, "noise": certified(1, 1.0), "threshold": 12}
    few = sparse_cells(np.array([7]), np.array([900]), rng=SeededSource(seed=9), **how)
    other = sparse_cells(np.array([8]), np.array([500]), rng=SeededSource(seed=9), **how)
    assert few[0].size == other[0].size > 100
    assert few[1][1:].tolist() == other[1][1:].tolist()


@pytest.mark.parametrize("cells", [[], [0], [0, 1, 2], [2]])
def test_tables_without_non_empty_or_without_empty_cells(cells):
    cells = np.array(cells, dtype=np.int64)
    shown, noisy = sparse_cells(
        cells,
        np.full(cells.size, 100),
        total_cells=3,
        noise=certified(1, 0.01),
        threshold=1,
        rng=SeededSource(seed=1),
    )
    assert shown.tolist() == cells.tolist()
    assert noisy.tolist() == [100] * cells.size
    assert shown.dtype == noisy.dtype == np.int64


def test_counts_at_the_end_of_64_bits_saturate():
    most = 2**63 - 1
    for seed in range(8):
        shown, noisy = sparse_cells(
            np.array([1]),
            np.array([most]),
            total_cells=2,
            noise=certified(1, 2.0),
            threshold=9,
            rng=SeededSource(seed=seed),
        )
        assert noisy[shown.tolist().index(1)] > most - 100


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"total_cells": 10**18 + 1}, "cells"),
        ({"total_cells": 0}, "cells"),
        ({"total_cells": 10**18, "threshold": 1}, "threshold"),
        ({"threshold": 0}, "threshold"),
        ({"threshold": 2**62}, "threshold"),
    ],
    ids=str,
)
def test_what_is_refused_is_refused_by_public_facts_whatever_the_data(change, name):
    how = {"total_cells": 100, "noise": certified(1, 1.0), "threshold": 5} | change
    messages = set()
    for cells in ([], [3], [0, 4, 9]):
        with pytest.raises(ArgumentError) as refused:
            sparse_cells(np.array(cells, dtype=np.int64), np.full(len(cells), 123_456_789), **how)
        assert refused.value.argument == name
        messages.add(str(refused.value))
    assert len(messages) == 1


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 20), st.integers(0, 2**32))
@settings(deadline=None, max_examples=examples(20, 60))
def test_what_is_shown_is_every_key_with_a_unit_and_noise_that_takes_it_to_the_threshold(counts, threshold, seed):
    counts = np.array(counts, dtype=np.int64)
    places, noisy = kept_keys(counts, noise=certified(2, 6.0), threshold=threshold, rng=SeededSource(seed=seed))
    drawn = counts + IntegerNoise(order=2, scale=6.0).sample(counts.size, rng=SeededSource(seed=seed))
    expected = [i for i in range(counts.size) if counts[i] >= 1 and drawn[i] >= threshold]
    assert places.tolist() == expected
    assert noisy.tolist() == drawn[expected].tolist()
    assert noisy.dtype == np.int64


def test_a_key_without_a_unit_is_never_shown_however_large_its_noise():
    places, _ = kept_keys(np.zeros(100_000, dtype=np.int64), noise=certified(1, 50.0), threshold=1)
    assert places.size == 0


def test_counts_are_left_as_they_are():
    counts = np.array([5, 7, 100])
    kept_keys(counts, noise=certified(1, 1.0), threshold=3)
    assert counts.tolist() == [5, 7, 100]


def test_counts_of_keys_at_the_end_of_64_bits_saturate():
    counts = np.full(1000, 2**63 - 1)
    places, noisy = kept_keys(counts, noise=certified(1, 3.0), threshold=9)
    assert places.size == 1000
    assert noisy.min() > 2**62
    assert noisy.max() == 2**63 - 1


@pytest.mark.parametrize("change", [{"threshold": 0}, {"threshold": 1.5}], ids=str)
def test_keys_are_refused_by_public_facts_whatever_the_data(change):
    messages = set()
    for counts in ([], [3], [0, 4, 9]):
        with pytest.raises(ArgumentError) as refused:
            kept_keys(np.array(counts, dtype=np.int64), **({"noise": certified(1, 1.0), "threshold": 5} | change))
        messages.add(str(refused.value))
    assert len(messages) == 1
