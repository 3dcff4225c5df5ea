"""The sparse sampler has the law of noise on all cells followed by the threshold."""

from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from ggdp.errors import ArgumentError
from ggdp.sampling import IntegerNoise, SeededSource
from ggdp.tables import sparse as module
from ggdp.tables.sparse import sparse_cells
from ggdp.tables.thresholds import sparse_threshold

ADULT = 19_440_000_000_000
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

    def sample(self, size, *, source):
        whole = sum(mass for k, mass in LAW.items() if k >= self.threshold)
        options = [(k, mass / whole) for k, mass in LAW.items() if k >= self.threshold]
        return np.array([source.choose(options) for _ in range(size)], dtype=np.int64)


class SmallBinomial:
    def __init__(self, *, trials, probability):
        self.trials, self.probability = trials, probability()

    def sample(self, size, *, source):
        assert size == 1
        n, q = self.trials, self.probability
        return np.array([source.choose([(k, comb(n, k) * q**k * (1 - q) ** (n - k)) for k in range(n + 1)])])


def small_tail(_order, _scale, k):
    return sum((mass for j, mass in LAW.items() if j >= k), Fraction(0))


def small_set(total, size, source):
    sets = list(combinations(range(total), size))
    return np.array(source.choose([(s, Fraction(1, len(sets))) for s in sets]), dtype=np.int64)


@pytest.fixture
def exact_parts(monkeypatch):
    """The parts, each of which has its own tests of its law, replaced by their exact laws on a small scale."""
    monkeypatch.setattr(module, "IntegerNoise", SmallNoise)
    monkeypatch.setattr(module, "Binomial", SmallBinomial)
    monkeypatch.setattr(module, "tail", small_tail)
    monkeypatch.setattr(module, "distinct_integers", small_set)
    monkeypatch.setattr(module, "_refuse_many", lambda *_: None)


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
            order=1,
            scale=1.0,
            threshold=threshold,
            source=source,
        )
        return tuple(zip(shown.tolist(), noisy.tolist(), strict=True))

    assert outcomes(sampler) == dense_law(counts, threshold)


@pytest.mark.usefixtures("exact_parts")
def test_false_cells_that_may_fall_on_others_would_be_seen(monkeypatch):
    """A control: with ranks taken as cells the law is another one."""
    monkeypatch.setattr(module.np, "searchsorted", lambda _, ranks, **__: np.zeros_like(ranks))

    def sampler(source):
        cells, one = np.array([0]), np.array([1])
        shown, noisy = sparse_cells(cells, one, total_cells=3, order=1, scale=1.0, threshold=1, source=source)
        return tuple(zip(shown.tolist(), noisy.tolist(), strict=True))

    assert outcomes(sampler) != dense_law([1, 0, 0], 1)


@given(st.sets(st.integers(0, 29)), st.integers(0, 2**32))
@settings(deadline=None, max_examples=examples(20, 60))
def test_the_ranks_of_empty_cells_lead_to_all_of_them_and_to_no_other(chosen, seed):
    cells = np.array(sorted(chosen), dtype=np.int64)
    empty = 30 - cells.size
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "distinct_integers", lambda total, *_: np.arange(total))
        patched.setattr(module, "Binomial", lambda *, trials, **_: Always(trials))
        far = IntegerNoise(order=1, scale=1.0).at_least(5)
        places, noisy = module._false_cells(cells, empty, far, SeededSource(seed=seed))
    assert places.tolist() == sorted(set(range(30)) - chosen)
    assert noisy.size == empty
    assert np.all(noisy >= 5)


class Always:
    def __init__(self, value):
        self.value = value

    def sample(self, size, *, source):  # noqa: ARG002
        return np.full(size, self.value)


def test_a_sparse_release_of_the_adult_table():
    threshold = sparse_threshold(1, 1.0, cells=ADULT, false_cells=1000)
    cells = np.sort(np.random.default_rng(3).choice(10**6, 40_000, replace=False)) * (ADULT // 10**6)
    counts = np.full(40_000, 100)
    shown, noisy = sparse_cells(cells, counts, total_cells=ADULT, order=1, scale=1.0, threshold=threshold)
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
        cells, np.full(cells.size, 50), total_cells=10**6, order=2, scale=3.0, threshold=5, source=SeededSource(seed=5)
    )
    false = np.flatnonzero(shown % 2)
    assert false.size > 1000
    assert np.all(np.diff(shown) > 0)
    # Neither all before nor all after the non-empty ones.
    assert 0.4 * shown.size < np.median(false) < 0.6 * shown.size


def test_the_noise_of_cells_with_units_is_drawn_last():
    """So that the draws of false cells are the same for as many non-empty cells."""
    how = {"total_cells": 10**9, "order": 1, "scale": 1.0, "threshold": 12}
    few = sparse_cells(np.array([7]), np.array([900]), source=SeededSource(seed=9), **how)
    other = sparse_cells(np.array([8]), np.array([500]), source=SeededSource(seed=9), **how)
    assert few[0].size == other[0].size > 100
    assert few[1][1:].tolist() == other[1][1:].tolist()


@pytest.mark.parametrize("cells", [[], [0], [0, 1, 2], [2]])
def test_tables_without_non_empty_or_without_empty_cells(cells):
    cells = np.array(cells, dtype=np.int64)
    shown, noisy = sparse_cells(
        cells, np.full(cells.size, 100), total_cells=3, order=1, scale=0.01, threshold=1, source=SeededSource(seed=1)
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
            order=1,
            scale=2.0,
            threshold=9,
            source=SeededSource(seed=seed),
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
        ({"order": 0.5}, "order"),
        ({"scale": -1.0}, "scale"),
    ],
    ids=str,
)
def test_what_is_refused_is_refused_by_public_facts_whatever_the_data(change, name):
    how = {"total_cells": 100, "order": 1, "scale": 1.0, "threshold": 5} | change
    messages = set()
    for cells in ([], [3], [0, 4, 9]):
        with pytest.raises(ArgumentError) as refused:
            sparse_cells(np.array(cells, dtype=np.int64), np.full(len(cells), 123_456_789), **how)
        assert refused.value.argument == name
        messages.add(str(refused.value))
    assert len(messages) == 1
