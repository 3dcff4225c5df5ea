"""What the view of the paper shows: a small run of its reproduction, figures with the verdicts on what they show."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from typing import TYPE_CHECKING

from attrs import frozen

from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents, command
from ggdp.explorer.widgets import Picture, csv_file
from ggdp.paper.results import VERDICTS, Claim, Drawing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.paper.results import Results

PARTS = {
    "figures": "Figures of Sections 2 and 3",
    "mildew": "Counts of mildew strands",
    "czech": "Counts of Czech workers",
}
IN_WORDS = {
    "holds": "hold",
    "holds only if": "hold under a condition",
    "does not hold": "do not hold",
    "not measurable": "cannot be measured",
    "not measured": "were not measured in this run",
}
_STAGES = 3
_COLUMNS = ("key", "place", "claim", "verdict", "condition", "measured", "figure", "caveat")


@frozen(kw_only=True)
class PaperSettings:
    """The part of the paper."""

    part: str = fields.choice("figures", "mildew", "czech")


@frozen(kw_only=True)
class ShownFigure:
    """A figure, the paper's figure that it reproduces, and the claims that it bears on."""

    key: str
    place: str
    picture: Picture
    claims: tuple[Claim, ...]


@frozen(kw_only=True)
class PaperResults:
    """A run.

    Attributes
    ----------
    tally : tuple of (number, words)
        How many claims have each verdict.
    figures : tuple of ShownFigure
        The figures of the part.
    others : tuple of Claim
        Claims without a figure of this part that were measured.
    notes : tuple of str
        What a reader must know of the run.
    csv, pictures : bytes
        All claims as CSV, and all figures in one ZIP file.
    """

    tally: tuple[tuple[int, str], ...]
    figures: tuple[ShownFigure, ...]
    others: tuple[Claim, ...]
    notes: tuple[str, ...]
    csv: bytes
    pictures: bytes


_finished: dict[str, PaperResults] = {}


def paper_results(settings: PaperSettings, progress: Callable[[int, int], None]) -> PaperResults:
    """Return a quick run of a part of the paper: the same seed, so the same numbers every time; run once a process."""
    from ggdp.paper.reproduction import reproduce

    if settings.part not in _finished:
        stages: list[str] = []

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages.append(stage)
            share = done / total if total else 0.0
            progress(int(100 * (stages.index(stage) + share)), 100 * max(_STAGES, len(stages)))

        run = reproduce(settings.part, quick=True, workers=1, progress=tell)  # type: ignore[arg-type]
        _finished[settings.part] = shown_run(run)
    return _finished[settings.part]


def shown_run(run: Results) -> PaperResults:
    """Return what the page shows of a run."""
    figures = tuple(
        ShownFigure(
            key=one.key,
            place=one.place,
            picture=Picture(title=one.title, description=one.caption, svg=_unique(one)),
            claims=tuple(claim for claim in run.claims if claim.figure == one.key),
        )
        for one in run.drawings
    )
    with_figure = {claim.key for figure in figures for claim in figure.claims}
    verdicts = Counter(claim.verdict for claim in run.claims)
    return PaperResults(
        tally=tuple((verdicts[verdict], IN_WORDS[verdict]) for verdict in VERDICTS if verdicts[verdict]),
        figures=figures,
        others=tuple(claim for claim in run.claims if claim.key not in with_figure and claim.verdict != "not measured"),
        notes=tuple(run.notes),
        csv=csv_file(_COLUMNS, ([getattr(claim, name) for name in _COLUMNS] for claim in run.claims)),
        pictures=_zip(figures),
    )


def paper_equivalents(settings: PaperSettings) -> Equivalents:
    """Return what gives the same run without the page."""
    return Equivalents(
        command=command("reproduce", settings.part, quick=True, out="reproduction"),
        python=(
            "from ggdp.paper.reproduction import reproduce\n\n"
            f'run = reproduce("{settings.part}", quick=True)\n'
            "for claim in run.claims:\n"
            "    print(claim.place, claim.verdict, claim.measured)\n"
        ),
    )


def _unique(one: Drawing) -> str:
    """Return a figure whose names begin with "paper-", as others of the page may have the same."""
    found = one.svg
    for before, after in ((f'"{one.key}-', f'"paper-{one.key}-'), (f"#{one.key}-", f"#paper-{one.key}-")):
        found = found.replace(before, after)
    return found.replace(f" {one.key}-words", f" paper-{one.key}-words")


def _zip(figures: tuple[ShownFigure, ...]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for figure in figures:
            archive.writestr(f"{figure.key}.svg", figure.picture.file())
    return packed.getvalue()
