"""The bounds by which a scale can be proved, each with its enclosure and its search.

A bound is a name, the quantity it encloses (delta, or the pure loss epsilon), the function of `ggdp.loss` that
encloses it for a given scale, and the search that finds a scale for a target. Certificates name their bound, so a
certificate can be checked again from its record alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flint import arb

from ggdp import _validate
from ggdp.calibration.absolute_sum import scale_for_absolute_sum
from ggdp.calibration.bounded import scale_for_bounded
from ggdp.calibration.corner import scale_for_corner
from ggdp.calibration.integer_gaussian import scale_for_integer_gaussian
from ggdp.calibration.integer_shift import scale_for_integer_shift
from ggdp.calibration.radial import scale_for_radial
from ggdp.calibration.shift import laplace_scale, scale_for_shift
from ggdp.calibration.truncated_formula import truncated_scale
from ggdp.distributions.enclosures import BALLS, working_precision
from ggdp.loss.absolute_sum import delta_of_absolute_sum
from ggdp.loss.bounded_vector import loss_of_bounded, loss_of_bounded_joint
from ggdp.loss.corner import delta_of_corner
from ggdp.loss.enclosed import Enclosed, enclosed
from ggdp.loss.integer_gaussian import delta_of_integer_gaussian
from ggdp.loss.integer_shift import delta_of_integer_shift
from ggdp.loss.radial import delta_of_radial
from ggdp.loss.shift import delta_of_shift

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BOUNDS", "Bound"]

ROOM = 2.0**-40
GRID_ROOM = 2.0**-20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One way to prove a scale.

    Attributes
    ----------
    name : str
        The name that certificates carry.
    quantity : {"delta", "epsilon"}
        What `enclose` encloses.
    statement : str
        What a proof by this bound says, in words.
    exact : bool
        Whether the bound is the exact quantity, so that a smaller scale can be proved to fail.
    enclose : callable
        ``enclose(scale=..., **parameters)`` gives the enclosure.
    search : callable
        ``search(target=..., **parameters)`` gives a scale that should pass.
    room : float
        What a claim leaves between the computed bound and what it states, relative to it, so that another version of
        the arithmetic can prove the same claim. On a grid, which is chosen in floats, it is larger.
    """

    name: str
    quantity: Literal["delta", "epsilon"]
    statement: str
    exact: bool
    enclose: Callable[..., Enclosed]
    search: Callable[..., float]
    room: float = ROOM


def _loss_of_laplace(*, scale: float, sensitivity: float) -> Enclosed:
    """Enclose D_1 / b, the pure loss of Laplace noise on the reals and on the integers."""
    _validate.positive(scale=scale)
    _validate.positive(sensitivity=sensitivity)
    with BALLS, working_precision(128):
        return enclosed(arb(sensitivity) / arb(scale))


def _scale_for_laplace(*, sensitivity: float, target: float) -> float:
    return laplace_scale(sensitivity, target)


def _scale_for_bounded_joint(*, target: float, **parameters: Any) -> float:  # noqa: ANN401 - the bound's own parameters
    return truncated_scale(epsilon=target, **parameters)


def _delta_search(search: Callable[..., float]) -> Callable[..., float]:
    """Return a search by its target, where the target is a delta."""

    def by_target(*, target: float, **parameters: Any) -> float:  # noqa: ANN401 - the bound's own parameters
        return search(delta=target, **parameters)

    return by_target


def _grid_search(search: Callable[..., float]) -> Callable[..., float]:
    """Return a search by its target that leaves the room a proof on a grid keeps, see `Bound.room`."""

    def by_target(*, target: float, **parameters: Any) -> float:  # noqa: ANN401 - the bound's own parameters
        return search(delta=target * (1.0 - 2.0 * GRID_ROOM), **parameters)

    return by_target


def _scale_for_bounded(*, target: float, **parameters: Any) -> float:  # noqa: ANN401 - the bound's own parameters
    return scale_for_bounded(epsilon=target, **parameters)


BOUNDS: dict[str, Bound] = {
    bound.name: bound
    for bound in (
        Bound(
            name="laplace",
            quantity="epsilon",
            statement="Laplace noise: the loss is at most the l_1 sensitivity divided by the scale",
            exact=True,
            enclose=_loss_of_laplace,
            search=_scale_for_laplace,
        ),
        Bound(
            name="shift",
            quantity="delta",
            statement="one coordinate moves by at most the sensitivity (at order 2: the l_2 norm): the exact delta",
            exact=True,
            enclose=delta_of_shift,
            search=_delta_search(scale_for_shift),
        ),
        Bound(
            name="integer-shift",
            quantity="delta",
            statement="one coordinate moves on the integers by at most the sensitivity: the exact delta",
            exact=True,
            enclose=delta_of_integer_shift,
            search=_delta_search(scale_for_integer_shift),
        ),
        Bound(
            name="integer-gaussian",
            quantity="delta",
            statement="an upper bound from the l_2 norm: discrete Gaussian noise as continuous noise rounded at random",
            exact=False,
            enclose=delta_of_integer_gaussian,
            search=_delta_search(scale_for_integer_gaussian),
        ),
        Bound(
            name="corner",
            quantity="delta",
            statement="the far corner of the sensitivity is the worst change: its delta by pessimistic convolution",
            exact=False,
            enclose=delta_of_corner,
            room=GRID_ROOM,
            search=_grid_search(scale_for_corner),
        ),
        Bound(
            name="absolute-sum",
            quantity="delta",
            statement="an upper bound, v5 Cor. GGMpDP: each coordinate's loss at its largest, their sum by convolution",
            exact=False,
            enclose=delta_of_absolute_sum,
            room=GRID_ROOM,
            search=_grid_search(scale_for_absolute_sum),
        ),
        Bound(
            name="radial",
            quantity="delta",
            statement="an upper bound, free of direction: Minkowski's inequality for the l_p norm of the noise",
            exact=False,
            enclose=delta_of_radial,
            search=_delta_search(scale_for_radial),
        ),
        Bound(
            name="bounded",
            quantity="epsilon",
            statement="bounded outputs: the largest loss over all true values and outputs",
            exact=True,
            enclose=loss_of_bounded,
            search=_scale_for_bounded,
        ),
        Bound(
            name="bounded-joint",
            quantity="epsilon",
            statement="an upper bound, v5 Eqn b1: truncated outputs and a joint norm of the change",
            exact=False,
            room=0.0,
            enclose=loss_of_bounded_joint,
            search=_scale_for_bounded_joint,
        ),
    )
}
