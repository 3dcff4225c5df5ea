"""Parts that several sections of the report have: badges, folds, links and marks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

from ggdp.paper.experiments.adult_split import NOT_PRIVATE
from ggdp.paper.results import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.paper.results import Claim, Verdict

__all__ = ["CLASSES", "HINT", "MARK", "badge", "badges", "file_link", "fold"]

CLASSES: dict[Verdict, tuple[str, str]] = {
    "holds": ("holds", "✓"),
    "holds only if": ("only", "◐"),
    "does not hold": ("fails", "✕"),
    "not measured": ("open", "–"),
}
MARK = f' <span class="mark">({NOT_PRIVATE})</span>'
HINT = '<p class="hint" aria-hidden="true">⟷ scroll sideways to see all of it</p>\n'


def file_link(name: str) -> str:
    """Return a link to a file beside the page."""
    return f'<a href="{escape(quote(name))}">{escape(name)}</a>'


def fold(summary: str, inside: str, name: str = "") -> str:
    """Return what is hidden until it is asked for."""
    anchor = f' id="{name}"' if name else ""
    return f'<details class="fold"{anchor}>\n<summary>{summary}</summary>\n{inside}\n</details>'


def badge(claim: Claim) -> str:
    """Return the verdict of a claim as a badge, told by a sign and words as well as by its colour."""
    name, sign = CLASSES[claim.verdict]
    return f'<span class="badge {name}"><span aria-hidden="true">{sign}</span> {claim.verdict}</span>'


def badges(claims: Sequence[Claim]) -> str:
    """Return how many claims have each verdict, as badges."""
    counts = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS}
    return " ".join(
        f'<span class="badge {CLASSES[verdict][0]}"><span aria-hidden="true">{CLASSES[verdict][1]}</span> {verdict}: '
        f"{number}</span>"
        for verdict, number in counts.items()
        if number
    )
