"""The report: one HTML file with everything in it, for the screen in two themes and for paper.

The page is the template ``templates/report.html``; this module computes what it shows. It needs no network, no font and
no library: style sheet, script and pictures are inside the page. Without the script, which changes the theme and
unfolds what a link leads to, it follows the reader's system.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ggdp_reproduction.experiments.adult_split import NOT_PRIVATE
from ggdp_reproduction.experiments.count_distances import JEFFREYS
from ggdp_reproduction.report.errata import errata
from ggdp_reproduction.report.tables import ErrorTable, accuracy_table, error_table
from ggdp_reproduction.report.typography import as_html, sentence
from ggdp_reproduction.results import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from ggdp_reproduction.results import Claim, Drawing, Results, Verdict

__all__ = ["report_html"]

DATASETS = {
    "mildew": (
        "Mildew",
        "Parental alleles at 6 loci for 70 strands of barley powdery mildew: 64 cells, 22 of them not empty (Edwards "
        "2000).",
    ),
    "czech": (
        "Czech autoworkers",
        "Six risk factors for coronary thrombosis in 1,841 workers of a Czechoslovakian car factory: 64 cells, one of "
        "them empty (Edwards and Havranek 1985; Reinis et al. 1981).",
    ),
    "adult": (
        "Adult",
        "Census Income, 1994 (Becker and Kohavi 1996, doi 10.24432/C5XW20): the complete rows, less those with a "
        "capital gain of 99,999, two thirds of them for training. Only the non-empty cells are sanitised, as the "
        "paper did.",
    ),
}
SECTIONS = {
    "2": "The generalized Gaussian mechanism",
    "3": "The Gaussian mechanism",
    "4": "Experiments",
    "5": "Discussion",
}
# The class and the sign of each verdict.
BADGES: dict[Verdict, tuple[str, str]] = {
    "holds": ("holds", "✓"),
    "holds only if": ("only", "◐"),
    "does not hold": ("fails", "✕"),
    "not measurable": ("open", "?"),
    "not measured": ("open", "–"),
}
# A picture that is wider than this, in points, has to be scrolled on a phone.
NARROW = 300.0


class _Section(NamedTuple):
    """The claims of a section of the paper."""

    number: str
    name: str
    claims: list[Claim]
    verdicts: dict[Verdict, int]


class _Data(NamedTuple):
    """The experiment on one data set."""

    key: str
    name: str
    about: str
    drawings: list[Drawing]
    table: ErrorTable


def report_html(results: Results, files_written: Sequence[str] = ()) -> str:
    """Return the report of a run as one HTML document, with links to the files with all numbers in its directory.

    Examples
    --------
    >>> from ggdp_reproduction.results import Results
    >>> page = report_html(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1))
    >>> page.startswith("<!doctype html>"), "http:" in page
    (True, False)
    """
    wrong = [claim for claim in results.claims if claim.verdict in ("does not hold", "holds only if")]
    sections = _sections(results)
    theory = [one for one in results.drawings if not one.key.startswith((*results.counts, "-"))]
    experiments = _experiments(results)
    return (
        environment()
        .get_template("report.html")
        .render(
            results=results,
            files=files_written,
            facts=_facts(results),
            contents=_contents(wrong, sections, theory, experiments),
            verdicts=_verdicts(results.claims),
            wrong=wrong,
            sections=sections,
            theory=theory,
            experiments=experiments,
            accuracies=None if results.svm is None else accuracy_table(results.svm),
            errata=errata(),
            command=_command(results),
            made=_made(results),
        )
    )


@cache
def environment() -> Environment:
    """Return the templates: everything put into one is escaped, and an unknown name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ggdp_reproduction.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"symbols": as_html, "sentence": sentence}
    environment.tests["wide"] = _wide
    environment.globals |= {"BADGES": BADGES, "NOT_PRIVATE": NOT_PRIVATE}
    return environment


def _wide(svg: str) -> bool:
    """Return whether a picture has to be scrolled on a phone."""
    width = re.search(r"--width: ([\d.]+)px", svg)
    return width is not None and float(width[1]) > NARROW


def _verdicts(claims: Sequence[Claim]) -> dict[Verdict, int]:
    found = Counter(claim.verdict for claim in claims)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _sections(results: Results) -> list[_Section]:
    """Return the claims by section of the paper, without sections that have none."""
    found = []
    for number, name in SECTIONS.items():
        claims = [claim for claim in results.claims if claim.section == f"Section {number}"]
        if claims:
            found.append(_Section(number, name, claims, _verdicts(claims)))
    return found


