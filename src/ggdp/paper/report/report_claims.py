"""The claims of the paper in the report: those that do not stand, and all of them with their verdicts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ggdp.paper.report.report_parts import MARK, badge, badges, fold
from ggdp.paper.report.typography import as_html

if TYPE_CHECKING:
    from ggdp.paper.results import Claim, Results

__all__ = ["SECTIONS", "claims_section", "not_standing", "wrong_section"]

SECTIONS = {
    "2": "The generalized Gaussian mechanism",
    "3": "The Gaussian mechanism",
    "4": "Experiments",
    "5": "Discussion",
}


def claims_section(results: Results) -> str:
    """Return all claims with their verdicts, folded by section of the paper."""
    if not results.claims:
        return ""
    parts = [
        '<section id="claims">\n<h2>Claims and verdicts</h2>\n<p>Every claim with its verdict and the numbers behind '
        "it, by section of the paper.</p>"
    ]
    for number, name in SECTIONS.items():
        found = [claim for claim in results.claims if claim.section == f"Section {number}"]
        if found:
            claims = "\n".join(_claim(results, claim) for claim in found)
            summary = f"<h3>Section {number}: {escape(name)}</h3> {badges(found)}"
            parts.append(fold(summary, f'<ol class="claims">\n{claims}\n</ol>', f"claims-{number}"))
    return "\n".join(parts) + "\n</section>"


def _claim(results: Results, claim: Claim) -> str:
    drawn = results.drawing(claim.figure)
    link = f' · <a href="#figure-{drawn.key}">{escape(drawn.title)}</a>' if drawn is not None else ""
    caveat = f'<p class="mark">{escape(claim.caveat[:1].upper() + claim.caveat[1:])}.</p>' if claim.caveat else ""
    condition = f'<p class="condition">… {as_html(claim.condition)}.</p>' if claim.condition else ""
    return (
        f'<li id="claim-{claim.key}"><div>{badge(claim)}</div>\n<div><p '
        f'class="said">{as_html(claim.claim)}</p>{condition}'
        f'<p class="measured">{as_html(claim.measured)}</p>{caveat}'
        f'<p class="place">{escape(claim.place)}{link}</p></div></li>'
    )


def not_standing(results: Results) -> list[Claim]:
    """Return the claims that do not hold, or hold only under a condition."""
    return [claim for claim in results.claims if claim.verdict in ("does not hold", "holds only if")]


def wrong_section(results: Results) -> str:
    """Return the claims that do not stand as printed, in a table."""
    wrong = not_standing(results)
    if not wrong:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(claim.place)}</th><td>{as_html(claim.claim)}'
        f"{f'<small>… {as_html(claim.condition)}</small>' if claim.condition else ''}"
        f"{MARK if claim.caveat else ''}</td>"
        f'<td><a href="#claim-{claim.key}">{badge(claim)}</a></td></tr>'
        for claim in wrong
    )
    return (
        '<section id="not-standing">\n<h2>What does not stand</h2>\n<p>The claims that do not hold, or hold only '
        "under a condition; a verdict leads to its numbers.</p>\n"
        '<div class="wide errata verdicts"><table><thead><tr><th scope="col">place</th><th scope="col">as the paper '
        f'has it</th><th scope="col">verdict</th></tr></thead><tbody>{rows}</tbody></table></div>\n</section>'
    )
