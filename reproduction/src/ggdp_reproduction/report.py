"""The files of a run: the report, the claims, every number as CSV, and the figures.

==================  ======================================================================================
report.html         everything, for reading
claims.json         the claims with their verdicts
counts.csv          distances and divergences of sanitised counts, with the prior and the directions
svm.csv             accuracies of the classifier, one row a fit
facts.csv           what else the report says: sizes, cells, bins, the split, the prior, versions, seed, repeats
figure-....csv      the points of the figures
figure-....svg      the figures
==================  ======================================================================================

The report is one HTML file with everything in it, for the screen in two themes and for print: the template
``templates/report.html``, for which this module computes what it shows. It needs no network, no font and no library:
style sheet, script and pictures are inside the page. Without the script, which changes the theme and unfolds what a
link leads to, it follows the reader's system.

Plain text with the names of symbols becomes HTML with the symbols themselves:

==================  ==========================================
epsilon_2, Delta_p  Greek letters, with what they are marked by below
b^2, p^(1/p)        powers above the line
1e-4                a power of ten
>=, <=, x = -1      signs as they are set
==================  ==========================================

References
----------
Liu, arXiv 1602.06028 v5: ``errata.csv`` has the formulas that do not hold as printed, each with what is right, those of
the documentation's page on errata in its order.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ggdp.plots.inline_svg import svg_file
from ggdp_reproduction.adult_data import NOT_PRIVATE
from ggdp_reproduction.experiments.counts import ADJUSTMENT_LABELS, JEFFREYS
from ggdp_reproduction.experiments.sanitisers import ALL
from ggdp_reproduction.results import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from jinja2 import Environment

    from ggdp_reproduction.experiments.classifier import SvmRun
    from ggdp_reproduction.experiments.counts import Adjustment, CountRun
    from ggdp_reproduction.experiments.sanitisers import Sanitiser
    from ggdp_reproduction.results import Claim, Results, Row, Verdict

FORTH, BACK = "KL(original || sanitised)", "KL(sanitised || original)"
_FIGURES = (
    *(
        "densities",
        "lower-bounds",
        "bounded",
        "exponential",
        "plain-distance",
        "gaussian-bounds",
        "tail-ratio",
        "same-tail",
        "dispersion",
    ),
    *(f"{data}-{kind}" for data in ("mildew", "czech", "adult") for kind in ("counts", "errors", "all")),
    "adult-svm",
)
# Every name that a run may write; a later run in the same directory removes those that it does not write itself.
WRITTEN = (
    *("report.html", "claims.json", "counts.csv", "svm.csv", "facts.csv"),
    *(f"figure-{key}.csv" for key in _FIGURES if not key.endswith(("-errors", "-all", "-svm"))),
    *(f"figure-{key}.svg" for key in _FIGURES),
)
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
# Which rows a table has; the others are in the file of all numbers.
PAPER_ROWS: tuple[Adjustment, ...] = ("clip-rescale",)
OUR_ROWS: dict[str, tuple[Adjustment, ...]] = {
    "tight-gaussian-pdp": ("clip-rescale",),
    "analytic-gaussian": ("clip-rescale", "project"),
    "tight-gg3-adp": ("clip-rescale",),
    "integer-laplace": ("project", "clip-zero"),
    "integer-best": ("project", "clip-zero"),
    "replace-one-laplace": ("project",),
    "replace-one-gaussian": ("project",),
}
_GREEK = dict(
    zip(["epsilon", "delta", "sigma", "tau", "gamma", "Delta", "Gamma", "Phi", "sum"], "εδστγΔΓΦΣ", strict=True)
)
_MARKED = re.compile(r"\b(epsilon|delta|sigma|Delta|sum)_")
_LETTERS = re.compile(r"\b(" + "|".join(name for name in _GREEK if name != "sum") + r")(?![a-z])")
_BELOW = re.compile(r"(?<=[ΔεδσΣlscDpQ|])_([A-Za-z0-9*]+)")
# A full stop after a power ends the sentence.
_ABOVE = re.compile(r"\^(?:\(([^()]*)\)|([-−]?[A-Za-z0-9]+(?:\.[0-9]+)?))")
_TEN = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?)0*(\d+)\b")
_ROOT = re.compile(r"\bsqrt ?(?=[\d(a-z])")
_MINUS = re.compile(r"(?<![\w)\]|>*-])-(?=[\d.(A-Za-zΦ√|])")


def documents(results: Results) -> dict[str, bytes]:
    """Return the files of a run by their names: the report, the claims, all numbers, and the figures.

    Examples
    --------
    >>> from ggdp_reproduction.results import Results
    >>> sorted(documents(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1)))
    ['claims.json', 'facts.csv', 'report.html']
    """
    tables: dict[str, list[Row]] = {}
    if results.counts:
        about = {"prior": results.prior, "kl_direction": FORTH, "kl_back_direction": BACK}
        tables["counts.csv"] = [row | about for run in results.counts.values() for row in run.rows]
    if results.svm is not None:
        tables["svm.csv"] = [*results.svm.rows, *results.svm.controls()]
    tables["facts.csv"] = [{"about": about, "fact": fact, "value": value} for about, fact, value in _facts(results)]
    tables |= {f"figure-{one.key}.csv": one.rows for one in results.drawings if one.rows}
    claims = json.dumps([claim.to_dict() for claim in results.claims], indent=2, ensure_ascii=False)
    pictures = {f"figure-{one.key}.svg": svg_file(one.svg) for one in results.drawings}
    return {
        "report.html": report_html(results, ["claims.json", *tables, *pictures]).encode(),
        "claims.json": f"{claims}\n".encode(),
        **{name: _as_csv(rows) for name, rows in tables.items()},
        **pictures,
    }


def _facts(results: Results) -> Iterator[tuple[str, str, Any]]:
    """Yield what the report says beside the tables, as (about, fact, value)."""
    yield "run", "part", results.what
    yield "run", "quick", "yes" if results.quick else "no"
    yield "run", "seed", results.seed
    yield "run", "svm_repeats", results.svm_repeats
    yield "divergence", "prior", results.prior
    yield "divergence", "kl", FORTH
    yield "divergence", "kl_back", BACK
    for name, run in results.counts.items():
        yield name, "repeats", run.rows[0]["repeats"]
        yield name, "n", run.n
        yield name, "cells_sanitised", run.cells
        for fact in ("epsilon", "delta"):
            found = sorted({row[fact] for row in run.rows if row[fact] is not None})
            yield name, f"{fact}s", " ".join(f"{value:g}" for value in found)
    if results.adult or "adult" in results.counts:
        yield "adult", "private", f"no: {NOT_PRIVATE}"
    for fact, value in results.adult.items():
        yield "adult", fact, value
    if results.svm is not None:
        for fact in ("train", "test", "cells", "columns", "cost", "gamma", "original_accuracy", "support_accuracy"):
            yield "classifier", fact, getattr(results.svm, fact)
        yield "classifier", "private", f"no: {NOT_PRIVATE}"
    if results.bounds is not None:
        yield "lower bounds", "draws", results.bounds.draws
    for name, number in results.versions.items():
        yield "version", name, number


def _as_csv(rows: Iterable[Row]) -> bytes:
    """Return rows as CSV; floats so that they read back exactly, and nothing for None."""
    found = list(rows)
    names = list(dict.fromkeys(name for row in found for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue().encode()


def report_html(results: Results, files_written: Sequence[str] = ()) -> str:
    """Return the report of a run as one HTML document, with links to the files with all numbers in its directory."""
    wrong = [claim for claim in results.claims if claim.verdict in ("does not hold", "holds only if")]
    sections = []
    for number, name in SECTIONS.items():
        claims = [claim for claim in results.claims if claim.section == f"Section {number}"]
        if claims:
            sections.append({"number": number, "name": name, "claims": claims, "verdicts": _verdicts(claims)})
    theory = [one for one in results.drawings if not one.key.startswith((*results.counts, "-"))]
    experiments = [
        {
            "key": key,
            "name": name,
            "about": about,
            "drawings": [one for one in results.drawings if one.key.startswith(f"{key}-")],
            "table": _error_table(results.counts[key]),
        }
        for key, (name, about) in DATASETS.items()
        if key in results.counts
    ]
    below_experiments = [(f"data-{data['key']}", f"{data['name']}") for data in experiments]
    # Anchors with their names, what is below each, and whether there is any.
    contents: list[tuple[str, str, list[tuple[str, str]], object]] = [
        ("summary", "Summary", [], True),
        ("not-standing", "What does not hold", [], wrong),
        (
            "claims",
            "Claims and verdicts",
            [(f"claims-{one['number']}", str(one["name"])) for one in sections],
            sections,
        ),
        ("theory", "Sections 2 and 3", [(f"figure-{one.key}", one.title) for one in theory], theory),
        ("experiments", "Section 4: experiments", below_experiments, experiments),
        ("errata", "Errata", [], True),
        ("making", "How it was made", [], True),
    ]
    repeats: dict[str, Any] = {"repeats": _repeats(results)} if results.counts else {}
    if results.svm is not None:
        repeats["classifier repeats"] = results.svm_repeats
    return (
        environment()
        .get_template("report.html")
        .render(
            results=results,
            files=files_written,
            facts={
                "ggdp": results.versions.get("ggdp", ""),
                "seed": results.seed,
                **repeats,
                "run": f"{results.what}, quick" if results.quick else results.what,
            },
            contents=[(anchor, name, below) for anchor, name, below, present in contents if present],
            verdicts=_verdicts(results.claims),
            wrong=wrong,
            sections=sections,
            theory=theory,
            experiments=experiments,
            accuracies=None if results.svm is None else _accuracy_table(results.svm),
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
        loader=PackageLoader("ggdp_reproduction"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    def wide(svg: str) -> bool:
        width = re.search(r"--width: ([\d.]+)px", svg)
        return width is not None and float(width[1]) > NARROW

    environment.filters |= {"symbols": as_html, "sentence": sentence}
    environment.tests["wide"] = wide
    environment.globals |= {"BADGES": BADGES, "NOT_PRIVATE": NOT_PRIVATE}
    return environment


def errata() -> list[dict[str, str]]:
    """Return place, printed and right of all errata to the formulas, in the order of the paper."""
    text = files("ggdp_reproduction").joinpath("errata.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _verdicts(claims: Sequence[Claim]) -> dict[Verdict, int]:
    found = Counter(claim.verdict for claim in claims)
    return {verdict: found[verdict] for verdict in VERDICTS}


def _repeats(results: Results) -> str:
    """Return the repeats of the counts, with a name where data sets differ."""
    found = {name: f"{results.repeats_of(name):,}" for name in DATASETS if name in results.counts}
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    return ", ".join(f"{number} ({name})" for name, number in found.items())


def _made(results: Results) -> dict[str, str]:
    """Return what the numbers depend on."""
    facts = {"Seed": str(results.seed), **results.versions}
    if results.bounds is not None:
        facts["Monte Carlo"] = f"{results.bounds.draws:,} draws a scale"
    if results.counts:
        facts["Repeats"] = _repeats(results)
        prior = f"Dirichlet prior {results.prior:g} a cell"
        facts["Divergence"] = f"KL(original ‖ sanitised), and back in counts.csv; {prior}"
        # Of mean l_1 distances before any adjustment. Few repeats of coarse noise may all be alike, without a spread.
        errors = [
            float(abs(row["l1_mean"] - row["l1_expected"]) / (row["l1_sd"] / math.sqrt(row["repeats"])))
            for run in results.counts.values()
            for row in run.rows
            if row["l1_expected"] is not None and row["l1_sd"] > 0.0
        ]
        if errors:
            facts["Check"] = (
                f"{len(errors)} mean distances of raw noise, at most {max(errors):.1f} standard errors from closed "
                "forms"
            )
    if results.adult:
        facts["Adult"] = f"{results.adult['train']:,} training and {results.adult['test']:,} test rows; {NOT_PRIVATE}"
    return facts


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


def _error_table(run: CountRun) -> dict[str, Any]:
    """Return distances and divergences of one data set: rows by epsilon, columns by delta."""
    epsilons, deltas = _goals(run.rows)
    present = {row["sanitiser"] for row in run.rows}
    chosen = [
        (one, adjustment)
        for one in ALL
        if one.key in present
        for adjustment in (PAPER_ROWS if one.group == "paper" else OUR_ROWS.get(one.key, ()))
    ]
    adjusted = [row for row in run.rows if row["kl_mean"] is not None]
    # Distances in the tens of thousands say nothing after the point.
    l1 = "{:,.0f}" if max(row["l1_mean"] for row in adjusted) >= 10_000.0 else "{:,.1f}"
    l1_widest = max((l1.format(row["l1_sd"]) for row in adjusted), key=len)
    kl_widest = max((f"{1000.0 * row['kl_sd']:,.1f}" for row in adjusted), key=len)

    def table_row(one: Sanitiser, adjustment: Adjustment, epsilon: float) -> dict[str, Any]:
        found = [run.row(one.key, epsilon, delta, adjustment) for delta in _columns(one, deltas)]
        cells = [
            {
                "l1": l1.format(row["l1_mean"]),
                "l1_sd": _padded(l1.format(row["l1_sd"]), l1_widest),
                "kl": f"{1000.0 * row['kl_mean']:,.1f}",
                "kl_sd": _padded(f"{1000.0 * row['kl_sd']:,.1f}", kl_widest),
            }
            for row in found
        ]
        total = adjustment != "clip-zero" and one.neighbours == "add-remove"
        return _table_row(one, found, cells) | {"total": total, "adjustment": ADJUSTMENT_LABELS[adjustment]}

    groups = [(epsilon, [table_row(*one, epsilon) for one in chosen]) for epsilon in epsilons]
    return {"deltas": deltas, "groups": groups, "repeats": run.rows[0]["repeats"], "n": run.n, "cells": run.cells}


def _accuracy_table(run: SvmRun) -> dict[str, Any]:
    """Return accuracies of the classifier: rows by epsilon, columns by delta."""
    summary = {(row["sanitiser"], row["epsilon"], row["delta"]): row for row in run.summary()}
    epsilons, deltas = _goals(run.rows)

    def cell(row: dict[str, Any] | None) -> dict[str, str] | None:
        if row is None:
            return None
        change = f"{-100.0 * row['loss_mean']:+.2f}".replace("-", "−")
        return {
            "mean": f"{100.0 * row['accuracy_mean']:.2f}",
            "sd": "" if row["accuracy_sd"] is None else f"{100.0 * row['accuracy_sd']:.2f}",
            # Neither +0.00 nor -0.00.
            "change": "0.00" if change[1:] == "0.00" else change,
        }

    def rows(epsilon: float) -> Iterator[dict[str, Any]]:
        for one in ALL:
            found = [summary.get((one.key, epsilon, delta)) for delta in _columns(one, deltas)]
            if any(found):
                yield _table_row(one, found, [cell(row) for row in found])

    return {"deltas": deltas, "groups": [(epsilon, list(rows(epsilon))) for epsilon in epsilons]}


def _goals(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the different epsilons and deltas, rising."""
    return sorted({row["epsilon"] for row in rows}), sorted({row["delta"] for row in rows if row["delta"] is not None})


