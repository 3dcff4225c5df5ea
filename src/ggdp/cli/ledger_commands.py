"""``ggdp ledger``: create, show, reserve, verify and export the durable budget of one set of people.

``ggdp ledger show`` prints what was spent, what remains, and what each kind of accounting would have charged.
"""

from __future__ import annotations

import os
from pathlib import Path  # not for types alone: typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ggdp._files import read_json, writable_file
from ggdp._rounding import number_of, rounded_text, rounded_up_text
from ggdp.cli.flags import NeighboursFlag, renaming
from ggdp.cli.output import FORMATS, AsJson, example, print_json, print_table, say, working, write_picture
from ggdp.errors import ArgumentError
from ggdp.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from ggdp.ledger import ChargeRequest


SHOWN_ENTRIES = 20

# The words of `ggdp.ledger.accounting`, which is too heavy to load before it is needed.
_ACCOUNTINGS = ("sum", "renyi", "reserved")

Url = Annotated[
    str,
    typer.Argument(metavar="URL", help="The path of a file, or postgresql://USER@HOST/DATABASE.", show_default=False),
]

ledger = typer.Typer(
    name="ledger",
    help="Keep the budget of one set of people. A ledger records what may be released of them, and what was.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=example("ggdp ledger init people.ledger --epsilon 3 --delta 1e-6", "ggdp ledger show people.ledger"),
)


