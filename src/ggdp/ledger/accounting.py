"""How costs add up in a ledger: what a release is charged, and when a budget is used up.

An `Accounting` is a budget with the rule by which it is spent. Sums are here; Renyi divergences are in
`renyi_accounting`, noise that is reserved beforehand in `reserved_accounting`. `BudgetWithCaps` is the common budget of
a ledger with the caps of its analysts under it. Every rule is sound where a release is chosen after earlier results
were seen (docs/explanation/theory/ledger.md).

**Sums** of the epsilons and of the deltas:

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
  is the pure loss (`ggdp.proofs.one_coordinate`); 0.1 as a float is above 1/10, and the loss of its noise is 1/10;
- where e is above the decimal e' that was typed: d' = d + e^e - e^e', if that is still at most the decimal typed for d.
  Proof: P(S) - e^e' Q(S) = P(S) - e^e Q(S) + (e^e - e^e') Q(S) <= d + (e^e - e^e').

Rounding: up, to the decimal that was typed where that is enough. E and D are those of the budget times 1 + 2^-49,
which allows for the rounding of floats (`Budget.holds`). pDP is charged as the aDP that it implies.

References
----------
Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and Filters", NeurIPS 2016 (filters).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from flint import arb, fmpq

from ggdp import _validate
from ggdp._balls import BALLS, working_precision
from ggdp._rounding import rounded_up
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError, Message
from ggdp.ledger.budgets import Amount, Budget, typed
from ggdp.ledger.charge_request import parsed
from ggdp.proofs.losses import CoordinateLoss

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.chain import LedgerTerms
    from ggdp.ledger.charge_request import ChargeRequest


Charge: TypeAlias = dict[str, Any]
Totals: TypeAlias = dict[str, Any]


class Accounting(Protocol):
    """A budget, with the rule by which it is spent.

    Totals and charges are plain values, since they are stored with every entry: the state of a ledger is that of its
    last entry, and a charge takes the same time however many there are.
    """

    name: ClassVar[str]

    def opening(self) -> Totals:
        """Return the totals of a ledger without entries."""
        ...

    def charge(self, request: ChargeRequest) -> Charge:
        """Return what a release costs. Rounding: up. A release that the kind cannot account for is an error."""
        ...

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the totals after a charge, exactly."""
        ...

    def keeps(self, totals: Totals) -> bool:
        """Return whether totals are within the budget."""
        ...

    def spent(self, totals: Totals) -> Balance:
        """Return what totals amount to."""
        ...

    def remaining(self, totals: Totals) -> Balance:
        """Return what is left."""
        ...

    def left(self, totals: Totals) -> float:
        """Return what is left as one number, for a plot."""
        ...

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return why a charge does not fit: what it costs, what remains, and what would fit."""
        ...


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


ACCOUNTINGS = ("sum", "renyi", "reserved")
_REFUSED = (
    "stopping when the composed loss distribution of what was released passes the budget is not sound where later "
    "releases are chosen by earlier results (arXiv 2602.06756; docs/explanation/theory/ledger.md has an "
    "example); use sum, renyi, or reserved, which is as tight for laws that are fixed beforehand"
)


def checked_accounting(accounting: object) -> str:
    """Return the name of a kind of accounting; the one that is not sound is refused with the reason."""
    if accounting == "composed":
        raise ArgumentError("accounting", accounting, _REFUSED)
    return _validate.choice(among=ACCOUNTINGS, accounting=accounting)


def chosen_parameters(accounting: str, budget: Budget, analysts: Mapping[str, Budget]) -> dict[str, Any]:
    """Return what a kind fixes when a ledger is made, as plain values: of renyi the orders and their limits."""
    if accounting != "renyi":
        return {}
    from ggdp.ledger.renyi_accounting import limits_of, orders_for

    orders = orders_for(budget)

    def limits(of: Budget) -> list[str | None]:
        return [None if limit is None else str(limit) for limit in limits_of(of, orders)]

    caps = {}
    for name, cap in analysts.items():
        if not cap.delta.units:
            raise ArgumentError(
                "analysts", name, "has a cap without a delta, and Renyi divergences prove no pure DP; give it one"
            )
        caps[name] = limits(cap)
        if not any(caps[name]):
            raise ArgumentError(
                "analysts",
                name,
                f"has a cap of {cap}, which is too small: no release keeps it by the Renyi orders of the budget; give "
                "it more, or use accounting sum",
            )
    return {"orders": list(orders), "limits": limits(budget), "analysts": caps}


def accounting_of(
    accounting: str, budget: Budget, parameters: Mapping[str, Any], *, analyst: str | None = None
) -> Accounting:
    """Return the accounting of a budget, or of the cap of an analyst; where laws are reserved, caps are sums."""
    if accounting == "renyi":
        from ggdp.ledger.renyi_accounting import RenyiAccounting

        texts = parameters["limits"] if analyst is None else parameters["analysts"][analyst]
        limits = tuple(None if text is None else Amount.parse(text) for text in texts)
        return RenyiAccounting(budget, tuple(parameters["orders"]), limits)
    if accounting == "reserved" and analyst is None:
        from ggdp.ledger.reserved_accounting import ReservedAccounting

        return ReservedAccounting(budget)
    return SumAccounting(budget)


@dataclass(frozen=True, slots=True)
class State:
    """The running totals of a ledger: how many entries there are, and what all and each analyst have spent.

    `protects` is what the first release that said so takes for one unit: a column, or "row".
    """

    entries: int
    common: dict[str, Any]
    analysts: dict[str, dict[str, Any]]
    protects: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values."""
        plain = {"entries": self.entries, "common": self.common, "analysts": self.analysts}
        # Left out until it is said: records from before it was recorded stay as they were written.
        return plain if self.protects is None else {**plain, "protects": self.protects}

    @classmethod
    def parse(cls, text: str) -> State:
        """Return the totals of a record."""
        return cls(**parsed(text))


