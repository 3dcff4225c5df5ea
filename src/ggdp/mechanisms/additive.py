"""Additive generalized Gaussian noise of any order, on the integers and on a public grid, with and without bounds.

=======  ======================================================================
s        a true value, or its index on the grid
K        integer noise, drawn exactly
g        step of the grid, for real values
=======  ======================================================================

==================  ===========================================================================
integer             s + K, saturating at the ends of int64 (`ggdp.mechanisms.certified_noise`)
real                g (index(s) + K), the sum saturating, the product rounded beyond 2^53 steps
bounded             a draw of the bounded integer law around s or index(s), clamped to the bounds
==================  ===========================================================================

No float is ever added to a float: noise is an integer, and what is released is a function of an integer that has the
certified law. So the possible outputs are the same for every true value, and only their probabilities differ, which
are proved.

The name of a mechanism, and its source in the literature, follow from what was calibrated: the order, the goal, how the
scale was found, and what keeps the output in bounds. They are for readers: nothing is computed from them.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5, Eqn GGD (the distribution on the
reals), Def. 5 and 6 (bounded). Mironov, "On Significance of the Least Significant Bits For Differential Privacy", CCS
2012.
"""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import field, frozen

from ggdp.accounting.composition import calibrated_losses
from ggdp.errors import ArgumentError
from ggdp.ledger.charging import PendingCharge
from ggdp.mechanisms.certified_noise import CertifiedNoise, add_clamped, add_saturating
from ggdp.noise.entropy import checked_source, is_private
from ggdp.privacy.grid import Grid, exact_numbers, refused_type
from ggdp.releases.error_law import ErrorLaw
from ggdp.releases.mechanism_record import NoiseRecord
from ggdp.releases.release import Release, charge_of, charged_to, make_release

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from ggdp.calibration import Calibration, Certificate
    from ggdp.ledger import Ledger
    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.noise.entropy import Source
    from ggdp.privacy import Guarantee, Sensitivity
    from ggdp.proofs.losses import CountedLoss


_PAPER = "Liu, arXiv 1602.06028 v5"


def kind_of(calibration: Calibration) -> tuple[str, str]:
    """Return the name of a calibration's mechanism and its source.

    Examples
    --------
    >>> import ggdp
    >>> one = ggdp.Sensitivity.histogram()
    >>> kind_of(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), one, order=2))
    ('analytic Gaussian', 'Balle and Wang, ICML 2018, Theorem 8')
    >>> kind_of(ggdp.calibrate(ggdp.ProbabilisticDP(0.5, 0.01), one, order=2, method="paper"))[1]
    'Liu, arXiv 1602.06028 v5, Lemma 10'
    """
    if calibration.ideal is not None:
        # Noise on a grid has the name of what was asked for.
        return kind_of(calibration.ideal)
    family = {1.0: "Laplace", 2.0: "Gaussian"}.get(calibration.order, "generalized Gaussian")
    if calibration.order == 2.0 and calibration.support == "integer" and calibration.bounding is None:
        family = "discrete Gaussian"
    if calibration.method == "exponential":
        equation = "explp0" if calibration.bounds is None else "explp1"
        return "Exponential mechanism, generalized Gaussian form", f"{_PAPER}, Eqn {equation} and Lemma 9"
    if calibration.bounding is not None:
        return f"{calibration.bounding} {family}", f"{_PAPER}, {_definition(calibration)}"
    bound, paper = calibration.certificate.bound.name, calibration.method == "paper"
    if bound == "laplace":
        return family, f"{_PAPER}, Claim 4"
    # On the reals Gaussian noise is rotation invariant: all coordinates together are one that moves by the l_2 norm.
    one_shift = bound in ("shift", "integer-shift") or (calibration.order == 2.0 and calibration.grid is not None)
    if calibration.goal.notion == "probabilistic":
        item = "Lemma 10" if calibration.order == 2.0 and one_shift else _corollary(calibration)
        return family, f"{_PAPER}, {item}" + ("" if paper else f" ({_sharpness(calibration)})")
    if calibration.order == 2.0 and paper:
        return "classic Gaussian", f"{_PAPER}, Eqn privacybook; Dwork and Roth 2014, Theorem 3.22"
    if calibration.order == 2.0 and one_shift:
        if calibration.support == "integer":
            return "discrete Gaussian", "Canonne, Kamath and Steinke, NeurIPS 2020 (the noise); least scale for aDP"
        return "analytic Gaussian", "Balle and Wang, ICML 2018, Theorem 8"
    if paper:
        return family, f"{_PAPER}, {_corollary(calibration)}; pDP implies aDP"
    return family, f"{_PAPER}, Section 2.3 (the noise); the scale for aDP is ours ({_sharpness(calibration)})"


