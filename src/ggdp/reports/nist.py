"""The differential privacy pyramid of NIST SP 800-226, row by row.

The publication (Near, Darais, Lefkovitz and Howarth, "Guidelines for Evaluating Differential Privacy Guarantees", March
2025) names what a guarantee rests on, each component on those below it:

======  ===============================================================================================================
top     the privacy parameters, and the unit of privacy (its Section 2)
middle  algorithms and correctness, utility, bias (Section 3)
base    query model, trust model, side channels, security, access control, data collection exposure (Section 4)
======  ===============================================================================================================

Each row has a mark. *proved*: by a certificate that was proved again, or by a theorem of the documentation, with the
tests that check the code. *measured*: by a benchmark whose results are in the repository. *answered*: by the publisher,
in ``deployment.toml``; ggdp cannot check it. *open*: the publisher must answer it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import asdict, frozen

from ggdp.reports.deployment import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ggdp.reports.deployment import Deployment
    from ggdp.reports.published import PublishedRelease
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


def pyramid_rows(
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
        mark: Mark
        if len(row) == 2:
            component, key = row
            answer = deployment.answers.get(key)
            question, mark, text = QUESTIONS[key], "open" if answer is None else "answered", answer or ""
            evidence = f"deployment.toml, answers.{key}"
        else:
            component, question, mark, text, evidence = row
        found.append(
            PyramidRow(level=level, component=component, question=question, mark=mark, text=text, evidence=evidence)
        )
    return tuple(found)


def _guarantee(releases: Sequence[PublishedRelease], total: ReportTotal) -> Iterator[_Row]:
    component = "Privacy parameters"
    text = "; ".join(f"{release.name}: {release.part.guarantee}" for release in releases) + "."
    if any(release.beyond_certificate for release in releases):
        text += (
            " A certificate is about the noise. What a guarantee allows beyond it, for quantiles, units cut off or "
            "keys shown, rests on theorems of the documentation."
        )
    proofs = [release.certificate for release in releases if release.certificate is not None]
    evidence = []
    if proofs:
        bounds = ", ".join(dict.fromkeys(proof.bound.name for proof in proofs))
        evidence.append(
            f"{len(proofs)} of {len(releases)} manifests have a certificate, proved again for this page ({bounds})"
        )
    if len(proofs) < len(releases):
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
    units = dict.fromkeys(f"{release.protected}, {release.part.neighbours} neighbours" for release in releases)
    said = "; ".join(units)
    text = f"{said[0].upper()}{said[1:]}."
    if any(release.protects_rows for release in releases):
        text += " Where a row is the unit, the privacy loss of somebody with several rows counts once for each row."
    why = "the requests in the manifests; engines keep to them: theory/tables, tests/fuzz"
    yield component, "Whose data does the guarantee protect?", "proved", text, why
    yield component, "unit"


def _algorithms(releases: Sequence[PublishedRelease]) -> Iterator[_Row]:
    component = "Algorithms and correctness"
    noises = "; ".join(dict.fromkeys(release.noise for release in releases))
    bounds = [release.certificate.bound for release in releases if release.certificate is not None]
    statements = "; ".join(dict.fromkeys(f"{bound.name}: {bound.statement}" for bound in bounds))
    yield (
        component,
        "Is the noise large enough for the sensitivity of the query?",
        "proved",
        f"{noises}. A certificate says nothing of whether this noise was drawn, and of these data; for that trust "
        "those who ran the release.",
        statements or "theory/exponential, tests/conformance",
    )
    yield (
        component,
        "Is the noise that is drawn the noise that was proved?",
        "proved",
        "Draws are exact: integer arithmetic on random bits, with no rounding of probabilities.",
        "theory/sampling; tests/noise runs the samplers on every string of bits, tests/conformance computes the law of "
        "every mechanism",
    )
    yield component, "preprocessing"
    yield (
        "Utility",
        "How large is the error that the noise makes?",
        "proved",
        "; ".join(f"{release.name}: {release.error_in_words.pyramid}" for release in releases) + ".",
        "the law of the noise (theory/intervals, theory/statistics); beside other libraries: "
        "benchmarks/results/means.md and releases.md",
    )
    yield "Utility", "utility"
    said = ["The noise favours no direction"]
    if any(release.mechanism.get("step") is not None for release in releases):
        said.append("Values are rounded to a public grid, which moves them by at most half a step")
    said += [f"{release.name}: {found}" for release in releases if (found := _distortions(release))]
    evidence = "the requests and adjustments in the manifests; theory/releases, theory/tables"
    yield "Bias", "What moves numbers in one direction?", "proved", ". ".join(said) + ".", evidence
    yield "Bias", "bias"


def _distortions(release: PublishedRelease) -> str:
    """Return what systematically changes the numbers of a release."""
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
    return "; ".join(found)


def _deployment(releases: Sequence[PublishedRelease], budget: BudgetFacts | None) -> Iterator[_Row]:
    if budget is not None:
        here = len(budget.entries)
        yield (
            "Query model",
            "Was every release charged to a budget before the data were read?",
            "proved" if here == len(releases) else "open",
            f"{here} of the {len(releases)} releases were charged to the ledger {budget.identity}, whose records were "
            "all checked." + ("" if here == len(releases) else " Say why the others were not."),
            "the chain of hashes of the ledger (theory/ledger); tests/ledger",
        )
    yield "Query model", "query_model"
    yield "Trust model", "trust_model"
    yield (
        "Side channels",
        "Can floating-point numbers reveal what the noise hides?",
        "proved",
        "No: noise is drawn on whole numbers or on a public grid, sums are exact, and the scale is proved in interval "
        "arithmetic for the law that is drawn.",
        "theory/grid, theory/certificates; tests/conformance",
    )
    yield (
        "Side channels",
        "Does the time of a draw depend on the data?",
        "measured",
        "Draws take no account of true values. A single draw shows a little of the noise itself to an observer "
        "with a clock of nanoseconds. Reading and counting take longer for more rows: who times a release can tell "
        "roughly how large the data are.",
        "benchmarks/results/sampling.md; known-limits, Timing and Time of a release",
    )
    yield "Side channels", "timing"
    yield "Side channels", "randomness"
    yield "Security", "security"
    yield "Access control", "access_control"
    yield "Data collection exposure", "data_collection"