@dataclass(frozen=True, slots=True)
class BudgetWithCaps:
    """The common budget of a ledger, and the cap of each analyst under it."""

    terms: LedgerTerms
    common: Accounting
    caps: dict[str, Accounting]

    @classmethod
    def of(cls, terms: LedgerTerms) -> BudgetWithCaps:
        """Return the budget of a ledger."""
        parameters, caps = parsed(terms.parameters), parsed(terms.analysts)
        budget = Budget(Amount.parse(terms.epsilon), Amount.parse(terms.delta))
        return cls(
            terms,
            accounting_of(terms.accounting, budget, parameters),
            {
                name: accounting_of(terms.accounting, Budget.parse(cap), parameters, analyst=name)
                for name, cap in caps.items()
            },
        )

    def opening(self) -> State:
        """Return the totals of a ledger without entries."""
        return State(0, self.common.opening(), {name: cap.opening() for name, cap in self.caps.items()})

    def require_analyst(self, analyst: str | None) -> None:
        """Raise unless the analyst has a cap, in a ledger that has caps."""
        if analyst is not None:
            _validate.words(analyst=analyst)
        if not self.caps or analyst in self.caps:
            return
        known = ", ".join(repr(name) for name in self.caps)
        asked = "no analyst was named" if analyst is None else f"the analyst {analyst!r} has none"
        message = Message(
            "this ledger has caps for its analysts, and {asked}; {analyst} must be one of {known}",
            asked=asked,
            known=known,
        )
        raise LedgerError(message)

    def require_same(self, request: ChargeRequest) -> None:
        """Raise for a release that cannot be added to the others of this ledger."""
        neighbours, unit = self.terms.neighbours, self.terms.unit
        if request.neighbours != neighbours:
            message = Message(
                "the release is for {asked} neighbours and the ledger for {kept}: their losses do not add up; release "
                "with {neighbours:{kept}}, or use another ledger",
                asked=request.neighbours,
                kept=neighbours,
            )
            raise LedgerError(message)
        if request.unit is not None and not self.names_unit(request.unit):
            message = Message(
                "the release protects {asked!r} and the ledger {kept!r}: their losses do not add up; if both mean the "
                "same, use the same words ({unit_name}), else use another ledger",
                asked=request.unit,
                kept=unit,
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
            raise ArgumentError(
                "analyst",
                analyst,
                Message(
                    "has no cap, since the ledger has none, and only with caps is it added up what each analyst has "
                    "spent; leave {analyst} out, or add up the charges of `entries()`"
                ),
            )
        if analyst not in self.caps:
            raise ArgumentError("analyst", analyst, f"must be one of {sorted(self.caps)}")
        return self.caps[analyst], state.analysts[analyst]

    def names_unit(self, unit: str | None) -> bool:
        """Return whether words for the units of a release are those of the ledger."""
        return unit is not None and unit.casefold() == self.terms.unit.casefold()

    def protecting(self, state: State, protects: str | None, unit: str | None) -> State:
        """Return the totals with what a release takes for one unit, or raise if earlier releases take another.

        A publisher who names the unit of the ledger states that one row, or one value of the column, is that unit.
        """
        if protects is None or protects == state.protects:
            return state
        if state.protects is None:
            return replace(state, protects=protects)
        if self.names_unit(unit):
            return state
        message = Message(
            "the release protects {asked!r} where earlier releases protect {earlier!r}: their losses are not about the "
            "same people and cannot be added; use another ledger, or, if each of both stands for one of the units of "
            "this ledger ({unit}), say so with {unit_name:{unit}}",
            asked=protects,
            earlier=state.protects,
            unit=self.terms.unit,
        )
        raise LedgerError(message)

    def added(self, state: State, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a charge, whether or not they keep the budget."""
        analysts = dict(state.analysts)
        if analyst in self.caps:
            analysts[analyst] = self.caps[analyst].after(analysts[analyst], charge)
        return replace(
            state, entries=state.entries + 1, common=self.common.after(state.common, charge), analysts=analysts
        )

    def keeps(self, state: State) -> bool:
        """Return whether totals are within the budget and all caps."""
        return self.common.keeps(state.common) and all(
            cap.keeps(state.analysts[name]) for name, cap in self.caps.items()
        )

    def charged(self, state: State, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a charge, or raise if it does not fit."""
        after = self.added(state, charge, analyst)
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
