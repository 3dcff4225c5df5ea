"""What the view of attackers shows: beliefs before and after a release, in words and as a figure."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from attrs import frozen

from ggdp._rounding import rounded_down_text, rounded_text, rounded_up_text
from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents, command, written
from ggdp.explorer.figures import Picture, drawn
from ggdp.explorer.promise import PromiseSettings
from ggdp.explorer.text_tables import csv_file
from ggdp.plots.noise import plot_beliefs
from ggdp.privacy.beliefs import Belief, belief

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee

__all__ = ["AttackerResults", "AttackerSettings", "attacker_equivalents", "attacker_results"]

PRIORS = (0.01, 0.1, 0.5)
SUBJECTS = {
    "add-remove": "that a certain person is in the data",
    "replace-one": "that a certain record is the true one",
}


@frozen(kw_only=True)
class AttackerSettings(PromiseSettings):
    """The promise of all that was published about the same people, and what an attacker believes before."""

    prior: float = fields.number(10.0, low=0.01, high=99.99, scale="linear")

    @property
    def priors(self) -> tuple[float, ...]:
        """The beliefs that are shown, rising."""
        return tuple(sorted({*PRIORS, self.prior / 100.0}))


@frozen(kw_only=True)
class AttackerResults:
    """Beliefs before and after a release.

    Attributes
    ----------
    change : str
        The belief that was asked for, before and at most after.
    said : str
        The same in a sentence.
    exception : str
        What delta means; empty without one.
    rows : tuple of (before, at least, at most, best guess)
        For each prior.
    facts : tuple of (name, text)
        What exactly is true.
    picture : Picture
        The beliefs.
    csv : bytes
        The beliefs with all digits.
    """

    change: str
    said: str
    exception: str
    rows: tuple[tuple[str, str, str, str], ...]
    facts: tuple[tuple[str, str], ...]
    picture: Picture
    csv: bytes


def attacker_results(settings: AttackerSettings) -> AttackerResults:
    """Return what an attacker can learn."""
    goal = settings.goal
    found = [belief(goal, prior) for prior in settings.priors]
    asked = belief(goal, settings.prior / 100.0)
    before, after, least = _percent(asked.prior), _percent_up(asked.highest), _percent_down(asked.lowest)
    subject = SUBJECTS[settings.neighbours]
    said = (
        f"Somebody who thinks it {before} likely {subject} can come to think it at most {after} likely from all that "
        f"is published, and at least {least}. That is so whatever else they know."
    )
    rows = tuple(
        (_percent(one.prior), _percent_down(one.lowest), _percent_up(one.highest), _percent_up(one.right))
        for one in found
    )
    description = "Beliefs after the release against beliefs before it. " + " ".join(
        f"From {before} to at most {highest}." for before, _, highest, _ in rows
    )
    return AttackerResults(
        change=f"{before} → {after}",
        said=said,
        exception=_exception(goal),
        rows=rows,
        facts=_facts(goal, asked, subject),
        picture=drawn(plot_beliefs(goal, settings.priors), "attacker-beliefs", "Before and after", description),
        csv=csv_file(
            ("prior", "lowest", "highest", "exception", "right"),
            ([repr(value) for value in astuple(one)] for one in found),
        ),
    )


def attacker_equivalents(settings: AttackerSettings) -> Equivalents:
    """Return what gives the same beliefs without the page."""
    priors = [written(prior) for prior in settings.priors]
    return Equivalents(
        command=command("belief", **settings.goal_flags, prior=",".join(priors)),
        python=(
            "import ggdp\nfrom ggdp.privacy.beliefs import belief\n\n"
            f"goal = {settings.goal_code}\n"
            f"for prior in ({', '.join(priors)}):\n"
            "    print(belief(goal, prior))\n"
        ),
    )


def _exception(goal: Guarantee) -> str:
    if goal.delta == 0.0:
        return ""
    chance = f"{rounded_up_text(goal.delta)}, that is 1 in {rounded_text(1.0 / goal.delta)}"
    return (
        f"There is one exception, an event whose probability is at most delta ({chance}). In that event nothing is "
        "promised: think of it as this person's data being shown."
    )


def _facts(goal: Guarantee, asked: Belief, subject: str) -> tuple[tuple[str, str], ...]:
    without = max(asked.prior, 1.0 - asked.prior)
    guess = (
        f"Whoever guesses whether {subject.removeprefix('that ')}, is right with probability at most "
        f"{_percent_up(asked.right)}; without the release {_percent(without)}."
    )
    exact = {
        "pure": "The bounds hold for every output, and are attained by randomised response.",
        "probabilistic": "The belief is within the bounds but with probability at most delta, on either data.",
        "approximate": "What is published shows no more than a procedure that with probability delta tells the truth, "
        "and otherwise keeps the bounds. The attacker's own belief may be above them somewhat more often: above the "
        "bound for epsilon + s with probability at most delta / (1 − exp(−s)), for every s above 0.",
    }[goal.notion]
    return (
        ("Best guess", guess),
        ("Exactly", exact),
        (
            "Attacker",
            "Knows all data but this person's, and how the numbers were made; computing power is not limited.",
        ),
    )


def _percent(share: float) -> str:
    return f"{rounded_text(100.0 * share)} %"


def _percent_up(share: float) -> str:
    return f"{rounded_up_text(100.0 * share)} %"


def _percent_down(share: float) -> str:
    return f"{rounded_down_text(100.0 * share)} %"