@ledger.command(epilog=example("ggdp ledger init people.ledger --epsilon 3 --delta 1e-6 --accounting sum"))
def init(
    url: Url,
    epsilon: Annotated[float, typer.Option(help="Epsilon that all releases together may cost.")],
    delta: Annotated[float | None, typer.Option(help="Delta that they may cost; without it, pure DP.")] = None,
    neighbours: NeighboursFlag = "add-remove",
    unit: Annotated[
        str, typer.Option(metavar="WORDS", help="Who is protected, in the words of --unit-name of the releases.")
    ] = "person",
    # Not a choice of words: the one that is not sound is refused with the reason.
    accounting: Annotated[
        str,
        typer.Option(
            metavar="|".join(_ACCOUNTINGS),
            autocompletion=lambda: list(_ACCOUNTINGS),
            help="How the costs of releases add up.",
        ),
    ] = "sum",
    analyst: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=EPSILON[,DELTA]", help="Cap of an analyst under the budget; repeat for several."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a new ledger. A file or a ledger that is there already is never replaced."""
    from ggdp.ledger import Ledger

    budget = _budget(epsilon, delta)
    caps: dict[str, PureDP | ApproxDP] = {}
    for text in analyst or ():
        name, _, numbers = text.rpartition("=")
        name = name.strip()
        try:
            of_epsilon, *of_delta = (float(number) for number in numbers.split(","))
            (slack,) = of_delta or (None,)
        except ValueError:
            raise ArgumentError("analyst", text, "must be NAME=EPSILON or NAME=EPSILON,DELTA") from None
        try:
            cap = _budget(of_epsilon, slack)
        except ArgumentError as refused:
            raise ArgumentError("analyst", text, f"has a wrong {refused.argument}, which {refused.expected}") from None
        if name in caps:
            raise ArgumentError("analyst", text, f"gives {name!r} a second cap; name each analyst once")
        caps[name] = cap
    with renaming(analysts="analyst"):
        made = Ledger.create(url, budget, accounting=accounting, neighbours=neighbours, unit=unit, analysts=caps)
    head = made.head
    if as_json:
        print_json({"ledger": made.name, "identity": made.identity, "budget": made.budget.to_dict(), "head": head.hash})
        return
    say(f"Made the ledger {made.identity} in {made.name}: {made.budget}; protected unit: {made.unit}.")
    say(f"Head, to be kept elsewhere: {head.hash}")


@ledger.command(epilog=example("ggdp ledger show people.ledger --plot burn-down.png"))
def show(
    url: Url,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw what remains after each entry to a .png, .pdf or .svg file."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier plot.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what was spent and what remains.

    The last entries are listed, and the head, which is to be kept elsewhere.
    """
    from ggdp.ledger.charging import require_apart_from_ledger

    if plot is not None:
        require_apart_from_ledger(url, plot=[plot])
        writable_file("plot", plot, FORMATS, overwrite=overwrite)
    from ggdp.ledger import Ledger
    from ggdp.ledger.ledger import NOTE, overview

    opened = Ledger(url)
    with working("adding up"):
        found = overview(opened)
    if plot is not None:
        from ggdp.plots.budget_figures import plot_burn_down

        write_picture(plot, plot_burn_down(opened), overwrite=overwrite)
    if as_json:
        print_json(found)
        return
    laws = [("  reserved", f"{law['left']:,} of {law['reserved']:,} left: {law['noise']}") for law in found["reserved"]]
    caps = [(f"  {name}", _numbers(cap["remaining"]) + " remaining") for name, cap in found["analysts"].items()]
    costs = [
        (f"cost by {way}", "cannot be told" if cost is None else _numbers(cost)) for way, cost in found["costs"].items()
    ]
    summary = [
        ("identity", found["identity"]),
        ("protects", f"{found['unit']}, {found['neighbours']} neighbours"),
        ("accounting", found["accounting"]),
        *((name, _numbers(found[name])) for name in ("budget", "spent", "remaining")),
        *laws,
        *caps,
        *costs,
        ("entries", f"{found['entries']:,}"),
        ("head", found["head"]),
    ]
    print_table("ledger", summary)
    entries = opened.entries()
    if entries:
        header = ("entry", "time (UTC)", "analyst", "guarantee", "charge", "published")
        rows = [
            (
                entry.number,
                entry.time[:19].replace("T", " "),
                entry.analyst or "",
                entry.guarantee,
                _numbers(entry.charge),
                ", ".join(entry.files or ()),
            )
            for entry in entries[-SHOWN_ENTRIES:]
        ]
        print_table("", rows, header=header)
    if len(entries) > SHOWN_ENTRIES:
        say(f"({len(entries) - SHOWN_ENTRIES:,} earlier entries: ggdp ledger export)")
    say(NOTE)
    if plot is not None:
        say(f"Written: {plot}")


def _numbers(plain: dict[str, Any]) -> str:
    """Return an epsilon and a delta in few digits, and how many uses of laws there are."""
    said = [f"{name} = {rounded_text(float(plain[name]), 6)}" for name in ("epsilon", "delta") if name in plain]
    if "laws" in plain:
        uses, laws = number_of(sum(plain["laws"].values()), "use"), number_of(len(plain["laws"]), "reserved law")
        said.append(f"{uses} of {laws}")
    return ", ".join(said)


@ledger.command(epilog=example("ggdp ledger verify people.ledger"))
def verify(
    url: Url,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head that was kept elsewhere, of now or of an earlier time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no entry was edited, removed, added or reordered.

    Without --head it cannot find that the whole file was put back to an older copy, that the last entries were cut off
    together with the head, or that all was written anew with new hashes: keep the head that `show` prints elsewhere.
    """
    from ggdp.ledger import Ledger

    opened = Ledger(url)
    found = opened.verify(head)
    if as_json:
        print_json({"ledger": opened.name, "verified": True, "records": found.number, "head": found.hash})
        return
    say(f"All {found.number:,} records are as they were written. Head: {found.hash}")


@ledger.command(epilog=example("ggdp ledger export people.ledger > people.jsonl"))
def export(
    url: Url,
    format: Annotated[Literal["jsonl", "csv"], typer.Option(help="One JSON document a line, or CSV.")] = "jsonl",  # noqa: A002
    as_json: AsJson = False,
) -> None:
    """Print all records."""
    from ggdp.ledger import Ledger
    from ggdp.ledger.chain import plain

    opened = Ledger(url)
    if as_json:
        records = [plain(record) for record in opened.records()]
        print_json({"ledger": opened.name, "identity": opened.identity, "records": records})
        return
    typer.echo(opened.export(format), nl=False)


@ledger.command(
    epilog=example(
        "ggdp ledger init year.ledger --epsilon 1 --delta 1e-6 --accounting reserved",
        "ggdp release docs/examples/workers.csv --by smoking \\",
        "    --domain docs/examples/workers.toml --epsilon 0.025 --dry-run --json > week.json",
        "ggdp ledger reserve year.ledger week.json=52",
    )
)
def reserve(
    url: Url,
    plans: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAN.json[=COUNT]", help="Plans that ggdp release --dry-run --json printed, or manifests."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Reserve the noise of planned releases, before the first one.

    The ledger must have accounting reserved.
    """
    from ggdp.ledger import Ledger

    opened = Ledger(url)
    delta = opened.reserve([_read_plan(text) for text in plans])
    remaining = opened.remaining()
    if as_json:
        print_json({"ledger": opened.name, "delta": delta, "remaining": remaining.to_dict(), "head": opened.head.hash})
        return
    said = rounded_up_text(delta)
    say(f"Reserved: {remaining}. Together they have a delta of at most {said} at the budget's epsilon.")


@ledger.command(epilog=example("ggdp ledger upgrade people.ledger"))
def upgrade(url: Url, as_json: AsJson = False) -> None:
    """Migrate a ledger of an older ggdp to the present schema. No entry changes."""
    from ggdp.ledger import Ledger

    opened = Ledger.upgrade(url)
    if as_json:
        print_json({"ledger": opened.name, "identity": opened.identity, "head": opened.head.hash})
        return
    say(f"The ledger {opened.identity} has the present schema.")


def _budget(epsilon: float, delta: float | None) -> PureDP | ApproxDP:
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)


def _read_plan(text: str) -> tuple[ChargeRequest, int]:
    """Return the release that a file plans, and how many times it is reserved."""
    from ggdp.accounting.composition import MOST_TIMES
    from ggdp.ledger.charging import planned_request

    make = "make a plan with ggdp release ... --dry-run --json > PLAN.json"
    name, separator, number = text.rpartition("=")
    counted = bool(separator) and number.isdecimal() and not os.path.exists(text)
    if counted and len(number) > len(str(MOST_TIMES)):
        raise ArgumentError("PLAN.json=COUNT", text, f"COUNT must be at most {MOST_TIMES:,}")
    path, count = (name, int(number)) if counted else (text, 1)
    plain = read_json(path, argument="PLAN.json", instead=make)
    try:
        return planned_request(plain), count
    except ArgumentError as refused:
        # A wrong field of the file, not an argument of the command.
        if refused.argument == "parts":
            raise ArgumentError("PLAN.json", path, refused.expected) from None
        expected = f"is no plan: {refused.argument} {refused.expected}; {make}"
    except (AttributeError, KeyError, TypeError, ValueError):
        expected = f"is no plan; {make}"
    raise ArgumentError("PLAN.json", path, expected)
