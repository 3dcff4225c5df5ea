"""The paper's claims that need a run: what each says, where, and which figure shows it."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from ggdp.paper.results import Claim

__all__ = ["STATEMENTS", "Said", "Statement", "said", "unmeasured"]


class Statement(NamedTuple):
    """Where the paper says something, what, the figure that shows it, and what must be run."""

    place: str
    claim: str
    figure: str | None
    needs: str


class Said(TypedDict):
    """The arguments of a claim that are known before anything is run."""

    key: str
    place: str
    claim: str
    figure: str | None


def _winner(name: str, key: str) -> Statement:
    text = f"The Laplace sanitiser is the obvious winner on the {name} data, with the smallest l_1 error and KL "
    text += "divergence."
    return Statement("Section 4", text, f"{key}-errors", key)


def _order(name: str, key: str, words: str) -> Statement:
    text = f"On the {name} data Laplace is followed by {words}; the Gaussian mechanism for aDP is the worst."
    return Statement("Section 4", text, f"{key}-errors", key)


STATEMENTS: dict[str, Statement] = {
    "scale-by-epsilon": Statement(
        "Section 2.6, Fig. 2", "The lower bound on b increases with decreased epsilon.", "lower-bounds", "figures"
    ),
    "scale-by-delta": Statement(
        "Section 2.6, Fig. 2", "The lower bound on b increases with decreased delta.", "lower-bounds", "figures"
    ),
    "scale-by-order": Statement(
        "Section 2.6, Fig. 2",
        "In the examined scenarios b increases with p to maintain (epsilon, delta)-pDP.",
        "lower-bounds",
        "figures",
    ),
    "monte-carlo": Statement(
        "Section 2.6, Fig. 2", "The Monte Carlo approach obtains these lower bounds.", "lower-bounds", "figures"
    ),
    "mildew-winner": _winner("mildew", "mildew"),
    "czech-winner": _winner("Czech", "czech"),
    "adult-winner": _winner("adult", "adult"),
    "mildew-order": _order("mildew", "mildew", "Gaussian pDP, then GGM-3 pDP"),
    "czech-order": _order("Czech", "czech", "Gaussian pDP"),
    "adult-order": _order("adult", "adult", "Gaussian pDP"),
    "mildew-similar": Statement(
        "Section 4",
        "In the mildew experiment the performance of the Gaussian pDP mechanism is similar when epsilon = 2 or delta "
        ">= 0.1.",
        "mildew-errors",
        "mildew",
    ),
    "mildew-linear": Statement(
        "Section 4",
        "In the mildew experiment the l_1 error and the KL divergence decrease more or less linearly as epsilon "
        "increases from 0.5 to 1 to 2.",
        "mildew-errors",
        "mildew",
    ),
    "mildew-delta": Statement(
        "Section 4",
        "In the mildew experiment delta has less of an impact on the l_1 error and the KL divergence than epsilon.",
        "mildew-errors",
        "mildew",
    ),
    "czech-quicker": Statement(
        "Section 4",
        "In the Czech experiment the sanitised counts approach the original ones more quickly than in the mildew case "
        "with increased epsilon and delta.",
        "czech-errors",
        "mildew and czech",
    ),
    "czech-variability": Statement(
        "Section 4",
        "There is significantly more variability in the Czech results for small epsilon (0.1).",
        "czech-errors",
        "czech",
    ),
    "czech-drastic": Statement(
        "Section 4",
        "In the Czech experiment both errors no longer decrease linearly, but drastically from epsilon = 0.5 to 1 and "
        "much less from 1 to 2.",
        "czech-errors",
        "czech",
    ),
    "larger-n": Statement(
        "Section 4",
        "The differences between the mildew and the Czech results can be explained by the larger n in the latter.",
        "czech-errors",
        "mildew and czech",
    ),
    "adult-rows": Statement(
        "Section 4",
        "Only the completers were used, split into 20,009 training and 10,005 test subjects.",
        None,
        "adult",
    ),
    "adult-cells": Statement(
        "Section 4", "There are 17,985 non-empty cells in the training data.", "adult-counts", "adult"
    ),
    "adult-bins": Statement("Section 4", "The 14-attribute histogram has about 1.944e13 bins.", None, "adult"),
    "adult-senseless": Statement(
        "Section 4",
        "A non-ignorable portion of the bins makes no practical sense, for example that a 90-age works > 80 hours per "
        "week (judged: the example).",
        None,
        "adult",
    ),
    "svm-barely": Statement(
        "Section 4",
        "The prediction accuracy of the classifiers is barely affected: decreases are on the scale of 0.25 % to 1 %.",
        "adult-svm",
        "adult",
    ),
    "svm-variation": Statement(
        "Section 4",
        "The decreases in accuracy are largely ignorable, even with the variation taken into account.",
        "adult-svm",
        "adult",
    ),
    "svm-no-worse": Statement(
        "Section 4",
        "The Gaussian mechanism for aDP, though the worst by l_1 and KL, is no worse than the others in prediction.",
        "adult-svm",
        "adult",
    ),
}


def said(key: str) -> Said:
    """Return what a claim says and where, as arguments of a `Claim`."""
    statement = STATEMENTS[key]
    return {"key": key, "place": statement.place, "claim": statement.claim, "figure": statement.figure}


def unmeasured(key: str) -> Claim:
    """Return a claim whose experiment was not run, or not with the parameters that it is about."""
    return Claim(
        **said(key),
        verdict="not measured",
        measured=f"Not run with the paper's settings: ggdp reproduce {STATEMENTS[key].needs}."
        if " " not in STATEMENTS[key].needs
        else f"Not run with the paper's settings: it needs {STATEMENTS[key].needs}, as ggdp reproduce all has them.",
    )
