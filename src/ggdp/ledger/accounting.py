"""How costs add up in a ledger: what a release is charged, and when a budget is used up.

An `Accounting` is a budget with the rule by which it is spent: sums, Renyi divergences, or noise that is reserved
beforehand. `BudgetWithCaps` is the common budget of a ledger with the caps of its analysts under it. Every rule is
sound where a release is chosen after earlier results were seen (docs/explanation/theory/ledger.md).

**Sums** of the epsilons and of the deltas:

Claim (filter). Let releases be chosen one after another, each by any rule that sees earlier results, and let the i-th
be (e_i, d_i)-aDP for the data given what was seen. If a release is made only while sum e_i <= E and sum d_i <= D, all
of them together are (E, D)-aDP. Proof. By induction over the number of releases that may still come, for all E and D.
With none left there is nothing to show. Else let P, Q be the laws of the first result on neighboring data and P_y, Q_y
those of all later ones after y, which by induction are (E - e_1, D - d_1)-close for every y. For a set S of results let
f(y) = P_y(S_y) and g(y) = Q_y(S_y), so that f <= min(1, e^(E - e_1) g + D - d_1). Split min(1, e^(E-e_1) g + D - d_1)
into min(1, e^(E - e_1) g) + (D - d_1), at least as large. The first result is (e_1, d_1)-aDP and the function
min(1, e^(E - e_1) g) lies in [0, 1], so its mean under P is at most e^(e_1) times its mean under Q, plus d_1. Together
P(S) <= e^E Q(S) + D.

Claim (charge). A release with the proved guarantee (e, d)-aDP is charged (e', d') with one of

- e' = e, d' = d;
- where all losses are those of noise of order 1, and d = 0: e' the sum of moves over scales, an exact fraction, which
  is the pure loss (`ggdp.proofs.one_coordinate`); 0.1 as a float is above 1/10, and the loss of its noise is 1/10;
- where e is above the decimal e' that was typed: d' = d + e^e - e^e', if that is still at most the decimal typed for d.
  Proof: P(S) - e^e' Q(S) = P(S) - e^e Q(S) + (e^e - e^e') Q(S) <= d + (e^e - e^e').

Rounding: up, to the decimal that was typed where that is enough. E and D are those of the budget times 1 + 2^-49,
which allows for the rounding of floats (`Budget.holds`). pDP is charged as the aDP that it implies.

**Renyi divergences** of several orders that are fixed when the ledger is made:

==========  ===================================================================================
alpha_j     the orders, j = 1, ..., n
r_i(alpha)  Renyi divergence of order alpha of the i-th release, rounded up
B(alpha)    limit of the sum of the r_i(alpha), rounded down: e + (log(d/n) + log(alpha - 1)
            - alpha log(1 - 1/alpha)) / (alpha - 1) for the budget (e, d)
==========  ===================================================================================

Claim (filter). Let releases be chosen one after another, each by any rule that sees earlier results. If one is made
only while some order has sum r_i(alpha) <= B(alpha) with it, all of them together are (e, d)-aDP. Proof. For one order
alpha, releases that are made only while the total is at most B(alpha) have a divergence of at most B(alpha) together
(Feldman and Zrnic, Theorem 4.1), and a divergence rho of order alpha gives delta = exp((alpha - 1) (rho - e))
(1 - 1/alpha)^alpha / (alpha - 1) at e (Canonne, Kamath and Steinke, Proposition 12), which is d/n at rho = B(alpha).
Let E_j be the event that at the end alpha_j is the first order whose limit is kept: these events are disjoint, and one
of them occurs. On E_j the process is the one that stops by alpha_j alone, so that for every set S of results
P(S and E_j) <= e^e Q(S and E_j) + d/n. Add up over j.

Orders are chosen from the budget alone. Where alpha - 1 is below log(n/d) / e there is hardly a limit above 0; equal
Gaussian releases want about twice that, few releases with heavy tails more. So they rise in equal ratios from 1.1 to 20
times log(n/d) / e. There are only 8 of them: each more costs log(n) in every limit, and a denser grid gains less.

**Reserved** laws of noise, fixed before the first release:

Claim (reserved). Let a multiset of laws of noise be fixed before anything is released, and let the composition of all
of them be (e, d)-aDP. If every release uses up one law of the multiset that was not used before, then all releases
together are (e, d)-aDP, whatever is released in which order, for whatever queries of the sensitivities of these laws,
and if some laws are never used. Proof. Each law has a pair (P_i, Q_i) that dominates every query of its sensitivity, so
the results of a release can be drawn from one draw of the pair, given what was seen before. An adaptive choice of
order, queries and stopping is then a function of independent draws from all pairs of the multiset, each looked at once
at most: post-processing of the product of the pairs, which is what `ggdp.accounting` bounds. (The pairs are looked at
in an adaptive order, but each is independent of all that was seen before it is looked at, so nothing changes if all are
drawn first.)

A release known by its guarantee alone has a law too: the pair of randomized response with its epsilon and delta.

References
----------
Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and Filters", NeurIPS 2016 (filters). Feldman and Zrnic, "Individual
Privacy Accounting via a Renyi Filter", NeurIPS 2021, arXiv 2008.11193 v4 (one order). Canonne, Kamath and Steinke, "The
Discrete Gaussian for Differential Privacy", NeurIPS 2020, Proposition 12.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, ball_of, lower_float, upper_float, working_precision
from ggdp._rounding import number_of, rounded_text, rounded_up, rounded_up_text
from ggdp.accounting import Composition, Part
from ggdp.accounting.renyi import renyi_of_pure, renyi_of_shift
from ggdp.errors import ArgumentError, BudgetExceededError, GgdpError, LedgerError, Message
from ggdp.ledger.budgets import ROUNDING, Amount, Balance, Budget, as_typed
from ggdp.ledger.charging import ChargeRequest, parse
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, Loss, ResponseLoss

if TYPE_CHECKING:
    from ggdp.ledger.chain import LedgerTerms, Record


Charge: TypeAlias = dict[str, Any]
Totals: TypeAlias = dict[str, Any]

_PRECISION = 192


class Accounting(Protocol):
    """A budget, with the rule by which it is spent.

    Totals and charges are plain values, since they are stored with every entry: the state of a ledger is that of its
    last entry, and a charge takes the same time however many there are.
    """

    def opening(self) -> Totals:
        """Return the totals of a ledger without entries."""

    def charge(self, request: ChargeRequest) -> Charge:
        """Return what a release costs. Rounding: up. A release that the kind cannot account for is an error."""

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the totals after a charge, exactly."""

    def keeps(self, totals: Totals) -> bool:
        """Return whether totals are within the budget."""

    def spent(self, totals: Totals) -> Balance:
        """Return what totals amount to."""

    def remaining(self, totals: Totals) -> Balance:
        """Return what is left."""

    def left(self, totals: Totals) -> float:
        """Return what is left as one number, for a plot."""

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return why a charge does not fit: what it costs, what remains, and what would fit."""


@dataclass(frozen=True, slots=True)
class SumAccounting(Accounting):
    """A budget that is spent by sums of epsilons and deltas."""

    budget: Budget

    def opening(self) -> Totals:
        """Return zeros."""
        return Budget(Amount(0), Amount(0)).to_dict()

    def charge(self, request: ChargeRequest) -> Charge:
        """Return the epsilon and the delta that a release is charged."""
        return cost(request).to_dict()

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the sums after a charge."""
        return (Budget.parse(totals) + Budget.parse(charge)).to_dict()

    def keeps(self, totals: Totals) -> bool:
        """Return whether neither sum is above the budget."""
        return self.budget.holds(Budget.parse(totals))

    def spent(self, totals: Totals) -> Balance:
        """Return the sums."""
        return Budget.parse(totals).balance

    def remaining(self, totals: Totals) -> Balance:
        """Return what is left of epsilon and delta."""
        return (self.budget - Budget.parse(totals)).balance

    def left(self, totals: Totals) -> float:
        """Return the epsilon that is left."""
        return float((self.budget - Budget.parse(totals)).epsilon)

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return what a charge costs, what is left, and the largest epsilon that fits."""
        asked, left = Budget.parse(charge), (self.budget - Budget.parse(totals)).at_most()
        text = f"it costs {asked}, and of {self.budget} there remains {left}"
        if asked.delta > left.delta:
            return f"{text}; ask for a delta of at most {left.delta.shown}"
        if not left.epsilon.units:
            return f"{text}; nothing more can be released"
        return f"{text}; the largest epsilon that fits at this delta is {left.epsilon.shown}"


def cost(request: ChargeRequest) -> Budget:
    """Return the epsilon and the delta that a release is charged, by the claim above."""
    epsilon, delta = Fraction(request.guarantee.epsilon), Fraction(request.guarantee.delta)
    if not delta:
        exact = epsilon
        laplace = [
            one.count * Fraction(one.loss.size) / Fraction(one.loss.law.scale)
            for one in request.losses
            if isinstance(one.loss, CoordinateLoss) and one.loss.law.order == 1.0
        ]
        if len(laplace) == len(request.losses):
            loss = sum(laplace, Fraction(0))
            # A loss that is not the stated epsilon but for rounding contradicts it: the larger one is charged.
            exact = loss if abs(loss - epsilon) * 10**12 <= epsilon else max(epsilon, loss)
        return Budget(Amount.up(max(exact, as_typed(rounded_up(exact, of="epsilon")))), Amount(0))
    decimal, allowed = as_typed(request.guarantee.epsilon), as_typed(request.guarantee.delta)
    if epsilon > decimal:
        with BALLS, working_precision(_PRECISION):
            # Unless e^epsilon - e^decimal is certainly at most the room in delta.
            if not ball_of(decimal).exp() * (ball_of(epsilon) - ball_of(decimal)).expm1() <= ball_of(allowed - delta):
                decimal = epsilon
    return Budget(Amount.up(decimal), Amount.up(max(delta, allowed)))


# How many Renyi orders there are, and in which ratios to log(n/d) / e.
NUMBER = 8
NARROWEST, WIDEST = 1.1, 20.0
# Decimal places of divergences: what is lost by rounding 10,000 of them is still below 1e-15.
PLACES = 20


def orders_for(budget: Budget) -> tuple[float, ...]:
    """Return the Renyi orders for a budget, in four digits each."""
    if not budget.delta.units:
        expected = "needs a budget with a delta: divergences prove no pure DP; use sum, or add a delta"
        raise ArgumentError("accounting", "renyi", expected)
    least = math.log(NUMBER / float(budget.delta)) / float(budget.epsilon)
    ratio = (WIDEST / NARROWEST) ** (1 / (NUMBER - 1))
    exact = (1.0 + NARROWEST * least * ratio**place for place in range(NUMBER))
    found = tuple(dict.fromkeys(float(f"{order:.4g}") if order < 9999.0 else float(f"{order:.0f}") for order in exact))
    if found[0] == 1.0:
        expected = (
            f"has no orders for epsilon = {budget.epsilon.shown}: they would not be told from 1, where divergences "
            "prove nothing; use sum, or a smaller epsilon"
        )
        raise ArgumentError("accounting", "renyi", expected)
    return found


def limits_of(budget: Budget, orders: Sequence[float]) -> tuple[Amount | None, ...]:
    """Return B(alpha) of each order; None where it is not above 0. Rounding: down."""
    with BALLS, working_precision(_PRECISION):
        epsilon = ball_of(budget.epsilon.exact)
        found = [lower_float(epsilon - _cost_of_delta(budget, alpha, len(orders))) for alpha in orders]
    return tuple(Amount.down(Fraction(limit), places=PLACES) if limit > 0.0 else None for limit in found)


def _cost_of_delta(budget: Budget, alpha: float, orders: int) -> arb:
    """Enclose the epsilon that an order costs at a divergence of 0."""
    share, a = ball_of(budget.delta.exact) / orders, arb(alpha)
    return -(share.log() + (a - 1).log() - a * (-1 / a).log1p()) / (a - 1)


@dataclass(frozen=True, slots=True)
class RenyiAccounting(Accounting):
    """A budget that is spent by Renyi divergences of fixed orders, each with its own limit."""

    budget: Budget
    orders: tuple[float, ...]
    limits: tuple[Amount | None, ...]

    def opening(self) -> Totals:
        """Return zeros."""
        return {"divergences": ["0"] * len(self.orders)}

    def charge(self, request: ChargeRequest) -> Charge:
        """Return an upper bound of the divergence at each order, None without one, with epsilon and delta."""
        losses = [one.loss for one in request.losses]
        infinite = [loss.delta for loss in losses if isinstance(loss, ResponseLoss) and loss.delta > 0.0]
        if infinite:
            raise LedgerError(
                "the ledger counts Renyi divergences, and the release has none that is finite: a loss is infinite with "
                f"a probability of {rounded_text(infinite[0])} (keys above a threshold, or a guarantee whose "
                "noise is not known); use a ledger with accounting sum"
            )
        found: list[Amount | None] = []
        for uppers in zip(*(_divergences(loss, self.orders) for loss in losses), strict=True):
            total = None
            if all(math.isfinite(upper) for upper in uppers):
                sums = (one.count * Fraction(upper) for one, upper in zip(request.losses, uppers, strict=True))
                total = Amount.up(sum(sums, Fraction(0)), places=PLACES)
            found.append(total)
        if all(total is None for total in found):
            raise LedgerError(
                "the Renyi divergences of this noise are too large to compute; use a ledger with accounting sum"
            )
        return {**cost(request).to_dict(), "divergences": _texts(found)}

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the sums after a charge; an order that has no finite divergence has no sum from then on."""
        pairs = zip(_amounts(totals["divergences"]), _amounts(charge["divergences"]), strict=True)
        return {"divergences": _texts(None if a is None or b is None else a + b for a, b in pairs)}

    def keeps(self, totals: Totals) -> bool:
        """Return whether some order is within its limit."""
        pairs = zip(_amounts(totals["divergences"]), self.limits, strict=True)
        return any(total is not None and limit is not None and total <= limit for total, limit in pairs)

    def needed(self, totals: Totals) -> float:
        """Return the least epsilon whose limits would hold totals, at the budget's delta. Rounding: up."""
        sums = _amounts(totals["divergences"])
        if not any(total is None or total.units for total in sums):
            return 0.0
        with BALLS, working_precision(_PRECISION):
            found = [
                upper_float(ball_of(total.exact) + _cost_of_delta(self.budget, alpha, len(self.orders)))
                for alpha, total in zip(self.orders, sums, strict=True)
                if total is not None
            ]
        return max(min(found, default=math.inf), 0.0)

    def spent(self, totals: Totals) -> Balance:
        """Return the least epsilon that would have allowed all this, at the budget's delta."""
        return Balance(epsilon=Fraction(self.needed(totals)), delta=self.budget.delta.exact)

    def remaining(self, totals: Totals) -> Balance:
        """Return the largest epsilon, to nine digits, of one more release of pure DP that fits."""
        return Balance(epsilon=Fraction(self._largest_pure(totals)), delta=Fraction(0))

    def left(self, totals: Totals) -> float:
        """Return what the budget's epsilon has above the least that would have allowed all this."""
        return float(self.budget.epsilon) - self.needed(totals)

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return what the orders lack, and the largest epsilon of pure DP that fits."""
        del charge  # its divergences fit in no order
        largest = self._largest_pure(totals)
        fits = f"releases of pure DP fit up to epsilon = {rounded_text(largest, 6)}" if largest else "nothing more fits"
        return (
            f"with it no Renyi order is within its limit for {self.budget}; what was released would have needed "
            f"epsilon = {rounded_text(self.needed(totals), 6)}; {fits}"
        )

    def _largest_pure(self, totals: Totals) -> float:
        """Return the largest epsilon found, rounded down, of which one more release of pure DP fits."""
        low, high = 0.0, float(self.budget.epsilon)
        for _ in range(40):
            middle = (low + high) / 2.0
            more = _texts(Amount.up(Fraction(renyi_of_pure(middle, a).upper), places=PLACES) for a in self.orders)
            fits = self.keeps(self.after(totals, {"divergences": more}))
            low, high = (middle, high) if fits else (low, middle)
        return low


def _amounts(texts: Iterable[str | None]) -> tuple[Amount | None, ...]:
    return tuple(None if text is None else Amount.parse(text) for text in texts)


def _texts(amounts: Iterable[Amount | None]) -> list[str | None]:
    return [None if amount is None else str(amount) for amount in amounts]


@lru_cache(maxsize=1024)
def _divergences(loss: Loss, orders: tuple[float, ...]) -> tuple[float, ...]:
    if isinstance(loss, ResponseLoss):
        return tuple(renyi_of_pure(loss.epsilon, alpha).upper if loss.epsilon else 0.0 for alpha in orders)
    return tuple(renyi_of_shift(loss.law, sensitivity=loss.size, alpha=alpha).upper for alpha in orders)


def law_in_words(losses: Iterable[CountedLoss]) -> str:
    """Return the noise of a release as a person can compare it with a plan: all that its law depends on."""

    def digits(number: float) -> str:
        # All of them: laws that differ in the last one are different laws.
        return repr(float(number)).removesuffix(".0")

    said = []
    for loss, count in ((one.loss, one.count) for one in losses):
        if isinstance(loss, ResponseLoss):
            many = "" if count == 1 else f", {count:,} times"
            said.append(f"any mechanism with epsilon = {digits(loss.epsilon)} and delta = {digits(loss.delta)}{many}")
        else:
            noise = f"{loss.law.support} noise of order {digits(loss.law.order)} and scale {digits(loss.law.scale)}"
            said.append(f"{noise} for {number_of(count, 'cell that moves', 'cells that move')} by {digits(loss.size)}")
    return " and ".join(said)


def reserved_in(record: Record) -> list[tuple[ChargeRequest, int]]:
    """Return the laws that a record reserves, and how many times each."""
    return [(ChargeRequest.from_dict(part), part["count"]) for part in parse(record.content)["reserved"]]


def reserved_laws(records: Iterable[Record], left: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the reserved laws by first use: hash, noise, uses, and how often each is `left`, given by hash."""
    found: dict[str, dict[str, Any]] = {}
    # Reserving ends with the first release.
    for record in takewhile(lambda one: one.kind == "reservation", records):
        for request, count in reserved_in(record):
            law, noise = request.law, law_in_words(request.losses)
            new = {"law": law, "noise": noise, "reserved": 0, "left": left.get(law, 0)}
            found.setdefault(law, new)["reserved"] += count
    return list(found.values())


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

    def reserve(self, totals: Totals, added: Iterable[tuple[ChargeRequest, int]]) -> Totals:
        """Return the totals after more laws were reserved."""
        laws = dict(totals["laws"])
        for request, more in added:
            count, used = laws.get(request.law, (0, 0))
            laws[request.law] = [count + more, used]
        return {"laws": laws}

    def require_budget(self, parts: Iterable[tuple[ChargeRequest, int]]) -> float:
        """Return the delta of all laws together at the budget's epsilon, or raise if it is above the budget's."""
        # The float that was typed as the epsilon, or the next one: within its rounding.
        epsilon = float(self.budget.epsilon)
        epsilon = epsilon if epsilon >= self.budget.epsilon.exact else math.nextafter(epsilon, math.inf)
        # By their losses alone: a law is known by them, and what a plan says of its guarantee need not be true.
        delta = composition_of(parts).total.delta(epsilon)[1]
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
        left = int(self.left(totals))
        reserved = f"its law is used up: it was reserved {number_of(count, 'time')}"
        what = reserved if count else "its law is not reserved"
        verb = "remains" if left == 1 else "remain"
        return f"{what}; {number_of(left, 'use')} of {'other ' if count else ''}reserved laws {verb}"


