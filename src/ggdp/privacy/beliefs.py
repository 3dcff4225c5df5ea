r"""What an attacker can learn of one person from a release: bounds on their belief, from the guarantee alone.

The attacker knows all the data but for one person, and thinks with probability pi (the prior) that the data are x, say
with the person, and otherwise its neighbour x', say without. They see the output of a mechanism with laws P on
x and Q on x', of densities p and q, and then believe in x with probability pi p / (pi p + (1 - pi) q) (the posterior).

========  ======================================================================================================
highest   u(pi) = pi e^eps / (1 - pi + pi e^eps)
lowest    l(pi) = pi / (pi + (1 - pi) e^eps)
right     how often the attacker's best guess is right: delta + (1 - delta) max(pi, 1 - pi, e^eps / (1 + e^eps))
========  ======================================================================================================

Claim (pure). If the mechanism is eps-DP, the posterior is in [l(pi), u(pi)] for almost every output. Proof: it is
the image of p / q, which is in [e^-eps, e^eps], under a rising function.

Claim (probabilistic). If it is (eps, delta)-pDP, then on either data it is in [l(pi), u(pi)] but with probability at
most delta. Proof: the loss log(p / q) is outside of [-eps, eps] with at most this probability.

Claim (approximate). If it is (eps, delta)-aDP, then all that it shows of x against x' can be computed from a coin that
falls on one side with probability delta, in which case it tells the truth, and otherwise from an answer that is
eps-DP: the belief of whoever saw coin and answer would be in [l(pi), u(pi)] but with probability delta, and the
attacker sees less. Proof: Murtagh and Vadhan, Lemma 3.2 (what is (eps, delta)-aDP for x and x' is a post-processing of
coin and answer; by Blackwell's theorem, since their trade-off function is the least that is allowed). What the
attacker believes themself can be above u(pi) more often than with probability delta, but not by much: for every s > 0

    P(loss > eps + s) <= delta / (1 - e^-s),

since delta >= E_P[(1 - e^(eps - loss))_+] >= (1 - e^-s) P(loss > eps + s). So at most with probability
delta / (1 - e^-s) is the belief above the highest one for eps + s.

Claim (guess). The best guess is right with at most the probability above, for every notion. Proof: guessing from the
coin and the answer is at least as good; with the coin it is right always, and with the answer with probability
sum over its two values of max(pi p, (1 - pi) q) = max(pi, 1 - pi, e^eps / (1 + e^eps)).

All bounds are attained, by the coin and the answer (`tests/privacy/test_beliefs.py` computes them for it).

Rounding: `highest` and `right` are rounded up and `lowest` down.

References
----------
Kairouz, Oh and Viswanath, "The Composition Theorem for Differential Privacy", ICML 2015; Murtagh and Vadhan, "The
Complexity of Computing the Optimal Composition of Differential Privacy", TCC 2016, Lemma 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.privacy.guarantees import ApproxDP, Guarantee, ProbabilisticDP, PureDP

_BITS = 106


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """What an attacker with a prior can come to believe."""

    prior: float  # what they believe before the release
    # What they believe after it, at least and at most, but with probability `exception`.
    lowest: float
    highest: float
    exception: float  # the delta of the guarantee
    right: float  # how often their best guess is right, at most; without the release it is max(prior, 1 - prior)


def belief(guarantee: Guarantee, prior: float) -> Belief:
    """Return what an attacker with a prior can learn of one person from a release with a guarantee.

    Parameters
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What the release keeps; of several releases, what they keep together.
    prior : float
        Probability, above 0 and below 1, that the attacker gives to a person's presence (or to one of two records,
        under replace-one neighbours) before the release.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Examples
    --------
    >>> from ggdp.privacy import ApproxDP
    >>> learned = belief(ApproxDP(1.0, 1e-6), prior=0.1)
    >>> print(f"{learned.lowest:.3f} {learned.highest:.3f} {learned.right:.3f}")
    0.039 0.232 0.900
    """
    if not isinstance(guarantee, PureDP | ProbabilisticDP | ApproxDP):
        raise ArgumentError("guarantee", type(guarantee), "must be a PureDP, ProbabilisticDP or ApproxDP")
    pi = _validate.probability(prior=prior)
    if pi == 0.0:
        raise ArgumentError("prior", prior, "must be above 0 and below 1")
    with BALLS, working_precision(_BITS):
        # All in terms of e^-eps, which does not overflow.
        p, fall, delta = arb(pi), (-arb(guarantee.epsilon)).exp(), arb(guarantee.delta)
        highest = p / (p + (1 - p) * fall)
        lowest = p * fall / (p * fall + (1 - p))
        answer = p.max(1 - p).max(1 / (1 + fall))
        right = delta + (1 - delta) * answer
        return Belief(
            prior=pi,
            lowest=max(lower_float(lowest), 0.0),
            highest=min(upper_float(highest), 1.0),
            exception=guarantee.delta,
            right=min(upper_float(right), 1.0),
        )
