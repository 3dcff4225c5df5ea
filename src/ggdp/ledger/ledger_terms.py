"""The terms of a ledger, fixed when it is made: whom it protects, how much, and how costs add up."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.ledger.accounting.kinds import checked_accounting, chosen_parameters
from ggdp.ledger.budgets import Budget
from ggdp.ledger.canonical import canonical, digest_of
from ggdp.privacy.neighbours import validated_neighbours

if TYPE_CHECKING:
    from ggdp.privacy import ApproxDP, Neighbours, PureDP

# What the hashes cover; a number of its own, so that another schema can still hold records of this one.
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTerms:
    """The terms of a ledger, column by column; amounts, parameters and caps are texts.

    Attributes
    ----------
    identity : str
        The UUID of the ledger, which manifests name.
    format : int
        What the hashes of records cover.
    created : str
        When it was made, in UTC.
    epsilon, delta : str
        The budget.
    neighbours, unit : str
        Whom it protects.
    accounting, parameters : str
        The kind of accounting, and what it fixed.
    analysts : str
        The cap of each analyst.
    """

    identity: str
    format: int
    created: str
    epsilon: str
    delta: str
    neighbours: str
    unit: str
    accounting: str
    parameters: str
    analysts: str

    @property
    def genesis(self) -> str:
        """The hash that the first record continues."""
        # The word is part of what is hashed: it stays as it was in the first ledgers.
        return digest_of({"constitution": asdict(self)})


def new_terms(
    budget: PureDP | ApproxDP,
    *,
    accounting: str,
    neighbours: Neighbours,
    unit: str,
    analysts: Mapping[str, PureDP | ApproxDP],
    created: str,
) -> LedgerTerms:
    """Return the terms of a new ledger, with an identity of its own."""
    kind, total = checked_accounting(accounting), Budget.of(budget)
    # Where laws are reserved, caps are sums, which may be above the total that is proved of all laws together.
    caps = _caps(analysts, None if kind == "reserved" else total)
    protected = _validate.words(unit=unit).strip()
    relation = validated_neighbours(neighbours)
    if budget.neighbours not in (None, relation):
        raise ArgumentError("budget", str(budget), f"is not for {relation!r} neighbours; both must agree")
    return LedgerTerms(
        identity=str(uuid.uuid4()),
        format=FORMAT,
        created=created,
        epsilon=str(total.epsilon),
        delta=str(total.delta),
        neighbours=relation,
        unit=protected,
        accounting=kind,
        parameters=canonical(chosen_parameters(kind, total, caps)),
        analysts=canonical({name: cap.to_dict() for name, cap in caps.items()}),
    )


def _caps(analysts: Mapping[str, PureDP | ApproxDP], total: Budget | None) -> dict[str, Budget]:
    """Return the cap of each analyst, none of them above a total."""
    if not isinstance(analysts, Mapping):
        raise ArgumentTypeError("analysts", type(analysts).__name__, "must be a mapping of names to guarantees")
    for name in analysts:
        _validate.words(analysts=name)
    caps = {name: Budget.of(cap, argument="analysts") for name, cap in analysts.items()}
    for name, cap in caps.items():
        if total is not None and not total.holds(cap):
            raise ArgumentError(
                "analysts", name, f"has a cap of {cap}, above the budget of {total}; give it at most that"
            )
    return caps
