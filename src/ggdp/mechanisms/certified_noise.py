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
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from attrs import field, frozen
from flint import arb

from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.calibration import Calibration
from ggdp.calibration.grid_calibration import on_grid
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.noise import Binomial, BoundaryInflatedIntegerNoise, IntegerNoise, Source, TruncatedIntegerNoise
from ggdp.noise.entropy import Integers
from ggdp.noise.integer_noise import FARTHEST, WIDEST
from ggdp.noise.norm_ball_noise import NormBallNoise, vector_noise
from ggdp.privacy import Guarantee, ProbabilisticDP
from ggdp.privacy.grid import LARGEST, LEAST, Grid
from ggdp.proofs.tails import tail

if TYPE_CHECKING:
    from ggdp.noise.minkowski_noise import MinkowskiNoise

# Sums that are looked at together.
BLOCK = 1 << 18
_FAR = 1 << 62
OF_A_NORM = "its noise is drawn for whole vectors: use ggdp.MinkowskiMechanism"


class Saturation(NamedTuple):
    """The guarantee that remains when the noisy index is saturated at 64 bits."""

    guarantee: Guarantee  # the guarantee of the output
    clamp: int | None  # where true indices are clamped for it; None if they are not


def _certify(calibration: Calibration) -> Calibration:
    """Return a calibration whose proof holds, on a grid if it is of real values."""
    if not isinstance(calibration, Calibration):
        # It may be data: only its type is shown.
        expected = "must be a Calibration, as returned by ggdp.calibrate"
        raise ArgumentTypeError("calibration", type(calibration).__name__, expected)
    calibration.require_proof()
    if calibration.support == "real" and calibration.grid is None and calibration.law.norm is None:
        calibration = on_grid(calibration)
    unit = "integers" if calibration.grid is None else "steps of the grid"
    bounds, scale, norm = calibration.question.bounds, calibration.law.scale, calibration.law.norm
    widest = float(WIDEST)
    if norm is not None:
        # A norm is a sum of some exponential variables of this scale; real noise knows what its grid can hold.
        widest = math.inf if norm.kind == "lp" else 2.0**61 / (1024.0 + 16.0 * sum(norm.groups))
    if bounds is None and scale > widest:
        raise ArgumentError("scale", scale, f"is too wide for 64-bit draws, in {unit}; use a coarser unit or Grid")
    for pair in bounds or ():
        if max(map(abs, pair)) > FARTHEST:
            raise ArgumentError("bounds", pair, f"are too far from 0 for 64-bit draws, in {unit}")
    return calibration


@frozen(repr=False)
class CertifiedNoise:
    """Noise that is proved to keep its guarantee: what every release draws from.

    A calibration on the reals is recalibrated on its grid, for the law that is really drawn. One that was changed after
    it was made, or that comes from another process, is proved again. If the certificate does not prove the goal for
    exactly this noise, a `CertificateError` is raised.
    """

    calibration: Calibration = field(converter=_certify)
    # What every draw needs and none changes is made once.
    saturation: Saturation = field(init=False, eq=False)

    @saturation.default
    def _saturate(self) -> Saturation:
        return saturation_of(self.calibration, self.calibration.grid)

    @cached_property
    def _unbounded(self) -> IntegerNoise:
        law = self.calibration.law
        if law.bounding is not None:
            raise ArgumentError("bounding", self.calibration.bounding, "is drawn around true values")
        if law.norm is not None:
            raise ArgumentError("calibration", f"of the norm {law.norm.kind!r}", OF_A_NORM)
        return IntegerNoise(order=law.order, scale=law.scale)

    @cached_property
    def vectors(self) -> MinkowskiNoise | NormBallNoise:
        """What draws whole vectors, for noise of a norm; on the reals it rounds noisy values to a grid."""
        return vector_noise(self.calibration.law)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is made like any other, so that it is proved where it is drawn from.
        return CertifiedNoise, (self.calibration,)

    def sample(self, size: int, rng: Source | None = None) -> Integers:
        """Return independent draws of the noise, in steps."""
        return self._unbounded.sample(size, rng=rng)

    def add(self, indices: Integers, rng: Source | None = None) -> Integers:
        """Return flat true indices with noise, saturating at the ends of int64.

        The noise is drawn by their number, before they are looked at. They are not clamped, so probabilistic DP is
        approximate DP afterwards. Noise of groups takes whole vectors, one after another.
        """
        norm = self.calibration.law.norm
        if norm is None:
            noisy = self.sample(indices.size, rng)
        else:
            vectors, rest = divmod(indices.size, sum(norm.cells))
            if rest or isinstance(self.vectors, NormBallNoise):
                raise ArgumentError("indices", f"of {indices.size} values", OF_A_NORM)
            noisy = self.vectors.sample(vectors, rng=rng).reshape(-1)
        add_saturating(indices, noisy)
        return noisy

    def around(self, indices: Integers, rng: Source) -> Integers:
        """Return draws of the bounded law around true indices, a column for each pair of bounds."""
        law, bounds = self.calibration.law, self.calibration.question.bounds
        assert bounds is not None
        sampler = TruncatedIntegerNoise if law.bounding == "truncated" else BoundaryInflatedIntegerNoise
        pairs = [(int(low), int(high)) for low, high in bounds]
        noisy = np.empty_like(indices)
        for low, high in dict.fromkeys(pairs):
            columns = [k for k, pair in enumerate(pairs) if pair == (low, high)]
            noise = sampler(order=law.order, scale=law.scale, lower=low, upper=high)
            noisy[:, columns] = noise.around(np.clip(indices[:, columns], low, high), rng=rng)
        return noisy

    def expected_above(self, threshold: int, cells: int) -> arb:
        """Enclose how many of so many empty cells have noise of at least the threshold, on average: cells T(tau)."""
        return cells * tail(self._unbounded.order, self._unbounded.scale, threshold)

    def false_cells(
        self, threshold: int, *, empty: int, places: Callable[[int], Integers], rng: Source
    ) -> tuple[Integers, Integers]:
        """Return the empty cells whose noise is at least a threshold tau >= 1, and that noise.

        Claim: with `places` a uniform set of so many empty cells, they have the law of noise on every empty cell.
        Proof: each is shown with probability T(tau), independently, so their number is Binomial; given their number
        every set of them is equally likely; and given the set their noise is independent, K given K >= tau.

        `places` draws so many empty cells uniformly. The source is read for the number of cells, the cells, and their
        noise, in this order.
        """
        noise = self._unbounded
        far = noise.at_least(threshold)
        number = Binomial(trials=empty, probability=lambda: tail(noise.order, noise.scale, threshold))
        size = int(number.sample(1, rng=rng)[0])
        return places(size), far.sample(size, rng=rng)


