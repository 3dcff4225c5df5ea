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

import numbers
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import Factory, field, frozen
from numpy.typing import ArrayLike, NDArray

from ggdp.accounting.composition import calibrated_losses
from ggdp.errors import ArgumentError
from ggdp.ledger.charging import ChargeRequest, PendingCharge
from ggdp.mechanisms.certified_noise import OF_A_NORM, CertifiedNoise, add_saturating
from ggdp.noise.entropy import Integers, Source, checked_source, is_private, takes_rng
from ggdp.privacy import Guarantee, Sensitivity
from ggdp.privacy.grid import Grid, exact_numbers, refused_type
from ggdp.releases.error_law import ErrorLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import NoiseRecord
from ggdp.releases.release import Release, charge_of, make_release

if TYPE_CHECKING:
    from ggdp.calibration import Calibration, Certificate
    from ggdp.ledger import Ledger
    from ggdp.proofs.losses import CountedLoss


_PAPER = "Liu, arXiv 1602.06028 v5"


def kind_of(calibration: Calibration) -> tuple[str, str]:
    """Return the name of a calibration's mechanism and its source."""
    if calibration.law.norm is not None:
        return "Minkowski", f"{_PAPER}, Section 2 (Minkowski distance as utility); Hardt and Talwar, STOC 2010"
    if calibration.ideal is not None:
        # Noise on a grid has the name of what was asked for.
        return kind_of(calibration.ideal)
    gaussian, paper = calibration.order == 2.0, calibration.method == "paper"
    bound, bounding = calibration.certificate.bound.name, calibration.bounding
    family = {1.0: "Laplace", 2.0: "Gaussian"}.get(calibration.order, "generalized Gaussian")
    if gaussian and calibration.support == "integer" and bounding is None:
        family = "discrete Gaussian"
    sharpness = "least scale"
    if calibration.grid is None or not gaussian:
        if any(note.startswith("upper bound") for note in calibration.notes):
            sharpness = "an upper bound"
        elif bound == "corner":
            sharpness = "least scale, to within 1e-4"
    if calibration.method == "exponential":
        equation = "explp0" if calibration.bounds is None else "explp1"
        return "Exponential mechanism, generalized Gaussian form", f"{_PAPER}, Eqn {equation} and Lemma 9"
    if bounding is not None:
        number, scale = (5, "Eqns b1 and b2") if bounding == "truncated" else (6, "scale of Eqn b2")
        return f"{bounding} {family}", f"{_PAPER}, Definition {number} ({scale if paper else sharpness})"
    if bound == "laplace":
        return family, f"{_PAPER}, Claim 4"
    # On the reals Gaussian noise is rotation invariant: all coordinates together are one that moves by the l_2 norm.
    one_shift = gaussian and (bound in ("shift", "integer-shift") or calibration.grid is not None)
    corollary = "Corollary 8" if calibration.sensitivity.moving == 1 else "Corollary 7"
    if calibration.goal.notion == "probabilistic":
        return family, f"{_PAPER}, {'Lemma 10' if one_shift else corollary}" + ("" if paper else f" ({sharpness})")
    if gaussian and paper:
        return "classic Gaussian", f"{_PAPER}, Eqn privacybook; Dwork and Roth 2014, Theorem 3.22"
    if one_shift and calibration.support == "integer":
        return "discrete Gaussian", "Canonne, Kamath and Steinke, NeurIPS 2020 (the noise); least scale for aDP"
    if one_shift:
        return "analytic Gaussian", "Balle and Wang, ICML 2018, Theorem 8"
    if paper:
        return family, f"{_PAPER}, {corollary}; pDP implies aDP"
    return family, f"{_PAPER}, Section 2.3 (the noise); the scale for aDP is ours ({sharpness})"


# Elements that stay in the cache while they are worked on.
_BLOCK = 1 << 15
INTEGERS = Grid(step=1.0)
_INTEGERS_BY_TYPE = "must be integers by type: convert whole numbers (astype('int64')), or use support = 'real'"


def require_integers_by_type(given: NDArray[Any]) -> None:
    """Refuse true values that are not integers by type, as `exact_numbers` gives them."""
    # The empty list, which is a float array to NumPy, is one of integers, too.
    if not (
        given.dtype in (np.int64, np.uint64)
        or given.size == 0
        or (given.dtype == object and all(isinstance(value, numbers.Integral) for value in given.flat))
    ):
        raise refused_type(_INTEGERS_BY_TYPE)


class CertifiedMechanism:
    """What mechanisms that add certified noise have in common."""

    __slots__ = ()
    noise: CertifiedNoise
    law: ErrorLaw | VectorErrorLaw
    record: NoiseRecord

    @property
    def calibration(self) -> Calibration:
        """The calibration of the noise that is drawn."""
        return self.noise.calibration

    @property
    def step(self) -> float | None:
        """Step of the grid of real values; None on the integers."""
        return self.law.step

    @property
    def scale(self) -> float:
        """Scale of the noise that is drawn, in the unit of the data."""
        return self.calibration.scale

    @property
    def std(self) -> float:
        """Standard deviation of the noise that is drawn: the largest of all values, and under bounding of true ones."""
        return self.calibration.std

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of a release, including saturation at 64 bits (`ggdp.mechanisms.certified_noise`).

        For probabilistic DP values are clamped to 2^62 in absolute value on the integers, and to 2^52 steps of the
        grid; where even so it cannot be kept, approximate DP with the same numbers is left. Pure and approximate DP
        stay.
        """
        return self.noise.saturation.guarantee

    @property
    def certificate(self) -> Certificate:
        """The proof, which is about the noise that is drawn; for independent noise on a grid, in its steps."""
        return self.calibration.certificate

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate a release in a composition (`ggdp.compose`)."""
        return self.record.losses

    def __repr__(self) -> str:
        query = self.record.sensitivity
        return f"{type(self).__name__}: {self.record}\n  guarantee: {self.guarantee}\n  sensitivity: {query}"

    def charge_request(self) -> ChargeRequest:
        """Return what a release asks a ledger for."""
        return charge_of(self.record, self.guarantee)


