"""The report: one HTML file with everything in it, for the screen in two themes and for paper.

Verdicts come first, and long tables are folded. The page needs no network, no font and no library: the style sheet is
beside this module, pictures are SVG inside the page, and the one script changes the theme and unfolds what a link leads
to. Without it the page follows the reader's system.
"""

from __future__ import annotations

import math
import re
import shlex
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from ggdp.paper.experiments.adult_split import NOT_PRIVATE
from ggdp.paper.experiments.count_distances import JEFFREYS
from ggdp.paper.report.errata import errata
from ggdp.paper.report.report_claims import SECTIONS, claims_section, not_standing, wrong_section
from ggdp.paper.report.report_parts import CLASSES, HINT, MARK, file_link, fold
from ggdp.paper.report.tables import count_table, svm_table
from ggdp.paper.report.typography import as_html
from ggdp.paper.results import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ggdp.paper.results import Drawing, Results

__all__ = ["report_html"]

NAMES = {"mildew": "Mildew", "czech": "Czech autoworkers", "adult": "Adult"}
WORDS = {
    "mildew": "Parental alleles at 6 loci for 70 strands of barley powdery mildew: 64 cells, 22 of them not empty "
    "(Edwards 2000).",
    "czech": "Six risk factors for coronary thrombosis in 1,841 workers of a Czechoslovakian car factory: 64 cells, "
    "one of them empty (Edwards and Havranek 1985; Reinis et al. 1981).",
    "adult": "Census Income, 1994 (Becker and Kohavi 1996, doi 10.24432/C5XW20): the complete rows, less those with a "
    "capital gain of 99,999, two thirds of them for training. Only the non-empty cells are sanitised, as the paper "
    "did.",
}
# A picture that is wider than this, in points, has to be scrolled on a phone.
NARROW = 300.0
SCRIPT = """
(function () {
  var root = document.documentElement, button = document.querySelector(".switch");
  function dark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }
  function name() { button.textContent = dark() ? "Light" : "Dark"; }
  try { var kept = localStorage.getItem("ggdp-theme"); if (kept) { root.dataset.theme = kept; } } catch (e) {}
  button.hidden = false; name();
  button.addEventListener("click", function () {
    root.dataset.theme = dark() ? "light" : "dark"; name();
    try { localStorage.setItem("ggdp-theme", root.dataset.theme); } catch (e) {}
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  function unfold() {
    var place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place) { return; }
    for (var one = place; one; one = one.parentElement) { if (one.tagName === "DETAILS") { one.open = true; } }
    place.scrollIntoView();
  }
  addEventListener("hashchange", unfold); unfold();
  addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (one) { one.open = true; });
  });
})();
"""


