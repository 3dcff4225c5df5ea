"""The formulas of the paper that do not stand as printed, each with what is right.

They are those of the documentation's page on errata, in its order, as plain text: the report is whole without it.

References
----------
Liu, arXiv 1602.06028 v5.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import NamedTuple

__all__ = ["Erratum", "errata"]


class Erratum(NamedTuple):
    """A place of the paper, what is printed there, and what is right."""

    place: str
    printed: str
    right: str


def errata() -> tuple[Erratum, ...]:
    """Return all errata to the formulas, in the order of the paper.

    Examples
    --------
    >>> next(one for one in errata() if one.place == "Lemma 11")
    Erratum(place='Lemma 11', printed='2Φ(√2)', right='2Φ(−√2)')
    """
    text = files("ggdp_reproduction.report").joinpath("errata.csv").read_text(encoding="utf-8")
    return tuple(Erratum(**row) for row in csv.DictReader(text.splitlines()))
