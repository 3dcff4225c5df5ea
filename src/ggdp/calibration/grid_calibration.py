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

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

from ggdp._work import within
from ggdp.calibration.calibration import Calibration, calibration_of, question_in_steps
from ggdp.calibration.least_scale import MOST_WORK, least_proposal
from ggdp.calibration.paper import formula_calibration
from ggdp.errors import ArgumentError, ArgumentTypeError, UnattainableError, UnprovedError
from ggdp.privacy import Sensitivity
from ggdp.privacy.grid import Grid
from ggdp.proofs.worst_case import Question

GRID_NOTE = "upper bound: on the grid the joint norm of the change is not used"


def on_grid(calibration: Calibration, grid: Grid | None = None) -> Calibration:
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

    Returns
    -------
    Calibration
        With `grid`, and the given one as `ideal`. Its scale is that of the noise that is drawn, in the unit of the
        data; its `law`, `question` and certificate are in steps of the grid.

    Notes
    -----
    Claim: rounding to the grid, then noise of ``law``, then any function of the noisy index, keeps ``guarantee`` for
    queries of the sensitivity of `calibration`. By `Grid.sensitivity` the indices change by no more than the
    sensitivity of ``question``, by `Grid.index`, which is monotone, values in the bounds have indices in theirs, and
    the certificate is about both. The index becomes a float by saturation at 64 bits and by rounding beyond 2^53,
    which is post-processing: what probabilistic DP leaves of it is in `ggdp.mechanisms.certified_noise`.

    Examples
    --------
    >>> import ggdp
    >>> ideal = ggdp.calibrate(ggdp.PureDP(0.5), ggdp.Sensitivity.disjoint(0.3), order=1)
    >>> drawn = on_grid(ideal)
    >>> drawn.scale / ideal.scale <= 1 + 1 / 1024, drawn.grid.step, drawn.question.sensitivity.sizes
    (True, 0.000244140625, (1229.0,))
    """
    if not isinstance(calibration, Calibration):
        raise ArgumentTypeError("calibration", calibration, "must be a Calibration")
    if calibration.support != "real":
        raise ArgumentError("calibration", calibration, "must be a Calibration with support = 'real'")
    if grid is None:
        grid = Grid.of(calibration.sensitivity)
    elif not isinstance(grid, Grid):
        raise ArgumentTypeError("grid", grid, "must be a Grid, such as Grid(step=2**-10)")
    question = question_in_steps(calibration.question, grid)
    try:
        if calibration.method == "tight":
            least = within(MOST_WORK, partial(least_proposal, question))
            steps = calibration_of(question, *least, method="tight")
        else:
            steps = _paper(calibration, grid, question)
    except UnprovedError:
        # Everything else that is not proved was refused on the reals already.
        raise UnprovedError(
            f"real-valued queries get integer noise on a grid, and there no scale of order = {calibration.order!r} is "
            f"proved for {calibration.goal} and this sensitivity ({calibration.sensitivity}). Give per-coordinate "
            "sensitivities (Sensitivity.box, Sensitivity.cells) instead of a norm, or use order = 1, or an ApproxDP "
            "goal"
        ) from None
    return in_unit(steps, calibration.sensitivity, grid, ideal=calibration)


def in_unit(
    steps: Calibration, sensitivity: Sensitivity, grid: Grid, *, ideal: Calibration | None = None
) -> Calibration:
    """Return a calibration in steps of a grid in the unit of the data; a CertificateError if it is of other steps."""
    notes = steps.notes
    if sensitivity.joint is not None and steps.certificate.bound.ignores_joint:
        notes = (*notes, GRID_NOTE)
    return replace(
        steps,
        scale=steps.scale * grid.step,
        support="real",
        bounds=None if ideal is None else ideal.bounds,
        sensitivity=sensitivity,
        notes=notes,
        grid=grid,
        ideal=ideal,
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
        with suppress(UnattainableError):
            return formula_calibration(question, requirement, scale, method=ideal.method)
    raise UnattainableError(
        f"on the grid the paper's scale {scale * grid.step!r} of order {question.order!r} is not proved to keep "
        f"{question.goal}; use method = 'tight'"
    )