def report_html(results: Results, files_written: Sequence[str] = ()) -> str:
    """Return the report of a run as one HTML document.

    Parameters
    ----------
    results : Results
        A run, with its figures drawn and its claims judged.
    files_written : sequence of str
        Names of the files with all numbers, in the same directory: the page links to them.

    Examples
    --------
    >>> from ggdp.paper.results import Results
    >>> page = report_html(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1))
    >>> page.startswith("<!doctype html>"), "http:" in page
    (True, False)
    """
    verdicts = [_summary(results), wrong_section(results), claims_section(results)]
    body = [_theory(results, files_written), *_experiments(results, files_written), _errata()]
    sections = [section for section in [*verdicts, *body, _making(results, files_written)] if section]
    style = files("ggdp.paper.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
    # Whatever is written into the page, it can load nothing.
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<title>The generalized Gaussian mechanism, reproduced</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#summary">Skip to the summary</a>\n<div class="page">\n'
        f'{_header(results)}\n<div class="columns">\n{_contents(results)}\n<main>\n'
        + "\n".join(sections)
        + f"\n<footer><p>Made by ggdp {escape(results.versions.get('ggdp', ''))}. Everything here is a simulation "
        "from a seed: nothing of it is a release, and nothing has a guarantee.</p></footer>"
        f"\n</main>\n</div>\n</div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _header(results: Results) -> str:
    facts = [
        ("ggdp", results.versions.get("ggdp", "")),
        ("seed", str(results.seed)),
        ("repeats", f"{results.repeats:,}"),
        ("classifier repeats", str(results.svm_repeats)) if results.svm is not None else ("", ""),
        ("run", f"{results.what}, quick" if results.quick else results.what),
    ]
    shown = "".join(f"<li>{escape(name)} <b>{escape(value)}</b></li>" for name, value in facts if name)
    return (
        '<header class="top">\n<button class="switch" type="button" hidden aria-label="Change the '
        'theme">Dark</button>\n'
        "<h1>The generalized Gaussian mechanism, reproduced and judged</h1>\n"
        '<p class="lead">F. Liu, <cite>Generalized Gaussian Mechanism for Differential Privacy</cite>, arXiv '
        "1602.06028, version 5: its figures and experiments run anew, with tight, exact and honest versions beside "
        "them, and a verdict "
        f'on every claim of its text that can be measured.</p>\n<ul class="facts">{shown}</ul>\n</header>'
    )


def _contents(results: Results) -> str:
    def entry(anchor: str, name: str, below: Iterable[tuple[str, str]] = ()) -> str:
        inner = "".join(
            f'<li><a href="#{place}">{as_html(words)}</a>{MARK if place == "data-adult" else ""}</li>'
            for place, words in below
        )
        return f'<li><a href="#{anchor}">{escape(name)}</a>{f"<ol>{inner}</ol>" if inner else ""}</li>'

    entries = [entry("summary", "Summary")]
    if not_standing(results):
        entries.append(entry("not-standing", "What does not stand"))
    if results.claims:
        present = {claim.section for claim in results.claims}
        below = [(f"claims-{number}", words) for number, words in SECTIONS.items() if f"Section {number}" in present]
        entries.append(entry("claims", "Claims and verdicts", below))
    theory = [(f"figure-{one.key}", one.title) for one in _theory_drawings(results)]
    if theory:
        entries.append(entry("theory", "Sections 2 and 3", theory))
    data = [(f"data-{name}", NAMES[name]) for name in NAMES if name in results.counts]
    if data:
        entries.append(entry("experiments", "Section 4: experiments", data))
    entries += [entry("errata", "Errata"), entry("making", "How it was made")]
    return f'<nav class="contents" aria-label="Contents">\n<h2>Contents</h2>\n<ol>{"".join(entries)}</ol>\n</nav>'


def _summary(results: Results) -> str:
    counted = {verdict: sum(claim.verdict == verdict for claim in results.claims) for verdict in VERDICTS}
    tally = "".join(
        f'<li class="{CLASSES[verdict][0]}"><b>{number}</b><span>{verdict}</span></li>'
        for verdict, number in counted.items()
    )
    parts = ['<section id="summary">\n<h2>Summary</h2>']
    if results.claims:
        open_ = counted["not measured"]
        measured = "all were measured" if not open_ else f"{len(results.claims) - open_} were measured"
        left = " The others need parts or repeats that were not run, or cannot be decided." if open_ else ""
        parts.append(
            f"<p>Of {len(results.claims)} claims of the paper, {measured} in this run.{left} A claim holds, holds only "
            "under a condition that the paper does not state, or does not hold as "
            f'stated:</p>\n<ul class="tally">{tally}</ul>'
        )
    if results.counts:
        parts.append(
            '<p class="note plain">The experiments do what the paper did: noise for add/remove neighbours, then '
            "clipped to [0, n] and scaled to n. Publishing n fits replace-one neighbours, so the releases of ggdp "
            "refuse it; here it is done to compare. The honest versions stand in the same tables.</p>"
        )
    parts += [
        f'<p class="{"note" if NOT_PRIVATE in note else "note plain"}">{escape(note)}</p>' for note in results.notes
    ]
    return "\n".join(part for part in parts if part) + "\n</section>"


def _theory_drawings(results: Results) -> list[Drawing]:
    data = tuple(results.counts)
    return [one for one in results.drawings if not one.key.startswith(data or ("-",))]


def _theory(results: Results, written: Sequence[str]) -> str:
    drawings = _theory_drawings(results)
    if not drawings:
        return ""
    return (
        '<section id="theory">\n<h2>Sections 2 and 3: the mechanisms</h2>\n'
        + "\n".join(_figure(results, one, written) for one in drawings)
        + "\n</section>"
    )


def _figure(results: Results, one: Drawing, written: Sequence[str]) -> str:
    about = [claim for claim in results.claims if claim.figure == one.key]
    links = ", ".join(f'<a href="#claim-{claim.key}">{escape(_place(claim.key))}</a>' for claim in about)
    width = re.search(r"--width: ([\d.]+)px", one.svg)
    wide = width is not None and float(width[1]) > NARROW
    mark = MARK if one.key.startswith("adult-") else ""
    numbers = f"figure-{one.key}.csv"
    return (
        f'<figure id="figure-{one.key}">\n<span class="place">{escape(one.place)}{mark}</span>\n'
        f'<div class="frame" role="group" tabindex="0" aria-label="{escape(one.title)}">{one.svg}</div>\n'
        f"{HINT if wide else ''}<figcaption><strong>{as_html(one.title)}.</strong> {as_html(one.caption)}"
        f"{f' Claims: {links}.' if links else ''}{f' Numbers: {file_link(numbers)}.' if numbers in written else ''}"
        "</figcaption>\n</figure>"
    )


def _place(key: str) -> str:
    return key.replace("-", " ")


def _experiments(results: Results, written: Sequence[str]) -> list[str]:
    shown = [name for name in NAMES if name in results.counts]
    if not shown:
        return []
    parts = ['<section id="experiments">\n<h2>Section 4: experiments</h2>']
    for name in shown:
        run = results.counts[name]
        adult = name == "adult"
        mark = MARK if adult else ""
        parts.append(f'<h3 id="data-{name}">{NAMES[name]}{mark}</h3>\n<p>{escape(WORDS[name])}</p>')
        if adult:
            parts.append(f'<p class="note"><strong>{NOT_PRIVATE[:1].upper()}{NOT_PRIVATE[1:]}.</strong></p>')
        parts += [_figure(results, one, written) for one in results.drawings if one.key.startswith(f"{name}-")]
        table = count_table(run, NAMES[name], NOT_PRIVATE if adult else "", results.prior)
        parts.append(fold(f"Table: distances and divergences, {NAMES[name]}{mark}", HINT + table))
        if adult and results.svm is not None:
            table = svm_table(results.svm, NOT_PRIVATE)
            parts.append(fold(f"Table: accuracy of the classifier{mark}", HINT + table))
    return ["\n".join(parts) + "\n</section>"]


def _errata() -> str:
    """Return the formulas with their corrections, all of them."""
    rows = "".join(
        f'<tr><th scope="row">{escape(one.place)}</th><td data-name="printed">{escape(one.printed)}</td>'
        f'<td data-name="right">{escape(one.right)}</td></tr>'
        for one in errata()
    )
    table = (
        '<div class="wide errata"><table><thead><tr><th scope="col">place</th><th scope="col">printed</th>'
        f'<th scope="col">right</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    return (
        '<section id="errata">\n<h2>Errata</h2>\n<p>The formulas that do not stand as printed in version 5, misprints '
        "included, and what is right. Equations are named as in the paper's source.</p>\n"
        f"{fold(f'Table: {len(errata())} corrections', table)}\n</section>"
    )


def _making(results: Results, files_written: Sequence[str]) -> str:
    facts = {
        "Seed": str(results.seed),
        "Repeats": f"{results.repeats:,} of the counts, {results.svm_repeats} of the classifier",
        **results.versions,
    }
    if results.bounds is not None:
        facts["Monte Carlo"] = f"{results.bounds.draws:,} draws a scale"
    if results.counts:
        facts["Divergence"] = (
            f"KL(original ‖ sanitised), and back in counts.csv; Dirichlet prior {results.prior:g} a cell"
        )
        number, error = _raw_errors(results)
        if number:
            facts["Check"] = (
                f"{number} mean distances of raw noise, at most {error:.1f} standard errors from closed forms"
            )
    if results.adult:
        facts["Adult"] = f"{results.adult['train']:,} training and {results.adult['test']:,} test rows; {NOT_PRIVATE}"
    made = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    listed = "".join(
        f"<li>{file_link(name)}{MARK if 'adult' in name or name == 'svm.csv' else ''}</li>" for name in files_written
    )
    return (
        '<section id="making">\n<h2>How it was made</h2>\n'
        f"<p><code>{escape(_command(results))}</code></p>\n"
        '<p class="prose">Every data set, mechanism, epsilon, delta and block of repeats has a stream of random '
        "numbers of its own, from the seed and these names. With the same seed and the same versions the files below "
        "are the same to "
        f'the last byte, whatever else is run and on however many cores.</p>\n<dl class="made">{made}</dl>\n'
        + (f'<p>All numbers are beside this page:</p>\n<ul class="files">{listed}</ul>\n' if listed else "")
        + "</section>"
    )


def _command(results: Results) -> str:
    """Return the command that makes this report again, or the call where no command can."""
    if (results.epsilons, results.deltas, results.prior) != (None, None, JEFFREYS):
        return (
            f"reproduce({results.what!r}, quick={results.quick}, repeats={results.repeats}, "
            f"svm_repeats={results.svm_repeats}, seed={results.seed}, epsilons={results.epsilons}, "
            f"deltas={results.deltas}, prior={results.prior:g}"
            f"{f', adult_path=Path({results.adult_file!r})' if results.adult_file else ''})"
        )
    flags = ["--quick"] if results.quick else []
    flags.append(f"--repeats {results.repeats}")
    if results.what in ("adult", "all"):
        flags.append(f"--svm-repeats {results.svm_repeats}")
        flags += [f"--adult {shlex.quote(results.adult_file)}"] if results.adult_file else []
    return f"ggdp reproduce {results.what} {' '.join(flags)} --seed {results.seed} --out DIR"


def _raw_errors(results: Results) -> tuple[int, float]:
    """Return how many mean l_1 distances before any adjustment there are, and the largest error in standard errors.

    Few repeats of coarse noise may all be alike; without a spread there is nothing to compare with.
    """
    found = [
        float(abs(row["l1_mean"] - row["l1_expected"]) / (row["l1_sd"] / math.sqrt(row["repeats"])))
        for run in results.counts.values()
        for row in run.rows
        if row["l1_expected"] is not None and row["l1_sd"] > 0.0
    ]
    return len(found), max(found, default=0.0)
