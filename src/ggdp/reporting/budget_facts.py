"""What a ledger says of the releases of a report: its budget, what remains, and whether it was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ggdp.ledger import Balance, Entry, Head, Ledger
    from ggdp.reporting.published_release import PublishedRelease

__all__ = ["BudgetFacts", "budget_facts"]


@frozen(kw_only=True)
class BudgetFacts:
    """A ledger whose chain of records was checked. Made by `budget_facts`.

    Attributes
    ----------
    identity, unit, neighbours, accounting : str
        The ledger's own.
    budget, spent, remaining : Balance
        Exactly.
    head : Head
        Number and hash of the last record, after all records were checked.
    charged : int
        How many releases were charged in all.
    entries : dict of str to Entry
        The entry of each release of the report that was charged to this ledger, by the path of its manifest.
    recorded : frozenset of str
        The manifests whose digest the ledger has recorded.
    """

    identity: str
    unit: str
    neighbours: str
    accounting: str
    budget: Balance
    spent: Balance
    remaining: Balance
    head: Head
    charged: int
    entries: dict[str, Entry]
    recorded: frozenset[str]

    @property
    def share(self) -> float | None:
        """The share of the budget's epsilon that was spent; None where laws are reserved."""
        if self.spent.epsilon is None or not self.budget.epsilon:
            return None
        return min(1.0, float(self.spent.epsilon / self.budget.epsilon))

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {
            "identity": self.identity,
            "unit": self.unit,
            "neighbours": self.neighbours,
            "accounting": self.accounting,
            "budget": self.budget.to_dict(),
            "spent": self.spent.to_dict(),
            "remaining": self.remaining.to_dict(),
            "verified": True,
            "records": self.head.number,
            "head": self.head.hash,
            "entries": self.charged,
        }


def budget_facts(url: str | os.PathLike[str] | Ledger, releases: Iterable[PublishedRelease]) -> BudgetFacts:
    """Return what a ledger says, after every record was checked.

    Raises
    ------
    TamperingError
        If its records are not those that were written.
    ArgumentError
        If a manifest is not the one whose digest or guarantee the ledger recorded.
    """
    # Loaded when needed: it brings SQLAlchemy along.
    from ggdp.ledger import Ledger

    ledger = url if isinstance(url, Ledger) else Ledger(url)
    head = ledger.verify()
    known = {entry.number: entry for entry in ledger.entries()}
    entries: dict[str, Entry] = {}
    recorded = set()
    for release in releases:
        if release.entry is None or release.entry["identity"] != ledger.identity:
            continue
        number = release.entry["entry"]
        if number not in known:
            raise ArgumentError("manifests", release.path, f"names entry {number}, which the ledger does not have")
        entry = entries[release.path] = known[number]
        if entry.guarantee != release.part.guarantee:
            raise ArgumentError(
                "manifests",
                release.path,
                f"states {release.part.guarantee}, where entry {number} of the ledger was charged {entry.guarantee}: "
                "it was changed",
            )
        if entry.files is not None:
            if release.digest not in entry.files.values():
                raise ArgumentError(
                    "manifests",
                    release.path,
                    f"is not the manifest whose digest entry {number} of the ledger recorded: it was changed after it "
                    "was published",
                )
            recorded.add(release.path)
    return BudgetFacts(
        identity=ledger.identity,
        unit=ledger.unit,
        neighbours=ledger.neighbours,
        accounting=ledger.accounting,
        budget=ledger.budget,
        spent=ledger.spent(),
        remaining=ledger.remaining(),
        head=head,
        charged=len(known),
        entries=entries,
        recorded=frozenset(recorded),
    )
