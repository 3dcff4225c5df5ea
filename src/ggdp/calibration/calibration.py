"""The record of a calibration: a noise distribution, what it was asked for, and what is proved of it.

A query on the reals gets integer noise in steps of a public grid. Its calibration is read in the unit of the data, and
the certificate is about the integer noise: the law that is really drawn (`ggdp.calibration.on_grid`).

Under bounding the error depends on the true value; what is reported is the largest over all true values in the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ggdp.errors import ArgumentError, CertificateError
from ggdp.privacy import ApproxDP, Guarantee, ProbabilisticDP, PureDP, Sensitivity
from ggdp.privacy.grid import MOST_STEPS, Grid
from ggdp.proofs.certificate import Certificate, certify, require_proved, verify
from ggdp.proofs.noise_law import BOUNDINGS, SUPPORTS, Bounding, NoiseLaw, Support
from ggdp.proofs.worst_case import Question, Requirement, proved_guarantee

if TYPE_CHECKING:
    from ggdp.calibration.search import Proposal
    from ggdp.noise import BoundaryInflatedIntegerNoise, IntegerNoise, TruncatedIntegerNoise


Method: TypeAlias = Literal["tight", "paper"]
Formula: TypeAlias = Literal["tight", "paper", "exponential"]

AS_IT_IS = (
    "use the scale exactly as it is: on the integers delta does not always fall as the scale grows, and a larger or "
    "rounded scale may not keep the goal"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A scale with what it was asked for and what is proved of it.

    Attributes
    ----------
    order, scale : float
        Order and scale of the noise, in the unit of the data.
    support : {"real", "integer"}
        Where the values of the query live.
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
    grid : Grid, optional
        For a query on the reals the public grid that noise is drawn on; None for a distribution that is not drawn, and
        on the integers.
    ideal : Calibration, optional
        With a grid, what was asked for on the reals, if that was calibrated; no noise is drawn from it.

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
    grid: Grid | None = None
    ideal: Calibration | None = None

    def __post_init__(self) -> None:
        self.require_own_certificate()

    def require_own_certificate(self) -> None:
        """Check that the certificate is about exactly this noise, query, goal and guarantee, without proving it again.

        Raises
        ------
        CertificateError
            If it is about something else, as after `dataclasses.replace`.
        """
        known = (
            isinstance(self.certificate, Certificate)
            and isinstance(self.goal, PureDP | ProbabilisticDP | ApproxDP)
            and isinstance(self.sensitivity, Sensitivity)
            and self.support in (SUPPORTS if self.grid is None else ("real",))
            and self.method in get_args(Formula)
            and (self.bounds is None) == (self.bounding is None)
            and (self.bounding is None or self.bounding in BOUNDINGS)
        )
        if not known:
            raise CertificateError(
                "its goal, sensitivity, support, bounding, method or certificate is not one of ggdp; use ggdp.calibrate"
            )
        law, support, step = self.certificate.law, self.support, 1.0
        if self.grid is not None:
            support, step = "integer", self.grid.step
        if (law.order, law.scale * step, law.support, law.bounding) != (self.order, self.scale, support, self.bounding):
            raise CertificateError("the certificate is not about this calibration; use ggdp.calibrate to make one")
        proved = _proved_guarantee(self.question, self.certificate)
        if self.guarantee != proved:
            raise CertificateError(f"the certificate does not prove {self.guarantee}, but {proved}")

    @property
    def law(self) -> NoiseLaw:
        """The law that is proved: with a grid that of the integer noise, in steps."""
        return self.certificate.law

    @property
    def question(self) -> Question:
        """What has to be proved: with a grid in its steps."""
        question = Question(
            goal=self.goal,
            sensitivity=self.sensitivity,
            order=self.order,
            support=self.support,
            bounds=self.bounds,
            bounding=self.bounding,
            norm=self.law.norm,
        )
        return question if self.grid is None else question_in_steps(question, self.grid)

    @property
    def std(self) -> float:
        """Standard deviation of the noise; the largest over the true value under bounding, over cells with a norm.

        With a grid it is about the noise, from the rounded value on. Rounding itself changes a value by at most half a
        step.
        """
        return self._errors()[0]

    @property
    def mean_abs(self) -> float:
        """Mean absolute error, counted as `std` is; an upper bound for noise of a norm.

        Under bounding it is the largest over the true value.
        """
        return self._errors()[1]

    def _errors(self) -> tuple[float, float]:
        """Return `std` and `mean_abs`."""
        from ggdp.noise import GeneralizedGaussian, IntegerGeneralizedGaussian
        from ggdp.noise.bounded_law import largest_errors

        law, bounds, step = self.law, self.question.bounds, 1.0 if self.grid is None else self.grid.step
        if law.norm is not None:
            from ggdp.noise.norm_ball_noise import vector_noise

            found = vector_noise(law).std
            std = found * max(law.norm.sizes or (1.0,)) if isinstance(found, float) else max(found)
            # The mean of a size is at most the root of its mean square.
            return std, std
        if law.bounding is None or bounds is None:
            kind = IntegerGeneralizedGaussian if law.support == "integer" else GeneralizedGaussian
            noise = kind(order=law.order, scale=law.scale)
            return noise.std * step, noise.mean_abs * step
        known = law.bounding, law.support
        worst = (largest_errors(law.order, law.scale, pair, *known) for pair in dict.fromkeys(bounds))
        std, mean_abs = map(max, zip(*worst, strict=True))
        return std * step, mean_abs * step

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
        wavy = self.law.support == "integer" and self.certificate.bound.quantity == "delta" and self.order != 1.0
        return AS_IT_IS if wavy and not self.certificate.bound.monotone else None

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with the delta of approximate DP of this noise at an epsilon between them.

        Parameters
        ----------
        epsilon : float
            Any finite number; at 0 delta is the total variation distance, below 0 it is above 1 - e^epsilon.

        Notes
        -----
        Claim and proof: `ggdp.accounting.profile`. The two agree to 12 digits where one coordinate moves and at order
        2 on the reals (for an epsilon between -1e-12 and 1e-12 to an absolute 2e-12), to about 1 percent for a box or
        cells of up to a hundred coordinates, and to a factor below 2 for a thousand. Where only a norm is known at
        another order, or the noise is bounded, they may be far apart.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> [f"{bound:.6e}" for bound in noise.delta(0.5)]
        ['4.319891e-04', '4.319891e-04']
        >>> [f"{bound:.6f}" for bound in noise.delta(-1.0)]
        ['0.632121', '0.632121']
        """
        from ggdp.accounting.noise_guarantees import delta_of

        return delta_of(self, epsilon)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return two proved floats with the least epsilon of approximate DP of this noise for a delta between them.

        Parameters
        ----------
        delta : float
            In [0, 1). With 0 the epsilon is that of pure DP, infinite at orders above 1 without bounds.

        Notes
        -----
        As for `delta`, in whose terms it is found. It is never below 0.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> [f"{bound:.9f}" for bound in noise.epsilon(1e-9)]
        ['1.469042655', '1.469042655']
        """
        from ggdp.accounting.noise_guarantees import epsilon_of

        return epsilon_of(self, delta)

    def renyi(self, alpha: float) -> tuple[float, float]:
        """Return two proved floats with the Renyi divergence of this noise of order alpha between them.

        Parameters
        ----------
        alpha : float
            Order of the divergence, above 1.

        Notes
        -----
        Claim and proof: `ggdp.accounting.renyi`. The two agree to 9 digits in most cases, for boxes and cells too, and
        to 4 where the divergence is large; where alpha is too large for the working precision (from about 1e3 on at
        order 50, from about 1e16 on at order 1.5) they may be 0 and infinity. Where only a norm is known at an order
        other than 2, or the noise is bounded, the lower one is of a simpler move, or 0.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> [f"{bound:.9f}" for bound in noise.renyi(8)]
        ['0.108740138', '0.108740138']
        """
        from ggdp.accounting.noise_guarantees import renyi_of

        return renyi_of(self, alpha)

    def concentrated(self) -> tuple[float, float]:
        """Return two proved floats with the least rho of zero-concentrated DP of this noise between them.

        Notes
        -----
        At order 2 it is Delta_2^2 / (2 sigma^2). From order 1 to 2 it is found to 2 percent or, near order 2, to less
        than 10; above order 2 there is none, and both are infinite. Bounded noise has at most epsilon^2 / 2 (Bun and
        Steinke, TCC 2016, Proposition 3.3). Claim and proof: `ggdp.accounting.renyi`.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=2)
        >>> lower, upper = noise.concentrated()
        >>> print(f"{lower:.9f} {upper:.9f} {1 / (2 * noise.std**2):.9f}")
        0.028014482 0.028014482 0.028014482
        """
        from ggdp.accounting.noise_guarantees import concentrated_of

        return concentrated_of(self)

    def __repr__(self) -> str:
        bounded = "" if self.bounds is None else f", {self.bounding} on {list(self.bounds)}"
        place = f"on the {self.support}s"
        if self.grid is not None:
            place = f"on a grid of step {self.grid.step!r}"
            place += "" if self.ideal is None else f" (on the reals the scale would be {self.ideal.scale!r})"
        lines = [
            f"Calibration: noise of order {self.order:.12g}, scale {self.scale!r}, {place}{bounded}",
            f"  promises {self.guarantee}",
            f"  where {self.sensitivity}",
        ]
        return "\n".join([*lines, *(f"  note: {note}" for note in self._all_notes)])

    @property
    def _all_notes(self) -> tuple[str, ...]:
        return self.notes if self.caution is None else (*self.notes, self.caution)

    def verify(self) -> None:
        """Prove the certificate again, from its record alone.

        Raises
        ------
        CertificateError
            If the claim cannot be proved.
        """
        self.require_own_certificate()
        verify(self.certificate)

    def require_proof(self) -> None:
        """Check that this process has proved the certificate, or prove it now.

        A calibration as `ggdp.calibrate` returned it costs microseconds; one that was read from elsewhere, or made by
        hand, costs a proof.

        Raises
        ------
        CertificateError
            If the claim cannot be proved.
        """
        self.require_own_certificate()
        require_proved(self.certificate)

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
        from ggdp.noise import IntegerNoise

        self._require_integers()
        if self.bounding is not None:
            expected = "is drawn around true values: use bounded_noise(), or ggdp.Mechanism"
            raise ArgumentError("bounding", self.bounding, expected)
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
        from ggdp.noise import BoundaryInflatedIntegerNoise, TruncatedIntegerNoise

        self._require_integers()
        if self.bounds is None or len(set(self.bounds)) > 1:
            expected = "a sampler has one pair of bounds; use ggdp.Mechanism(calibration)"
            raise ArgumentError("bounds", self.bounds, expected)
        self.require_proof()
        kind = TruncatedIntegerNoise if self.bounding == "truncated" else BoundaryInflatedIntegerNoise
        lower, upper = (int(end) for end in self.bounds[0])
        return kind(order=self.order, scale=self.scale, lower=lower, upper=upper)

    def _require_integers(self) -> None:
        if self.support != "integer":
            expected = (
                "noise on the reals cannot be drawn exactly; use ggdp.Mechanism(calibration), which draws on a "
                "grid and proves the scale for it, or calibrate with support = 'integer'"
            )
            raise ArgumentError("support", self.support, expected)
        if self.law.norm is not None:
            expected = "is of noise for whole vectors: use ggdp.MinkowskiMechanism"
            raise ArgumentError("norm", self.law.norm.kind, expected)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, fit for JSON."""
        return {
            "order": self.order,
            "scale": self.scale,
            "std": self.std,
            "mean_abs": self.mean_abs,
            "support": self.support,
            # Where noise is drawn on a grid, the certificate is about its steps.
            **({} if self.grid is None else {"step": self.grid.step}),
            "bounding": self.bounding,
            "bounds": None if self.bounds is None else [list(pair) for pair in self.bounds],
            "method": self.method,
            "sensitivity": str(self.sensitivity),
            "goal": self.goal.under(self.sensitivity.neighbours).to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "certificate": self.certificate.to_dict(),
            "notes": list(self._all_notes),
        }


