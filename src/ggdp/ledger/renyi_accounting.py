"""Accounting by Renyi divergences of several orders that are fixed when the ledger is made.

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

References
----------
Feldman and Zrnic, "Individual Privacy Accounting via a Renyi Filter", NeurIPS 2021, arXiv 2008.11193 v4 (one order);
Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, Proposition 12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from flint import arb, fmpq

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp._rounding import rounded_text
from ggdp.accounting.renyi import renyi_of_pure, renyi_of_shift
from ggdp.errors import ArgumentError, LedgerError
from ggdp.ledger.accounting import Accounting, Charge, Totals, cost
from ggdp.ledger.budgets import Amount, Balance
from ggdp.proofs.losses import ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.ledger.budgets import Budget
    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.proofs.losses import Loss


NUMBER = 8
NARROWEST, WIDEST = 1.1, 20.0
# Decimal places of divergences: what is lost by rounding 10,000 of them is still below 1e-15.
PLACES = 20
_PRECISION = 128
_HALVINGS = 40


def orders_for(budget: Budget) -> tuple[float, ...]:
    """Return the orders for a budget, in four digits each."""
    if not budget.delta.units:
        raise ArgumentError(
            "accounting", "renyi", "needs a budget with a delta: divergences prove no pure DP; use sum, or add a delta"
        )
    least = math.log(NUMBER / float(budget.delta)) / float(budget.epsilon)
    ratio = (WIDEST / NARROWEST) ** (1 / (NUMBER - 1))
    exact = (1.0 + NARROWEST * least * ratio**place for place in range(NUMBER))
    found = tuple(dict.fromkeys(float(f"{order:.4g}") if order < 9999.0 else float(f"{order:.0f}") for order in exact))
    if found[0] == 1.0:
        raise ArgumentError(
            "accounting",
            "renyi",
            f"has no orders for epsilon = {budget.epsilon.shown}: they would not be told from 1, where divergences "
            "prove nothing; use sum, or a smaller epsilon",
        )
    return found


def limits_of(budget: Budget, orders: Sequence[float]) -> tuple[Amount | None, ...]:
    """Return B(alpha) of each order; None where it is not above 0. Rounding: down."""
    with BALLS, working_precision(_PRECISION):
        epsilon = arb(fmpq(budget.epsilon.exact.numerator, budget.epsilon.exact.denominator))
        found = [lower_float(epsilon - _cost_of_delta(budget, alpha, len(orders))) for alpha in orders]
    return tuple(Amount.down(Fraction(limit), places=PLACES) if limit > 0.0 else None for limit in found)


def _cost_of_delta(budget: Budget, alpha: float, orders: int) -> arb:
    """Enclose the epsilon that an order costs at a divergence of 0."""
    share, a = arb(fmpq(budget.delta.exact.numerator, budget.delta.exact.denominator)) / orders, arb(alpha)
    return -(share.log() + (a - 1).log() - a * (-1 / a).log1p()) / (a - 1)


def epsilon_of(budget: Budget, orders: Sequence[float], sums: Sequence[Amount | None]) -> float:
    """Return the least epsilon whose limits would hold these sums, at the delta of a budget. Rounding: up."""
    if not any(total is None or total.units for total in sums):
        return 0.0
    with BALLS, working_precision(_PRECISION):
        found = (
            upper_float(
                arb(fmpq(total.exact.numerator, total.exact.denominator)) + _cost_of_delta(budget, alpha, len(orders))
            )
            for alpha, total in zip(orders, sums, strict=True)
            if total is not None
        )
        return max(min(found, default=math.inf), 0.0)


@dataclass(frozen=True, slots=True)
class RenyiAccounting(Accounting):
    """A budget that is spent by Renyi divergences of fixed orders, each with its own limit."""

    name: ClassVar[str] = "renyi"

    budget: Budget
    orders: tuple[float, ...]
    limits: tuple[Amount | None, ...]

    def opening(self) -> Totals:
        """Return zeros."""
        return {"divergences": ["0"] * len(self.orders)}

    def charge(self, request: ChargeRequest) -> Charge:
        """Return the divergences of a release, with the epsilon and delta of its guarantee beside them."""
        return {**cost(request).to_dict(), "divergences": _texts(_divergences(request, self.orders))}

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the sums after a charge; an order that has no finite divergence has no sum from then on."""
        pairs = zip(_amounts(totals), _amounts(charge), strict=True)
        return {"divergences": _texts(None if a is None or b is None else a + b for a, b in pairs)}

    def keeps(self, totals: Totals) -> bool:
        """Return whether some order is within its limit."""
        pairs = zip(_amounts(totals), self.limits, strict=True)
        return any(total is not None and limit is not None and total <= limit for total, limit in pairs)

    def spent(self, totals: Totals) -> Balance:
        """Return the least epsilon that would have allowed all this, at the budget's delta."""
        epsilon = epsilon_of(self.budget, self.orders, _amounts(totals))
        return Balance(epsilon=Fraction(epsilon), delta=self.budget.delta.exact)

    def remaining(self, totals: Totals) -> Balance:
        """Return the largest epsilon, to nine digits, of one more release of pure DP that fits."""
        return Balance(epsilon=Fraction(self._largest_pure(totals)), delta=Fraction(0))

    def left(self, totals: Totals) -> float:
        """Return what the budget's epsilon has above the least that would have allowed all this."""
        return float(self.budget.epsilon) - epsilon_of(self.budget, self.orders, _amounts(totals))

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return what the orders lack, and the largest epsilon of pure DP that fits."""
        del charge  # its divergences fit in no order
        largest = self._largest_pure(totals)
        fits = f"releases of pure DP fit up to epsilon = {rounded_text(largest, 6)}" if largest else "nothing more fits"
        return (
            f"with it no Renyi order is within its limit for {self.budget}; what was released would have needed "
            f"epsilon = {rounded_text(epsilon_of(self.budget, self.orders, _amounts(totals)), 6)}; {fits}"
        )

    def _largest_pure(self, totals: Totals) -> float:
        """Return the largest epsilon found, rounded down, of which one more release of pure DP fits."""
        low, high = 0.0, float(self.budget.epsilon)

        def fits(epsilon: float) -> bool:
            more = _texts(Amount.up(Fraction(renyi_of_pure(epsilon, a).upper), places=PLACES) for a in self.orders)
            return self.keeps(self.after(totals, {"divergences": more}))

        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low


def _amounts(plain: Totals | Charge) -> list[Amount | None]:
    return [None if text is None else Amount.parse(text) for text in plain["divergences"]]


def _texts(amounts: Any) -> list[str | None]:  # noqa: ANN401 - amounts, or None
    return [None if amount is None else str(amount) for amount in amounts]


def _divergences(request: ChargeRequest, orders: tuple[float, ...]) -> list[Amount | None]:
    """Return an upper bound of the divergence of a release at each order; None where there is none."""
    exact: list[Fraction | None] = [Fraction(0)] * len(orders)
    for counted in request.losses:
        if isinstance(counted.loss, ResponseLoss) and counted.loss.delta > 0.0:
            raise LedgerError(
                "the ledger counts Renyi divergences, and the release has none that is finite: a loss is infinite with "
                f"a probability of {rounded_text(counted.loss.delta)} (keys above a threshold, or a guarantee whose "
                "noise is not known); use a ledger with accounting sum"
            )
        for place, upper in enumerate(_of_loss(counted.loss, orders)):
            total = exact[place]
            known = total is not None and math.isfinite(upper)
            exact[place] = total + counted.count * Fraction(upper) if known else None  # type: ignore[operator]
    if all(total is None for total in exact):
        raise LedgerError(
            "the Renyi divergences of this noise are too large to compute; use a ledger with accounting sum"
        )
    return [None if total is None else Amount.up(total, places=PLACES) for total in exact]


@lru_cache(maxsize=1024)
def _of_loss(loss: Loss, orders: tuple[float, ...]) -> tuple[float, ...]:
    if isinstance(loss, ResponseLoss):
        return tuple(renyi_of_pure(loss.epsilon, alpha).upper if loss.epsilon else 0.0 for alpha in orders)
    return tuple(renyi_of_shift(loss.law, sensitivity=loss.size, alpha=alpha).upper for alpha in orders)
