"""Paper: the figures of the reproduction, each with the verdicts on what the paper says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htmltools import Tag, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.background import Background
from ggdp.explorer.equivalents import shown_equivalents
from ggdp.explorer.figures import shown
from ggdp.explorer.inputs import choices, panel
from ggdp.explorer.paper_results import PARTS, PaperSettings, paper_equivalents, paper_results
from ggdp.explorer.view import Shared, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ggdp.paper.results import Claim

__all__ = ["PAPER"]


@module.ui
def paper_ui(settings: PaperSettings) -> Tag:
    """Return the choice of a part and the places for results."""
    about = tags.p(
        "The noise of ggdp comes from F. Liu, “Generalized Gaussian Mechanism for Differential Privacy” (arXiv "
        "1602.06028). Its figures are computed here and now, and each claim that can be measured gets a verdict.",
        class_="hint",
    )
    return panel(
        [choices("part", "Part of the paper", PARTS, settings.part), about],
        [
            tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
            ui.output_ui("figures"),
            ui.output_ui("same"),
            tags.div(
                ui.download_link("claims_csv", "All claims (CSV)"),
                ui.download_link("figures_zip", "All figures (SVG, in a ZIP file)"),
                class_="downloads",
            ),
        ],
    )


@module.server
def paper_server(
    input: Inputs,  # noqa: A002 - as Shiny calls it
    output: Outputs,  # noqa: ARG001
    session: Session,
    shared: Shared,
) -> Callable[[], PaperSettings | None]:
    """Show the part that is chosen."""

    @reactive.calc
    def settings() -> PaperSettings | None:
        try:
            return fields.from_inputs(PaperSettings, input)
        except GgdpError:
            return None

    def arguments() -> tuple[Any, ...] | None:
        found = settings()
        return None if found is None else (found,)

    run = Background(shared.long, paper_results, arguments, session)

    @render.ui
    def status() -> Any:  # noqa: ANN401
        return run.status()

    @render.ui
    def figures() -> Any:  # noqa: ANN401
        found = run.result()
        if found is None:
            return None
        numbers = (tags.li(tags.strong(f"{number}"), f" {words}") for number, words in found.tally)
        return tags.div(
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

    @render.ui
    def same() -> Any:  # noqa: ANN401
        found = settings()
        return None if found is None else shown_equivalents(paper_equivalents(found))

    @render.download(filename="claims.csv")
    def claims_csv() -> Iterator[bytes]:
        yield b"" if (found := run.result()) is None else found.csv

    @render.download(filename="figures.zip")
    def figures_zip() -> Iterator[bytes]:
        yield b"" if (found := run.result()) is None else found.pictures

    return settings


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


PAPER = View(key="paper", title="Paper", settings=PaperSettings, ui=paper_ui, server=paper_server)
