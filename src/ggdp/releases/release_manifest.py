"""The manifest of a release: the goal, the guarantee, the mechanism, and a paragraph for readers.

Nothing in a manifest is computed from the data except through the mechanism. Its shape is fixed by a JSON Schema that
is shipped beside this module and named in every manifest, with a version that grows when the shape changes.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.releases.mechanism_record import LEVEL, NoiseRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ggdp.ledger import EntryReference
    from ggdp.privacy import Guarantee
    from ggdp.releases.adjustments import Adjustment
    from ggdp.releases.error_law import ErrorLaw
    from ggdp.releases.mechanism_record import MechanismRecord
    from ggdp.releases.release import Release


SCHEMA = "ggdp-release-manifest/1"
# Errors of whole numbers that are smaller are said to be below it.
_NO_ERROR = 0.001
# Adjustments after which values add up to a public total.
_ADD_UP = ("normalise", "project", "fit_total")


class Wording(NamedTuple):
    """Words used in a statement."""

    protected: str = "one person's records"  # the protected unit: what one of two neighbours lacks
    first: str = ""  # first sentence of the statement
    true: str = "the true ones"  # what noisy values are compared with
    complete: tuple[str, ...] = ()  # where cells below a threshold are left out: the tables of which none is
    noise: str = ""  # sentences on the noise and its error, where what is published is not the noisy values themselves


PLAIN = Wording()


def manifest_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of manifests.

    Examples
    --------
    >>> manifest_schema()["properties"]["schema"]["const"]
    'ggdp-release-manifest/1'
    """
    schema: dict[str, Any] = json.loads(files("ggdp.releases").joinpath("manifest.schema.json").read_text("utf-8"))
    return schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a manifest says of a release, which is known before there are values: all but how many there are.

    Attributes
    ----------
    mechanism, guarantee, adjustments, entry
        Those of the release.
    shape : tuple of int
        Shape of the values.
    kind : {"integer", "number", "label"}
        What a value is.
    level : float
        Level of each single interval (`ggdp.Release.single_level`).
    """

    mechanism: MechanismRecord
    guarantee: Guarantee | None
    adjustments: tuple[Adjustment, ...] = ()
    entry: EntryReference | None = None
    shape: tuple[int, ...] = ()
    kind: str = "integer"
    level: float = LEVEL


def manifest_of(
    release: Release | Described, wording: Wording = PLAIN, error: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the manifest of a release; `error` is its errors where they are known already."""
    if not isinstance(release, Described):
        release = Described(
            mechanism=release.mechanism,
            guarantee=release.guarantee,
            adjustments=release.adjustments,
            entry=release.entry,
            shape=release.values.shape,
            kind={"i": "integer", "u": "integer", "f": "number"}.get(release.values.dtype.kind, "label"),
            level=release.single_level(LEVEL),
        )
    mechanism = release.mechanism
    if error is None and isinstance(mechanism, NoiseRecord):
        error = _errors(release, mechanism)
    entry = {} if release.entry is None else {"ledger": release.entry.to_dict()}
    return {
        "schema": SCHEMA,
        "ggdp": version("ggdp"),
        "private": release.guarantee is not None,
        "guarantee": None if release.guarantee is None else release.guarantee.to_dict(),
        "goal": mechanism.goal.under(mechanism.neighbours).to_dict(),
        "neighbours": mechanism.neighbours,
        "sensitivity": mechanism.sensitivity,
        "mechanism": mechanism.to_dict(),
        "losses": [counted.to_dict() for counted in mechanism.losses],
        "error": error,
        "adjustments": [step.to_dict() for step in release.adjustments],
        "values": {"shape": list(release.shape), "type": release.kind},
        **entry,
        "statement": statement_of(release, wording, error),
    }


def _errors(release: Described, mechanism: NoiseRecord) -> dict[str, Any]:
    """Return the worst-case errors of the raw noisy values, before any adjustment."""
    law = mechanism.law
    # Of every single cell where some are left out by a threshold, whatever is chosen among the others.
    level = release.level if mechanism.threshold is None else LEVEL
    return {
        "bias": law.bias(),
        "standard_error": law.standard_error(),
        "root_mean_square_error": law.root_mean_square_error(),
        "level": LEVEL,
        # A true value is up to half a step away from where its noise begins.
        "half_width": law.half_width(level) + 0.5 * (law.step or 0.0),
    }


def _noise_sentence(release: Described, mechanism: NoiseRecord, wording: Wording, error: Mapping[str, Any]) -> str:
    """Return a sentence on the error of the noise, around true values after clamping."""
    law, true = mechanism.law, wording.true
    if mechanism.threshold is not None:
        return _thresholded_sentences(mechanism, error, wording)
    values = "raw noisy values" if release.adjustments else "values"
    chosen = any(step.chosen_by_values for step in release.adjustments)
    share = f"with a probability of {LEVEL:.0%} all {values}" if chosen else f"{LEVEL:.0%} of the {values}"
    if law.bounds is not None or mechanism.query_bounds is not None:
        true += ", clamped to the bounds"
    elif law.clamp is not None:
        true += f", clamped to at most {rounded_text(law.clamp * (law.step or 1))} in absolute value"
    return (
        f"{mechanism.name[0].upper()}{mechanism.name[1:]} noise was added to every value: its root mean square error "
        f"is {_size(error, law)}, and {share} are within "
        f"{rounded_up_text(error['half_width'], 6)} of {true}."
    )


