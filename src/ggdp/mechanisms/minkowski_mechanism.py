"""The Minkowski mechanism: noise on a whole vector at once, by a norm of what one unit can change, for pure DP.

======================  ==========================  ==================================================================
sensitivity             values                      noise (`ggdp.proofs.minkowski`)
======================  ==========================  ==================================================================
groups                  counts, group after group   "added" under add-remove neighbours, "replaced" under replace-one
box of one whole size   integers                    "signed" with groups of one: the l_inf norm
box, with a grid        reals                       l_inf norm of the coordinates over their sizes
norm                    reals                       the l_p norm itself
======================  ==========================  ==================================================================

Independent Laplace noise has a scale for all that one unit can change added up. This noise has a scale for the largest
norm of one change, which for many groups or coordinates is much less error at the same epsilon.

Integers plus integer noise saturate at the ends of int64. Real values plus real noise are rounded to the grid exactly
(`ggdp.noise.norm_ball_noise`). Both are post-processing, which pure DP survives.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import Factory, field, frozen
from numpy.typing import ArrayLike, NDArray

from ggdp.calibration.grid_calibration import in_unit
from ggdp.calibration.least_scale import minkowski_calibration
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.ledger.charging import PendingCharge
from ggdp.mechanisms.additive import INTEGERS, CertifiedMechanism, record_of, require_integers_by_type
from ggdp.mechanisms.certified_noise import CertifiedNoise, add_saturating
from ggdp.noise.entropy import checked_source, is_private, takes_rng
from ggdp.noise.norm_ball_noise import NormBallNoise
from ggdp.privacy import Guarantee, Sensitivity
from ggdp.privacy.grid import Grid, exact_numbers
from ggdp.privacy.guarantees import as_goal
from ggdp.releases.error_law import VectorErrorLaw
from ggdp.releases.release import Release, make_release

if TYPE_CHECKING:
    from ggdp.ledger import Ledger
    from ggdp.noise import Source
    from ggdp.releases.mechanism_record import NoiseRecord


@frozen(repr=False)
class MinkowskiMechanism(CertifiedMechanism):
    """Noise on a whole vector at once: less error than independent noise where one unit changes many values.

    Parameters
    ----------
    goal : PureDP, ProbabilisticDP, ApproxDP or float
        What must be promised; a number is the epsilon of pure DP. The noise is pure, whatever the goal is.
    sensitivity : Sensitivity
        How far one person can move the query: `Sensitivity.groups` for counts in several tables of the same people,
        `Sensitivity.box` or `Sensitivity.norm`. A joint norm of a box is not used.
    grid : Grid, optional
        For real values the public grid that noisy values are rounded to, `Grid.of` the sensitivity by default. Values
        of a box of equal whole sizes are integers, unless a grid is given; counts in groups always are.

    Attributes
    ----------
    noise, law, record
        As those of `Mechanism`: what the noise is drawn from, its law for intervals, and what a release publishes.

    Examples
    --------
    Three yes/no questions to the same people, all of whom answered: counts of yes and no for each.

    >>> import ggdp
    >>> answers = ggdp.Sensitivity.groups([2, 2, 2], complete=[True, True, True])
    >>> mechanism = MinkowskiMechanism(1.0, answers)
    >>> independent = ggdp.calibrate(ggdp.PureDP(1.0), answers, order=1, support="integer")
    >>> print(f"{mechanism.std:.3f} {independent.std:.3f}")
    2.198 4.223
    >>> release = mechanism.release([60, 40, 17, 83, 51, 49])
    >>> print(release.guarantee)
    1-DP under add-remove neighbours
    >>> yes_and_no = release.values.reshape(3, 2).sum(axis=1)
    >>> bool((yes_and_no == yes_and_no[0]).all())
    True
    """

    goal: Guarantee = field(converter=as_goal)
    sensitivity: Sensitivity
    grid: Grid | None = None
    # What every release needs and none changes is made once.
    noise: CertifiedNoise = field(init=False, eq=False)
    law: VectorErrorLaw = field(init=False, eq=False)
    record: NoiseRecord = field(init=False, eq=False, default=Factory(record_of, takes_self=True))

    @noise.default
    def _certify(self) -> CertifiedNoise:
        query = self.sensitivity
        if not isinstance(query, Sensitivity):
            raise ArgumentTypeError("sensitivity", query, "must be a Sensitivity, such as Sensitivity.groups([2, 2])")
        if self.grid is not None and not isinstance(self.grid, Grid):
            raise ArgumentError("grid", self.grid, "must be a Grid, such as Grid(step=2**-10)")
        if query.group_cells is not None and self.grid is not None:
            # Sums that are counted in steps, of tables of statistics.
            steps = minkowski_calibration(self.goal, self.grid.sensitivity(query))
            return CertifiedNoise(in_unit(steps, query, self.grid))
        found = CertifiedNoise(minkowski_calibration(self.goal, query, on_grid=self.grid is not None))
        if isinstance(found.vectors, NormBallNoise):
            object.__setattr__(self, "grid", self.grid or Grid.of(query))
            assert self.grid is not None
            found.vectors.in_steps(self.grid)
        return found

    @law.default
    def _law(self) -> VectorErrorLaw:
        return VectorErrorLaw(law=self.calibration.law, step=None if self.grid is None else self.grid.step)

    @takes_rng
    def release(
        self,
        values: ArrayLike,
        *,
        rng: Source | None = None,
        ledger: Ledger | str | PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> Release:
        """Return the values with noise, in their shape: integers, or floats on the grid.

        Parameters
        ----------
        values : array_like
            The true values: all cells, group after group, or all coordinates. Without a grid they must be integers by
            type. With bounds of the sensitivity (`Sensitivity.from_bounds`) they are clamped silently. That complete
            groups have the same total is not checked.
        rng, ledger, analyst : optional
            As in `Mechanism.release`, and so are the errors: none holds or tells a value.

        Examples
        --------
        >>> import ggdp
        >>> answers = MinkowskiMechanism(ggdp.PureDP(1.0), ggdp.Sensitivity.box([1, 1, 1]))
        >>> lower, upper = answers.release([10, 20, 30]).interval(simultaneous=True)
        >>> (upper - lower).tolist() == [upper[0] - lower[0]] * 3
        True
        """
        bits = checked_source(rng)
        if self.sensitivity.group_cells is not None and self.grid is not None:
            raise ArgumentError("grid", self.grid, "is for the sums of tables; values of groups are counts")
        with PendingCharge(ledger, self, analyst=analyst, rng=bits) as charge:
            if ledger is not None and self.grid is None and isinstance(values, np.ndarray):
                # What a type tells without a look at the values costs nothing.
                require_integers_by_type(values if values.dtype.kind in "fcSUmM" else np.empty(0, np.int64))
            entry = charge.commit()
            given, norm = exact_numbers(values), self.calibration.law.norm
            if self.grid is None:
                require_integers_by_type(given)
            assert norm is not None
            count = sum(norm.cells)
            if given.size != count:
                expected = f"the sensitivity is of a query of {count:,} values"
                raise ArgumentError("values", f"of shape {given.shape}", expected)
            noisy = self._draw(given.reshape(-1), bits).reshape(given.shape)
            return make_release(noisy, self.record, self.guarantee if is_private(bits) else None, entry)

    def _draw(self, given: NDArray[Any], rng: Source) -> NDArray[Any]:
        noise, bounds = self.noise.vectors, self.sensitivity.bounds
        if isinstance(noise, NormBallNoise):
            assert self.grid is not None
            return noise.around(given if bounds is None else np.clip(given, *np.array(bounds).T), self.grid, rng)
        indices, noisy = INTEGERS.index_of_exact(given), noise.sample(1, rng=rng).reshape(-1)
        if bounds is not None:
            indices = np.clip(indices, *INTEGERS.index(np.array(bounds)).T)
        add_saturating(indices, noisy)
        return noisy