# Derived once for each certificate, and looked up where a calibration is checked again.
_proved_guarantee = lru_cache(maxsize=256)(proved_guarantee)


@lru_cache(maxsize=64)
def question_in_steps(question: Question, grid: Grid) -> Question:
    """Return what has to be proved in steps of a grid for a query on the reals."""
    steps = grid.sensitivity(question.sensitivity)
    bounds = None if question.bounds is None else bounds_in_steps(grid, question.bounds, steps.sizes)
    return replace(question, sensitivity=steps, support="integer", bounds=bounds)


def bounds_in_steps(
    grid: Grid, bounds: tuple[tuple[float, float], ...], sizes: tuple[float, ...]
) -> tuple[tuple[float, float], ...]:
    """Return bounds in steps of the grid, for coordinates that move by at most these steps.

    The upper bound is raised where rounding leaves less than the sensitivity. A wider interval still holds every true
    index; the output is clipped to the bounds themselves afterwards.
    """
    if len(sizes) != len(bounds):
        sizes = (max(sizes),) * len(bounds)
    found = []
    for pair, size in zip(bounds, sizes, strict=True):
        low, high = grid.index(list(pair)).tolist()
        high = max(high, low + int(size))
        if max(abs(low), abs(high)) > MOST_STEPS:
            expected = (
                f"are more than 2^53 steps of {grid.step!r} away from 0; subtract a public number from the query, or "
                "give a coarser Grid"
            )
            raise ArgumentError("bounds", pair, expected)
        found.append((float(low), float(high)))
    return tuple(found)


