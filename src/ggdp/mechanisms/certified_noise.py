"""The one door for noise: draws of a law only where a proof for it holds, and sums that saturate at 64 bits.

=======  =====================================================================================================
K, b     integer noise and its scale
T(k)     P(K >= k)
M        the largest output that stands for one noisy index only: 2^63 - 1 on the integers, 2^53 steps on a grid
L        where true indices are clamped under probabilistic DP: 2^62 on the integers, 2^52 steps on a grid
=======  =====================================================================================================

A `CertifiedNoise` is the only object that tables and releases draw noise from. It holds the calibration, whose
certificate is about exactly the law that is drawn, and the sampler of that law; where the proof fails there is no
object to draw from. A copy in another process, such as one of Spark's executors, proves the certificate again there.

Saturation at the ends of int64, and the rounding of indices beyond 2^53 to floats, put several noisy indices on one
output. That is post-processing: pure and approximate DP survive it, probabilistic DP does not in general. But an output
below M in absolute value has the loss of its one index, and with true indices no larger than L the others hardly ever
occur. So for probabilistic DP true indices are clamped to L, as part of the query, and the probability that noise leads
to M or beyond is added to delta.

Claim. P(|K| >= k) <= 2 (b + 1) exp(-k/b) for k >= b and every order p >= 1. Proof: for j >= b, (j/b)^p >= j/b, the
normaliser is at least 1, and the sum of exp(-j/b) over j >= k is exp(-k/b) / (1 - exp(-1/b)) <= (b + 1) exp(-k/b), as
1 - exp(-x) >= x / (1 + x).

A coordinate that does not move has the same law under both neighbours, so only those that move count.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen
from flint import arb

from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.calibration import Calibration
from ggdp.calibration.grid import on_grid
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.noise import Binomial, BoundaryInflatedIntegerNoise, IntegerNoise, TruncatedIntegerNoise
from ggdp.noise.bounded_noise import FARTHEST
from ggdp.noise.integer_noise import WIDEST
from ggdp.privacy import ProbabilisticDP
from ggdp.privacy.grid import LARGEST, LEAST
from ggdp.proofs.tails import tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ggdp.noise import Source
    from ggdp.privacy import Guarantee
    from ggdp.privacy.grid import Grid


# Sums that are looked at together.
BLOCK = 1 << 18
_FAR = 1 << 62
# More than twice the bits of a float.
_PRECISION = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The guarantee that remains when the noisy index is saturated at 64 bits."""

    guarantee: Guarantee  # the guarantee of the output
    clamp: int | None  # where true indices are clamped for it; None if they are not


def _certified(calibration: Calibration) -> Calibration:
    """Return a calibration whose proof holds, on a grid if it is of real values."""
    if not isinstance(calibration, Calibration):
        # It may be data: only its type is shown.
        raise ArgumentTypeError(
            "calibration", type(calibration).__name__, "must be a Calibration, as returned by ggdp.calibrate"
        )
    calibration.require_proof()
    if calibration.support == "real" and calibration.grid is None:
        calibration = on_grid(calibration)
    unit = "integers" if calibration.grid is None else "steps of the grid"
    bounds, scale = calibration.question.bounds, calibration.law.scale
    if bounds is None and scale > WIDEST:
        raise ArgumentError("scale", scale, f"is too wide for 64-bit draws, in {unit}; use a coarser unit or Grid")
    for pair in bounds or ():
        if max(map(abs, pair)) > FARTHEST:
            raise ArgumentError("bounds", pair, f"are too far from 0 for 64-bit draws, in {unit}")
    return calibration


