"""The report as one HTML file, made for print; it needs no network, no font and no script.

The page is the template ``templates/report.html``; this module computes what it shows. All text is escaped, since names
of columns, levels and the publisher's answers may contain anything, and an unknown name in a template is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.reports.published import PublishedRelease, Row, capitalize
from ggdp.reports.sign_off import BudgetFacts, Report, disclosures, one_in, percent_up

if TYPE_CHECKING:
    from jinja2 import Environment


# The sign and the words of each mark.
MARKS = {
    "proved": ("●", "proved"),
    "measured": ("◐", "measured"),
    "answered": ("✎", "answered by you"),
    "open": ("○", "you must answer"),
}
# Columns of estimates that a row of print has room for.
MOST_ESTIMATES = 5


def page_html(report: Report) -> str:
    """Return the page of a report."""
    deployment, releases, total = report.deployment, report.releases, report.total
    # Who publishes, and when.
    byline = [curator["name"] for curator in deployment.curators if "name" in curator]
    if "published" in deployment.product:
        byline.append(f"published {deployment.product['published'].isoformat()}")
    byline.append(f"report of {report.made.isoformat()}")
    # The rows of the pyramid by level and component.
    levels: dict[str, dict[str, list[Any]]] = {}
    for row in report.rows:
        levels.setdefault(row.level, {}).setdefault(row.component, []).append(row)
    tally = {mark: sum(row.mark == mark for row in report.rows) for mark in MARKS}
    # The report in a few lines, by what each is about.
    certified = sum(bool(release.certificates) for release in releases)
    certificates = f"{certified} of {len(releases)} proved again for this page, {report.made.isoformat()}"
    if certified < len(releases):
        certificates += "; a selection has none, its proof is a theorem"
    if total.basic is None:
        loss = [f"no total exists: {total.refusal}"]
    else:
        loss = [f"epsilon {rounded_up_text(total.basic.epsilon, 6)}"]
        if total.basic.delta != 0.0:
            loss[0] += f", delta {rounded_up_text(total.basic.delta, 6)} ({one_in(total.basic.delta)})"
        first = disclosures(total.basic, releases[0].unit)[0]
        before, after = first.beliefs[-1]
        loss.append(f"{capitalize(first.fact)}: {percent_up(before)} sure before, {_at_most(after)} sure after.")
    brief = {
        "Published": [*(release.contents for release in releases), "All of it carries random noise."],
        "Protected": list(dict.fromkeys(capitalize(release.protected) for release in releases)),
        "Privacy loss": loss,
        "Error": [f"{release.name}: {release.error_in_words.brief}" for release in releases],
        "Certificates": [certificates],
    }
    if report.budget is not None:
        brief["Budget"] = [f"{report.budget.spent} spent of {report.budget.budget}; the ledger's records are intact"]
    counted = (f"{number} {'open' if mark == 'open' else MARKS[mark][1]}" for mark, number in tally.items())
    brief["Questions"] = [", ".join(counted)]
    template = _environment().get_template("report.html")
    return template.render(
        report=report,
        product=deployment.product,
        title=deployment.product.get("name", "Release under differential privacy"),
        byline=capitalize(" · ".join(byline)),
        brief=brief,
        learnt=[{"guarantee": one, "facts": disclosures(one, unit)} for one, unit in report.learnt_of],
        errors={release.path: list(_errors(release)) for release in releases},
        levels=levels,
        tally=tally,
        versions=", ".join(sorted({release.version for release in releases})),
    )


@cache
def _environment() -> Environment:
    """Return the environment of the templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ggdp.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"at_most": _at_most, "number": _number, "up": rounded_up_text}
    environment.filters |= {"one_in": one_in, "percent_up": percent_up}
    environment.globals |= {"MARKS": MARKS, "MOST_ESTIMATES": MOST_ESTIMATES}
    environment.globals |= {"files": _files, "interval": _interval, "origin": _origin, "promise": _promise}
    return environment


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
        time = entry.time[:16].replace("T", " ")
        return f"{said}, charged on {time} UTC as entry {entry.number} of the ledger{asked}."
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
    changed = "had other values" if release.part.guarantee.neighbours == "replace-one" else "were missing"
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
        first = table.rows[0].estimates.get("count") if table.rows else None
        if first is not None and first.value is not None and first.lower is not None and first.upper is not None:
            cell = ", ".join(table.rows[0].cell) or "all rows"
            # No count is below 0, so that an interval may be cut off there.
            low, high = (_number(max(0.0, end)) for end in (first.lower, first.upper))
            read = f"is most likely {low} to {high} without the noise"
            yield f"Example: the published {_number(first.value)} ({cell}) {read}."
        for name in table.estimates:
            # The half-widths, as the published file has them.
            widths = table.half_widths(name) if name != "count" or release.half_width is None else []
            if widths:
                said = f"{name.replace('_', ' ', 1)} {'by' if table.by else 'of'} {table.name}"
                middle, worst = rounded_up_text(widths[len(widths) // 2]), rounded_up_text(widths[-1])
                far = f"±{middle} at 95 % in the middle cell, ±{worst} in the worst"
                yield f"{said}: {f'±{worst} at 95 %' if middle == worst else far}."
        if table.covers is not None:
            allowed = release.request is not None and release.request["count_cut"] is not None
            left_out = "They allow for what is left out of the counts" if allowed else "What is left out is not in them"
            yield f"The intervals of {table.name} cover: {table.covers}. {left_out}."
    if release.half_width is None and not any(table.rows for table in release.tables):
        yield "Every number is published with its 95 % interval; the file was not beside the manifest to look them up."


def _number(value: float | None) -> str:
    """Return a published number as people read it, with a true minus."""
    if value is None:
        return "–"
    said = f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else rounded_text(value, 6)
    return said.replace("-", "−")


def _interval(row: Row, rows: Sequence[Row], name: str) -> Markup | str:
    """Return the picture of an interval, on the scale of all rows that are shown."""
    intervals = [(one.estimates[name].lower, one.estimates[name].upper) for one in rows]
    ends = [end for low, high in intervals if low is not None and high is not None for end in (low, high)]
    here = row.estimates[name]
    if here.lower is None or here.upper is None:
        return ""
    low, high = min(0.0, *ends), max(0.0, *ends)
    # Pixels.
    wide, tall = 150, 14
    across = (wide - 8.0) / ((high - low) or 1.0)

    def place(value: float) -> str:
        return f"{4.0 + (value - low) * across:.1f}"

    left, right, bar = place(here.lower), place(here.upper), ""
    if here.value is not None:
        first, last = sorted((place(0.0), place(here.value)), key=float)
        bar = f'<rect x="{first}" y="3" width="{float(last) - float(first):.1f}" height="8"/>'
    # Made of numbers alone.
    return Markup(
        f'<svg class="interval" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}" '
        f'aria-hidden="true">{bar}<path d="M{left} 4V10M{left} 7H{right}M{right} 4V10"/></svg>'
    )