def _definition(calibration: Calibration) -> str:
    if calibration.bounding == "truncated":
        return "Definition 5 (" + ("Eqns b1 and b2" if calibration.method == "paper" else _sharpness(calibration)) + ")"
    return "Definition 6 (" + ("scale of Eqn b2" if calibration.method == "paper" else _sharpness(calibration)) + ")"


def _corollary(calibration: Calibration) -> str:
    return "Corollary 8" if calibration.sensitivity.moving == 1 else "Corollary 7"


def _sharpness(calibration: Calibration) -> str:
    """Return how sharp the scale of a calibration is, in words."""
    if calibration.grid is not None and calibration.order == 2.0:
        return "least scale"
    if any(note.startswith("upper bound") for note in calibration.notes):
        return "an upper bound"
    return "least scale, to within 1e-4" if calibration.certificate.bound.name == "corner" else "least scale"


# Elements that stay in the cache while they are worked on.
_BLOCK = 1 << 15
_INTEGERS = Grid(step=1.0)
_INTEGERS_BY_TYPE = "must be integers by type: convert whole numbers (astype('int64')), or use support = 'real'"


@frozen(repr=False)
class Mechanism:
    """A mechanism that adds noise of a certified scale.

    Parameters
    ----------
    calibration : Calibration
        The scale and its proof. A calibration on the reals is recalibrated on its grid, once: `scale`, `std`,
        `guarantee` and `certificate` are of the noise that is really drawn. For a grid of your own pass
        ``on_grid(calibration, grid)`` of `ggdp.calibration.grid`. A calibration that was changed after it was made (by
        `dataclasses.replace`, say), or that comes from another process, is proved again first.

    Attributes
    ----------
    noise : CertifiedNoise
        What the noise is drawn from.
    law : ErrorLaw
        The law of the noise that is drawn: its intervals, bias and standard error.
    record : NoiseRecord
        The record of the mechanism that a release publishes.

    Raises
    ------
    CertificateError
        If the certificate does not prove the goal for exactly this noise.

    Examples
    --------
    >>> import ggdp
    >>> goal = ggdp.ApproxDP(1.0, 1e-6)
    >>> mean = Mechanism(ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(0.3), order=2))
    >>> print(f"{mean.std:.4f}", mean.step == 2**-12)
    1.2676 True
    >>> print(mean.release(17.25).guarantee)
    (1, 1e-06)-aDP under add-remove neighbours
    """

    noise: CertifiedNoise = field(converter=CertifiedNoise, alias="calibration")
    # What every release needs and none changes is made once.
    law: ErrorLaw = field(init=False, eq=False)
    record: NoiseRecord = field(init=False, eq=False)

    @law.default
    def _law(self) -> ErrorLaw:
        law, bounds = self.calibration.law, self.calibration.question.bounds
        return ErrorLaw(
            order=law.order,
            scale=law.scale,
            step=self.step,
            bounding=law.bounding,
            index_bounds=None if bounds is None else tuple((int(low), int(high)) for low, high in bounds),
            bounds=self.calibration.bounds,
            clamp=self.noise.clamp,
        )

    @record.default
    def _record(self) -> NoiseRecord:
        calibration = self.calibration
        name, item = kind_of(calibration)
        return NoiseRecord(
            name=name,
            item=item,
            goal=calibration.goal,
            neighbours=self.sensitivity.neighbours,
            sensitivity=str(self.sensitivity),
            scale=self.scale,
            method=calibration.method,
            certificate=self.certificate,
            law=self.law,
            query_bounds=self.sensitivity.bounds,
            notes=calibration.notes,
            losses=calibrated_losses(calibration),
        )

    @property
    def calibration(self) -> Calibration:
        """The calibration of the noise that is drawn."""
        return self.noise.calibration

    @property
    def step(self) -> float | None:
        """Step of the grid of real values; None on the integers."""
        return None if self.calibration.grid is None else self.calibration.grid.step

    @property
    def order(self) -> float:
        """Order of the noise."""
        return self.calibration.order

    @property
    def scale(self) -> float:
        """Scale of the noise that is drawn, in the unit of the data."""
        return self.calibration.scale

    @property
    def std(self) -> float:
        """Standard deviation of the noise that is drawn; under bounding the largest over the true value."""
        return self.calibration.std

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one person can move the query."""
        return self.calibration.sensitivity

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a release, including saturation at 64 bits (`ggdp.mechanisms.certified_noise`).

        For probabilistic DP values are clamped to 2^62 in absolute value on the integers, and to 2^52 steps of the
        grid; where even so it cannot be kept, approximate DP with the same numbers is left. Pure and approximate DP
        stay.
        """
        return self.noise.guarantee

    @property
    def certificate(self) -> Certificate:
        """The proof, which is about the integer noise; for real values in steps of the grid."""
        return self.calibration.certificate

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate a release in a composition (`ggdp.compose`)."""
        return self.record.losses

    def __repr__(self) -> str:
        return f"Mechanism: {self.record}\n  guarantee: {self.guarantee}\n  sensitivity: {self.sensitivity}"

    def charge_request(self) -> ChargeRequest:
        """Return what a release asks a ledger for."""
        return charge_of(self.record, self.guarantee)

    def release(
        self,
        values: ArrayLike,
        *,
        source: Source | None = None,
        ledger: Ledger | str | PathLike[str] | None = None,
        analyst: str | None = None,
    ) -> Release:
        """Return the values with noise.

        Parameters
        ----------
        values : array_like
            The true values, in any shape: all coordinates of the query. On the integers they must be integers by type;
            a float is refused even if it is a whole number, so that the refusal does not depend on the data. What is
            beyond 64 bits saturates. With bounds, of the noise or of the sensitivity (`Sensitivity.from_bounds`), they
            are clamped silently; bounds of each coordinate follow the last axis.
        source : Source, optional
            Where the random bits come from, the operating system by default. What comes from a seeded source has no
            guarantee.
        ledger : Ledger, str or path, optional
            The budget that the release is charged to, before a value is looked at.
        analyst : str, optional
            Who asks, for the ledger.

        Returns
        -------
        Release
            Integers on the integers, floats on a grid, in the shape of `values`.

        Raises
        ------
        ArgumentError
            If the values do not fit the query, or hold NaN. No error holds or tells a value.
        BudgetExceededError
            If the release does not fit in what remains of the ledger; nothing was charged.

        Notes
        -----
        Unbounded noise is drawn by the number of values, before they are looked at: it cannot take longer for some than
        for others. Bounded noise needs the true value.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
        >>> Mechanism(noise).release([[3, 1], [0, 2**62]]).values.dtype
        dtype('int64')
        """
        bits = checked_source(source)
        # What a type tells without a look at the values costs nothing; a shape may depend on the data.
        if (
            ledger is not None
            and self.calibration.grid is None
            and isinstance(values, np.ndarray)
            and values.dtype.kind in "fcSUmM"
        ):
            raise refused_type(_INTEGERS_BY_TYPE)
        with PendingCharge(ledger, self, analyst=analyst, source=bits) as charge:
            entry = charge.commit()
            return charged_to(self._released(values, bits), entry)

    def _released(self, values: ArrayLike, bits: Source) -> Release:
        given = exact_numbers(values)
        if self.calibration.grid is None and not _integers_by_type(given):
            raise refused_type(_INTEGERS_BY_TYPE)
        self._require_coordinates(given.shape)
        noisy = self._unbounded(given, bits) if self.law.bounding is None else self._bounded(given, bits)
        return make_release(noisy, self.record, self.guarantee if is_private(bits) else None)

    def _unbounded(self, given: NDArray[np.generic], source: Source) -> NDArray[np.int64] | NDArray[np.float64]:
        drawn = self.noise.sample(given.size, source)
        values = given.reshape(-1)
        if self.calibration.grid is None:
            self._add(self._indices(values, slice(None)), drawn)
            return drawn.reshape(given.shape)
        # In parts that stay in the cache, and in the memory of the noise, which has the size of what is released.
        released_values = drawn.view(np.float64)
        for start in range(0, drawn.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            self._add(self._indices(values, part), drawn[part])
            released_values[part] = self._in_unit(drawn[part])
        return released_values.reshape(given.shape)

    def _add(self, indices: NDArray[np.int64], noise: NDArray[np.int64]) -> None:
        """Turn noise into noisy indices; true ones are clamped where probabilistic DP needs it."""
        if self.noise.clamp is None:
            add_saturating(indices, noise)
        else:
            add_clamped(indices, noise, self.noise.clamp)

    def _indices(self, values: NDArray[Any], part: slice) -> NDArray[np.int64]:
        """Return the indices of a part of the values, within the bounds that the sensitivity was taken from."""
        grid, given = self.calibration.grid or _INTEGERS, values[part]
        indices = given if self.calibration.grid is None and given.dtype == np.int64 else grid.index_of_exact(given)
        if self.sensitivity.bounds is None:
            return indices
        ends = grid.index(np.array(self.sensitivity.bounds)[part])
        return np.clip(indices, ends[:, 0], ends[:, 1])

    def _bounded(self, given: NDArray[np.generic], source: Source) -> NDArray[np.int64] | NDArray[np.float64]:
        assert self.law.index_bounds is not None
        indices = self._indices(given.reshape(-1), slice(None)).reshape(-1, len(self.law.index_bounds))
        noisy = self.noise.around(indices, source)
        return self._in_unit(noisy.reshape(given.shape))

    def _in_unit(self, noisy: NDArray[np.int64]) -> NDArray[np.int64] | NDArray[np.float64]:
        if self.calibration.grid is None:
            return noisy
        values = self.calibration.grid.values_of_exact(noisy)
        if self.calibration.bounds is None:
            return values
        # A bound that is not a point of the grid may lie inside the one it was rounded to.
        lows, highs = zip(*self.calibration.bounds, strict=True)
        return np.clip(values, lows if len(lows) > 1 else lows[0], highs if len(highs) > 1 else highs[0])

    def _require_coordinates(self, shape: tuple[int, ...]) -> None:
        """Raise if the number of values does not match the sensitivity."""
        size = math.prod(shape)
        sensitivity, bounds = self.sensitivity, self.calibration.bounds
        if sensitivity.has_fixed_dimension and size != sensitivity.moving:
            raise ArgumentError(
                "values", f"of shape {shape}", f"the sensitivity is of a query of {sensitivity.moving} coordinates"
            )
        if bounds is not None and len(bounds) > 1:
            # With one moving coordinate each may be repeated; with several, equal ones could move together.
            fits = shape[-1:] == (len(bounds),) and (sensitivity.moving == 1 or size == len(bounds))
            if not fits:
                raise ArgumentError(
                    "values", f"of shape {shape}", f"there are bounds for {len(bounds)} coordinates, by the last axis"
                )


def _integers_by_type(given: NDArray[Any]) -> bool:
    """Return whether an array is one of integers; the empty list, which is a float array to NumPy, is too."""
    if given.dtype == object:
        return all(isinstance(value, numbers.Integral) for value in given.flat)
    return given.dtype in (np.int64, np.uint64) or given.size == 0
