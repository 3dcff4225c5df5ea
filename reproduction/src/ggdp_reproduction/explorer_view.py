"""The view of the paper in the explorer: a quick run, figures with the verdicts on what they show."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ggdp.explorer.added_views import AddedResults, AddedView
from ggdp.plots.inline_svg import svg_file
from ggdp_reproduction.results import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp_reproduction.results import Drawing, Results

IN_WORDS = {
    "holds": "hold",
    "holds only if": "hold under a condition",
    "does not hold": "do not hold",
    "not measurable": "cannot be measured",
    "not measured": "were not measured in this run",
}
STAGES = 3
COLUMNS = ("key", "place", "claim", "verdict", "condition", "measured", "figure", "caveat")

_finished: dict[str, AddedResults] = {}


def paper_results(part: str, progress: Callable[[int, int], None]) -> AddedResults:
    """Return a quick run of a part of the paper: the same seed, so the same numbers every time; run once a process."""
    from ggdp_reproduction.reproduction import reproduce

    if part not in _finished:
        stages: list[str] = []

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages.append(stage)
            share = done / total if total else 0.0
            progress(int(100 * (stages.index(stage) + share)), 100 * max(STAGES, len(stages)))

        _finished[part] = shown_run(reproduce(part, quick=True, workers=1, progress=tell))  # type: ignore[arg-type]
    return _finished[part]


def shown_run(run: Results) -> AddedResults:
    """Return what the explorer shows of a run."""
    from ggdp_reproduction.report import environment

    figures = [
        (replace(one, svg=_unique(one)), [claim for claim in run.claims if claim.figure == one.key])
        for one in run.drawings
    ]
    with_figure = {claim.key for _, claims in figures for claim in claims}
    others = [claim for claim in run.claims if claim.key not in with_figure and claim.verdict != "not measured"]
    verdicts = Counter(claim.verdict for claim in run.claims)
    tally = [(verdicts[verdict], IN_WORDS[verdict]) for verdict in VERDICTS if verdicts[verdict]]
    page = environment().get_template("explorer.html")
    table = io.StringIO(newline="")
    rows = ([getattr(claim, name) for name in COLUMNS] for claim in run.claims)
    csv.writer(table, lineterminator="\n").writerows([COLUMNS, *rows])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, _ in figures:
            archive.writestr(f"{one.key}.svg", svg_file(one.svg))
    return AddedResults(
        html=page.render(results=run, tally=tally, figures=figures, others=others),
        files={"claims.csv": table.getvalue().encode(), "figures.zip": packed.getvalue()},
    )


def paper_equivalents(part: str) -> tuple[str, str]:
    """Return what gives the same run without the explorer: a command line, and Python code."""
    return f"ggdp reproduce {part} --quick --out reproduction", (
        "from ggdp_reproduction.reproduction import reproduce\n\n"
        f'run = reproduce("{part}", quick=True)\n'
        "for claim in run.claims:\n"
        "    print(claim.place, claim.verdict, claim.measured)\n"
    )


def _unique(one: Drawing) -> str:
    """Return a figure whose names begin with "paper-", as others of the explorer may have the same."""
    found = one.svg
    for before, after in ((f'"{one.key}-', f'"paper-{one.key}-'), (f"#{one.key}-", f"#paper-{one.key}-")):
        found = found.replace(before, after)
    return found.replace(f" {one.key}-words", f" paper-{one.key}-words")


VIEW = AddedView(
    key="paper",
    title="Paper",
    setting="part",
    label="Part of the paper",
    choices={
        "figures": "Figures of Sections 2 and 3",
        "mildew": "Counts of mildew strands",
        "czech": "Counts of Czech workers",
    },
    about="The noise of ggdp comes from F. Liu, “Generalized Gaussian Mechanism for Differential Privacy” (arXiv "
    "1602.06028). Its figures are computed here and now, and each claim that can be measured gets a verdict.",
    files={"All claims (CSV)": "claims.csv", "All figures (SVG, in a ZIP file)": "figures.zip"},
    results=paper_results,
    equivalents=paper_equivalents,
)
