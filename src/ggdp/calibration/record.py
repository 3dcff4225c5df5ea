"""The record of a calibration: a scale, what it was asked for, and what is proved of it."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ggdp.calibration.bounds import BOUNDS
from ggdp.calibration.certificate import Certificate, certify, require_proved, verify
from ggdp.calibration.obligations import Obligation, bounded_obligation, joint_obligation, obligations
from ggdp.calibration.quoted import Quoted
from ggdp.calibration.spread import Spread, spread
from ggdp.errors import ArgumentError, CertificateError, GgdpError, SearchError, UnattainableError, UnprovedError
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP, Sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp.sampling import BoundaryInflatedIntegerNoise, IntegerNoise, TruncatedIntegerNoise

__all__ = ["Bounding", "Calibration", "Formula", "Method", "Request", "Support", "certified", "searched"]

Support: TypeAlias = Literal["real", "integer"]
Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]
Method: TypeAlias = Literal["tight", "paper"]
Formula: TypeAlias = Literal["tight", "paper", "exponential"]

AS_IT_IS = (
    "use the scale exactly as it is: on the integers delta does not always fall as the scale grows, and a larger or "
    "rounded scale may not keep the goal"
)
# A search may end a few ulps short of what can be proved: the scale is then raised step by step, up to 1e-10.
_NUDGES = (0.0, *(2.0**-k for k in range(52, 32, -2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a calibration is asked for, already checked."""

    goal: Guarantee
    sensitivity: Sensitivity
    order: float
    support: Support = "real"
    bounds: tuple[tuple[float, float], ...] | None = None
    bounding: Bounding | None = None

    def obligations(self) -> list[Obligation]:
        """Return the bounds that would prove the goal."""
        if self.bounds is not None and self.bounding is not None:
            duties = [
                bounded_obligation(self.goal, self.sensitivity, self.order, self.support, self.bounds, self.bounding)
            ]
            if self.bounding == "truncated" and self.sensitivity.joint is not None:
                duties.append(joint_obligation(self.goal, self.sensitivity, self.order, self.bounds))
            return duties
        return obligations(self.goal, self.sensitivity, self.order, self.support)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration(Quoted):
    """A scale with what it was asked for and what is proved of it.

    Attributes
    ----------
    order, scale : float
        Order and scale of the noise.
    support : {"real", "integer"}
        Where the noise lives.
    bounding : {"truncated", "boundary-inflated"}, optional
        What keeps the output in `bounds`; None for unbounded noise.
    bounds : tuple of (lower, upper), optional
        Bounds of query and output.
    method : {"tight", "paper", "exponential"}
        Least scale, the paper's formula, or the Exponential mechanism's (`ggdp.calibration.exponential_calibration`).
    goal : PureDP, ProbabilisticDP or ApproxDP
        What was asked for.
    sensitivity : Sensitivity
        How far one person can move the query.
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What the certificate proves; it implies the goal.
    certificate : Certificate
        The proof, to be checked again with `verify`.
    notes : tuple of str
        What a reader should know, such as that a scale is an upper bound.

    Examples
    --------
    >>> import ggdp
    >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=2)
    >>> print(f"{noise.std:.4f}")
    4.2247
    >>> print(noise.guarantee)
    (1, 1e-06)-aDP under add-remove neighbours
    """

    order: float
    scale: float
    support: Support
    bounding: Bounding | None
    bounds: tuple[tuple[float, float], ...] | None
    method: Formula
    goal: Guarantee
    sensitivity: Sensitivity
    guarantee: Guarantee
    certificate: Certificate
    notes: tuple[str, ...] = ()

    @property
    def _spread(self) -> Spread:
        return spread(self.order, self.scale, self.support, self.bounding, self.bounds)

    @property
    def std(self) -> float:
        """Standard deviation of the noise; under bounding the largest over the true value."""
        return self._spread.std

    @property
    def mean_abs(self) -> float:
        """Mean absolute error; under bounding the largest over the true value."""
        return self._spread.mean_abs

    @property
    def caution(self) -> str | None:
        """What whoever reads the scale off must know: that a larger one need not be valid; None where it is.

        Examples
        --------
        >>> import ggdp
        >>> goal, query = ggdp.ApproxDP(2.0, 0.01), ggdp.Sensitivity.histogram()
        >>> "exactly as it is" in ggdp.calibrate(goal, query, order=2, support="integer").caution
        True
        """
        wavy = self.support == "integer" and self.certificate.quantity == "delta" and self.order != 1.0
        return AS_IT_IS if wavy and self.certificate.bound != "integer-gaussian" else None

    def __repr__(self) -> str:
        bounded = "" if self.bounds is None else f", {self.bounding} on {list(self.bounds)}"
        lines = [
            f"Calibration: noise of order {self.order:.12g}, scale {self.scale!r}, on the {self.support}s{bounded}",
            f"  promises {self.guarantee}",
            f"  where {self.sensitivity}",
        ]
        return "\n".join([*lines, *(f"  note: {note}" for note in self._all_notes)])

    @property
    def _all_notes(self) -> tuple[str, ...]:
        return self.notes if self.caution is None else (*self.notes, self.caution)

    def verify(self) -> None:
        """Prove the certificate again, and that it is about this scale and reaches this goal.

        Raises
        ------
        CertificateError
            If the claim cannot be proved.
        """
        self.require_own_certificate()
        verify(self.certificate)

    def require_proof(self) -> None:
        """Check that the certificate is about this calibration and that this process has proved it, or prove it now.

        A calibration as `ggdp.calibrate` returned it costs microseconds; one that was changed, or made by hand, costs a
        proof.

        Raises
        ------
        CertificateError
            If the claim cannot be proved.
        """
        self.require_own_certificate()
        require_proved(self.certificate)

    def require_own_certificate(self) -> None:
        """Check that the certificate is about this scale, this goal and this guarantee, without proving it again.

        Raises
        ------
        CertificateError
            If it is about something else.
        """
        if not isinstance(self.certificate, Certificate):
            message = f"a {type(self.certificate).__name__} is not a certificate of ggdp"
            raise CertificateError(message)
        known = (
            isinstance(self.goal, PureDP | ProbabilisticDP | ApproxDP)
            and isinstance(self.sensitivity, Sensitivity)
            and self.support in get_args(Support)
            and self.method in get_args(Formula)
            and (self.bounds is None) == (self.bounding is None)
            and (self.bounding is None or self.bounding in get_args(Bounding))
        )
        if not known:
            message = (
                "no goal, sensitivity, support, bounding or method of ggdp; use ggdp.calibrate to make a calibration"
            )
            raise CertificateError(message)
        request = Request(
            goal=self.goal,
            sensitivity=self.sensitivity,
            order=self.order,
            support=self.support,
            bounds=self.bounds,
            bounding=self.bounding,
        )
        duties = request.obligations()
        if isinstance(self.goal, ApproxDP) and self.goal.delta > 0.0:
            # Probabilistic DP implies approximate DP, and the paper's formulas go by it.
            goal = ProbabilisticDP(self.goal.epsilon, self.goal.delta)
            with suppress(UnprovedError):
                duties += obligations(goal, self.sensitivity, self.order, self.support)
        if self.order == 1.0 and self.bounding is None:
            duties += obligations(PureDP(self.goal.epsilon), self.sensitivity, self.order, self.support)
        claimed = dict(self.certificate.parameters)
        if not any(
            duty.bound == self.certificate.bound
            and duty.target == self.certificate.target
            and {**duty.parameters, "scale": self.scale} == claimed
            and (self.certificate.tight is None or duty.note is None)
            for duty in duties
        ):
            message = "the certificate is not about this calibration"
            raise CertificateError(message)
        if self.guarantee != _proved(request, self.certificate):
            message = f"the certificate does not prove {self.guarantee}, but {_proved(request, self.certificate)}"
            raise CertificateError(message)

    def noise(self) -> IntegerNoise:
        """Return the exact sampler of this noise on the integers.

        Raises
        ------
        ArgumentError
            If the noise is on the reals: it is then drawn on a grid, by `ggdp.Mechanism`, which also proves the scale
            for that. If it is kept in bounds: see `bounded_noise`.
        CertificateError
            If the certificate does not prove exactly this noise, as after `dataclasses.replace`.

        Examples
        --------
        >>> import ggdp
        >>> goal, query = ggdp.PureDP(1.0), ggdp.Sensitivity.histogram()
        >>> ggdp.calibrate(goal, query, order=1, support="integer").noise().sample(3).shape
        (3,)
        """
        from ggdp.sampling import IntegerNoise

        self._require_integers()
        if self.bounding is not None:
            raise ArgumentError(
                "bounding", self.bounding, "is drawn around true values: use bounded_noise(), or ggdp.Mechanism"
            )
        self.require_proof()
        return IntegerNoise(order=self.order, scale=self.scale)

    def bounded_noise(self) -> TruncatedIntegerNoise | BoundaryInflatedIntegerNoise:
        """Return the exact sampler of this noise on the integers, kept in its one pair of bounds.

        Raises
        ------
        ArgumentError
            If the noise is on the reals, has no bounds, or several pairs of them: `ggdp.Mechanism` draws the first and
            the last.
        CertificateError
            As for `noise`.

        Examples
        --------
        >>> import ggdp
        >>> how = {"support": "integer", "bounds": [(0, 10)], "bounding": "truncated"}
        >>> calibration = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=2, **how)
        >>> calibration.bounded_noise().around([0, 7]).shape
        (2,)
        """
        from ggdp.sampling import BoundaryInflatedIntegerNoise, TruncatedIntegerNoise

        self._require_integers()
        if self.bounds is None or len(set(self.bounds)) > 1:
            raise ArgumentError(
                "bounds", self.bounds, "a sampler has one pair of bounds; use ggdp.Mechanism(calibration)"
            )
        self.require_proof()
        kind = TruncatedIntegerNoise if self.bounding == "truncated" else BoundaryInflatedIntegerNoise
        lower, upper = (int(end) for end in self.bounds[0])
        return kind(order=self.order, scale=self.scale, lower=lower, upper=upper)

    def _require_integers(self) -> None:
        if self.support != "integer":
            raise ArgumentError(
                "support",
                self.support,
                "noise on the reals cannot be drawn exactly; use ggdp.Mechanism(calibration), which draws on a "
                "grid and proves the scale for it, or calibrate with support = 'integer'",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, fit for JSON."""
        return {
            "order": self.order,
            "scale": self.scale,
            "std": self.std,
            "mean_abs": self.mean_abs,
            "support": self.support,
            "bounding": self.bounding,
            "bounds": None if self.bounds is None else [list(pair) for pair in self.bounds],
            "method": self.method,
            "sensitivity": str(self.sensitivity),
            "goal": self.goal.under(self.sensitivity.neighbours).to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "certificate": self.certificate.to_dict(),
            "notes": list(self._all_notes),
        }


def searched(duty: Obligation) -> float:
    """Return the scale that the bound's own search finds for an obligation.

    A search that finds none, or whose numbers leave the floats, raises a SearchError.
    """
    with _floats_of(duty):
        return BOUNDS[duty.bound].search(target=duty.target, **duty.parameters)


@contextmanager
def _floats_of(duty: Obligation) -> Iterator[None]:
    """Run code whose floats may overflow without warnings, and turn what Python's own raise into an error of ggdp.

    A search is not trusted, so what its floats do decides whether there is an answer, never whether it is right.
    """
    try:
        with np.errstate(all="ignore"):
            yield
    except GgdpError:
        raise
    except (ArithmeticError, ValueError) as left:
        message = (
            f"the numbers of the {duty.bound} bound for the target {duty.target!r} leave the 64-bit floats "
            f"({type(left).__name__}); use a less extreme order, epsilon, delta, sensitivity or width of bounds"
        )
        raise SearchError(message) from None


def certified(
    request: Request, duty: Obligation, scale: float, *, method: Formula, notes: tuple[str, ...] = ()
) -> Calibration:
    """Return the calibration of a scale once it is proved, raising the scale by ulps where the proof needs it.

    Raises
    ------
    SearchError
        If not even a scale 1e-10 larger can be proved, for a scale of our own search.
    UnattainableError
        The same for a formula of the paper, which is then wrong here.
    """
    # A bound that leaves more room than the nudges add is not proved by them, and takes seconds each time.
    nudges = _NUDGES if BOUNDS[duty.bound].room < _NUDGES[-1] else _NUDGES[:1]
    for nudge in nudges:
        raised = scale * (1.0 + nudge)
        # A scale that is labelled an upper bound does not claim to be the least.
        tight = method == "tight" and duty.note is None
        with _floats_of(duty):
            certificate = certify(duty.bound, raised, duty.target, tight=tight, **duty.parameters)
        if certificate is not None:
            break
    else:
        if method != "tight":
            message = (
                f"the paper's scale {scale!r} of order {request.order!r} does not keep {request.goal}; use "
                "method = 'tight'"
            )
            raise UnattainableError(message)
        message = f"the scale {scale!r} of order {request.order!r} could not be certified for {request.goal}"
        raise SearchError(message)
    return Calibration(
        order=request.order,
        scale=raised,
        support=request.support,
        bounding=request.bounding,
        bounds=request.bounds,
        method=method,
        goal=request.goal,
        sensitivity=request.sensitivity,
        guarantee=_proved(request, certificate),
        certificate=certificate,
        notes=notes if duty.note is None else (duty.note, *notes),
    )


def _proved(request: Request, certificate: Certificate) -> Guarantee:
    """Return what a certificate proves, made for the sensitivity's neighbours."""
    goal, neighbours = request.goal, request.sensitivity.neighbours
    if certificate.quantity == "epsilon":
        return PureDP(certificate.proved, neighbours)
    if certificate.proved == 0.0:
        return PureDP(goal.epsilon, neighbours)
    notion = ProbabilisticDP if goal.notion == "probabilistic" else ApproxDP
    return notion(goal.epsilon, certificate.proved, neighbours)
