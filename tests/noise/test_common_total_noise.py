"""Noise with a common total: its law by enumeration, whole counts that agree, and losses by brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from tests.reference.common_total import law_of_table, masses, rounded

import ggdp
from ggdp.noise import SeededSource
from ggdp.noise.common_total_noise import CommonTotalNoise

# Order, scale, k, m and the number of tables.
LAWS = [(1.0, 1.3, 2, 1, 2), (1.5, 0.7, 3, 2, 2), (1.9, 3.0, 1, 1, 3), (2.0, 2.5, 5, 2, 2), (3.0, 4.2, 3, 1, 2)]


def noise_of(order, scale, total, difference, tables):
    return CommonTotalNoise(order=order, scale=scale, total=total, difference=difference, tables=tables)


@pytest.mark.parametrize("law", LAWS)
def test_deviations_and_half_widths_are_those_of_the_enumerated_law(law):
    noise, (found, totals) = noise_of(*law), law_of_table(*law[:4])
    for cell in (0, 1):
        alone = Counter()
        for errors, mass in found.items():
            alone[errors[cell]] += mass
        assert sum(x * mass for x, mass in alone.items()) == pytest.approx(0.0, abs=1e-12)
        assert noise.std[cell] == pytest.approx(math.sqrt(sum(x * x * mass for x, mass in alone.items())), rel=1e-9)
        for k in (1, 2, 3):
            tail = sum(mass for x, mass in alone.items() if abs(x) >= k)
            assert noise.tail(cell, k) == pytest.approx(tail, rel=1e-7, abs=1e-14)
        for level in (0.5, 0.9, 0.95, 0.999):
            h = noise.half_widths(level)[cell]
            assert sum(mass for x, mass in alone.items() if abs(x) <= h) >= level
            assert h == 0 or sum(mass for x, mass in alone.items() if abs(x) <= h - 1) < level
    assert noise.total_std == pytest.approx(math.sqrt(sum(e * e * mass for e, mass in totals.items())), rel=1e-9)
    h = noise.total_half_width(0.95)
    assert sum(mass for e, mass in totals.items() if abs(e) <= h) >= 0.95
    assert h == 0 or sum(mass for e, mass in totals.items() if abs(e) <= h - 1) < 0.95


@pytest.mark.parametrize("law", LAWS)
def test_all_counts_are_within_the_simultaneous_half_width(law):
    noise, (found, totals) = noise_of(*law), law_of_table(*law[:4])

    def within(h):
        # Tables are independent, given the noise of the total.
        inside = Counter()
        for (first, second), mass in found.items():
            inside[first + second] += mass * (max(abs(first), abs(second)) <= h)
        return sum(mass * (inside[e] / mass) ** noise.tables for e, mass in totals.items() if mass > 0.0)

    for level in (0.5, 0.95, 0.999):
        h = noise.simultaneous_half_width(level)
        assert within(h) >= level
        assert h == 0 or within(h - 1) < level


@pytest.mark.parametrize("law", [*LAWS, (1.0, 5.0, 2, 1, 50)])
@pytest.mark.parametrize("miss", [5e-12, 1e-13, 2.0**-53])
def test_the_simultaneous_half_width_of_a_level_close_to_1_is_by_a_union_bound(law, miss):
    noise = noise_of(*law)
    h = noise.simultaneous_half_width(1.0 - miss)
    assert h >= noise.half_widths(1.0 - miss)[0]
    cells = 2 * noise.tables
    assert cells * noise.tail(0, h + 1) <= miss < cells * noise.tail(0, h) * 1.01


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 1), (3, 2), (5, 2)])
def test_every_coin_and_every_noise_leads_to_whole_counts_with_one_total(monkeypatch, k, m):
    noise, true = noise_of(2.0, 3.0, k, m, 2), np.array([4, 3, 6, 1])
    assert noise.encode(true) == [7 * k, -m, -5 * m]
    for e, one, other in itertools.product(range(-2 * k, 2 * k + 1), range(-2 * m - 1, 2 * m + 2), (-3, 0, 2)):
        noisy = np.add(noise.encode(true), [e, one, other])
        for coins in itertools.product((0, 1), repeat=3):
            monkeypatch.setattr(
                "ggdp.noise.common_total_noise.uniform_integers",
                lambda _total, _size, _rng, coins=coins: np.array(coins),
            )
            counts = noise.decode(noisy, SeededSource(seed=1)).tolist()
            total = 7 + rounded(Fraction(e, k), coins[0])
            seconds = [
                true[2 * j + 1] + rounded(Fraction(m * (total - 7) + of, 2 * m), coins[j + 1])
                for j, of in enumerate((one, other))
            ]
            assert counts == [total - seconds[0], seconds[0], total - seconds[1], seconds[1]]


def test_the_total_and_each_table_have_a_coin_of_their_own():
    noise, found = noise_of(2.0, 3.0, 2, 1, 3), set()
    # A total of one half becomes 0 or 1; with 1, the second count of every table lies between 0 and 1.
    for seed in range(300):
        counts = noise.decode(np.array([1, 0, 0, 0]), SeededSource(seed=seed)).tolist()
        found.add((counts[0] + counts[1], *counts[1::2]))
    assert found == {(0, 0, 0, 0), *((1, *seconds) for seconds in itertools.product((0, 1), repeat=3))}


def test_counts_beyond_64_bits_saturate():
    noise = noise_of(2.0, 3.0, 1, 1, 2)
    assert noise.decode(np.array([2**63 - 1, 2**63 - 1, 0]), SeededSource(seed=1)).max() == 2**63 - 1


# --- losses, by brute force over neighbors ---


def published(noise, true):
    """P(total, second counts) as published, for true counts of two tables."""
    single, found = masses(noise.order, noise.scale), Counter()
    vector = noise.encode(np.array(true))
    totals = Counter()
    for one, mass in single.items():
        for coin in (0, 1):
            totals[rounded(Fraction(vector[0] + one, noise.total), coin)] += mass / 2
    for total, mass in totals.items():
        parts = []
        for base in vector[1:]:
            part = Counter()
            for one, other in single.items():
                for coin in (0, 1):
                    numerator = noise.difference * total + base + one
                    part[rounded(Fraction(numerator, 2 * noise.difference), coin)] += other / 2
            parts.append(part)
        for (first, p), (second, q) in itertools.product(*(part.items() for part in parts)):
            found[total, first, second] += mass * p * q
    return found


@pytest.mark.parametrize(("epsilon", "delta", "order", "k", "m"), [(1.0, 0.05, 2.0, 1, 1), (2.0, 0.01, 1.5, 3, 2)])
def test_no_neighbor_changes_what_is_published_by_more_than_the_goal(epsilon, delta, order, k, m):
    goal, changes = ggdp.ApproxDP(epsilon, delta), CommonTotalNoise.changes(k, m, 2)
    scale = ggdp.calibrate(goal, changes, order=order, support="integer").scale

    def losses(noise):
        """delta at epsilon of adding and removing a unit, whichever levels it has."""
        before = published(noise, (3, 2, 1, 4))
        for second, other in itertools.product((0, 1), repeat=2):
            after = published(noise, (4 - second, 2 + second, 2 - other, 4 + other))
            for p, q in ((before, after), (after, before)):
                yield sum(max(mass - math.exp(epsilon) * q[x], 0.0) for x, mass in p.items())

    found = max(losses(noise_of(order, scale, k, m, 2)))
    assert found <= delta * (1.0 + 1e-9)
    # What is published tells nearly as much as the noise itself: a smaller scale would not do.
    assert max(losses(noise_of(order, 0.8 * scale, k, m, 2))) > delta
