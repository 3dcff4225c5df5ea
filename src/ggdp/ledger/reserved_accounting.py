"""Accounting by noise distributions that are reserved before the first release, and which of them are left.

Claim. Let a multiset of laws of noise be fixed before anything is released, and let the composition of all of them be
(e, d)-aDP. If every release uses up one law of the multiset that was not used before, then all releases together are
(e, d)-aDP, whatever is released in which order, for whatever queries of the sensitivities of these laws, and if some
laws are never used. Proof. Each law has a pair (P_i, Q_i) that dominates every query of its sensitivity, so the results
of a release can be drawn from one draw of the pair, given what was seen before. An adaptive choice of order, queries
and stopping is then a function of independent draws from all pairs of the multiset, each looked at once at most: post-
processing of the product of the pairs, which is what `ggdp.accounting` bounds. (The pairs are looked at in an adaptive
order, but each is independent of all that was seen before it is looked at, so nothing changes if all are drawn first.)

A release known by its guarantee alone has a law too: the pair of randomized response with its epsilon and delta.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar

from ggdp._rounding import rounded_up_text
from ggdp.accounting import Composition, Part
from ggdp.errors import BudgetExceededError
from ggdp.ledger.accounting import Accounting, Charge, Totals, cost
from ggdp.ledger.budgets import ROUNDING, Balance
from ggdp.ledger.charge_request import parsed
from ggdp.proofs.losses import CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ggdp.ledger.budgets import Budget
    from ggdp.ledger.chain import Record
    from ggdp.ledger.charge_request import ChargeRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedLaw:
    """A law of noise that was reserved: its hash, its noise in words, how often it was reserved and is left."""

    law: str
    noise: str
    reserved: int
    left: int

    def to_dict(self) -> dict[str, Any]:
        """Return the law as plain values."""
        return asdict(self)


def times(number: int, one: str, several: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> times(1, "use", "uses"), times(1200, "use", "uses")
    ('1 use', '1,200 uses')
    """
    return f"{number:,} {one if number == 1 else several}"


def law_in_words(losses: Iterable[CountedLoss]) -> str:
    """Return the noise of a release as a person can compare it with a plan: all that its law depends on.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.losses import CoordinateLoss
    >>> noise = CoordinateLoss(NoiseLaw(order=1, scale=40, support="integer"), 1)
    >>> law_in_words([CountedLoss(noise, 2)])
    'integer noise of order 1 and scale 40 for 2 cells that move by 1'
    """
    return " and ".join(_in_words(counted) for counted in losses)


def _in_words(counted: CountedLoss) -> str:
    loss, count = counted.loss, counted.count
    if isinstance(loss, ResponseLoss):
        many = "" if count == 1 else f", {count:,} times"
        return f"any mechanism with epsilon = {_digits(loss.epsilon)} and delta = {_digits(loss.delta)}{many}"
    noise = f"{loss.law.support} noise of order {_digits(loss.law.order)} and scale {_digits(loss.law.scale)}"
    return f"{noise} for {times(count, 'cell that moves', 'cells that move')} by {_digits(loss.size)}"


def _digits(number: float) -> str:
    """Return all digits of a float: laws that differ in the last one are different laws."""
    return repr(float(number)).removesuffix(".0")


def reserved_laws(records: Iterable[Record], left: Mapping[str, int]) -> tuple[ReservedLaw, ...]:
    """Return the reserved laws of the records of a ledger, in the order in which they were first reserved.

    `left` is how often each can still be used, by its hash.
    """
    # Reserving ends with the first release.
    contents = [parsed(record.content) for record in takewhile(lambda one: one.kind == "reservation", records)]
    counts: dict[str, int] = {}
    noise: dict[str, str] = {}
    for part in (part for content in contents for part in content["reserved"]):
        law = part["law"]
        counts[law] = counts.get(law, 0) + part["count"]
        noise[law] = law_in_words(CountedLoss.from_dict(one) for one in part["losses"])
    return tuple(
        ReservedLaw(law=law, noise=noise[law], reserved=count, left=left.get(law, 0)) for law, count in counts.items()
    )