def costs(budget: Budget, requests: Sequence[ChargeRequest]) -> dict[str, Any]:
    """Return what releases cost by each kind: sums, or the epsilon at the budget's delta; None where none is known."""

    def spent(books: Accounting) -> dict[str, Any]:
        totals = books.opening()
        for request in requests:
            totals = books.after(totals, books.charge(request))
        return books.spent(totals).to_dict()

    found: dict[str, Any] = {"sum": spent(SumAccounting(budget)), "renyi": None, "composed": None}
    with suppress(GgdpError):
        orders = orders_for(budget)
        found["renyi"] = spent(RenyiAccounting(budget, orders, limits_of(budget, orders)))
    laws, counts = {request.law: request for request in requests}, Counter(request.law for request in requests)
    delta = float(budget.delta)
    epsilon = composition_of((laws[law], count) for law, count in counts.items()).epsilon(delta)[1] if laws else 0.0
    if epsilon < math.inf:
        found["composed"] = {"epsilon": epsilon, "delta": delta}
    return found


def validated_accounting(accounting: object) -> str:
    """Return the name of a kind of accounting; the one that is not sound is refused with the reason."""
    if accounting == "composed":
        expected = (
            "stopping when the composed loss distribution of what was released passes the budget is not sound where "
            "later releases are chosen by earlier results (arXiv 2602.06756; docs/explanation/theory/ledger.md has an "
            "example); use sum, renyi, or reserved, which is as tight for laws that are fixed beforehand"
        )
        raise ArgumentError("accounting", accounting, expected)
    return _validate.choice(among=("sum", "renyi", "reserved"), accounting=accounting)


