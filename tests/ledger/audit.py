"""What must hold of a ledger and of the files that were published on it, whatever happened to their writers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ggdp.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = ".manifest.json"


@dataclass(frozen=True)
class Audit:
    """How many charges a ledger has, how many of them have files, and how many of those were recorded."""

    entries: int
    published: int
    recorded: int

    @property
    def counts(self) -> tuple[int, int, int]:
        """The three numbers."""
        return self.entries, self.published, self.recorded

    def __str__(self) -> str:
        return f"{self.entries} charges, {self.published} of them published, {self.recorded} of those recorded"


def audited(url: str, directory: Path) -> Audit:
    """Return the counts, or fail: open the ledger anew, verify it, and look for the charge of every file."""
    ledger = Ledger(url)
    ledger.verify()
    entries = ledger.entries()
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1)), "entries are lost or double"
    doubled = [word for word, number in Counter(entry.analyst for entry in entries).items() if number > 1]
    assert not doubled, f"charged twice: {doubled}"
    spent = sum((Fraction(entry.charge["epsilon"]) for entry in entries), Fraction(0))
    assert spent == ledger.spent().epsilon, "the total is not the sum of the charges"
    assert spent <= ledger.budget.epsilon, f"{spent} was spent of {ledger.budget}"
    charged = {entry.analyst: entry for entry in entries}
    words = set()
    # A hidden file is one that was not finished, and an empty one is a name that was reserved for one.
    for file in (file for file in directory.iterdir() if not file.name.startswith(".") and file.is_file()):
        content, word = file.read_bytes(), file.name.removesuffix(MANIFEST).removesuffix(".csv")
        if not content:
            continue
        words.add(word)
        assert word in charged, f"{file.name} is published and was not charged"
        entry = charged[word]
        if file.name.endswith(MANIFEST):
            assert json.loads(content)["ledger"] == entry.reference.to_dict(), f"{file.name} names another entry"
        if entry.files is not None:
            assert entry.files[file.name] == hashlib.sha256(content).hexdigest(), (
                f"{file.name} is not what was recorded"
            )
    recorded = {entry.analyst for entry in entries if entry.files is not None}
    assert recorded <= words, "files are recorded that were not written"
    return Audit(len(entries), len(words), len(recorded))
