"""The Exponential mechanism: one of finitely many candidates, better ones with a larger probability.

Candidates have public labels, and some may be excluded. Utilities are read exactly; no error message contains one.

==========  ==================================================================================
u_i         utility of candidate i on the data
Delta       sensitivity of the utility: the most that one person moves any u_i
P(i)        exp(eps u_i / (2 Delta)) over the sum of these, over candidates that are not excluded;
            exp(eps u_i / Delta) where one person moves all utilities to one side only
==========  ==================================================================================

The probabilities are exact for the epsilon, the sensitivity and the utilities as they are given: the rate is a
fraction, differences of utilities are not rounded, and the draw is decided by as many random bits as it takes
(`ggdp.noise.selection`). So epsilon is kept with nothing added, and no weight is rounded to 0, which would tell
neighbours apart for certain. The generalized Gaussian form, with the utility -||s* - s||_p^p, is
`ggdp.calibration.exponential_calibration`.

References
----------
McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007, Theorem 6; Liu, arXiv 1602.06028 v5, Eqn
exp and Corollary 12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from numbers import Integral, Rational
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import converters, field, frozen
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp._balls import BALLS, working_precision
from ggdp._rounding import rounded_up_text
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.ledger.charging import ChargeRequest, PendingCharge
from ggdp.noise.entropy import Source, checked_source, is_private, takes_rng
from ggdp.noise.selection import MOST_CANDIDATES, MOST_RATE, Weights, select_candidate
from ggdp.privacy import PureDP
from ggdp.privacy.grid import exact_numbers, refusal
from ggdp.privacy.guarantees import Neighbours, as_goal, validated_neighbours
from ggdp.releases.mechanism_record import SelectionRecord
from ggdp.releases.release import Release, charge_of, make_release

if TYPE_CHECKING:
    from ggdp.ledger import Ledger
    from ggdp.proofs.losses import CountedLoss


def labels_of(candidates: Sequence[Any] | NDArray[Any] | int) -> Sequence[Any] | NDArray[Any]:
    """Return the labels of candidates as an immutable sequence."""
    labels: Sequence[Any] | NDArray[Any]
    if isinstance(candidates, Integral):
        if _validate.integer(candidates=candidates, at_least=1) > MOST_CANDIDATES:
            raise ArgumentError("candidates", candidates, "must be at most 2^31")
        return range(int(candidates))
    if hasattr(candidates, "dtype"):
        labels = np.array(candidates)
        labels.setflags(write=False)
        if labels.ndim != 1:
            raise ArgumentError("candidates", f"of shape {labels.shape}", "must be one list of labels")
    elif isinstance(candidates, Sequence) and not isinstance(candidates, str | bytes | bytearray):
        labels = candidates if isinstance(candidates, range) else tuple(candidates)
    else:
        raise ArgumentTypeError("candidates", candidates, "must be a sequence of labels, or their number")
    if not 1 <= len(labels) <= MOST_CANDIDATES:
        raise ArgumentError("candidates", f"{len(labels):,} of them", "must be at least 1 and at most 2^31")
    return labels


def as_mask(excluded: ArrayLike) -> NDArray[Any]:
    """Return which candidates are excluded as an array that cannot be changed."""
    try:
        mask = np.array(excluded)
    except ValueError:
        raise ArgumentTypeError("excluded", type(excluded).__name__, "must be one list of True or False") from None
    mask.setflags(write=False)
    return mask


_FINITE = (
    "must be finite: a NaN or infinite utility would let the data decide which candidates are possible, "
    "which can reveal a person with certainty; exclude candidates publicly, with excluded="
)
# Stands for utilities in errors, which must not contain them.
_NOT_SHOWN = refusal("").value

# The name of the mechanism and its source, and how the sensitivity of its utility begins.
SELECTION = ("Exponential mechanism", "McSherry and Talwar, FOCS 2007, Theorem 6; Liu, arXiv 1602.06028 v5, Eqn exp")
UTILITY = "the utility of a candidate moves by at most "


def as_sequence(utilities: ArrayLike) -> list[Any] | tuple[Any, ...] | NDArray[Any]:
    """Return utilities as a list, a tuple or an array, without reading the numbers."""
    if isinstance(utilities, list | tuple | np.ndarray):
        return utilities
    # Whatever an object raises when it is asked for its array could hold a value.
    with suppress(Exception):
        if hasattr(utilities, "dtype"):
            return np.asarray(utilities)
    raise ArgumentTypeError("utilities", _NOT_SHOWN, "must be a list or an array of numbers")


def finite_numbers(utilities: list[Any] | tuple[Any, ...] | NDArray[Any]) -> NDArray[Any]:
    """Return utilities exactly; raise unless they are one list of finite numbers."""
    expected = None
    try:
        numbers = exact_numbers(utilities)
    except ArgumentError as error:
        expected = error.expected
    if expected is not None:
        # Outside of the except clause, so that nothing hangs on it.
        raise ArgumentTypeError("utilities", _NOT_SHOWN, expected)
    if numbers.ndim != 1:
        raise ArgumentError("utilities", _NOT_SHOWN, "must be numbers, not lists of them")
    if numbers.dtype == object:
        finite = all(isinstance(number, Rational) or math.isfinite(number) for number in numbers)
    else:
        finite = bool(np.isfinite(numbers).all())
    if not finite:
        raise ArgumentError("utilities", _NOT_SHOWN, _FINITE)
    return numbers


def pure(goal: PureDP | float) -> PureDP:
    """Return a goal of pure DP, perhaps given as its epsilon."""
    found = as_goal(goal)
    if not isinstance(found, PureDP):
        raise ArgumentTypeError("goal", goal, "must be PureDP")
    return found


def _covering(sensitivity: float) -> float:
    return _validate.covering(sensitivity=sensitivity)


@frozen(eq=False, repr=False)
class ExponentialMechanism:
    """The Exponential mechanism: a private choice among public candidates, with exact probabilities.

    Parameters
    ----------
    goal : PureDP or float
        The epsilon to keep.
    sensitivity : float
        The most that one person moves the utility of any candidate. A number that a float does not hold is rounded up.
    candidates : sequence or int
        Labels of the candidates, known without the data; or how many there are, which then are 0, 1, 2, ... Up to 2^31.
    excluded : sequence of bool, optional
        Which candidates are out of the question, known without the data; at least one is left.
    neighbours : {"add-remove", "replace-one"}, default "add-remove"
        The relation that the sensitivity is stated for.
    monotonic : bool, default False
        Whether one person more can only raise utilities, or can only lower them: counts, for instance. The weights are
        then exp(eps u_i / Delta), and better candidates are the more probable for the same epsilon. It needs
        add-remove neighbours: replacing a person can both raise and lower utilities.

    Raises
    ------
    ArgumentError
        If an argument is wrong.

    Notes
    -----
    Claim: a release keeps pure DP with exactly the epsilon of the goal. Proof (McSherry and Talwar): neighboring data
    move every u_i by at most Delta, so every weight exp(eps u_i / (2 Delta)) changes by a factor of at most e^(eps/2),
    and so does their sum, by which it is divided; together, e^eps. The set of candidates is public, so none has
    probability 0 on one data set only. The released label is a function of the place that was drawn.

    It is tight: let one utility rise by Delta and all others fall by Delta. If its probability was q, it grows by
    e^eps / (1 + q (e^eps - 1)), which nears e^eps where q is small.

    Claim: with ``monotonic=True`` a release keeps the same epsilon. Proof: let one person more raise every u_i by
    between 0 and Delta. Every weight exp(eps u_i / Delta) then grows by a factor between 1 and e^eps, and so does their
    sum: a probability changes by a factor between e^-eps and e^eps. If utilities can only fall, exchange the two data
    sets. It is tight: where all other utilities rise by Delta and the favored one does not move, a rare candidate's
    loss nears eps.

    Examples
    --------
    >>> import ggdp
    >>> best = ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=["red", "green", "blue"])
    >>> release = best.release([12, 90, 31])
    >>> print(release.guarantee)
    1-DP under add-remove neighbours
    >>> str(release.values) in best.candidates
    True
    """

    goal: PureDP = field(converter=pure)
    sensitivity: float = field(kw_only=True, converter=_covering)
    candidates: Sequence[Any] | NDArray[Any] = field(kw_only=True, converter=labels_of)
    excluded: NDArray[np.bool_] | None = field(kw_only=True, default=None, converter=converters.optional(as_mask))
    neighbours: Neighbours = field(kw_only=True, default="add-remove", converter=validated_neighbours)
    monotonic: bool = field(kw_only=True, default=False)
    _kept: NDArray[np.intp] | None = field(init=False)

    def __attrs_post_init__(self) -> None:
        if self.goal.neighbours not in (None, self.neighbours):
            expected = f"the sensitivity is for {self.neighbours} neighbours; the two must agree"
            raise ArgumentError("goal", str(self.goal), expected)
        _validate.boolean(monotonic=self.monotonic)
        if self.monotonic and self.neighbours != "add-remove":
            expected = "needs add-remove neighbours: replacing a person can both raise and lower utilities"
            raise ArgumentError("monotonic", True, expected)
        _rate(self.goal.epsilon, self.sensitivity, monotonic=self.monotonic)

    @_kept.default
    def _not_excluded(self) -> NDArray[np.intp] | None:
        if self.excluded is None:
            return None
        mask, count = self.excluded, len(self.candidates)
        if mask.dtype != np.bool_ or mask.shape != (count,):
            expected = f"must be True or False for each of {count:,} candidates"
            refusal = ArgumentError if mask.dtype == np.bool_ and mask.ndim == 1 else ArgumentTypeError
            raise refusal("excluded", f"{mask.dtype} of shape {mask.shape}", expected)
        kept = np.flatnonzero(~self.excluded)
        if not kept.size:
            raise ArgumentError("excluded", "all of them", "must leave at least one candidate")
        return kept

    @property
    def guarantee(self) -> PureDP:
        """The guarantee of a release."""
        return self.goal.under(self.neighbours)

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate a release in a composition (`ggdp.compose`)."""
        return self.record.losses

    @property
    def record(self) -> SelectionRecord:
        """The record of the mechanism that a release publishes."""
        count = len(self.candidates)
        return SelectionRecord(
            name=SELECTION[0],
            item=SELECTION[1],
            goal=self.goal,
            neighbours=self.neighbours,
            sensitivity=f"{UTILITY}{rounded_up_text(self.sensitivity, 6)}"
            + (", all to one side" if self.monotonic else ""),
            candidates=count,
            excluded=0 if self._kept is None else count - self._kept.size,
        )

    def charge_request(self) -> ChargeRequest:
        """Return what a release asks a ledger for."""
        return charge_of(self.record, self.guarantee)

    @takes_rng
    def release(
        self,
        utilities: ArrayLike,
        *,
        rng: Source | None = None,
        ledger: Ledger | str | PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> Release:
        """Return one candidate, drawn by the utilities.

        Parameters
        ----------
        utilities : array_like
            The utility of every candidate on the data, in their order: floats, integers of any size or fractions, all
            finite. Those of excluded candidates are not looked at and may be anything.
        rng : Source, optional
            Where the random bits come from, the operating system by default. What comes from a seeded source has no
            guarantee.
        ledger : Ledger, str or path, optional
            The budget that the release is charged to, before a utility is looked at.
        analyst : str, optional
            Who asks, for the ledger.

        Returns
        -------
        Release
            The label of the candidate, or its number where the candidates are numbers.

        Raises
        ------
        ArgumentError
            If the utilities are not one finite number for each candidate. No error holds or tells a utility.

        Notes
        -----
        All candidates cost the same work whatever their utilities are; `ggdp.noise.selection` says what is left.

        Examples
        --------
        >>> import ggdp
        >>> grades = ExponentialMechanism(ggdp.PureDP(0.5), sensitivity=1, candidates=5)
        >>> 0 <= int(grades.release([3, 0, 12, 15, 2]).values) < 5
        True
        """
        bits = checked_source(rng)
        with PendingCharge(ledger, self, analyst=analyst, rng=bits) as charge:
            entry = charge.commit()
            rate = _rate(self.goal.epsilon, self.sensitivity, monotonic=self.monotonic)
            given = as_sequence(utilities)
            shape = (len(given),) if isinstance(given, list | tuple) else given.shape
            if shape != (len(self.candidates),):
                expected = f"there must be one for each of {len(self.candidates):,} candidates"
                raise ArgumentError("utilities", f"of shape {shape}", expected)
            # Utilities of candidates that are excluded are not looked at.
            if self._kept is not None:
                given = [given[i] for i in self._kept] if isinstance(given, list | tuple) else given[self._kept]
            place = select_candidate(Weights.of(finite_numbers(given), rate), bits)
            label = self.candidates[place if self._kept is None else int(self._kept[place])]
            # An array without axes; a label that is itself a sequence stays whole.
            value = np.empty((), dtype=object)
            value[()] = label
            if isinstance(label, bool | int | float | str | np.generic):
                value = np.asarray(label)
            return make_release(value, self.record, self.guarantee if is_private(bits) else None, entry)

    def __repr__(self) -> str:
        sensitivity = rounded_up_text(self.sensitivity, 6)
        return f"<ExponentialMechanism of {self.guarantee}: {self.record}, sensitivity {sensitivity}>"


def selection_probabilities(
    epsilon: float, sensitivity: float, utilities: ArrayLike, *, monotonic: bool = False
) -> NDArray[np.float64]:
    """Return the probability of each candidate for hypothetical utilities; NOT private for utilities of real data.

    Parameters
    ----------
    epsilon : float
        The epsilon of the mechanism.
    sensitivity : float
        The sensitivity of the utility.
    utilities : array_like
        Hypothetical utilities, made up or public, one for each candidate.
    monotonic : bool, default False
        Whether one person moves utilities to one side only.

    Returns
    -------
    numpy.ndarray
        The probabilities, each within an ulp.

    Examples
    --------
    >>> print(selection_probabilities(2.0, 1.0, [0.0, 0.0, 1.0]).round(4))
    [0.2119 0.2119 0.5761]
    """
    epsilon = _validate.positive(epsilon=epsilon)
    numbers = finite_numbers(as_sequence(utilities))
    if not numbers.size:
        raise ArgumentError("utilities", "none", "there must be at least one")
    weights = Weights.of(numbers, _rate(epsilon, _covering(sensitivity), monotonic=monotonic))
    with BALLS, working_precision(128):
        enclosed = [weights.enclose(i) for i in range(numbers.size)]
        total = sum(enclosed)
        return np.array([float(weight / total) for weight in enclosed])


def _rate(epsilon: float, sensitivity: float, *, monotonic: bool = False) -> Fraction:
    """Return eps / (2 Delta), or eps / Delta for utilities that move to one side; raise if that is too far from 1."""
    rate = Fraction(epsilon) / ((1 if monotonic else 2) * Fraction(sensitivity))
    if not 1 / MOST_RATE <= rate <= MOST_RATE:
        expected = f"is more than a factor of 2^1000 from epsilon = {epsilon!r}; change its unit"
        raise ArgumentError("sensitivity", sensitivity, expected)
    return rate
