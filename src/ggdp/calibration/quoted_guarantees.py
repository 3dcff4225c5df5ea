"""What a calibrated noise keeps besides its goal, as numbers to quote: delta, epsilon, Renyi and concentrated DP."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ggdp import _validate
from ggdp.calibration.privacy_profile import delta_between, epsilon_between
from ggdp.errors import ArgumentError
from ggdp.proofs.attained import joint_binds
from ggdp.proofs.bounded_vector import BoundedLoss
from ggdp.proofs.divergences import concentrated_between, renyi_between
from ggdp.proofs.profile import NoisyQuery, delta_of_pure, epsilon_of_pure
from ggdp.proofs.renyi import renyi_of_pure
from ggdp.proofs.requirements import paired

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee, Sensitivity
    from ggdp.proofs.certificate import Certificate
    from ggdp.proofs.noise_law import NoiseLaw


class Profiled:
    """The part of a `Calibration` that answers what its noise keeps besides its goal."""

    __slots__ = ()

    if TYPE_CHECKING:
        bounding: Any
        bounds: tuple[tuple[float, float], ...] | None
        sensitivity: Sensitivity
        goal: Guarantee
        certificate: Certificate

        @property
        def law(self) -> NoiseLaw: ...  # noqa: D102

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with the delta of approximate DP of this noise at an epsilon between them.

        Parameters
        ----------
        epsilon : float
            Any finite number; at 0 delta is the total variation distance, below 0 it is above 1 - e^epsilon.

        Notes
        -----
        Claim and proof: `ggdp.proofs.profile`. The two agree to 12 digits where one coordinate moves and at order
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
        at = _validate.finite(epsilon=epsilon)
        return delta_of_pure(self._pure_loss()[1], at) if self.bounding else delta_between(self._noisy(), at)

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
        slack = _validate.probability(delta=delta)
        if self.bounding is None:
            return epsilon_between(self._noisy(), slack, guess=self.goal.epsilon)
        lower, upper = self._pure_loss()
        return (lower, upper) if slack == 0.0 else (0.0, epsilon_of_pure(upper, slack))

    def renyi(self, alpha: float) -> tuple[float, float]:
        """Return two proved floats with the Renyi divergence of this noise of order alpha between them.

        Parameters
        ----------
        alpha : float
            Order of the divergence, above 1.

        Notes
        -----
        Claim and proof: `ggdp.proofs.renyi` and `ggdp.proofs.divergences`. The two agree to 9 digits in most
        cases, for boxes and cells too, and to 4 where the divergence is large; where alpha is too large for the working
        precision (from about 1e3 on at order 50, from about 1e16 on at order 1.5) they may be 0 and infinity. Where
        only a norm is known at an order other than 2, or the noise is bounded, the lower one is of a simpler move,
        or 0.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
        >>> [f"{bound:.9f}" for bound in noise.renyi(8)]
        ['0.108740138', '0.108740138']
        """
        if _validate.finite(alpha=alpha) <= 1.0:
            raise ArgumentError("alpha", alpha, "must be above 1")
        if self.bounding is not None:
            return 0.0, renyi_of_pure(self._pure_loss()[1], alpha).upper
        return renyi_between(self._noisy(), float(alpha))

    def concentrated(self) -> tuple[float, float]:
        """Return two proved floats with the least rho of zero-concentrated DP of this noise between them.

        Notes
        -----
        At order 2 it is Delta_2^2 / (2 sigma^2). From order 1 to 2 it is found to 2 percent or, near order 2, to less
        than 10; above order 2 there is none, and both are infinite. Bounded noise has at most epsilon^2 / 2 (Bun and
        Steinke, TCC 2016, Proposition 3.3). Claim and proof: `ggdp.proofs.divergences`.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=2)
        >>> lower, upper = noise.concentrated()
        >>> print(f"{lower:.9f} {upper:.9f} {1 / (2 * noise.std**2):.9f}")
        0.028014482 0.028014482 0.028014482
        """
        if self.bounding is not None:
            pure = self._pure_loss()[1]
            return 0.0, math.nextafter(pure * pure / 2.0, math.inf)
        return concentrated_between(self._noisy())

    def _noisy(self) -> NoisyQuery:
        return NoisyQuery(self.law, self.sensitivity)

    def _pure_loss(self) -> tuple[float, float]:
        """Return two floats with the pure loss of bounded noise between them, from its certificate."""
        bound = self.certificate.bound
        loss = bound.enclose(self.law)
        if bound.exact and not joint_binds(self.sensitivity):
            return loss.lower, loss.upper
        return min(self._loss_of_one(), loss.upper), loss.upper

    def _loss_of_one(self) -> float:
        """Return a lower bound of the pure loss of bounded noise: that of one coordinate that moves alone."""
        assert self.bounds is not None
        found = 0.0
        for width, size, _ in paired(self.sensitivity, self.bounds):
            moved = min(size, self.sensitivity.largest)
            if self.law.support == "integer":
                moved = float(math.floor(moved))
            if moved > 0.0:
                found = max(found, BoundedLoss(coordinates=((width, moved, 1),), moving=1).enclose(self.law).lower)
        return found
