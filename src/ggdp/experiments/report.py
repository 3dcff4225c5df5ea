"""The report: one HTML file with everything in it, for the screen in two themes and for paper.

It needs no network, no font and no library: the style sheet is beside this module, pictures are SVG inside the page,
and the one script changes the theme. Without it the page follows the reader's system.
"""

from __future__ import annotations

import math
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from ggdp.experiments.report_tables import count_table, svm_table
from ggdp.experiments.results import VERDICTS
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
NOT_PRIVATE = "not differentially private, for reproduction only"
SECTIONS = {"2": "The generalized Gaussian mechanism", "3": "The Gaussian mechanism", "4": "Experiments"}
# Where the theory ends in the order of the figures.
SECTION_2 = ("densities", "bounded", "lower-bounds", "exponential")
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
    body = [_summary(results), _theory(results), *_experiments(results), _claims(results), _errata(results)]
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
        inner = "".join(f'<li><a href="#{place}">{as_html(words)}</a></li>' for place, words in below)
        return f'<li><a href="#{anchor}">{escape(name)}</a>{f"<ol>{inner}</ol>" if inner else ""}</li>'

    entries = [entry("summary", "Summary")]
    theory = [(f"figure-{one.key}", one.title) for one in _theory_drawings(results)]
    if theory:
        entries.append(entry("theory", "Sections 2 and 3", theory))
    data = [(f"data-{name}", NAMES[name]) for name in NAMES if name in results.counts]
    if data:
        entries.append(entry("experiments", "Section 4: experiments", data))
    if results.claims:
        below = [(f"claims-{number}", words) for number, words in SECTIONS.items()]
        entries += [entry("claims", "Claims and verdicts", below), entry("errata", "Errata")]
    entries.append(entry("making", "How it was made"))
    return f'<nav class="contents" aria-label="Contents">\n<h2>Contents</h2>\n<ol>{"".join(entries)}</ol>\n</nav>'


def _summary(results: Results) -> str:
    counted = {verdict: sum(claim.verdict == verdict for claim in results.claims) for verdict in VERDICTS}
    tally = "".join(
        f'<li class="{CLASSES[verdict][0]}"><b>{number}</b><span>{verdict}</span></li>'
        for verdict, number in counted.items()
    )
    parts = ['<section id="summary">\n<h2>Summary</h2>']
    if results.claims:
        parts.append(
            f"<p>Of {len(results.claims)} claims of the paper, each computed anew in this run, so many hold, hold "
            "under a "
            f'condition that the paper does not state, or do not hold as stated:</p>\n<ul class="tally">{tally}</ul>'
        )
    parts.append(
        "<p>The ideas of the paper stand, and most of its readings of its own figures with them. What does not stand "
        "are several printed formulas, what it says of bounding after probabilistic DP, and the comparison of "
        "approximate with probabilistic DP: the least noise for approximate DP is far below both formulas that the "
        "paper compares.</p>"
        if results.claims
        else ""
    )
    parts.append(
        '<p class="note plain">The experiments do what the paper did: noise for add/remove neighbours, then clipped to '
        "[0, n] and scaled to n. Publishing n fits replace-one neighbours, so the releases of ggdp refuse it; here it "
        "is done to compare. The honest versions stand in the same tables.</p>"
    )
    if "adult" in results.counts or results.svm is not None:
        parts.append(
            f'<p class="note"><strong>The adult experiment is {NOT_PRIVATE}:</strong> sanitising the non-empty cells '
            "alone shows which cells are empty.</p>"
        )
    parts += [f'<p class="note plain">{escape(note)}</p>' for note in results.notes]
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
    return (
        f'<figure id="figure-{one.key}">\n<span class="place">{escape(one.place)}</span>\n'
        f'<div class="frame" role="group" tabindex="0" aria-label="{escape(one.title)}">{one.svg}</div>\n'
        f"<figcaption><strong>{as_html(one.title)}.</strong> {as_html(one.caption)}"
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
        mark = f' <span class="mark">({NOT_PRIVATE})</span>' if adult else ""
        parts.append(f'<h3 id="data-{name}">{NAMES[name]}{mark}</h3>\n<p>{escape(WORDS[name])}</p>')
        if adult:
            parts.append(f'<p class="note"><strong>{NOT_PRIVATE[:1].upper()}{NOT_PRIVATE[1:]}.</strong></p>')
        parts += [_figure(results, one) for one in results.drawings if one.key.startswith(f"{name}-")]
        parts.append(count_table(run, NAMES[name], NOT_PRIVATE if adult else ""))
        if adult and results.svm is not None:
            parts.append(svm_table(results.svm, NOT_PRIVATE))
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
    condition = f'<p class="condition">… {as_html(claim.condition)}.</p>' if claim.condition else ""
    return (
        f'<li id="claim-{claim.key}"><div>{badge(claim)}</div>\n<div><p '
        f'class="said">{as_html(claim.claim)}</p>{condition}'
        f'<p class="measured">{as_html(claim.measured)}</p><p class="place">{escape(claim.place)}{link}</p></div></li>'
    )


def _errata(results: Results) -> str:
    wrong = [claim for claim in results.claims if claim.verdict in ("does not hold", "holds only if")]
    if not wrong:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(claim.place)}</th><td>{as_html(claim.claim)}'
        f"{f'<small>… {as_html(claim.condition)}</small>' if claim.condition else ''}</td>"
        f'<td><a href="#claim-{claim.key}">{badge(claim)}</a></td></tr>'
        for claim in wrong
    )
    return (
        '<section id="errata">\n<h2>Errata</h2>\n<p>What does not stand as printed, from the claims above; a verdict '
        "leads to its numbers. The page “Errata to the paper” of the documentation has every formula with its "
        "correction, misprints included.</p>\n"
        '<div class="wide errata"><table><thead><tr><th scope="col">place</th><th scope="col">as the paper has it</th>'
        f'<th scope="col">verdict</th></tr></thead><tbody>{rows}</tbody></table></div>\n</section>'
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
        number, error = _raw_errors(results)
        facts["Check"] = f"{number} mean distances of raw noise, at most {error:.1f} standard errors from closed forms"
    made = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    command = f"ggdp reproduce {results.what}{' --quick' if results.quick else ''} --seed {results.seed} --out DIR"
    listed = "".join(f"<li>{escape(name)}</li>" for name in files_written)
    return (
        '<section id="making">\n<h2>How it was made</h2>\n'
        f"<p><code>{escape(command)}</code></p>\n"
        '<p class="prose">Every data set, mechanism, epsilon, delta and block of repeats has a stream of random '
        "numbers of its own, from the seed and these names. With the same seed and the same versions the files below "
        "are the same to "
        f'the last byte, whatever else is run and on however many cores.</p>\n<dl class="made">{made}</dl>\n'
        + (f'<p>All numbers are beside this page:</p>\n<ul class="files">{listed}</ul>\n' if listed else "")
        + "</section>"
    )


def _raw_errors(results: Results) -> tuple[int, float]:
    """Return how many mean l_1 distances before any adjustment there are, and the largest error in standard errors."""
    found = [
        float(abs(row["l1_mean"] - row["l1_expected"]) / (row["l1_sd"] / math.sqrt(row["repeats"])))
        for run in results.counts.values()
        for row in run.rows
        if row["l1_expected"] is not None
    ]
    return len(found), max(found)
