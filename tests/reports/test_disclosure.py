"""What somebody can learn, against exact arithmetic and concrete laws."""

from __future__ import annotations

import math
import random
from decimal import Decimal, localcontext

import pytest

import ggdp
from ggdp.reports.sign_off import PRIORS, disclosures, one_in, percent_up

EPSILONS = (1e-9, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 800.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_belief_afterwards_is_the_exact_bound_rounded_up(epsilon):
    (fact,) = disclosures(ggdp.PureDP(epsilon, neighbours="replace-one"), "a unit")
    assert [before for before, _ in fact.beliefs] == list(PRIORS)
    for prior, believed in fact.beliefs:
        with localcontext() as context:
            context.prec = 400
            factor = Decimal(epsilon).exp()
            exact = Decimal(prior) * factor / (1 - Decimal(prior) + Decimal(prior) * factor)
            # No belief is above 1, to which floats round what is nearly certain.
            assert exact <= Decimal(believed) <= min(exact * (1 + Decimal("3e-16")), Decimal(1))


def hockey_stick(first, second, epsilon):
    return max(
        sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(*pair, strict=True))
        for pair in ((first, second), (second, first))
    )


def laws(chance):
    weights = [chance.random() ** 3 for _ in range(5)]
    return [weight / sum(weights) for weight in weights]


def test_what_data_say_of_a_unit_takes_two_steps_under_add_remove():
    chance, close = random.Random(1), 0
    for _ in range(2000):
        with_it, without, otherwise = laws(chance), laws(chance), laws(chance)
        epsilon = 2.0 * chance.random()
        delta = max(hockey_stick(with_it, without, epsilon), hockey_stick(without, otherwise, epsilon))
        if not 0.0 < delta < 1.0:
            continue
        fact = disclosures(ggdp.ApproxDP(epsilon, delta, neighbours="add-remove"), "a unit")[1]
        assert fact.epsilon == 2.0 * epsilon
        between = hockey_stick(with_it, otherwise, fact.epsilon)
        assert between <= fact.delta
        close += between > delta
    # Twice the epsilon alone, with the same delta, would be wrong.
    assert close > 0


def test_two_steps_are_attained():
    epsilon, rare = 1.0, 1e-4
    up, down = rare * math.exp(epsilon), rare * math.exp(-epsilon)
    first, without, last = ((end, 1.0 - end - other, other) for end, other in ((up, down), (rare, rare), (down, up)))
    losses = [max(abs(math.log(p / q)) for p, q in zip(law, without, strict=True)) for law in (first, last)]
    fact = disclosures(ggdp.PureDP(max(losses), neighbours="add-remove"), "a unit")[1]
    between = max(abs(math.log(p / q)) for p, q in zip(first, last, strict=True))
    assert between == pytest.approx(fact.epsilon, rel=1e-12)


def test_replaced_data_take_one_step():
    (fact,) = disclosures(ggdp.ApproxDP(1.0, 1e-6, neighbours="replace-one"), "a unit")
    assert (fact.epsilon, fact.delta) == (1.0, 1e-6)


@pytest.mark.parametrize("share", [0.0101, 0.5, 0.500001, 0.7310585, 0.99900001, 0.9999])
def test_percentages_are_rounded_up(share):
    text = percent_up(share)
    if text.startswith("more than"):
        assert share > 0.999
    else:
        assert share <= float(text.removesuffix(" %")) / 100.0 + 1e-12 <= share + 0.00101


@pytest.mark.parametrize("delta", [1e-300, 3.3e-9, 1e-7, 1.0001e-6, 0.009, 0.3, 0.9])
def test_one_in_so_many_is_rounded_up(delta):
    number = int(one_in(delta).removeprefix("1 in ").replace(",", ""))
    assert delta * (1 - 1e-8) <= 1.0 / number
    # Two digits: at most a tenth above, and for one digit the next inverse.
    assert 1.0 / (number + max(1, number // 10)) <= delta
