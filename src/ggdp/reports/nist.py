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

from ggdp._rounding import rounded_up_text
from ggdp.reports.deployment import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ggdp.reports.deployment import Deployment
    from ggdp.reports.published import PublishedRelease
    from ggdp.reports.sign_off import BudgetFacts, ReportTotal


Mark: TypeAlias = Literal["proved", "measured", "answered", "open"]
TOP, MIDDLE, BASE = "The guarantee", "The algorithms", "The deployment"


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

    def asked(level: str, component: str, key: str) -> PyramidRow:
        answer = deployment.answers.get(key)
        return PyramidRow(
            level=level,
            component=component,
            question=QUESTIONS[key],
            mark="open" if answer is None else "answered",
            text=answer or "",
            evidence=f"deployment.toml, answers.{key}",
        )

    return (
        _parameters(releases),
        asked(TOP, "Privacy parameters", "parameters"),
        _several(total),
        asked(TOP, "Privacy parameters", "other_releases"),
        _unit(releases),
        asked(TOP, "Unit of privacy", "unit"),
        *_algorithms(releases),
        asked(MIDDLE, "Algorithms and correctness", "preprocessing"),
        _utility(releases),
        asked(MIDDLE, "Utility", "utility"),
        _bias(releases),
        asked(MIDDLE, "Bias", "bias"),
        *_query_model(releases, budget),
        asked(BASE, "Query model", "query_model"),
        asked(BASE, "Trust model", "trust_model"),
        *_side_channels(),
        asked(BASE, "Side channels", "timing"),
        asked(BASE, "Side channels", "randomness"),
        asked(BASE, "Security", "security"),
        asked(BASE, "Access control", "access_control"),
        asked(BASE, "Data collection exposure", "data_collection"),
    )


def _parameters(releases: Sequence[PublishedRelease]) -> PyramidRow:
    stated = "; ".join(f"{release.name}: {release.part.guarantee}" for release in releases)
    proofs = [release.certificate for release in releases if release.certificate is not None]
    said = [f"{stated}."]
    if any(release.beyond_certificate for release in releases):
        said.append(
            "A certificate is about the noise. What a guarantee allows beyond it, for quantiles, units cut off or keys "
            "shown, rests on theorems of the documentation."
        )
    evidence = []
    if proofs:
        bounds = ", ".join(dict.fromkeys(proof.bound.name for proof in proofs))
        evidence.append(
            f"{len(proofs)} of {len(releases)} manifests have a certificate, proved again for this page ({bounds})"
        )
    if len(proofs) < len(releases):
        evidence.append("selections have none: their proof is a theorem (theory/exponential, theory/mechanisms)")
    return PyramidRow(
        level=TOP,
        component="Privacy parameters",
        question="How much can a result depend on one unit?",
        mark="proved",
        text=" ".join(said),
        evidence="; ".join(evidence),
    )


def _several(total: ReportTotal) -> PyramidRow:
    question = "What do all releases of this page allow together?"
    if total.basic is None:
        return PyramidRow(
            level=TOP,
            component="Privacy parameters",
            question=question,
            mark="open",
            text=f"No total exists: {total.refusal}. Decide for each group of releases.",
            evidence="ggdp.compose refuses to add them",
        )
    text = f"{total.basic}, however they were chosen."
    if total.composed is not None:
        text += f" {total.composed}, if the noise of each was fixed without looking at results of the others."
    return PyramidRow(
        level=TOP,
        component="Privacy parameters",
        question=question,
        mark="proved",
        text=text,
        evidence="ggdp.compose (theory/composition); tests/accounting",
    )


def _unit(releases: Sequence[PublishedRelease]) -> PyramidRow:
    units = list(dict.fromkeys((release.protected, release.part.neighbours) for release in releases))
    said = "; ".join(f"{protected}, {neighbours} neighbours" for protected, neighbours in units)
    text = f"{said[0].upper()}{said[1:]}."
    if any(release.protects_rows for release in releases):
        text += " Where a row is the unit, the privacy loss of somebody with several rows counts once for each row."
    return PyramidRow(
        level=TOP,
        component="Unit of privacy",
        question="Whose data does the guarantee protect?",
        mark="proved",
        text=text,
        evidence="the requests in the manifests; engines keep to them: theory/tables, tests/fuzz",
    )