def _experiments(results: Results) -> list[_Data]:
    return [
        _Data(
            key,
            name,
            about,
            [one for one in results.drawings if one.key.startswith(f"{key}-")],
            error_table(results.counts[key]),
        )
        for key, (name, about) in DATASETS.items()
        if key in results.counts
    ]


def _contents(
    wrong: list[Claim], sections: list[_Section], theory: list[Drawing], experiments: list[_Data]
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the table of contents: anchors with names, and what is below each."""
    below_claims = [(f"claims-{section.number}", section.name) for section in sections]
    below_theory = [(f"figure-{one.key}", one.title) for one in theory]
    below_experiments = [(f"data-{data.key}", data.name) for data in experiments]
    found: list[tuple[str, str, list[tuple[str, str]], object]] = [
        ("summary", "Summary", [], True),
        ("not-standing", "What does not hold", [], wrong),
        ("claims", "Claims and verdicts", below_claims, sections),
        ("theory", "Sections 2 and 3", below_theory, theory),
        ("experiments", "Section 4: experiments", below_experiments, experiments),
        ("errata", "Errata", [], True),
        ("making", "How it was made", [], True),
    ]
    return [(anchor, name, below) for anchor, name, below, present in found if present]


def _facts(results: Results) -> dict[str, Any]:
    """Return the facts below the title."""
    repeats: dict[str, Any] = {"repeats": _repeats(results)} if results.counts else {}
    if results.svm is not None:
        repeats["classifier repeats"] = results.svm_repeats
    return {
        "ggdp": results.versions.get("ggdp", ""),
        "seed": results.seed,
        **repeats,
        "run": f"{results.what}, quick" if results.quick else results.what,
    }


def _repeats(results: Results) -> str:
    """Return the repeats of the counts, with a name where data sets differ."""
    found = {name: f"{results.repeats_of(name):,}" for name in DATASETS if name in results.counts}
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    return ", ".join(f"{number} ({name})" for name, number in found.items())


def _made(results: Results) -> dict[str, str]:
    """Return what the numbers depend on."""
    facts = {
        "Seed": str(results.seed),
        **results.versions,
    }
    if results.bounds is not None:
        facts["Monte Carlo"] = f"{results.bounds.draws:,} draws a scale"
    if results.counts:
        facts["Repeats"] = _repeats(results)
        facts["Divergence"] = (
            f"KL(original ‖ sanitised), and back in counts.csv; Dirichlet prior {results.prior:g} a cell"
        )
        errors = _raw_errors(results)
        if errors:
            facts["Check"] = (
                f"{len(errors)} mean distances of raw noise, at most {max(errors):.1f} standard errors from closed "
                "forms"
            )
    if results.adult:
        facts["Adult"] = f"{results.adult['train']:,} training and {results.adult['test']:,} test rows; {NOT_PRIVATE}"
    return facts


def _raw_errors(results: Results) -> list[float]:
    """Return the errors of the mean l_1 distances before any adjustment, in standard errors.

    Few repeats of coarse noise may all be alike; without a spread there is nothing to compare with.
    """
    return [
        float(abs(row["l1_mean"] - row["l1_expected"]) / (row["l1_sd"] / math.sqrt(row["repeats"])))
        for run in results.counts.values()
        for row in run.rows
        if row["l1_expected"] is not None and row["l1_sd"] > 0.0
    ]


def _command(results: Results) -> str:
    """Return the command that makes this report again, or the call if no command can."""
    if (results.epsilons, results.deltas, results.prior) != (None, None, JEFFREYS):
        adult = f", adult_path=Path({results.adult_file!r})" if results.adult_file else ""
        return (
            f"reproduce({results.what!r}, quick={results.quick}, repeats={results.repeats}, "
            f"svm_repeats={results.svm_repeats}, seed={results.seed}, epsilons={results.epsilons}, "
            f"deltas={results.deltas}, prior={results.prior:g}{adult})"
        )
    flags = ["--quick"] if results.quick else []
    flags += [] if results.repeats is None else [f"--repeats {results.repeats}"]
    if results.what in ("adult", "all"):
        flags.append(f"--svm-repeats {results.svm_repeats}")
        flags += [f"--adult {shlex.quote(results.adult_file)}"] if results.adult_file else []
    return " ".join(["ggdp reproduce", results.what, *flags, f"--seed {results.seed} --out DIR"])
