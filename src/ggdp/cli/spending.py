"""Flags and steps shared by the commands that spend a budget: ``ggdp release`` and ``ggdp range``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggdp.cli.columns import working
from ggdp.cli.output import print_json, print_table, say
from ggdp.errors import BudgetExceededError, GgdpError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ggdp.tables import TablePlan

LedgerUrl = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        help="Charge the release to this ledger, a file or postgresql://..., before a row is read.",
    ),
]
Analyst = Annotated[str | None, typer.Option(metavar="NAME", help="Who asks, for --ledger.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read no data; print what would be released and what it would cost.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier output (and spend the budget again).")]


@contextmanager
def releasing(files: Iterable[Path]) -> Iterator[None]:
    """Run a release, and say afterwards if it replaced files of an earlier one.

    Errors that are not ours, which might quote data, are replaced by one without a reason; notes are kept.
    """
    replaces = any(file.exists() for file in files)
    try:
        with working("counting"):
            yield
    except (GgdpError, MemoryError):
        raise
    except Exception as failed:
        message = "the release failed, and nothing was published. The reason is not shown, since it might reveal data"
        error = GgdpError(message)
        for note in getattr(failed, "__notes__", ()):
            error.add_note(note)
        raise error from None
    if replaces:
        print_warnings(["an earlier output is replaced; each run spends the privacy budget again"])


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error."""
    for warning in warnings:
        say(f"warning: {warning}", err=True)


def fit_of(plan: TablePlan, ledger: str | None, analyst: str | None) -> dict[str, Any]:
    """Return whether a release fits in what remains of a ledger, and if not, what remains and what would fit."""
    if ledger is None:
        return {}
    from ggdp.ledger import Ledger

    try:
        Ledger(ledger).require_fit(plan, analyst)
    except BudgetExceededError as refused:
        return {"fits": False, "refusal": str(refused)}
    return {"fits": True}


def print_plan(
    document: dict[str, Any], rows: Sequence[tuple[str, str]], fit: dict[str, Any], *, as_json: bool
) -> None:
    """Print what a plan says, and whether it fits in what remains of a ledger."""
    if as_json:
        print_json(document | fit)
        return
    from ggdp.tables.plan_summary import TITLE

    print_table(f"dry run: {TITLE}", rows)
    if fit:
        refusal = fit.get("refusal", "")
        say("It fits in what remains of the ledger." if fit["fits"] else f"{refusal[0].upper()}{refusal[1:]}.")