def composition_of(parts: Iterable[tuple[ChargeRequest, int]]) -> Composition:
    """Return the total of releases, each so many times."""
    return Composition(
        tuple(
            Part(name=f"law {place}", losses=request.losses, guarantee=request.guarantee, unit=None, count=count)
            for place, (request, count) in enumerate(parts, 1)
        )
    )


@dataclass(frozen=True, slots=True)
class ReservedAccounting(Accounting):
    """A budget that is spent by using up laws that were reserved."""

    name: ClassVar[str] = "reserved"

    budget: Budget

    def opening(self) -> Totals:
        """Return no laws."""
        return {"laws": {}}

    def charge(self, request: ChargeRequest) -> Charge:
        """Return the law of a release, with the epsilon and delta of its guarantee beside it."""
        return {**cost(request).to_dict(), "law": request.law}

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the totals after one more use of a law."""
        count, used = totals["laws"].get(charge["law"], (0, 0))
        return {"laws": totals["laws"] | {charge["law"]: [count, used + 1]}}

    def keeps(self, totals: Totals) -> bool:
        """Return whether no law was used more often than it was reserved."""
        return all(used <= count for count, used in totals["laws"].values())

    def reserved(self, totals: Totals, added: Iterable[tuple[str, int]]) -> Totals:
        """Return the totals after more laws were reserved."""
        laws = dict(totals["laws"])
        for law, more in added:
            count, used = laws.get(law, (0, 0))
            laws[law] = [count + more, used]
        return {"laws": laws}

    def require_budget(self, parts: list[tuple[ChargeRequest, int]]) -> float:
        """Return the delta of all laws together at the budget's epsilon, or raise if it is above the budget's."""
        # By their losses alone: a law is known by them, and what a plan says of its guarantee need not be true.
        total = composition_of(parts).total
        delta = total.delta(_float_above(self.budget))[1]
        if delta > self.budget.delta.exact * ROUNDING:
            raise BudgetExceededError(
                f"the laws to be reserved have together, at epsilon = {self.budget.epsilon.shown}, a delta of up to "
                f"{rounded_up_text(delta)}, and the budget has {self.budget.delta.shown}; reserve fewer of them, or "
                "noise of a larger scale",
                requested=Balance(epsilon=self.budget.epsilon.exact, delta=Fraction(delta)),
                remaining=self.budget.balance,
            )
        return delta

    def spent(self, totals: Totals) -> Balance:
        """Return the whole budget once laws are reserved, and how often each was used."""
        used = {law: used for law, (_, used) in totals["laws"].items()}
        whole = self.budget.balance if used else Balance(epsilon=Fraction(0), delta=Fraction(0))
        return replace(whole, laws=used)

    def remaining(self, totals: Totals) -> Balance:
        """Return how often each law can still be used."""
        left = {law: count - used for law, (count, used) in totals["laws"].items()}
        return Balance(epsilon=None, delta=None, laws=left)

    def left(self, totals: Totals) -> float:
        """Return how many uses of all laws are left."""
        return float(sum(count - used for count, used in totals["laws"].values()))

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return whether the law was never reserved or is used up, and how many uses of others are left."""
        count, _ = totals["laws"].get(charge["law"], (0, 0))
        left = sum(count - used for count, used in totals["laws"].values())
        reserved = f"its law is used up: it was reserved {times(count, 'time', 'times')}"
        what = reserved if count else "its law is not reserved"
        verb = "remains" if left == 1 else "remain"
        return f"{what}; {times(left, 'use', 'uses')} of {'other ' if count else ''}reserved laws {verb}"


def _float_above(budget: Budget) -> float:
    """Return the float that was typed as the epsilon of a budget, or the next one: within its rounding."""
    nearest = float(budget.epsilon)
    return nearest if nearest >= budget.epsilon.exact else math.nextafter(nearest, math.inf)