def calibration_of(
    question: Question, requirement: Requirement, proposal: Proposal, *, method: Formula, notes: tuple[str, ...] = ()
) -> Calibration:
    """Return the calibration of a law that was proved to meet a requirement."""
    # A scale that is labelled an upper bound does not claim to be the least.
    tight = method == "tight" and requirement.note is None
    certificate = certify(proposal.bound, proposal.law, requirement.target, tight=tight, enclosure=proposal.found)
    assert certificate is not None
    notes = notes if requirement.note is None else (requirement.note, *notes)
    return calibration_from(question, certificate, method=method, notes=notes)


def calibration_from(
    question: Question, certificate: Certificate, *, method: Formula = "tight", notes: tuple[str, ...] | None = None
) -> Calibration:
    """Return the calibration that a certificate is about, unproved; a CertificateError if it is about another."""
    law = certificate.law
    if notes is None:
        note = next((one.note for one in question.acceptable() if one.bound == certificate.bound.claim), None)
        notes = () if note is None else (note,)
    return Calibration(
        order=law.order,
        scale=law.scale,
        support=law.support,
        bounding=law.bounding,
        bounds=question.bounds,
        method=method,
        goal=question.goal,
        sensitivity=question.sensitivity,
        guarantee=_proved_guarantee(question, certificate),
        certificate=certificate,
        notes=notes,
    )