def record_of(mechanism: CertifiedMechanism) -> NoiseRecord:
    """Return the record of the mechanism that a release publishes."""
    calibration = mechanism.calibration
    name, item = kind_of(calibration)
    return NoiseRecord(
        name=name,
        item=item,
        goal=calibration.goal,
        neighbours=calibration.sensitivity.neighbours,
        sensitivity=str(calibration.sensitivity),
        scale=calibration.scale,
        method=calibration.method,
        certificate=calibration.certificate,
        law=mechanism.law,
        query_bounds=calibration.sensitivity.bounds,
        notes=calibration.notes,
        losses=calibrated_losses(calibration),
    )


@frozen(repr=False)
class Mechanism(CertifiedMechanism):
    """A mechanism that adds noise of a certified scale.

    Parameters
    ----------
    calibration : Calibration
        The scale and its proof. A calibration on the reals is recalibrated on its grid, once: `scale`, `std`,
        `guarantee` and `certificate` are of the noise that is really drawn. For a grid of your own pass
        ``on_grid(calibration, grid)`` of `ggdp.calibration`. A calibration that was changed after it was made (by
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
    record: NoiseRecord = field(init=False, eq=False, default=Factory(record_of, takes_self=True))

    @law.default
    def _law(self) -> ErrorLaw:
        law, bounds = self.calibration.law, self.calibration.question.bounds
        if law.norm is not None:
            raise ArgumentError("calibration", f"of the norm {law.norm.kind!r}", OF_A_NORM)
        return ErrorLaw(
            order=law.order,
            scale=law.scale,
            step=None if self.calibration.grid is None else self.calibration.grid.step,
            bounding=law.bounding,
            index_bounds=None if bounds is None else tuple((int(low), int(high)) for low, high in bounds),
            bounds=self.calibration.bounds,
            clamp=self.noise.saturation.clamp,
        )

    @property
    def order(self) -> float:
        """Order of the noise."""
        return self.calibration.order

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one person can move the query."""
        return self.calibration.sensitivity

    @takes_rng
    def release(
        self,
        values: ArrayLike,
        *,
        rng: Source | None = None,
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
        rng : Source, optional
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
        bits = checked_source(rng)
        # What a type tells without a look at the values costs nothing; a shape may depend on the data.
        typed = isinstance(values, np.ndarray) and values.dtype.kind in "fcSUmM"
        if ledger is not None and self.calibration.grid is None and typed:
            raise refused_type(_INTEGERS_BY_TYPE)
        with PendingCharge(ledger, self, analyst=analyst, rng=bits) as charge:
            entry = charge.commit()
            given = exact_numbers(values)
            if self.calibration.grid is None:
                require_integers_by_type(given)
            shape, moving, bounds = given.shape, self.sensitivity.moving, self.calibration.bounds
            if self.sensitivity.has_fixed_dimension and given.size != moving:
                expected = f"the sensitivity is of a query of {moving} coordinates"
                raise ArgumentError("values", f"of shape {shape}", expected)
            # With one moving coordinate each may be repeated; with several, equal ones could move together.
            repeated = moving == 1 or bounds is None or given.size == len(bounds)
            if bounds is not None and len(bounds) > 1 and not (shape[-1:] == (len(bounds),) and repeated):
                expected = f"there are bounds for {len(bounds)} coordinates, by the last axis"
                raise ArgumentError("values", f"of shape {shape}", expected)
            kept = self.guarantee if is_private(bits) else None
            return make_release(self._draw(given, bits), self.record, kept, entry)

    def _draw(self, given: NDArray[np.generic], rng: Source) -> Integers | NDArray[np.float64]:
        if self.law.index_bounds is not None:
            indices = self._indices(given.reshape(-1), slice(None)).reshape(-1, len(self.law.index_bounds))
            return self._in_unit(self.noise.around(indices, rng).reshape(given.shape))
        drawn = self.noise.sample(given.size, rng)
        values = given.reshape(-1)
        # In parts that stay in the cache, and in the memory of the noise, which has the size of what is released.
        released_values = drawn if self.calibration.grid is None else drawn.view(np.float64)
        for start in range(0, drawn.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            indices, noise = self._indices(values, part), drawn[part]
            add_saturating(indices, noise, self.noise.saturation.clamp)
            if self.calibration.grid is not None:
                released_values[part] = self._in_unit(noise)
        return released_values.reshape(given.shape)

    def _indices(self, values: NDArray[Any], part: slice) -> Integers:
        """Return the indices of a part of the values, within the bounds that the sensitivity was taken from."""
        grid, given = self.calibration.grid or INTEGERS, values[part]
        indices = given if self.calibration.grid is None and given.dtype == np.int64 else grid.index_of_exact(given)
        if self.sensitivity.bounds is None:
            return indices
        ends = grid.index(np.array(self.sensitivity.bounds)[part])
        return np.clip(indices, ends[:, 0], ends[:, 1])

    def _in_unit(self, noisy: Integers) -> Integers | NDArray[np.float64]:
        if self.calibration.grid is None:
            return noisy
        values = self.calibration.grid.values_of_exact(noisy)
        if self.calibration.bounds is None:
            return values
        # A bound that is not a point of the grid may lie inside the one it was rounded to.
        lows, highs = zip(*self.calibration.bounds, strict=True)
        return np.clip(values, lows if len(lows) > 1 else lows[0], highs if len(highs) > 1 else highs[0])
