"""The report: one HTML file with everything in it, for the screen in two themes and for paper.

It needs no network, no font and no library: the style sheet is beside this module, pictures are SVG inside the page,
and the one script changes the theme. Without it the page follows the reader's system.
"""

from __future__ import annotations

import math
import re
import shlex
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from ggdp.experiments.errata import errata
from ggdp.experiments.measures import JEFFREYS
from ggdp.experiments.report_tables import count_table, svm_table
from ggdp.experiments.results import VERDICTS
from ggdp.experiments.split import NOT_PRIVATE
from ggdp.experiments.typography import as_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ggdp.experiments.results import Claim, Drawing, Results, Verdict

__all__ = ["report_html"]

CLASSES: dict[Verdict, tuple[str, str]] = {
    "holds": ("holds", "✓"),
    "holds only if": ("only", "◐"),
    "does not hold": ("fails", "✕"),
    "not measured": ("open", "–"),
}
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
MARK = f' <span class="mark">({NOT_PRIVATE})</span>'
SECTIONS = {
    "2": "The generalized Gaussian mechanism",
    "3": "The Gaussian mechanism",
    "4": "Experiments",
    "5": "Discussion",
}
HINT = '<p class="hint" aria-hidden="true">⟷ scroll sideways to see all of it</p>\n'
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
})();
"""


def report_html(results: Results, files_written: Sequence[str] = ()) -> str:
    """Return the report of a run as one HTML document.

    Parameters
    ----------
    results : Results
        A run, with its figures drawn and its claims judged.
    files_written : sequence of str
        Names of the files with all numbers, which are listed at the end.

    Examples
    --------
    >>> from ggdp.experiments.results import Results
    >>> page = report_html(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1))
    >>> page.startswith("<!doctype html>"), "http:" in page
    (True, False)
    """
    body = [_summary(results), _theory(results), *_experiments(results), _claims(results), _wrong(results), _errata()]
    sections = [section for section in [*body, _making(results, files_written)] if section]
    style = files("ggdp.experiments").joinpath("report.css").read_text(encoding="utf-8")
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
    theory = [(f"figure-{one.key}", one.title) for one in _theory_drawings(results)]
    if theory:
        entries.append(entry("theory", "Sections 2 and 3", theory))
    data = [(f"data-{name}", NAMES[name]) for name in NAMES if name in results.counts]
    if data:
        entries.append(entry("experiments", "Section 4: experiments", data))
    if results.claims:
        present = {claim.section for claim in results.claims}
        below = [(f"claims-{number}", words) for number, words in SECTIONS.items() if f"Section {number}" in present]
        entries.append(entry("claims", "Claims and verdicts", below))
    if _not_standing(results):
        entries.append(entry("not-standing", "What does not stand"))
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
        left = f"; for {open_} it takes what was not run, or more of it, or cannot be told" if open_ else ""
        parts.append(
            f"<p>Of {len(results.claims)} claims of the paper {measured} in this run{left}. So many hold, hold under a "
            f'condition that the paper does not state, or do not hold as stated:</p>\n<ul class="tally">{tally}</ul>'
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


def _theory(results: Results) -> str:
    drawings = _theory_drawings(results)
    if not drawings:
        return ""
    return (
        '<section id="theory">\n<h2>Sections 2 and 3: the mechanisms</h2>\n'
        + "\n".join(_figure(results, one) for one in drawings)
        + "\n</section>"
    )


def _figure(results: Results, one: Drawing) -> str:
    about = [claim for claim in results.claims if claim.figure == one.key]
    links = ", ".join(f'<a href="#claim-{claim.key}">{escape(_place(claim.key))}</a>' for claim in about)
    width = re.search(r"--width: ([\d.]+)px", one.svg)
    wide = width is not None and float(width[1]) > NARROW
    mark = MARK if one.key.startswith("adult-") else ""
    return (
        f'<figure id="figure-{one.key}">\n<span class="place">{escape(one.place)}{mark}</span>\n'
        f'<div class="frame" role="group" tabindex="0" aria-label="{escape(one.title)}">{one.svg}</div>\n'
        f"{HINT if wide else ''}<figcaption><strong>{as_html(one.title)}.</strong> {as_html(one.caption)}"
        f"{f' Claims: {links}.' if links else ''}</figcaption>\n</figure>"
    )


def _place(key: str) -> str:
    return key.replace("-", " ")


def _experiments(results: Results) -> list[str]:
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
        parts += [_figure(results, one) for one in results.drawings if one.key.startswith(f"{name}-")]
        parts.append(HINT + count_table(run, NAMES[name], NOT_PRIVATE if adult else "", results.prior))
        if adult and results.svm is not None:
            parts.append(HINT + svm_table(results.svm, NOT_PRIVATE))
    return ["\n".join(parts) + "\n</section>"]


def badge(claim: Claim) -> str:
    """Return the verdict of a claim as a badge, told by a sign and words as well as by its colour."""
    name, sign = CLASSES[claim.verdict]
    return f'<span class="badge {name}"><span aria-hidden="true">{sign}</span> {claim.verdict}</span>'


def _claims(results: Results) -> str:
    if not results.claims:
        return ""
    parts = ['<section id="claims">\n<h2>Claims and verdicts</h2>']
    for number, name in SECTIONS.items():
        found = [claim for claim in results.claims if claim.section == f"Section {number}"]
        if found:
            parts.append(f'<h3 id="claims-{number}">Section {number}: {escape(name)}</h3>\n<ol class="claims">')
            parts += [_claim(results, claim) for claim in found]
            parts.append("</ol>")
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


def _not_standing(results: Results) -> list[Claim]:
    return [claim for claim in results.claims if claim.verdict in ("does not hold", "holds only if")]


def _wrong(results: Results) -> str:
    """Return the claims that do not stand as printed, in a table."""
    wrong = _not_standing(results)
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
        '<section id="not-standing">\n<h2>What does not stand</h2>\n<p>The claims above that do not hold, or hold '
        "under a condition only; a verdict leads to its numbers.</p>\n"
        '<div class="wide errata verdicts"><table><thead><tr><th scope="col">place</th><th scope="col">as the paper '
        f'has it</th><th scope="col">verdict</th></tr></thead><tbody>{rows}</tbody></table></div>\n</section>'
    )


def _errata() -> str:
    """Return the formulas with their corrections, all of them."""
    rows = "".join(
        f'<tr><th scope="row">{escape(one.place)}</th><td data-name="printed">{escape(one.printed)}</td>'
        f'<td data-name="right">{escape(one.right)}</td></tr>'
        for one in errata()
    )
    return (
        '<section id="errata">\n<h2>Errata</h2>\n<p>The formulas that do not stand as printed in version 5, misprints '
        "included, and what is right. Equations are named as in the paper's source.</p>\n"
        '<div class="wide errata"><table><thead><tr><th scope="col">place</th><th scope="col">printed</th>'
        f'<th scope="col">right</th></tr></thead><tbody>{rows}</tbody></table></div>\n</section>'
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
        f"<li>{escape(name)}{MARK if 'adult' in name or name == 'svm.csv' else ''}</li>" for name in files_written
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