@frozen(repr=False)
class CertifiedNoise:
    """Noise that is proved to keep its guarantee: what every release draws from.

    Parameters
    ----------
    calibration : Calibration
        The scale and its proof. One on the reals is recalibrated on its grid, for the law that is really drawn. One
        that was changed after it was made, or that comes from another process, is proved again.

    Attributes
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        The guarantee of noisy indices that saturate at 64 bits.
    clamp : int, optional
        Where true indices must be clamped for it; None if they need not be.

    Raises
    ------
    CertificateError
        If the certificate does not prove the goal for exactly this noise.

    Examples
    --------
    >>> import ggdp
    >>> counts = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    >>> CertifiedNoise(counts).add(np.array([12, 0, 2**63 - 1])).dtype
    dtype('int64')
    """

    calibration: Calibration = field(converter=_certified)
    # What every draw needs and none changes is made once.
    _saturation: Saturation = field(init=False, eq=False)
    _sampler: IntegerNoise | None = field(init=False, eq=False)

    @_saturation.default
    def _saturated(self) -> Saturation:
        return saturation_of(self.calibration, self.calibration.grid)

    @_sampler.default
    def _exact(self) -> IntegerNoise | None:
        law = self.calibration.law
        return IntegerNoise(order=law.order, scale=law.scale) if law.bounding is None else None

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made like any other, so that it is proved where it is drawn from.
        return CertifiedNoise, (self.calibration,)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of noisy indices that saturate at 64 bits."""
        return self._saturation.guarantee

    @property
    def clamp(self) -> int | None:
        """Where true indices must be clamped for the guarantee; None if they need not be."""
        return self._saturation.clamp

    def sample(self, size: int, source: Source | None = None) -> NDArray[np.int64]:
        """Return independent draws of the noise, in steps."""
        return self._unbounded().sample(size, source=source)

    def add(self, indices: NDArray[np.int64], source: Source | None = None) -> NDArray[np.int64]:
        """Return flat true indices with noise, saturating at the ends of int64.

        The noise is drawn by their number, before they are looked at. They are not clamped, so probabilistic DP is
        approximate DP afterwards.
        """
        noisy = self.sample(indices.size, source)
        add_saturating(indices, noisy)
        return noisy

    def around(self, indices: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Return draws of the bounded law around true indices, a column for each pair of bounds."""
        law, bounds = self.calibration.law, self.calibration.question.bounds
        assert bounds is not None
        sampler = TruncatedIntegerNoise if law.bounding == "truncated" else BoundaryInflatedIntegerNoise
        pairs = [(int(low), int(high)) for low, high in bounds]
        noisy = np.empty_like(indices)
        for low, high in dict.fromkeys(pairs):
            columns = [k for k, pair in enumerate(pairs) if pair == (low, high)]
            noise = sampler(order=law.order, scale=law.scale, lower=low, upper=high)
            noisy[:, columns] = noise.around(np.clip(indices[:, columns], low, high), source=source)
        return noisy

    def expected_above(self, threshold: int, cells: int) -> arb:
        """Enclose how many of so many empty cells have noise of at least the threshold, on average: cells T(tau)."""
        noise = self._unbounded()
        return cells * tail(noise.order, noise.scale, threshold)

    def false_cells(
        self, threshold: int, *, empty: int, places: Callable[[int], NDArray[np.int64]], source: Source
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the empty cells whose noise is at least a threshold, and that noise.

        Claim: with `places` a uniform set of so many empty cells, they have the law of noise on every empty cell.
        Proof: each is shown with probability T(tau), independently, so their number is Binomial; given their number
        every set of them is equally likely; and given the set their noise is independent, K given K >= tau.

        Parameters
        ----------
        threshold : int
            tau, at least 1.
        empty : int
            How many cells are empty.
        places : callable
            Draws so many empty cells uniformly.
        source : Source
            Where the random bits come from: for the number of cells, the cells, and their noise, in this order.
        """
        noise = self._unbounded()
        far = noise.at_least(threshold)
        number = Binomial(trials=empty, probability=lambda: tail(noise.order, noise.scale, threshold))
        size = int(number.sample(1, source=source)[0])
        cells = places(size)
        return cells, far.sample(size, source=source)

    def _unbounded(self) -> IntegerNoise:
        if self._sampler is None:
            raise ArgumentError("bounding", self.calibration.bounding, "is drawn around true values")
        return self._sampler


def saturation_of(steps: Calibration, grid: Grid | None) -> Saturation:
    """Return the guarantee of a calibration after saturation at 64 bits.

    Notes
    -----
    Rounding: delta upwards. Where it would pass the goal's, approximate DP is what is left.
    """
    proved = steps.guarantee
    if not isinstance(proved, ProbabilisticDP) or steps.bounding is not None:
        return Saturation(guarantee=proved.after_postprocessing(), clamp=None)
    one_to_one = LARGEST if grid is None else 2**53
    clamp = (one_to_one + 1) // 2
    if grid is None or one_to_one * grid.step <= sys.float_info.max:
        delta = math.nextafter(
            proved.delta + steps.sensitivity.moving * _most_beyond(steps.law.scale, one_to_one - clamp), math.inf
        )
        if delta <= steps.goal.delta:
            return Saturation(guarantee=ProbabilisticDP(proved.epsilon, delta, proved.neighbours), clamp=clamp)
    return Saturation(guarantee=proved.after_postprocessing(), clamp=None)


def _most_beyond(scale: float, k: int) -> float:
    """Return a float above P(|K| >= k), by the claim."""
    if not k >= scale:
        return 1.0
    with BALLS, working_precision(_PRECISION):
        return max(upper_float(2 * (arb(scale) + 1) * (-arb(k) / arb(scale)).exp()), sys.float_info.min)


def add_saturating(values: NDArray[np.int64], noise: NDArray[np.int64]) -> None:
    """Turn flat noise into values + noise, saturating at the ends of int64.

    Claim. It is exact for noise below 2^62 in absolute value. Proof: a sum of 2^63 or more is then below 2^63 + 2^62,
    and wraps to less than -2^62; the other end likewise. So where all sums come out below 2^62 in absolute value none
    has wrapped; otherwise every sum is looked at (`_saturated`). Larger noise, of a probability below 1e-38 at every
    scale that is drawn, may wrap around unseen. Even so all that comes out, and the time it takes, is a function of the
    sums and not of the values: what is proved of the sums stays.

    Examples
    --------
    >>> noise = np.array([1, -1, -7])
    >>> add_saturating(np.array([2**63 - 1, -(2**63), 5]), noise)
    >>> noise.tolist() == [2**63 - 1, -(2**63), -2]
    True
    """
    for start in range(0, noise.size, BLOCK):
        x, y = values[start : start + BLOCK], noise[start : start + BLOCK]
        np.add(x, y, out=y)
        if _large(y):
            y[:] = _saturated(x, y)


def add_clamped(values: NDArray[np.int64], noise: NDArray[np.int64], clamp: int) -> None:
    """Turn flat noise into the sum of clamped values and noise.

    With a clamp of at most 2^62 only noise of 2^62 and more can wrap around, and that is counted in delta.
    """
    buffer = np.empty(min(noise.size, BLOCK), dtype=np.int64)
    for start in range(0, noise.size, BLOCK):
        x, y = values[start : start + BLOCK], noise[start : start + BLOCK]
        np.add(np.clip(x, -clamp, clamp, out=buffer[: x.size]), y, out=y)


def _large(numbers: NDArray[np.int64]) -> bool:
    """Return whether a number, of at least one, is 2^62 or more in absolute value."""
    return bool(numbers.max() >= _FAR or numbers.min() <= -_FAR)


def _saturated(x: NDArray[np.int64], wrapped: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of x and noise, given those sums as they wrapped around.

    The noise is what x lacks to the sum, wrapping around once more. Without wrapping the sum is below x exactly if the
    noise is below 0; with it, exactly if the noise is not.
    """
    beyond = (wrapped - x < 0) != (wrapped < x)
    return np.where(beyond, np.where(x < 0, LEAST, LARGEST), wrapped)
