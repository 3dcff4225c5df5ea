"""From a calibration on the reals to one of what is really drawn: integer noise on the steps of a public grid.

=======  ==========================================================================
g        step of the grid
D        sensitivity of a coordinate on the reals; ceil(D/g) steps on the grid
b        scale in steps; b g in the unit of the data
c0, c1   bounds on the reals; their indices bound the true index and the noisy one
=======  ==========================================================================

Nobody draws the law of a calibration on the reals. It is recalibrated for the law that is drawn, with the rounding of
the values in the sensitivity, and the certificate is about that law. With a step of at most D/1024 the scale comes out
wider than the ideal one by about 1/1024 at most, and hardly at all where D is a multiple of the step.

References
----------
`ggdp.privacy.grid` has the claims on rounding and their proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ggdp.calibration.calibration import Calibration
from ggdp.calibration.least_scale import calibrate
from ggdp.calibration.paper import formula_calibration
from ggdp.calibration.scale_for_absolute_losses import absolute_sum_excess
from ggdp.errors import ArgumentError, ArgumentTypeError, CertificateError, UnattainableError, UnprovedError
from ggdp.privacy.grid import MOST_STEPS, Grid
from ggdp.proofs.bounded import BoundedLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.several_coordinates import AbsoluteSumDelta, CornerDelta
from ggdp.proofs.worst_case import Question

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee, Sensitivity
    from ggdp.proofs.certificate import Certificate
    from ggdp.proofs.noise_law import Bounding
    from ggdp.proofs.worst_case import Requirement

GRID_NOTE = "upper bound: on the grid the joint norm of the change is not used"


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCalibration:
    """A calibration of integer noise on a grid, read in the unit of the data. Made by `on_grid`.

    Attributes
    ----------
    ideal : Calibration
        What was asked for on the reals; no noise is drawn from it.
    grid : Grid
        The public grid.
    steps : Calibration
        The calibration of the integer noise that is drawn, in steps of the grid, with its certificate.

    Examples
    --------
    >>> import ggdp
    >>> ideal = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
    >>> drawn = on_grid(ideal)
    >>> drawn.grid.step, drawn.steps.sensitivity.sizes
    (0.0009765625, (1024.0,))
    >>> print(f"{drawn.scale:.6f} {ideal.scale:.6f}")
    12.488448 12.488448
    """

    ideal: Calibration
    grid: Grid
    steps: Calibration

    @property
    def order(self) -> float:
        """Order of the noise."""
        return self.steps.order

    @property
    def scale(self) -> float:
        """Scale of the noise in the unit of the data."""
        return self.steps.scale * self.grid.step

    @property
    def std(self) -> float:
        """Standard deviation in the unit of the data; under bounding the largest over the true value.

        It is about the noise, from the rounded value on. Rounding itself moves a value by at most half a step.
        """
        return self.steps.std * self.grid.step

    @property
    def mean_abs(self) -> float:
        """Mean absolute error in the unit of the data, counted as `std` is."""
        return self.steps.mean_abs * self.grid.step

    @property
    def bounding(self) -> Bounding | None:
        """What keeps the output in `bounds`; None for unbounded noise."""
        return self.ideal.bounding

    @property
    def bounds(self) -> tuple[tuple[float, float], ...] | None:
        """Bounds of query and output in the unit of the data."""
        return self.ideal.bounds

    @property
    def goal(self) -> Guarantee:
        """What was asked for."""
        return self.ideal.goal

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one person can move the query, in the unit of the data and before rounding."""
        return self.ideal.sensitivity

    @property
    def guarantee(self) -> Guarantee:
        """What is proved of the noisy index.

        What is left of it once the index has become a float is the mechanism's to say: saturation at 64 bits and the
        rounding of indices beyond 2^53 are post-processing, which probabilistic DP does not survive by itself.
        """
        return self.steps.guarantee

    @property
    def certificate(self) -> Certificate:
        """The proof, which is about the integer noise in steps of the grid."""
        return self.steps.certificate

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        if self.sensitivity.joint is not None and isinstance(self.certificate.bound, CornerDelta | BoundedLoss):
            return (*self.steps.notes, GRID_NOTE)
        return self.steps.notes

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with the delta of the noise that is drawn between them (`Calibration.delta`)."""
        return self.steps.delta(epsilon)

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return two proved floats with the epsilon of the noise that is drawn between them (`Calibration.epsilon`)."""
        return self.steps.epsilon(delta)

    def renyi(self, alpha: float) -> tuple[float, float]:
        """Return two proved floats with the Renyi divergence of the noise that is drawn between them."""
        return self.steps.renyi(alpha)

    def concentrated(self) -> tuple[float, float]:
        """Return two proved floats with the rho of zCDP of the noise that is drawn between them."""
        return self.steps.concentrated()

    def __post_init__(self) -> None:
        self.require_own_steps()

    def require_own_steps(self) -> None:
        """Check that the calibration in steps is that of the calibration on the reals and the grid.

        Raises
        ------
        CertificateError
            If it is about something else.
        """
        if _question(self.ideal, self.grid) != self.steps.question:
            message = "the calibration in steps is not that of the calibration on the reals and the grid"
            raise CertificateError(message)

    def verify(self) -> None:
        """Prove the certificate again, from its record alone.

        Raises
        ------
        CertificateError
            If the claim cannot be proved.
        """
        self.require_own_steps()
        self.steps.verify()

    def require_proof(self) -> None:
        """Check that this process has proved the certificates, or prove them now.

        Raises
        ------
        CertificateError
            If the claim cannot be proved.
        """
        self.require_own_steps()
        self.ideal.require_proof()
        self.steps.require_proof()


