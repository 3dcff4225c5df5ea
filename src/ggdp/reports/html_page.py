"""The report as one HTML file, made for print; it needs no network, no font and no script.

The page is the template ``templates/report.html``; this module computes what it shows. All text is escaped, since names
of columns, levels and the publisher's answers may contain anything, and an unknown name in a template is an error.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import frozen
from markupsafe import Markup

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.reports.sign_off import disclosures, one_in, percent_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment

    from ggdp.privacy import Guarantee
    from ggdp.reports.published import Estimate, PublishedRelease, PublishedTable, Row
    from ggdp.reports.sign_off import BudgetFacts, Disclosure, Report


def html_environment(package: str) -> Environment:
    """Return an environment for the templates of a package."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


# The sign and the words of each mark.
MARKS = {
    "proved": ("●", "proved"),
    "measured": ("◐", "measured"),
    "answered": ("✎", "answered by you"),
    "open": ("○", "you must answer"),
}
# Columns of estimates that a row of print has room for.
MOST_ESTIMATES = 5
# Pixels of the picture of an interval.
_WIDE, _HIGH = 150.0, 14.0


@frozen(kw_only=True)
class _Learnt:
    """What can be learnt under one guarantee."""

    guarantee: Guarantee
    facts: tuple[Disclosure, ...]


def page_html(report: Report) -> str:
    """Return the page of a report."""
    learnt = [_Learnt(guarantee=one, facts=disclosures(one, unit)) for one, unit in report.learnt_of]
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            product=report.deployment.product,
            title=report.deployment.product.get("name", "Release under differential privacy"),
            byline=_byline(report),
            brief=_brief(report),
            learnt=learnt,
            errors={release.path: list(_errors(release)) for release in report.releases},
            levels=_levels(report),
            tally=_tally(report),
            versions=_versions(report),
        )
    )


@cache
def _environment() -> Environment:
    environment = html_environment("ggdp.reports")
    environment.filters |= {
        "at_most": _at_most,
        "percent_up": percent_up,
        "one_in": one_in,
        "up": rounded_up_text,
        "number": _number,
    }
    environment.globals |= {
        "MARKS": MARKS,
        "MOST_ESTIMATES": MOST_ESTIMATES,
        "files": _files,
        "interval": _interval,
        "origin": _origin,
        "promise": _promise,
    }
    return environment


def _levels(report: Report) -> dict[str, dict[str, list[Any]]]:
    """Return the rows of the pyramid by level and component."""
    found: dict[str, dict[str, list[Any]]] = {}
    for row in report.rows:
        found.setdefault(row.level, {}).setdefault(row.component, []).append(row)
    return found


def _tally(report: Report) -> dict[str, int]:
    rows = report.rows
    return {mark: sum(row.mark == mark for row in rows) for mark in MARKS}


def _versions(report: Report) -> str:
    return ", ".join(sorted({release.version for release in report.releases}))


def _byline(report: Report) -> str:
    """Return who publishes, and when."""
    said = [curator["name"] for curator in report.deployment.curators if "name" in curator]
    if "published" in report.deployment.product:
        said.append(f"published {report.deployment.product['published'].isoformat()}")
    said.append(f"report of {report.made.isoformat()}")
    text = " · ".join(said)
    return f"{text[0].upper()}{text[1:]}"


def _brief(report: Report) -> dict[str, list[str]]:
    """Return the report in a few lines, by what each is about."""
    releases, total, rows = report.releases, report.total, _tally(report)
    certified = sum(release.certificate is not None for release in releases)
    certificates = f"{certified} of {len(releases)} proved again for this page, {report.made.isoformat()}"
    if certified < len(releases):
        certificates += "; a selection has none, its proof is a theorem"
    found = {
        "Published": [*(release.contents for release in releases), "All of it carries random noise."],
        "Protected": list(dict.fromkeys(f"{one.protected[0].upper()}{one.protected[1:]}" for one in releases)),
        "Privacy loss": [f"no total exists: {total.refusal}"] if total.basic is None else _loss(report, total.basic),
        "Error": [f"{release.name}: {_short_error(release)}" for release in releases],
        "Certificates": [certificates],
    }
    if report.budget is not None:
        found["Budget"] = [f"{report.budget.spent} spent of {report.budget.budget}; the ledger's records are intact"]
    counted = ", ".join(f"{number} {'open' if mark == 'open' else MARKS[mark][1]}" for mark, number in rows.items())
    return {**found, "Questions": [counted]}


def _loss(report: Report, total: Guarantee) -> list[str]:
    """Return epsilon and delta as people read them, and what they allow somebody to learn."""
    loss = f"epsilon {rounded_up_text(total.epsilon, 6)}"
    if total.delta != 0.0:
        loss += f", delta {rounded_up_text(total.delta, 6)} ({one_in(total.delta)})"
    first = disclosures(total, report.releases[0].unit)[0]
    before, after = first.beliefs[-1]
    fact = f"{first.fact[0].upper()}{first.fact[1:]}"
    return [loss, f"{fact}: {percent_up(before)} sure before, {_at_most(after)} sure after."]


def _short_error(release: PublishedRelease) -> str:
    if release.is_selection:
        return "a random choice"
    if release.half_width is None:
        return "each number has its own 95 % interval"
    what = "counts" if release.request is not None else "values"
    return f"95 of 100 noisy {what} within ±{rounded_up_text(release.half_width, 6)}"


def _at_most(share: float) -> str:
    """Return a bound on a share in words."""
    said = percent_up(share)
    return said if said.startswith("more than") else f"at most {said}"


