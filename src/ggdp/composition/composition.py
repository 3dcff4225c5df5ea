"""What several releases of the same people keep together."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from ggdp import _validate
from ggdp._rounding import rounded_text, rounded_up, rounded_up_text
from ggdp.composition.parts import Part, parts_of
from ggdp.composition.total import TotalLoss
from ggdp.errors import ArgumentError, UnattainableError
from ggdp.privacy import ApproxDP, PureDP
from ggdp.proofs.total_loss import CountedLoss
from ggdp.signatures import read_signers

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from ggdp.privacy import Neighbours


@frozen(repr=False)
class Composition:
    """The total of several releases of the same people. Made by `ggdp.compose`.

    Attributes
    ----------
    parts : tuple of Part
        The parts, each with its guarantee and how often it is run.
    total : TotalLoss
        The sum of their losses.

    Notes
    -----
    Claim: the total holds where the noise (order, scale, how many cells move) of every part was fixed without looking
    at results of other parts; the queries may be chosen adaptively (`ggdp.proofs.total_loss`). Where noise was chosen
    after seeing results, use `basic`, which holds always, or a ledger.
    """

    parts: tuple[Part, ...]
    total: TotalLoss = field(init=False, eq=False)

    @total.default
    def _added(self) -> TotalLoss:
        return TotalLoss.of(
            CountedLoss(counted.loss, counted.count * part.count) for part in self.parts for counted in part.losses
        )

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation of neighbours of all parts; None where none says."""
        return next((part.neighbours for part in self.parts if part.neighbours is not None), None)

    @property
    def unit(self) -> str | None:
        """Whom the parts protect; None where none says."""
        return next((part.unit for part in self.parts if part.unit is not None), None)

    @property
    def basic(self) -> PureDP | ApproxDP:
        """The plain sum of all epsilons and deltas, which holds however the parts were chosen. Rounding: up."""
        epsilon = sum((part.count * Fraction(part.guarantee.epsilon) for part in self.parts), Fraction(0))
        delta = sum((part.count * Fraction(part.guarantee.delta) for part in self.parts), Fraction(0))
        total = rounded_up(epsilon, of="epsilon")
        if delta == 0:
            return PureDP(total, self.neighbours)
        return ApproxDP(total, min(rounded_up(delta, of="delta"), math.nextafter(1.0, 0.0)), self.neighbours)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with the delta of the total at an epsilon between them.

        It is that of the losses which dominate the parts: a part of which only the guarantee is known counts as the
        worst mechanism that has it.

        Parameters
        ----------
        epsilon : float
            At least 0.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.histogram(), order=3, support="integer")
        >>> lower, upper = ggdp.compose([(noise, 10)]).delta(2.0)
        >>> print(f"{upper:.3g}", upper / lower < 1.0001)
        1.49e-14 True
        """
        if _validate.finite(epsilon=epsilon) < 0.0:
            raise ArgumentError("epsilon", epsilon, "must be at least 0")
        lower, upper = self.total.delta(float(epsilon))
        basic = self.basic
        upper = min(upper, basic.delta) if basic.epsilon <= epsilon else upper
        return min(lower, upper), upper

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return two proved floats with the least epsilon of the total for a delta between them.

        Parameters
        ----------
        delta : float
            In [0, 1). With 0 the epsilon is that of pure DP, infinite unless all parts are pure.

        Examples
        --------
        >>> import ggdp
        >>> lower, upper = ggdp.compose([(ggdp.PureDP(0.1), 100)]).epsilon(1e-6)
        >>> print(f"{upper:.4f}")
        4.7746
        """
        slack = _validate.probability(delta=delta)
        lower, upper = self.total.epsilon(slack)
        basic = self.basic
        upper = min(upper, basic.epsilon) if basic.delta <= slack else upper
        return min(lower, upper), upper

    def guarantee(self, *, delta: float = 0.0) -> PureDP | ApproxDP:
        """Return what is proved of the total: approximate DP for a delta, or pure DP.

        Parameters
        ----------
        delta : float, default 0
            The delta of the total. With 0 all parts must be pure.

        Raises
        ------
        UnattainableError
            If delta is 0 and a part is not pure.

        Examples
        --------
        >>> import ggdp
        >>> print(ggdp.compose([(ggdp.PureDP(0.25), 4)]).guarantee())
        1-DP
        """
        epsilon = self.epsilon(delta)[1]
        if math.isinf(epsilon):
            infinite = self.total.infinite[1]
            why = (
                f"the loss is infinite with a probability of up to {rounded_up_text(infinite)}; name a larger delta"
                if infinite > 0.0
                else "not all parts are pure; name a delta above 0"
            )
            message = f"no epsilon keeps delta = {delta!r}: {why}"
            raise UnattainableError(message)
        if delta == 0.0:
            return PureDP(max(epsilon, math.ulp(0.0)), self.neighbours)
        return ApproxDP(max(epsilon, math.ulp(0.0)), delta, self.neighbours)

    def plot(self) -> Figure:
        """Draw delta against epsilon: both bounds of the total, the plain sum, and each part alone."""
        from ggdp.plots.budgets import plot_composition

        return plot_composition(self)

    def to_dict(self, *, epsilon: float | None = None, delta: float | None = None) -> dict[str, Any]:
        """Return the total at an epsilon or for a delta as plain values, ready for JSON."""
        if (epsilon is None) == (delta is None):
            raise ArgumentError("delta", delta, "give either `epsilon` or `delta`")
        if epsilon is None:
            assert delta is not None
            lower, upper = self.epsilon(delta)
            asked, numbers = "epsilon", (upper, delta)
        else:
            lower, upper = self.delta(epsilon)
            asked, numbers = "delta", (epsilon, upper)
        return {
            "epsilon": None if math.isinf(numbers[0]) else numbers[0],
            "delta": numbers[1],
            "asked": asked,
            "lower": None if math.isinf(lower) else lower,
            "basic": self.basic.to_dict(),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "parts": [
                {
                    "name": part.name,
                    "count": part.count,
                    "guarantee": part.guarantee.to_dict(),
                    "losses": [counted.to_dict() for counted in part.losses],
                    "signature": None if part.signature is None else part.signature.to_dict(),
                }
                for part in self.parts
            ],
        }

    def __repr__(self) -> str:
        number = sum(part.count for part in self.parts)
        distinct = len(self.total.losses)
        lines = [
            f"Composition of {number:,} {'release' if number == 1 else 'releases'}, {distinct:,} distinct "
            f"{'loss' if distinct == 1 else 'losses'}",
            f"  plain sum: {self.basic}",
        ]
        for slack in (1e-6, 1e-9):
            upper = self.epsilon(slack)[1]
            if math.isfinite(upper):
                lines.append(f"  epsilon {rounded_text(upper)} at delta {rounded_text(slack)}")
        return "\n".join(lines)


