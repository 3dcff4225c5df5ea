"""The differential privacy pyramid of NIST SP 800-226, row by row.

The publication (Near, Darais, Lefkovitz and Howarth, "Guidelines for Evaluating Differential Privacy Guarantees", March
2025) names what a guarantee rests on, each component on those below it: privacy parameters and unit at the top (its
Section 2); algorithms, utility and bias (Section 3); and at the base what surrounds a deployment (Section 4).

Each row has a mark. *proved*: by a certificate that was proved again, or by a theorem of the documentation, with the
tests that check the code. *measured*: by a benchmark whose results are in the repository. *answered*: by the publisher,
in ``deployment.toml``; ggdp cannot check it. *open*: the publisher must answer it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import asdict, frozen

from ggdp.reports.deployment import QUESTIONS, Deployment
from ggdp.reports.published import PublishedRelease, capitalize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ggdp.reports.sign_off import BudgetFacts, ReportTotal


Mark: TypeAlias = Literal["proved", "measured", "answered", "open"]
# A component with a question, its mark, the answer and the evidence; or with the key of a question to the publisher.
_Row: TypeAlias = tuple[str, str, Mark, str, str] | tuple[str, str]


@frozen(kw_only=True)
class PyramidRow:
    """A question about one component of the pyramid.

    Attributes
    ----------
    level, component, question : str
        Where it stands in the pyramid, and what is asked.
    mark : {"proved", "measured", "answered", "open"}
        Who answers it, and how.
    text : str
        The answer; what to write where it is open.
    evidence : str
        What the answer rests on: certificates, pages, tests, benchmarks, or a key of ``deployment.toml``.
    """

    level: str
    component: str
    question: str
    mark: Mark
    text: str
    evidence: str

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values."""
        return asdict(self)


def nist_rows(
    releases: Sequence[PublishedRelease], total: ReportTotal, budget: BudgetFacts | None, deployment: Deployment
) -> tuple[PyramidRow, ...]:
    """Return all rows, from the top of the pyramid down."""
    levels = {
        "The guarantee": _guarantee(releases, total),
        "The algorithms": _algorithms(releases),
        "The deployment": _deployment(releases, budget),
    }
    found: list[PyramidRow] = []
    for level, row in ((level, row) for level, rows in levels.items() for row in rows):
        if len(row) == 2:
            component, key = row
            answer = deployment.answers.get(key)
            mark: Mark = "open" if answer is None else "answered"
            row = component, QUESTIONS[key], mark, answer or "", f"deployment.toml, answers.{key}"
        component, question, mark, text, evidence = row
        found.append(
            PyramidRow(level=level, component=component, question=question, mark=mark, text=text, evidence=evidence)
        )
    return tuple(found)


def _guarantee(releases: Sequence[PublishedRelease], total: ReportTotal) -> Iterator[_Row]:
    component = "Privacy parameters"
    text = "; ".join(f"{release.name}: {release.part.guarantee}" for release in releases) + "."
    if any(release.beyond_certificate for release in releases):
        beyond = "for quantiles, units cut off or keys shown, rests on theorems of the documentation"
        text += f" A certificate is about the noise. What a guarantee allows beyond it, {beyond}."
    proofs = [proof for release in releases for proof in release.certificates]
    have = sum(bool(release.certificates) for release in releases)
    evidence, bounds = [], ", ".join(dict.fromkeys(proof.bound.name for proof in proofs))
    if proofs:
        evidence.append(
            f"{have} of {len(releases)} manifests have a certificate, proved again for this page ({bounds})"
        )
    if have < len(releases):
        evidence.append("selections have none: their proof is a theorem (theory/exponential, theory/mechanisms)")
    yield component, "How much can a result depend on one unit?", "proved", text, "; ".join(evidence)
    yield component, "parameters"

    question = "What do all releases of this page allow together?"
    if total.basic is None:
        text = f"No total exists: {total.refusal}. Decide for each group of releases."
        yield component, question, "open", text, "ggdp.compose refuses to add them"
    else:
        text = f"{total.basic}, however they were chosen."
        if total.composed is not None:
            text += f" {total.composed}, if the noise of each was fixed without looking at results of the others."
        yield component, question, "proved", text, "ggdp.compose (theory/composition); tests/accounting"
    yield component, "other_releases"

    component = "Unit of privacy"
    units = dict.fromkeys(
        f"{release.protected}, {release.part.guarantee.neighbours} neighbours" for release in releases
    )
    text = f"{capitalize('; '.join(units))}."
    if any(release.protects_rows for release in releases):
        text += " Where a row is the unit, the privacy loss of somebody with several rows counts once for each row."
    why = "the requests in the manifests; engines keep to them: theory/tables, tests/fuzz"
    yield component, "Whose data does the guarantee protect?", "proved", text, why
    yield component, "unit"


