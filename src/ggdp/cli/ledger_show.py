"""``ggdp ledger show``: what was spent, what remains, and what each kind of accounting would have cost."""

from __future__ import annotations

import io
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggdp._rounding import rounded_text
from ggdp.cli.columns import working
from ggdp.cli.output import AsJson, print_json, print_table, printable, say
from ggdp.cli.pictures import require_picture, write_picture

if TYPE_CHECKING:
    from ggdp.ledger import Entry

SHOWN_ENTRIES = 20


def show(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="The path of a file, or postgresql://USER@HOST/DATABASE.", show_default=False
        ),
    ],
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
        require_picture(plot, overwrite=overwrite)
    from ggdp.ledger import Ledger
    from ggdp.ledger.overview import NOTE, overview

    opened = Ledger(url)
    with working("adding up"):
        found = overview(opened)
    if plot is not None:
        from ggdp.plots.budgets import plot_burn_down

        picture = io.BytesIO()
        plot_burn_down(opened).savefig(picture, format=plot.suffix.lower()[1:], dpi=300)
        write_picture(plot, picture.getvalue(), overwrite=overwrite)
    if as_json:
        print_json(found)
        return
    print_table("ledger", _rows(found))
    entries = opened.entries()
    if entries:
        header = ("entry", "time (UTC)", "analyst", "guarantee", "charge", "published")
        print_table("", [_row(entry) for entry in entries[-SHOWN_ENTRIES:]], header=header)
    if len(entries) > SHOWN_ENTRIES:
        say(f"({len(entries) - SHOWN_ENTRIES:,} earlier entries: ggdp ledger export)")
    say(NOTE)
    if plot is not None:
        say(f"Written: {plot}")


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("identity", found["identity"]),
        ("protects", f"{found['unit']}, {found['neighbours']} neighbours"),
        ("accounting", found["accounting"]),
        ("budget", _numbers(found["budget"])),
        ("spent", _numbers(found["spent"])),
        ("remaining", _numbers(found["remaining"])),
    ]
    rows += [
        ("  reserved", f"{law['left']:,} of {law['reserved']:,} left: {law['noise']}") for law in found["reserved"]
    ]
    rows += [(f"  {name}", _numbers(cap["remaining"]) + " remaining") for name, cap in found["analysts"].items()]
    rows += [
        (f"cost by {kind}", "cannot be told" if cost is None else _numbers(cost))
        for kind, cost in found["costs"].items()
    ]
    return [
        (name, printable(said)) for name, said in (*rows, ("entries", f"{found['entries']:,}"), ("head", found["head"]))
    ]


def _row(entry: Entry) -> tuple[str, ...]:
    cells = (
        str(entry.number),
        entry.time[:19].replace("T", " "),
        entry.analyst or "",
        str(entry.guarantee),
        _numbers(entry.charge),
        "" if entry.files is None else ", ".join(entry.files),
    )
    return tuple(printable(cell) for cell in cells)


def _numbers(plain: dict[str, Any]) -> str:
    """Return an epsilon and a delta in few digits, and how many uses of laws there are."""
    from ggdp.ledger.reserved_laws import times

    said = [f"{name} = {_short(plain[name])}" for name in ("epsilon", "delta") if name in plain]
    if "laws" in plain:
        uses, laws = sum(plain["laws"].values()), len(plain["laws"])
        said.append(f"{times(uses, 'use', 'uses')} of {times(laws, 'reserved law', 'reserved laws')}")
    return ", ".join(said)


def _short(number: str | float) -> str:
    return rounded_text(float(number), 6)
