"""The records of a ledger as text."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from ggdp import _validate
from ggdp.ledger.canonical import canonical, parsed
from ggdp.ledger.entries import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMATS = ("jsonl", "csv")


def plain(record: Record) -> dict[str, Any]:
    """Return a record as plain values, contents and totals too."""
    return {**asdict(record), "content": parsed(record.content), "totals": parsed(record.totals)}


def exported(records: Iterable[Record], format: str) -> str:  # noqa: A002 - the word of the command line
    """Return records as JSON, one line each, or as CSV with contents and totals as JSON."""
    _validate.choice(among=FORMATS, format=format)
    if format == "jsonl":
        return "".join(canonical(plain(record)) + "\n" for record in records)
    text = io.StringIO()
    writer = csv.DictWriter(text, [part.name for part in fields(Record)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(record) for record in records)
    return text.getvalue()