def chosen_parameters(accounting: str, budget: Budget, analysts: Mapping[str, Budget]) -> dict[str, Any]:
    """Return what a kind fixes when a ledger is made, as plain values: of renyi the orders and their limits."""
    if accounting != "renyi":
        return {}
    orders, caps = orders_for(budget), {}
    for name, cap in analysts.items():
        if not cap.delta.units:
            expected = "has a cap without a delta, and Renyi divergences prove no pure DP; give it one"
            raise ArgumentError("analysts", name, expected)
        caps[name] = _texts(limits_of(cap, orders))
        if not any(caps[name]):
            expected = (
                f"has a cap of {cap}, which is too small: no release keeps it by the Renyi orders of the budget; give "
                "it more, or use accounting sum"
            )
            raise ArgumentError("analysts", name, expected)
    return {"orders": list(orders), "limits": _texts(limits_of(budget, orders)), "analysts": caps}


@dataclass(frozen=True, slots=True)
class State:
    """The running totals of a ledger: how many entries there are, and what all and each analyst have spent."""

    entries: int
    common: dict[str, Any]
    analysts: dict[str, dict[str, Any]]
    protects: str | None = None  # what the first release that said so takes for one unit: a column, or "row"
    means: str | None = None  # the same, not recorded: earlier ledgers say "row" of a column of that name, too

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values."""
        plain = {"entries": self.entries, "common": self.common, "analysts": self.analysts}
        # Left out until it is said: records from before it was recorded stay as they were written.
        return plain if self.protects is None else {**plain, "protects": self.protects}

    @classmethod
    def parse(cls, text: str) -> State:
        """Return the totals of a record."""
        return cls(**parse(text))


@dataclass(frozen=True, slots=True)
class BudgetWithCaps:
    """The common budget of a ledger, and the cap of each analyst under it."""

    terms: LedgerTerms
    common: Accounting
    caps: dict[str, Accounting]

    @classmethod
    def of(cls, terms: LedgerTerms) -> BudgetWithCaps:
        """Return the budget of a ledger."""
        budget, caps = terms.budget, terms.caps
        if terms.accounting == "renyi":
            fixed = parse(terms.parameters)
            orders, limits = tuple(fixed["orders"]), fixed["analysts"]
            kept: dict[str, Accounting] = {
                name: RenyiAccounting(cap, orders, _amounts(limits[name])) for name, cap in caps.items()
            }
            return cls(terms, RenyiAccounting(budget, orders, _amounts(fixed["limits"])), kept)
        # Where laws are reserved, caps are sums.
        common = ReservedAccounting(budget) if terms.accounting == "reserved" else SumAccounting(budget)
        return cls(terms, common, {name: SumAccounting(cap) for name, cap in caps.items()})

    @property
    def reserved(self) -> ReservedAccounting:
        """The accounting of a ledger whose laws are reserved; a ledger of another kind has no laws to reserve."""
        if not isinstance(self.common, ReservedAccounting):
            raise LedgerError(
                f"this ledger has {self.terms.accounting} accounting; laws are reserved where it is reserved"
            )
        return self.common

    def opening(self) -> State:
        """Return the totals of a ledger without entries."""
        return State(0, self.common.opening(), {name: cap.opening() for name, cap in self.caps.items()})

    def require_analyst(self, analyst: str | None) -> None:
        """Raise unless the analyst has a cap, in a ledger that has caps."""
        if analyst is not None:
            _validate.words(analyst=analyst)
        if self.caps and analyst not in self.caps:
            message = Message(
                "this ledger has caps for its analysts, and {asked}; {analyst} must be one of {known}",
                asked="no analyst was named" if analyst is None else f"the analyst {analyst!r} has none",
                known=", ".join(repr(name) for name in self.caps),
            )
            raise LedgerError(message)

    def require_same(self, request: ChargeRequest) -> None:
        """Raise for a release that cannot be added to the others of this ledger."""
        if request.neighbours != self.terms.neighbours:
            message = Message(
                "the release is for {asked} neighbours and the ledger for {kept}: their losses do not add up; release "
                "with {neighbours:{kept}}, or use another ledger",
                asked=request.neighbours,
                kept=self.terms.neighbours,
            )
            raise LedgerError(message)
        if request.unit is not None and not self.names_unit(request.unit):
            message = Message(
                "the release protects {asked!r} and the ledger {kept!r}: their losses do not add up; if both mean the "
                "same, use the same words ({unit_name}), else use another ledger",
                asked=request.unit,
                kept=self.terms.unit,
            )
            raise LedgerError(message)

    def spent(self, state: State, analyst: str | None) -> Balance:
        """Return what all releases, or those of an analyst with a cap, have cost."""
        accounting, totals = self._of(state, analyst)
        return accounting.spent(totals)

    def remaining(self, state: State, analyst: str | None) -> Balance:
        """Return what remains of the budget, or of the cap of an analyst; without caps all share the budget."""
        accounting, totals = self._of(state, analyst if self.caps else None)
        return accounting.remaining(totals)

    def _of(self, state: State, analyst: str | None) -> tuple[Accounting, Totals]:
        """Return the accounting and the totals of the common budget, or of the cap of an analyst."""
        if analyst is None:
            return self.common, state.common
        if not self.caps:
            expected = Message(
                "has no cap, since the ledger has none, and only with caps is it added up what each analyst has "
                "spent; leave {analyst} out, or add up the charges of `entries()`"
            )
            raise ArgumentError("analyst", analyst, expected)
        if analyst not in self.caps:
            raise ArgumentError("analyst", analyst, f"must be one of {sorted(self.caps)}")
        return self.caps[analyst], state.analysts[analyst]

    def names_unit(self, unit: str | None) -> bool:
        """Return whether words for the units of a release are those of the ledger."""
        return unit is not None and unit.casefold() == self.terms.unit.casefold()

    def protect(self, state: State, protects: str | None, unit: str | None, recorded: str | None = None) -> State:
        """Return the totals with what a release takes for one unit, or raise if earlier releases take another.

        A publisher who names the unit of the ledger states that one row, or one value of the column, is that unit.
        """
        if protects is None or protects == state.means:
            return state
        if state.protects is None:
            return replace(state, protects=recorded or protects, means=protects)
        if self.names_unit(unit):
            return state
        message = Message(
            "the release protects {asked!r} where earlier releases protect {earlier!r}: their losses are not about the "
            "same people and cannot be added; use another ledger, or, if each of both stands for one of the units of "
            "this ledger ({unit}), say so with {unit_name:{unit}}",
            asked=protects,
            earlier=state.means,
            unit=self.terms.unit,
        )
        raise LedgerError(message)

    def add(self, state: State, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a charge, whether or not they keep the budget."""
        common, analysts = self.common.after(state.common, charge), dict(state.analysts)
        if analyst in self.caps:
            analysts[analyst] = self.caps[analyst].after(analysts[analyst], charge)
        return replace(state, entries=state.entries + 1, common=common, analysts=analysts)

    def keeps(self, state: State) -> bool:
        """Return whether totals are within the budget and all caps."""
        kept = (cap.keeps(state.analysts[name]) for name, cap in self.caps.items())
        return self.common.keeps(state.common) and all(kept)

    def charge(self, state: State, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a charge, or raise if it does not fit."""
        after = self.add(state, charge, analyst)
        limits = [("budget", self.common, state.common, after.common)]
        if analyst in self.caps:
            cap = f"cap of the analyst {analyst!r}"
            limits.append((cap, self.caps[analyst], state.analysts[analyst], after.analysts[analyst]))
        for limit, accounting, before, totals in limits:
            if not accounting.keeps(totals):
                message = f"the release does not fit in the {limit}: {accounting.refusal(before, charge)}"
                requested, remaining = Budget.parse(charge).balance, accounting.remaining(before)
                raise BudgetExceededError(message, requested=requested, remaining=remaining)
        return after
