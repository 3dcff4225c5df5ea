"""The page on ledgers."""

from __future__ import annotations

from typing import Any

from pages import machine, milliseconds, row, table

SMALL, LARGE = "sum, 10 entries", "sum, 10,000 entries"
SERVER_SMALL, SERVER_LARGE = f"PostgreSQL, {SMALL}", f"PostgreSQL, {LARGE}"


def report(found: dict[str, Any]) -> str:
    """Return the page of a run of ledger.py."""
    charge, fsync = found["charge"], found["fsync"]
    lines = [
        "# Ledger: durable charges in an SQLite file and on a PostgreSQL server",
        "",
        f"{machine()}. Medians of charges that take turns with each other and with a bare write and fsync of 4 kB on "
        "the same disk. In a file, a charge is one transaction of a rollback journal that stays, with "
        "synchronous=EXTRA. On a server, here on the same machine with fsync on, it is one transaction on a connection "
        "of its own.",
        *table("charge with", "ms", "charges a second", "in bare fsyncs"),
        *(row(name, milliseconds(time), f"{1 / time:,.0f}", f"{time / fsync:.1f}") for name, time in charge.items()),
        row("a bare write and fsync", milliseconds(fsync), f"{1 / fsync:,.0f}", "1.0"),
        "",
        "Several processes that charge at once, until the budget is used up; no charge is lost and none is above it:",
        *table("writers", "charges a second"),
        *(row(name, f"{rate:,.0f}") for name, rate in found["together"].items()),
        "",
        "The first charge of a law to a Renyi ledger proves its divergences; later ones look them up. With a budget of "
        "(0.001, 1e-6), noise of one tenth of it on the integers:",
        *table("noise", "CPU seconds of the first charge"),
        *(row(name, f"{taken:.2f}") for name, taken in found["first"].items()),
        "",
        "Where laws are reserved, every record has how often each law was reserved and used, so that a charge reads "
        "one record and its hash covers the whole state:",
        *table("reserved laws", "CPU ms of a charge", "kB of an entry"),
        *(
            row(laws, milliseconds(cost["seconds"]), f"{cost['bytes'] / 1e3:.1f}")
            for laws, cost in found["reserved"].items()
        ),
        "",
        f"A charge at 10,000 entries takes {charge[LARGE] / charge[SMALL]:.2f} times as long as one at 10 in a file, "
        f"and {charge[SERVER_LARGE] / charge[SERVER_SMALL]:.2f} times on a server. Verifying a "
        f"ledger of 10,000 entries takes {found['verify']:.1f} s; an entry takes {found['bytes'] / 1e3:.1f} kB.",
    ]
    return "\n".join(lines) + "\n"