def _columns(one: Sanitiser, deltas: list[float]) -> list[float | None]:
    """Return the delta of each column; a mechanism without delta has the same numbers in all of them."""
    return [delta if one.uses_delta else None for delta in deltas]


def _table_row(one: Sanitiser, found: Sequence[Any], cells: Sequence[dict[str, str] | None]) -> dict[str, Any]:
    """Return a mechanism at one epsilon with a cell for each delta, and the mark of the classic formula misused."""
    outside = any("outside the domain" in (row["note"] or "") for row in found if row)
    return {"label": one.label, "ours": one.group == "ours", "outside": outside, "total": False, "cells": cells}


def _padded(number: str, widest: str) -> str:
    """Return a number with spaces before it for the digits and commas that the widest number has more."""
    missing = widest[: len(widest) - len(number)]
    return "".join("\N{PUNCTUATION SPACE}" if sign == "," else "\N{FIGURE SPACE}" for sign in missing) + number


def sentence(text: str) -> str:
    """Return words as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def as_html(text: str) -> Markup:
    """Return plain text as HTML.

    Examples
    --------
    >>> print(as_html("(epsilon, delta)-pDP at b^2 >= 1e-4 Delta_1"))
    (ε, δ)-pDP at b<sup>2</sup> ≥ 10<sup>−4</sup> Δ<sub>1</sub>
    """

    def power_of_ten(number: re.Match[str]) -> str:
        power = f"10<sup>{'−' if number[2] == '-' else ''}{number[3]}</sup>"
        return power if number[1] == "1" else f"{number[1]} × {power}"

    found = str(escape(text))
    found = _MARKED.sub(lambda word: f"{_GREEK[word[1]]}_", found)
    found = _LETTERS.sub(lambda word: _GREEK[word[1]], found)
    found = found.replace("+-", "±").replace("&gt;=", "≥").replace("&lt;=", "≤")
    found = _TEN.sub(power_of_ten, found)
    found = _ROOT.sub("√", found)
    found = _MINUS.sub("−", found)
    found = _BELOW.sub(r"<sub>\1</sub>", found)
    found = _ABOVE.sub(lambda power: f"<sup>{(power[1] or power[2]).replace('-', '−')}</sup>", found)
    return Markup(found.replace(" - ", " − "))
