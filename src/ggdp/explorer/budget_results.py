"""What the view of a budget shows: computed in a process of its own, from plain values to plain values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from attrs import frozen

from ggdp._rounding import rounded_text
from ggdp.explorer.releasing import balance_in_words, with_cap
from ggdp.explorer.typed_table import in_words_of_the_page
from ggdp.explorer.widgets import Picture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ggdp.ledger import Entry


# Entries that the page lists; the file has all.
_ENTRIES = 20


@frozen(kw_only=True)
class BudgetResults:
    """A ledger, and what further releases would leave of it."""

    headlines: tuple[tuple[str, str], ...]  # what remains and what was spent: a number, and what it is
    ledger: tuple[tuple[str, str], ...]  # the ledger at a glance
    answer: str  # what the release that is asked about would leave, and how many more fit
    refused: bool  # whether it does not fit
    pictures: tuple[Picture, ...]  # the burn-down, and the composition curve if anything was released
    entries: tuple[tuple[str, ...], ...]  # the last entries: number, time, analyst, guarantee, charge, files
    csv: bytes  # all entries


def budget_results(
    url: str,
    epsilon: float,
    delta: float | None,
    max_cells: int,
    analyst: str | None,
    times: int = 0,  # noqa: ARG001 - how often the ledger was to be read again
    *,
    progress: Callable[[int, int], None],
) -> BudgetResults:
    """Return a ledger at a glance, and what tables of counts would leave of it."""
    from ggdp.ledger import Ledger
    from ggdp.ledger.chain import exported
    from ggdp.mechanisms import Mechanism
    from ggdp.planning import plan
    from ggdp.plots.budgets import plot_burn_down
    from ggdp.privacy import ApproxDP, PureDP, Sensitivity

    progress(0, 1)
    with in_words_of_the_page():
        ledger = Ledger(url)
        entries = ledger.entries()
        goal = PureDP(epsilon) if delta is None else ApproxDP(epsilon, delta)
        query = Sensitivity.histogram(ledger.neighbours, max_cells)
        mechanism = Mechanism(plan(goal, query, support="integer", progress=progress).calibration)
        capped = with_cap(ledger, analyst)
        what_if = ledger.what_if(mechanism, capped)
        remaining, spent = ledger.remaining(capped), ledger.spent(capped)
    left = ledger.burn_down()
    burned = ", ".join(rounded_text(number) for number in left[-_ENTRIES:])
    description = f"What is left of the budget after each of {len(entries):,} entries: {burned}."
    if what_if.fitting:
        further = ", ".join(rounded_text(number) for number in what_if.left[:5])
        more = " and so on" if what_if.fitting > 5 else ""
        description += f" Dashed, what further releases would leave: {further}{more}."
    burn_down = plot_burn_down(ledger, what_if=what_if)
    budget = ledger.analysts.get(analyst or "", ledger.budget)
    headlines = ((balance_in_words(remaining), "remain"), (balance_in_words(spent), "were used"))
    if remaining.epsilon is not None and spent.epsilon is not None and budget.epsilon is not None:
        parts = (remaining.epsilon, spent.epsilon, budget.epsilon)
        unspent, used, whole = (rounded_text(float(part), 4) for part in parts)
        headlines = ((unspent, f"of epsilon = {whole} remains"), (used, "was spent"))
    answer = f"It does not fit: {what_if.refusal}."
    if what_if.remaining is not None:
        number = f"{what_if.fitting:,}{' or more' if what_if.refusal is None else ''}"
        fit = "1 such release fits" if number == "1" else f"{number} such releases fit"
        answer = f"It would leave {balance_in_words(what_if.remaining)}. {fit}, one after another."
    return BudgetResults(
        headlines=headlines,
        ledger=(
            ("protects", f"{ledger.unit}, {ledger.neighbours} neighbours"),
            ("accounting", ledger.accounting),
            ("budget", balance_in_words(ledger.budget)),
            ("spent", balance_in_words(spent)),
            ("remaining", balance_in_words(remaining)),
            ("entries", f"{len(entries):,}"),
            ("head", ledger.head.hash),
        ),
        answer=answer,
        refused=what_if.fitting == 0,
        pictures=(
            Picture.of(burn_down, "burn-down", "Burn-down of the budget", description),
            *([_composition(entries)] if entries else []),
        ),
        entries=tuple(
            (
                str(entry.number),
                entry.time[:16].replace("T", " "),
                entry.analyst or "",
                str(entry.guarantee),
                "" if entry.files is None else ", ".join(entry.files),
            )
            for entry in reversed(entries[-_ENTRIES:])
        ),
        csv=exported(ledger.records(), "csv").encode(),
    )


def _composition(entries: Sequence[Entry]) -> Picture:
    """Return the composition curve of what was released."""
    from ggdp.ledger.overview import NOTE
    from ggdp.ledger.reserved_accounting import composition_of
    from ggdp.plots.budgets import plot_composition

    laws = {entry.request.law: entry.request for entry in entries}
    counts = Counter(entry.request.law for entry in entries)
    total = composition_of([(laws[law], count) for law, count in counts.items()])
    basic = total.basic
    said = (
        f"Delta against epsilon of all {len(entries):,} releases together, with each one alone and their plain sum, "
        f"epsilon = {rounded_text(basic.epsilon)} and delta = {rounded_text(basic.delta)}. {NOTE}"
    )
    return Picture.of(plot_composition(total), "composition", "Composition curve", said)