def _origin(release: PublishedRelease, budget: BudgetFacts | None) -> str:
    """Return what a release is, which version made it, and what it was charged to."""
    cells = "" if release.cells is None else f": {release.cells:,} cells"
    said = f"{release.contents}{cells}. Made by ggdp {release.version}"
    if budget is not None and release.path in budget.entries:
        entry = budget.entries[release.path]
        asked = f" by {entry.analyst}" if entry.analyst else ""
        return f"{said}, charged on {_minute(entry.time)} as entry {entry.number} of the ledger{asked}."
    if release.entry is not None:
        opened = "which was not opened for this page" if budget is None else "another one than that of this page"
        return f"{said}, charged as entry {release.entry['entry']} of the ledger {release.entry['identity']}, {opened}."
    return f"{said}."


def _files(release: PublishedRelease, budget: BudgetFacts | None) -> Iterator[str]:
    """Yield what was found of the files of a release."""
    states = {
        "same": "unchanged since the release (digest checked)",
        "changed": "CHANGED after the release (its digest differs)",
        "absent": "not beside the manifest, not checked",
    }
    for table in release.tables:
        if table.file is not None:
            yield f"{table.file}: {states[table.state]}"
    recorded = budget is not None and release.path in budget.recorded
    yield f"Manifest, SHA-256 {release.digest}" + (", as the ledger recorded it" if recorded else "")
    if release.signature is not None:
        unknown = "" if release.signature.signer else "; nobody has said whose key that is"
        yield f"Signature of the manifest: {release.signature}{unknown}"


def _promise(release: PublishedRelease) -> str:
    """Return whom a guarantee is about, in plain words."""
    changed = "had other values" if release.part.neighbours == "replace-one" else "were missing"
    said = f"The promise covers {release.protected}. Every result would be nearly as likely if that part {changed}."
    if release.protects_rows:
        said += " Somebody with several rows is protected less: the privacy loss counts once for each row."
    return said


def _errors(release: PublishedRelease) -> Iterator[str]:
    """Yield sentences on how far the numbers of a release can be off."""
    if release.is_selection:
        yield "One candidate was drawn at random, better ones with a larger probability; it need not be the best."
        return
    if release.half_width is not None:
        half = rounded_up_text(release.half_width, 6)
        what = "counts" if release.request is not None else "values"
        yield f"95 of 100 noisy {what} are within ±{half} of the {what} without noise."
    for table in release.tables:
        yield from _example(table)
        for name in table.estimates:
            if name != "count" or release.half_width is None:
                yield from _measured(table, name)
        if table.covers is not None:
            allowed = release.request is not None and release.request["count_cut"] is not None
            left_out = "They allow for what is left out of the counts" if allowed else "What is left out is not in them"
            yield f"The intervals of {table.name} cover: {table.covers}. {left_out}."
    if release.half_width is None and not any(table.rows for table in release.tables):
        yield "Every number is published with its 95 % interval; the file was not beside the manifest to look them up."


def _example(table: PublishedTable) -> Iterator[str]:
    """Yield how to read a published number."""
    if not table.rows or "count" not in table.estimates:
        return
    row = table.rows[0]
    found = row.estimates["count"]
    if found.value is None or found.lower is None or found.upper is None:
        return
    cell = ", ".join(row.cell) or "all rows"
    # No count is below 0, so that an interval may be cut off there.
    low, high = (_number(max(0.0, end)) for end in (found.lower, found.upper))
    yield f"Example: the published {_number(found.value)} ({cell}) is most likely {low} to {high} without the noise."


def _measured(table: PublishedTable, name: str) -> Iterator[str]:
    """Yield the half-widths of an estimate, as the published file has them."""
    widths = table.half_widths(name)
    if not widths:
        return
    said = f"{name.replace('_', ' ', 1)} {'by' if table.by else 'of'} {table.name}"
    middle, worst = rounded_up_text(widths[len(widths) // 2]), rounded_up_text(widths[-1])
    if middle == worst:
        yield f"{said}: ±{worst} at 95 %."
    else:
        yield f"{said}: ±{middle} at 95 % in the middle cell, ±{worst} in the worst."


def _number(value: float | None) -> str:
    """Return a published number as people read it, with a true minus."""
    if value is None:
        return "–"
    said = f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else rounded_text(value, 6)
    return said.replace("-", "−")


def _minute(time: str) -> str:
    """Return a time of a ledger to the minute."""
    return f"{time[:16].replace('T', ' ')} UTC"


def _interval(row: Row, rows: Sequence[Row], name: str) -> Markup | str:
    """Return the picture of an interval, on the scale of all rows that are shown."""
    ends = [end for one in rows for end in _ends(one.estimates[name])]
    here = _ends(row.estimates[name])
    if not here or not ends:
        return ""
    low, high = min(0.0, *ends), max(0.0, *ends)
    across = (_WIDE - 8.0) / ((high - low) or 1.0)

    def place(value: float) -> str:
        return f"{4.0 + (value - low) * across:.1f}"

    left, right, value = place(here[0]), place(here[1]), row.estimates[name].value
    bar = ""
    if value is not None:
        first, last = sorted((place(0.0), place(value)), key=float)
        bar = f'<rect x="{first}" y="3" width="{float(last) - float(first):.1f}" height="8"/>'
    # Made of numbers alone.
    return Markup(
        f'<svg class="interval" viewBox="0 0 {_WIDE:g} {_HIGH:g}" width="{_WIDE:g}" height="{_HIGH:g}" '
        f'aria-hidden="true">{bar}<path d="M{left} 4V10M{left} 7H{right}M{right} 4V10"/></svg>'
    )


def _ends(estimate: Estimate) -> list[float]:
    found = (estimate.lower, estimate.upper)
    return [end for end in found if end is not None] if None not in found else []