def _algorithms(releases: Sequence[PublishedRelease]) -> Iterator[_Row]:
    component = "Algorithms and correctness"
    noises = "; ".join(dict.fromkeys(release.noise for release in releases))
    bounds = [proof.bound for release in releases for proof in release.certificates]
    statements = "; ".join(dict.fromkeys(f"{bound.name}: {bound.statement}" for bound in bounds))
    question = "Is the noise large enough for the sensitivity of the query?"
    text = f"{noises}. A certificate says nothing of whether this noise was drawn, and of these data; for that trust "
    text += "those who ran the release."
    yield component, question, "proved", text, statements or "theory/exponential, tests/conformance"
    question = "Is the noise that is drawn the noise that was proved?"
    text = "Draws are exact: integer arithmetic on random bits, with no rounding of probabilities."
    evidence = "theory/sampling; tests/noise runs the samplers on every string of bits, tests/conformance computes the "
    yield component, question, "proved", text, evidence + "law of every mechanism"
    yield component, "preprocessing"
    text = "; ".join(f"{release.name}: {release.error_in_words.nist}" for release in releases) + "."
    evidence = "the law of the noise (theory/intervals, theory/statistics); beside other libraries: "
    evidence += "benchmarks/results/means.md and releases.md"
    yield "Utility", "How large is the error that the noise makes?", "proved", text, evidence
    yield "Utility", "utility"
    said = ["The noise favours no direction"]
    if any(release.mechanism.get("step") is not None for release in releases):
        said.append("Values are rounded to a public grid, which moves them by at most half a step")
    for release in releases:
        # What systematically changes its numbers.
        found, request = [], release.request
        if "clip" in release.adjusted or "project" in release.adjusted:
            found.append("negative counts are published as 0 or moved, so that sums of small counts are too large")
        if any(table.covers for table in release.tables):
            found.append("of a unit in many cells only some are counted, so that counts are too low")
        if release.mechanism.get("threshold") is not None:
            found.append("cells below a threshold are left out, and those just above it are too large")
        if request is not None and request["statistics"]:
            found.append("values outside of the public ranges are clamped to them")
        if not release.is_selection and release.mechanism["bounding"] is not None:
            found.append("noise is kept in bounds, which moves values near a bound inwards")
        if found:
            said.append(f"{release.name}: {'; '.join(found)}")
    evidence = "the requests and adjustments in the manifests; theory/releases, theory/tables"
    yield "Bias", "What moves numbers in one direction?", "proved", ". ".join(said) + ".", evidence
    yield "Bias", "bias"


def _deployment(releases: Sequence[PublishedRelease], budget: BudgetFacts | None) -> Iterator[_Row]:
    if budget is not None:
        here, question = len(budget.entries), "Was every release charged to a budget before the data were read?"
        mark: Mark = "proved" if here == len(releases) else "open"
        text = f"{here} of the {len(releases)} releases were charged to the ledger {budget.identity}, whose records "
        text += "were all checked." + ("" if here == len(releases) else " Say why the others were not.")
        yield "Query model", question, mark, text, "the chain of hashes of the ledger (theory/ledger); tests/ledger"
    yield "Query model", "query_model"
    yield "Trust model", "trust_model"
    component, question = "Side channels", "Can floating-point numbers reveal what the noise hides?"
    text = "No: noise is drawn on whole numbers or on a public grid, sums are exact, and the scale is proved in "
    text += "interval arithmetic for the law that is drawn."
    yield component, question, "proved", text, "theory/grid, theory/certificates; tests/conformance"
    text = (
        "Draws take no account of true values. A single draw shows a little of the noise itself to an observer "
        "with a clock of nanoseconds. Reading and counting take longer for more rows: who times a release can tell "
        "roughly how large the data are."
    )
    evidence = "benchmarks/results/sampling.md; known-limits, Timing and Time of a release"
    yield component, "Does the time of a draw depend on the data?", "measured", text, evidence
    yield component, "timing"
    yield component, "randomness"
    yield "Security", "security"
    yield "Access control", "access_control"
    yield "Data collection exposure", "data_collection"