def compose(parts: Iterable[Any], *, signer: str | os.PathLike[str] | None = None) -> Composition:
    """Return the total of several releases of the same people, with bounds that are proved from both sides.

    Parameters
    ----------
    parts : iterable
        Each a `Release`, `TableRelease`, `TablePlan`, `Mechanism`, `ExponentialMechanism`, `Calibration`, a guarantee,
        a manifest (its path, or what `json.load` returns), or a pair (part, count).
    signer : path, optional
        A file of public keys (OpenSSH or PEM). Every manifest must then be a file that one of them has signed.

    Returns
    -------
    Composition
        With ``delta(epsilon)``, ``epsilon(delta)``, ``guarantee(delta=...)`` and ``plot()``.

    Raises
    ------
    ArgumentError
        If a part has no guarantee (its source was seeded), or other neighbours or another unit than the rest. Parts
        that do not say what their unit is, such as calibrations, go with any. Or if the signature next to a manifest
        does not fit it. Manifests are believed: without `signer`, a manifest from elsewhere is as good as its source.

    Notes
    -----
    The total holds where the noise of every part was fixed without looking at results of other parts; the queries may
    be chosen adaptively. A part enters by its noise where that is known, else by its guarantee. Probabilistic DP
    enters by its noise too; the total is approximate DP. Claims and proofs: `ggdp.proofs.loss_bounds` and
    `ggdp.proofs.total_loss`.

    Examples
    --------
    >>> import ggdp
    >>> monthly = ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram(), order=1, support="integer")
    >>> yearly = ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.cells(3, 1), order=2, support="integer")
    >>> total = ggdp.compose([(monthly, 12), yearly])
    >>> print(total.guarantee(delta=1e-6))
    (1.39, 1e-06)-aDP under add-remove neighbours
    >>> print(total.basic)
    (1.71, 1e-07)-aDP under add-remove neighbours
    """
    return Composition(parts_of(parts, None if signer is None else read_signers(signer)))
