"""What somebody can learn about one unit from what was published, in plain words.

What they believe afterwards is bounded, and what delta adds is proved, in `ggdp.privacy.beliefs`.

Claim: under add-remove neighbours, two data sets that differ in what the records of one unit say are
(2 epsilon, (1 + e^epsilon) delta)-indistinguishable.

Proof: the data set without the unit is a neighbour of both. P(S) <= e^epsilon R(S) + delta
<= e^epsilon (e^epsilon Q(S) + delta) + delta.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from attrs import frozen

from ggdp.privacy import PureDP
from ggdp.privacy.beliefs import belief

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee

__all__ = ["PRIORS", "Disclosure", "disclosures", "one_in", "percent_up"]

PRIORS = (0.01, 0.1, 0.5)
# More than the error of three roundings of floats.
_ROUNDING = 1.0 + 1e-12
_MOST_EXPONENT = 700.0


@frozen(kw_only=True)
class Disclosure:
    """What can be learnt of one kind of fact.

    Attributes
    ----------
    fact : str
        The fact, in words.
    epsilon, delta : float
        Between data sets where it holds and where it does not.
    """

    fact: str
    epsilon: float
    delta: float

    @property
    def beliefs(self) -> tuple[tuple[float, float], ...]:
        """Pairs of what is believed before, and at most afterwards."""
        guarantee = PureDP(self.epsilon)
        return tuple((prior, belief(guarantee, prior).highest) for prior in PRIORS)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        beliefs = [{"before": before, "after": after} for before, after in self.beliefs]
        return {"fact": self.fact, "epsilon": self.epsilon, "delta": self.delta, "beliefs": beliefs}


def disclosures(guarantee: Guarantee, unit: str) -> tuple[Disclosure, ...]:
    """Return what can be learnt under a guarantee of one unit, named in words."""
    epsilon, delta = guarantee.epsilon, guarantee.delta
    if guarantee.neighbours == "replace-one":
        return (Disclosure(fact=f"what the data say about {unit}", epsilon=epsilon, delta=delta),)
    twice = min(1.0, (1.0 + math.exp(min(epsilon, _MOST_EXPONENT))) * delta * _ROUNDING)
    return (
        Disclosure(fact=f"whether {unit} is in the data at all", epsilon=epsilon, delta=delta),
        Disclosure(
            fact=f"what the data say about {unit}, once known to be in them", epsilon=2.0 * epsilon, delta=twice
        ),
    )


def percent_up(share: float) -> str:
    """Return a share as a percentage with at most one decimal, rounded up, but for the error of floats.

    Examples
    --------
    >>> percent_up(0.5), percent_up(0.7311), percent_up(0.99999)
    ('50 %', '73.2 %', 'more than 99.9 %')
    """
    tenths = math.ceil(share * 1000.0 - 2e-9)
    if tenths >= 1000:
        return "more than 99.9 %"
    return f"{tenths / 10:g} %"


def one_in(delta: float) -> str:
    """Return a small probability as one in so many, rounded up to two digits.

    Examples
    --------
    >>> one_in(1e-06), one_in(3.1e-07), one_in(0.02)
    ('1 in 1,000,000', '1 in 3,200,000', '1 in 50')
    """
    number = 1.0 / delta
    if not math.isfinite(number):
        return "1 in more than 10^300"
    # The nearest integer, where a float is meant to be its inverse.
    whole = round(number) if abs(number - round(number)) <= 1e-9 * number else math.floor(number)
    digits = max(0, len(str(whole)) - 2)
    return f"1 in {whole // 10**digits * 10**digits:,}"