def on_grid(calibration: Calibration, grid: Grid | None = None) -> GridCalibration:
    """Recalibrate a calibration on the reals for integer noise on a public grid, the law that is really drawn.

    Parameters
    ----------
    calibration : Calibration
        A calibration with ``support="real"``, by either method.
    grid : Grid, optional
        The grid, `Grid.of` the sensitivity where none is given. It must not be chosen by a look at the data.

    Raises
    ------
    ArgumentError
        If the calibration is not on the reals, or its numbers are too far apart for one grid.
    UnprovedError
        If there is no proved scale on the integers for this kind of sensitivity.

    Notes
    -----
    Claim: rounding to the grid, then noise of ``steps``, then any function of the noisy index, keeps ``guarantee`` for
    queries of the sensitivity of `calibration`. By `Grid.sensitivity` the indices move by no more than the sensitivity
    of ``steps``, by `Grid.index`, which is monotone, values in the bounds have indices in theirs, and ``steps`` is
    certified for both.

    Examples
    --------
    >>> import ggdp
    >>> ideal = ggdp.calibrate(ggdp.PureDP(0.5), ggdp.Sensitivity.disjoint(0.3), order=1)
    >>> on_grid(ideal).scale / ideal.scale <= 1 + 1 / 1024
    True
    """
    if not isinstance(calibration, Calibration):
        raise ArgumentTypeError("calibration", calibration, "must be a Calibration")
    if calibration.support != "real":
        raise ArgumentError("calibration", calibration, "must be a Calibration with support = 'real'")
    if grid is None:
        grid = Grid.of(calibration.sensitivity)
    elif not isinstance(grid, Grid):
        raise ArgumentTypeError("grid", grid, "must be a Grid, such as Grid(step=2**-10)")
    question = _question(calibration, grid)
    try:
        steps = _paper(calibration, grid, question) if calibration.method != "tight" else _tight(question)
    except UnprovedError:
        # Everything else that is not proved was refused on the reals already.
        message = (
            f"real-valued queries get integer noise on a grid, and there no scale of order = {calibration.order!r} is "
            f"proved for {calibration.goal} and this sensitivity ({calibration.sensitivity}). Give per-coordinate "
            "sensitivities (Sensitivity.box, Sensitivity.cells) instead of a norm, or use order = 1, or an ApproxDP "
            "goal"
        )
        raise UnprovedError(message) from None
    return GridCalibration(ideal=calibration, grid=grid, steps=steps)


def _question(ideal: Calibration, grid: Grid) -> Question:
    """Return what has to be proved in steps of the grid."""
    sensitivity = grid.sensitivity(ideal.sensitivity)
    return Question(
        goal=ideal.goal,
        sensitivity=sensitivity,
        order=ideal.order,
        support="integer",
        bounds=None if ideal.bounds is None else bounds_in_steps(grid, ideal.bounds, sensitivity.sizes),
        bounding=ideal.bounding,
    )


def bounds_in_steps(
    grid: Grid, bounds: tuple[tuple[float, float], ...], sizes: tuple[float, ...]
) -> tuple[tuple[float, float], ...]:
    """Return bounds in steps of the grid, for coordinates that move by at most these steps."""
    if len(sizes) != len(bounds):
        sizes = (max(sizes),) * len(bounds)
    return tuple(_steps_between(grid, pair, int(size)) for pair, size in zip(bounds, sizes, strict=True))


def _steps_between(grid: Grid, pair: tuple[float, float], size: int) -> tuple[float, float]:
    """Return the indices of a pair of bounds, the upper one raised where rounding leaves less than the sensitivity.

    A wider interval still holds every true index; the output is clipped to the pair itself afterwards.
    """
    low, high = grid.index(list(pair)).tolist()
    high = max(high, low + size)
    if max(abs(low), abs(high)) > MOST_STEPS:
        raise ArgumentError(
            "bounds",
            pair,
            f"are more than 2^53 steps of {grid.step!r} away from 0; subtract a public number from the query, or give "
            "a coarser Grid",
        )
    return float(low), float(high)


def _tight(question: Question) -> Calibration:
    return calibrate(
        question.goal,
        question.sensitivity,
        order=question.order,
        support="integer",
        bounds=question.bounds,
        bounding=question.bounding,
    )


def _paper(ideal: Calibration, grid: Grid, question: Question) -> Calibration:
    """Return the paper's scale in steps, made wider as the sensitivity is, if it is proved on the integers."""
    pairs = [*zip(question.sensitivity.sizes, ideal.sensitivity.sizes, strict=True)]
    if question.sensitivity.joint is not None and ideal.sensitivity.joint is not None:
        pairs.append((question.sensitivity.joint[1], ideal.sensitivity.joint[1]))
    step = Fraction(grid.step)
    wider = max(Fraction(steps) * step / Fraction(size) for steps, size in pairs)
    scale = float(Fraction(ideal.scale) / step * wider)
    for requirement in question.requirements():
        if _far_off(requirement, question.order, scale):
            continue
        try:
            return formula_calibration(question, requirement, scale, method=ideal.method)
        except UnattainableError:
            continue
    message = (
        f"on the grid the paper's scale {scale * grid.step!r} of order {question.order!r} is not proved to keep "
        f"{question.goal}; use method = 'tight'"
    )
    raise UnattainableError(message)


def _far_off(requirement: Requirement, order: float, scale: float) -> bool:
    """Return whether a convolution that takes many seconds would miss its target by far, as estimated in floats."""
    bound = requirement.bound
    if not isinstance(bound, AbsoluteSumDelta):
        return False
    law = NoiseLaw(order=order, scale=scale, support="integer")
    return absolute_sum_excess(bound, law, requirement.target) > 0.01