def _size(error: Mapping[str, Any], law: ErrorLaw) -> str:
    """Return the root mean square error in as many digits as a reader needs: counts are whole numbers."""
    if law.step is None and error["root_mean_square_error"] < _NO_ERROR:
        return f"below {_NO_ERROR:g}"
    return f"at most {rounded_up_text(error['root_mean_square_error'])}"


def _thresholded_sentences(mechanism: NoiseRecord, error: Mapping[str, Any], wording: Wording) -> str:
    """Return the sentences on noise and threshold of a release that omits cells."""
    assert mechanism.threshold is not None
    every = "every key that occurs" if mechanism.threshold.cells is None else "every cell"
    left_out = mechanism.threshold.in_words()
    if wording.complete:
        tables = " and of ".join(wording.complete)
        every = (
            f"every cell of {tables}, which {'is' if len(wording.complete) == 1 else 'are'} complete, and of {every}"
        )
        left_out = f"In the other tables: {left_out[0].lower()}{left_out[1:]}"
    return (
        f"{mechanism.name[0].upper()}{mechanism.name[1:]} noise was added to the count of {every}: its root mean "
        f"square error is {_size(error, mechanism.law)}, and {LEVEL:.0%} of all noisy counts are "
        f"within {rounded_up_text(error['half_width'], 6)} of {wording.true}. {left_out} Counts that are shown "
        "tend to be too large where they are near the threshold; the intervals allow for it."
    )


def _may_be_negative(release: Described, mechanism: NoiseRecord, wording: Wording) -> bool:
    """Return whether a published value can be below 0."""
    if mechanism.threshold is not None and not wording.complete:
        return False
    bounds = mechanism.law.bounds
    if bounds is not None and min(low for low, _ in bounds) >= 0.0:
        return False
    lifted = (
        step.name == "project" or ("nonnegative", True) in step.parameters or _least(step) >= 0.0
        for step in release.adjustments
    )
    return not any(lifted)


def _least(step: Adjustment) -> float:
    """Return the lower bound that a step clipped values to."""
    lower = dict(step.parameters).get("lower")
    return -math.inf if lower is None else lower


def statement_of(release: Described, wording: Wording, error: Mapping[str, Any] | None = None) -> str:
    """Return a paragraph for publication: who is protected, how much, and how large the errors are."""
    mechanism = release.mechanism
    sentences = [wording.first] if wording.first else []
    sentences.append(_protection(release, wording.protected))
    if wording.noise:
        sentences.append(wording.noise)
    elif isinstance(mechanism, NoiseRecord):
        sentences.append(_noise_sentence(release, mechanism, wording, error or _errors(release, mechanism)))
        if _may_be_negative(release, mechanism, wording):
            fitted = any(step.name in _ADD_UP for step in release.adjustments)
            sums = "" if fitted else ", and parts may not add up to their totals"
            sentences.append(f"Because of the noise, values may be negative{sums}.")
    else:
        sentences.append(
            f"One of {mechanism.candidates - mechanism.excluded:,} candidates was drawn at random, better ones with a "
            "larger probability; it is not necessarily the best."
        )
    if release.adjustments:
        steps = "; ".join(step.in_words() for step in release.adjustments)
        sentences.append(f"The noisy values were then adjusted, without using the data again: {steps}.")
    return " ".join(sentences)


def _protection(release: Described, protected: str) -> str:
    guarantee = release.guarantee
    if guarantee is None:
        return "These values are NOT private: they carry no guarantee, since their noise can be reproduced."
    change = {
        "add-remove": f"adding or removing {protected}",
        "replace-one": f"replacing {protected} with any other",
    }[release.mechanism.neighbours]
    factor = f"e^{rounded_up_text(guarantee.epsilon)}"
    if guarantee.epsilon < 20.0:
        factor += f" = {rounded_up_text(math.exp(guarantee.epsilon))}"
    if guarantee.notion == "pure":
        effect = f"changes the probability of every result by a factor of at most {factor}"
    elif guarantee.notion == "probabilistic":
        effect = (
            f"changes the probability of the result by a factor of at most {factor}, except with a probability "
            f"of at most {rounded_up_text(guarantee.delta)}"
        )
    else:
        effect = (
            f"changes the probability of every set of results by a factor of at most {factor}, plus at most "
            f"{rounded_up_text(guarantee.delta)}"
        )
    return f"These values are published under differential privacy: {change} {effect} ({guarantee})."
