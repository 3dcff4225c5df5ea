"""Randomised response: one person's answer, told truthfully with a known probability.

=====  ============================================================
n      number of possible answers
q      e^eps / (e^eps + n - 1), the probability of the true answer
=====  ============================================================

It is the Exponential mechanism with utility 1 for the true answer and 0 for every other. The weights always add up to
e^eps + n - 1, so its loss is eps and not the 2 eps that the general proof charges.

References
----------
Warner, "Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias", JASA 1965; Kairouz, Bonawitz and
Ramage, "Discrete Distribution Estimation under Local Privacy", ICML 2016, Section 3 (n answers).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.ledger.charging import PendingCharge
from ggdp.mechanisms.exponential_mechanism import labels_of, pure, scalar_array
from ggdp.releases.mechanism_record import SelectionRecord
from ggdp.releases.release import Release, charge_of, charged_to, released
from ggdp.sampling.entropy import checked_source, is_private
from ggdp.sampling.selection import MOST_RATE, Weights, selected

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from ggdp.ledger import Ledger
    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.privacy import PureDP
    from ggdp.proofs.total_loss import CountedLoss
    from ggdp.sampling.entropy import Source

# The name of the mechanism, its source, and its sensitivity in words.
RESPONSE = (
    "randomised response",
    "Warner, JASA 1965; Kairouz, Bonawitz and Ramage, ICML 2016",
    "one answer is replaced by another",
)


def _different(candidates: Sequence[Any] | NDArray[Any] | int) -> Sequence[Any] | NDArray[Any]:
    labels = labels_of(candidates)
    try:
        different = len({*labels})
    except TypeError:
        raise ArgumentTypeError(
            "candidates", type(candidates).__name__, "must be hashable labels, such as texts or numbers"
        ) from None
    if not 2 <= len(labels) == different:
        raise ArgumentError("candidates", f"{len(labels)} of them", "must be at least two, and all different")
    return labels


@frozen(eq=False, repr=False)
class RandomisedResponse:
    """One person's answer, replaced at random by another one.

    Parameters
    ----------
    goal : PureDP
        The epsilon to keep. Neighbours are any two answers of the one person: replace-one.
    candidates : sequence or int
        The possible answers, at least two and all different, known without the data; or how many there are, which then
        are 0, 1, 2, ...

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Notes
    -----
    Claim: a release keeps pure DP with exactly the epsilon of the goal, and no smaller one. Proof: an output has the
    probability e^eps / (e^eps + n - 1) if it is the true answer and 1 / (e^eps + n - 1) if it is not, so two answers
    differ by a factor of e^eps at both of them, and by none elsewhere.

    Examples
    --------
    >>> import ggdp
    >>> question = ggdp.RandomisedResponse(ggdp.PureDP(1.0), candidates=["yes", "no"])
    >>> print(f"{question.truthful:.4f}")
    0.7311
    >>> release = question.release("yes")
    >>> print(release.guarantee, str(release.values) in ("yes", "no"))
    1-DP under replace-one neighbours True
    """

    goal: PureDP = field(converter=pure)
    candidates: Sequence[Any] | NDArray[Any] = field(kw_only=True, converter=_different)

    def __attrs_post_init__(self) -> None:
        if self.goal.neighbours not in (None, "replace-one"):
            raise ArgumentError("goal", str(self.goal), "an answer is replaced: the neighbours are replace-one")
        if not 1 / MOST_RATE <= Fraction(self.goal.epsilon) <= MOST_RATE:
            raise ArgumentError("goal", str(self.goal), "its epsilon must be between 2^-1000 and 2^1000")

    @property
    def truthful(self) -> float:
        """Probability that the answer is the true one, e^eps / (e^eps + n - 1)."""
        return 1.0 / (1.0 + (len(self.candidates) - 1) * math.exp(-self.goal.epsilon))

    @property
    def guarantee(self) -> PureDP:
        """The guarantee of a release."""
        return self.goal.under("replace-one")

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate a release in a composition (`ggdp.compose`)."""
        return self.record.losses

    @property
    def record(self) -> SelectionRecord:
        """The record of the mechanism that a release publishes."""
        return SelectionRecord(
            name=RESPONSE[0],
            item=RESPONSE[1],
            goal=self.goal,
            neighbours="replace-one",
            sensitivity=RESPONSE[2],
            candidates=len(self.candidates),
            excluded=0,
        )

    def charge_request(self) -> ChargeRequest:
        """Return what a release asks a ledger for."""
        return charge_of(self.record, self.guarantee)

    def release(
        self,
        answer: object,
        *,
        source: Source | None = None,
        ledger: Ledger | str | PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> Release:
        """Return an answer, the true one with probability `truthful`, each other one with the same probability.

        Parameters
        ----------
        answer : object
            The true answer, one of the candidates. Whether it is one is not protected: let one of them stand for all
            other answers.
        source : Source, optional
            Where the random bits come from, the operating system by default. What comes from a seeded source has no
            guarantee.
        ledger : Ledger, str or path, optional
            The budget that the release is charged to, before the answer is looked at.
        analyst : str, optional
            Who asks, for the ledger.

        Raises
        ------
        ArgumentError
            If the answer is not one of the candidates. The error does not tell it.

        Examples
        --------
        >>> import ggdp
        >>> dice = ggdp.RandomisedResponse(ggdp.PureDP(0.5), candidates=6)
        >>> 0 <= int(dice.release(3).values) < 6
        True
        """
        bits = checked_source(source)
        with PendingCharge(ledger, self, analyst=analyst, source=bits) as charge:
            entry = charge.commit()
            return charged_to(self._drawn(answer, bits), entry)

    def _drawn(self, answer: object, bits: Source) -> Release:
        utilities = np.array([label == answer for label in self.candidates], dtype=np.int64)
        if utilities.sum() != 1:
            raise ArgumentError("answer", "(not shown)", "must be one of the candidates")
        place = selected(Weights.of(utilities, Fraction(self.goal.epsilon)), bits)
        return released(scalar_array(self.candidates[place]), self.record, self.guarantee if is_private(bits) else None)

    def __repr__(self) -> str:
        return f"<RandomisedResponse of {self.guarantee}: {self.record}>"