def saturation_of(steps: Calibration, grid: Grid | None) -> Saturation:
    """Return the guarantee of a calibration after saturation at 64 bits.

    Rounding: delta upwards. Where it would pass the goal's, approximate DP is what is left.
    """
    proved = steps.guarantee
    if isinstance(proved, ProbabilisticDP) and steps.bounding is None:
        one_to_one = LARGEST if grid is None else 2**53
        clamp = (one_to_one + 1) // 2
        if grid is None or one_to_one * grid.step <= sys.float_info.max:
            beyond = steps.sensitivity.moving * _most_beyond(steps.law.scale, one_to_one - clamp)
            delta = math.nextafter(proved.delta + beyond, math.inf)
            if delta <= steps.goal.delta:
                return Saturation(ProbabilisticDP(proved.epsilon, delta, proved.neighbours), clamp)
    return Saturation(proved.after_postprocessing(), None)


def _most_beyond(scale: float, k: int) -> float:
    """Return a float above P(|K| >= k), by the claim."""
    if not k >= scale:
        return 1.0
    with BALLS, working_precision(128):
        return max(upper_float(2 * (arb(scale) + 1) * (-arb(k) / arb(scale)).exp()), sys.float_info.min)


def add_saturating(values: Integers, noise: Integers, clamp: int | None = None) -> None:
    """Turn flat noise into values + noise, saturating at the ends of int64, or into clamped values + noise.

    Claim. It is exact for noise below 2^62 in absolute value. Proof: a sum of 2^63 or more is then below 2^63 + 2^62,
    and wraps to less than -2^62; the other end likewise. So where all sums come out below 2^62 in absolute value none
    has wrapped; otherwise every sum is looked at. Larger noise, of a probability below 1e-38 at every
    scale that is drawn, may wrap around unseen. Even so all that comes out, and the time it takes, is a function of the
    sums and not of the values: what is proved of the sums stays. With a clamp, of at most 2^62, only noise of 2^62 and
    more can wrap around, and that is counted in delta.
    """
    for start in range(0, noise.size, BLOCK):
        x, y = values[start : start + BLOCK], noise[start : start + BLOCK]
        np.add(x if clamp is None else np.clip(x, -clamp, clamp), y, out=y)
        if clamp is None and (y.max() >= _FAR or y.min() <= -_FAR):
            # The noise is what x lacks to the sum, wrapping around once more. Without wrapping the sum is below x
            # exactly if the noise is below 0; with it, exactly if the noise is not.
            beyond = (y - x < 0) != (y < x)
            y[:] = np.where(beyond, np.where(x < 0, LEAST, LARGEST), y)
