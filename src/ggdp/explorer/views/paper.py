"""Paper: the figures of the reproduction, each with the verdicts on what the paper says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htmltools import Tag, TagList, tags

from ggdp.explorer.paper_results import PARTS, PaperResults, PaperSettings, paper_equivalents, paper_results
from ggdp.explorer.view import Download, View, choices, csv_of
from ggdp.explorer.widgets import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htmltools import TagChild

    from ggdp.explorer.view import Visit
    from ggdp.paper.results import Claim

_ABOUT = (
    "The noise of ggdp comes from F. Liu, “Generalized Gaussian Mechanism for Differential Privacy” (arXiv "
    "1602.06028). Its figures are computed here and now, and each claim that can be measured gets a verdict."
)


def _inputs(settings: PaperSettings) -> list[TagChild]:
    return [choices(settings, "part", "Part of the paper", PARTS), tags.p(_ABOUT, class_="hint")]


def _serve(visit: Visit[PaperSettings]) -> None:
    run = visit.computed(paper_results, lambda: (visit.checked(),))
    visit.show_status(run.status)
    visit.show("results", run.result, _drawn)

    visit.offer(
        Download("All claims (CSV)", "claims.csv", run.result, csv_of),
        Download("All figures (SVG, in a ZIP file)", "figures.zip", run.result, lambda found: found.pictures),
    )
    visit.show_equivalents(paper_equivalents)


def _claims(claims: Iterable[Claim]) -> Tag:
    return tags.ul(
        *(
            tags.li(
                tags.p(
                    tags.strong(claim.verdict, class_="verdict " + claim.verdict.replace(" ", "-")),
                    f" {claim.place}: {claim.claim}",
                ),
                tags.p(f"Only if {claim.condition}.", class_="hint") if claim.condition else None,
                tags.p(claim.measured, class_="hint"),
                tags.p(claim.caveat, class_="hint") if claim.caveat else None,
            )
            for claim in claims
        ),
        class_="claims",
    )


def _drawn(found: PaperResults) -> TagList:
    numbers = (tags.li(tags.strong(f"{number}"), f" {words}") for number, words in found.tally)
    return TagList(
        tags.h3(f"{sum(number for number, _ in found.tally)} claims of the paper"),
        tags.ul(*numbers, class_="tally"),
        *(tags.p(note, class_="hint") for note in found.notes),
        *(
            tags.section(
                tags.h3(one.picture.title),
                tags.p(one.place, class_="hint"),
                shown(one.picture),
                _claims(one.claims),
                class_="of-paper",
            )
            for one in found.figures
        ),
        tags.details(
            tags.summary(f"{len(found.others)} more claims, without a figure here"),
            _claims(found.others),
            class_="group",
        ),
    )


PAPER = View(key="paper", title="Paper", settings=PaperSettings, inputs=_inputs, serve=_serve)
