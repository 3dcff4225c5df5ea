"""Accounting by the sum of the epsilons and the sum of the deltas.

Claim (filter). Let releases be chosen one after another, each by any rule that sees earlier results, and let the i-th
be (e_i, d_i)-aDP for the data given what was seen. If a release is made only while sum e_i <= E and sum d_i <= D, all
of them together are (E, D)-aDP. Proof. By induction over the number of releases that may still come, for all E and D.
With none left there is nothing to show. Else let P, Q be the laws of the first result on neighbouring data and P_y, Q_y
those of all later ones after y, which by induction are (E - e_1, D - d_1)-close for every y. For a set S of results let
f(y) = P_y(S_y) and g(y) = Q_y(S_y), so that f <= min(1, e^(E - e_1) g + D - d_1). Split min(1, e^(E-e_1) g + D - d_1)
into min(1, e^(E - e_1) g) + (D - d_1), at least as large. The first result is (e_1, d_1)-aDP and the function
min(1, e^(E - e_1) g) lies in [0, 1], so its mean under P is at most e^(e_1) times its mean under Q, plus d_1. Together
P(S) <= e^E Q(S) + D.

Claim (charge). A release with the proved guarantee (e, d)-aDP is charged (e', d') with one of

- e' = e, d' = d;
- where all losses are those of noise of order 1, and d = 0: e' the sum of moves over scales, an exact fraction, which
  is the pure loss (`ggdp.proofs.laplace`); 0.1 as a float is above 1/10, and the loss of its noise is 1/10;
- where e is above the decimal e' that was typed: d' = d + e^e - e^e', if that is still at most the decimal typed for d.
  Proof: P(S) - e^e' Q(S) = P(S) - e^e Q(S) + (e^e - e^e') Q(S) <= d + (e^e - e^e').

Rounding: up, to the decimal that was typed where that is enough. E and D are those of the budget times 1 + 2^-49,
which allows for the rounding of floats (`Budget.holds`). pDP is charged as the aDP that it implies.

References
----------
Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and Filters", NeurIPS 2016 (filters).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from flint import arb, fmpq

from ggdp._balls import BALLS, working_precision
from ggdp._rounding import rounded_up
from ggdp.ledger.accounting.protocol import Accounting, Charge, Totals
from ggdp.ledger.amounts import Amount, typed
from ggdp.ledger.budgets import Budget
from ggdp.proofs.total_loss import CoordinateLoss

if TYPE_CHECKING:
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.charge_request import ChargeRequest

_PRECISION = 192
# An epsilon and the loss that it was proved of differ by less than this share.
_SAME = Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class SumAccounting(Accounting):
    """A budget that is spent by sums of epsilons and deltas."""

    name: ClassVar[str] = "sum"

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
    """Return the epsilon and the delta that a release is charged, by the claim above.

    Examples
    --------
    >>> import ggdp
    >>> from ggdp.ledger.charge_request import ChargeRequest
    >>> print(cost(ChargeRequest(guarantee=ggdp.ApproxDP(0.25, 1e-6, "add-remove"))))
    epsilon = 0.25, delta = 1e-06
    """
    epsilon, delta = Fraction(request.guarantee.epsilon), Fraction(request.guarantee.delta)
    if not delta:
        loss = _pure_loss(request)
        # A loss that is not the stated epsilon but for rounding contradicts it: the larger one is charged.
        exact = epsilon if loss is None else loss if abs(loss - epsilon) <= epsilon * _SAME else max(epsilon, loss)
        return Budget(Amount.up(max(exact, typed(rounded_up(exact, of="epsilon")))), Amount(0))
    decimal, allowed = typed(request.guarantee.epsilon), typed(request.guarantee.delta)
    if epsilon > decimal and not _fits(epsilon, decimal, allowed - delta):
        decimal = epsilon
    return Budget(Amount.up(decimal), Amount.up(max(delta, allowed)))


def _pure_loss(request: ChargeRequest) -> Fraction | None:
    """Return the sum of the losses of noise of order 1, exactly; None where a loss is another."""
    found = Fraction(0)
    for counted in request.losses:
        loss = counted.loss
        if not isinstance(loss, CoordinateLoss) or loss.law.order != 1.0:
            return None
        found += counted.count * Fraction(loss.size) / Fraction(loss.law.scale)
    return found


def _fits(larger: Fraction, smaller: Fraction, room: Fraction) -> bool:
    """Return whether e^larger - e^smaller is certainly at most `room`."""
    with BALLS, working_precision(_PRECISION):
        first, second, most = (arb(fmpq(part.numerator, part.denominator)) for part in (larger, smaller, room))
        return bool(second.exp() * (first - second).expm1() <= most)