def _algorithms(releases: Sequence[PublishedRelease]) -> Iterator[PyramidRow]:
    noises = "; ".join(dict.fromkeys(release.noise for release in releases))
    statements = dict.fromkeys(
        f"{release.certificate.bound.name}: {release.certificate.bound.statement}"
        for release in releases
        if release.certificate is not None
    )
    yield PyramidRow(
        level=MIDDLE,
        component="Algorithms and correctness",
        question="Is the noise large enough for the sensitivity of the query?",
        mark="proved",
        text=f"{noises}. A certificate says nothing of whether this noise was drawn, and of these data; for that trust "
        "those who ran the release.",
        evidence="; ".join(statements) or "theory/exponential, tests/conformance",
    )
    yield PyramidRow(
        level=MIDDLE,
        component="Algorithms and correctness",
        question="Is the noise that is drawn the noise that was proved?",
        mark="proved",
        text="Draws are exact: integer arithmetic on random bits, with no rounding of probabilities.",
        evidence="theory/sampling; tests/noise runs the samplers on every string of bits, tests/conformance "
        "computes the law of every mechanism",
    )


def _utility(releases: Sequence[PublishedRelease]) -> PyramidRow:
    text = "; ".join(f"{release.name}: {_error(release)}" for release in releases)
    return PyramidRow(
        level=MIDDLE,
        component="Utility",
        question="How large is the error that the noise makes?",
        mark="proved",
        text=f"{text}.",
        evidence="the law of the noise (theory/intervals, theory/statistics); beside other libraries: "
        "benchmarks/results/means.md and releases.md",
    )


def _error(release: PublishedRelease) -> str:
    if release.is_selection:
        return "one candidate was drawn at random, better ones with a larger probability"
    if release.half_width is None:
        return "the 95 % intervals in the published file"
    return f"within {rounded_up_text(release.half_width, 6)} in 95 of 100 cases"


def _bias(releases: Sequence[PublishedRelease]) -> PyramidRow:
    said = ["The noise favours no direction"]
    if any(release.mechanism.get("step") is not None for release in releases):
        said.append("Values are rounded to a public grid, which moves them by at most half a step")
    for release in releases:
        found = _distortions(release)
        if found:
            said.append(f"{release.name}: {'; '.join(found)}")
    return PyramidRow(
        level=MIDDLE,
        component="Bias",
        question="What moves numbers in one direction?",
        mark="proved",
        text=". ".join(said) + ".",
        evidence="the requests and adjustments in the manifests; theory/releases, theory/tables",
    )


def _distortions(release: PublishedRelease) -> list[str]:
    """Return what systematically moves the numbers of a release."""
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
    return found


def _query_model(releases: Sequence[PublishedRelease], budget: BudgetFacts | None) -> Iterator[PyramidRow]:
    if budget is None:
        return
    here = len(budget.entries)
    yield PyramidRow(
        level=BASE,
        component="Query model",
        question="Was every release charged to a budget before the data were read?",
        mark="proved" if here == len(releases) else "open",
        text=f"{here} of the {len(releases)} releases were charged to the ledger {budget.identity}, whose records were "
        "all checked." + ("" if here == len(releases) else " Say why the others were not."),
        evidence="the chain of hashes of the ledger (theory/ledger); tests/ledger",
    )


def _side_channels() -> Iterator[PyramidRow]:
    yield PyramidRow(
        level=BASE,
        component="Side channels",
        question="Can floating-point numbers reveal what the noise hides?",
        mark="proved",
        text="No: noise is drawn on whole numbers or on a public grid, sums are exact, and the scale is proved in "
        "interval arithmetic for the law that is drawn.",
        evidence="theory/grid, theory/certificates; tests/conformance",
    )
    yield PyramidRow(
        level=BASE,
        component="Side channels",
        question="Does the time of a draw depend on the data?",
        mark="measured",
        text="Draws take no account of true values. A single draw shows a little of the noise itself to an observer "
        "with a clock of nanoseconds. Reading and counting take longer for more rows: who times a release can tell "
        "roughly how large the data are.",
        evidence="benchmarks/results/sampling.md; known-limits, Timing and Time of a release",
    )
