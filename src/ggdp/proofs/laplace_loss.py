"""The loss of Laplace noise on the knots of a grid, by its closed form: a few balls, however many knots there are.

=========  ====================================================================================================
b, D       scale, and how far the coordinate moves; d = D/b is the largest loss
h          step of the grid; the knots are l_j = j h
u          the least index with u h >= d
delta(x)   the delta of one coordinate at any x, also below 0: 0 from d on, 1 - e^x up to -d
=========  ====================================================================================================

Claim (reals). Between -d and d, delta(x) = 1 - e^((x - d)/2): the loss is above x if the noise is above
z = (x - d) b/2, which is at most 0, and delta(x) = P(X > z) - e^x P(X > z + D) = 1 - e^(z/b)/2 - e^(x - z/b - d)/2.

Claim (integers). At the losses x = d - 2j/b, j from 0 to D, delta is the same: with k = -j,
P(K >= k) - e^x P(K >= k + D) = 1 - q^(1+j)/(1+q) - q^j/(1+q) = 1 - q^j with q = e^(-1/b). There are no other losses, so
that between them delta is linear in e^x. The delta of the reals is convex in e^x, so it is not above that of the
integers. Let x_0 be such a loss, r = e^(1/b) and x = x_0 + 2 log t with t from 1 to r: e^((x_0 - d)/2) times
(r + t^2)/(r + 1) is subtracted from 1 on the integers, where t is on the reals. Their ratio is least at t = r^(1/2),
where it is 1 / cosh(1/(2b)). So the delta of the integers is at most that of the reals with
d' = d + 2 log cosh(1/(2b)), which is at most d + 1/(4 b^2), in place of d. (Below -d: 1 - e^x <= 1 - e^((x - d')/2) for
x >= -d'.) A pair with a larger delta at every x dominates, also in sums (Zhu, Dong and Wang, AISTATS 2022, Theorem 10).

Claim (masses). Split between neighbouring knots, the loss has the same delta at every knot, and between them one that
is linear in e^x. The mass on a knot is e^(l_j) times the rise of the slope there:

- tanh(h/4) e^((l_j - d)/2) for |j| <= u - 2: they are in geometric progression;
- f / (1 - e^-h) on l_u, with f = 1 - e^((l_(u-1) - d)/2), the delta at l_(u-1);
- e^((l_(u-1) - d)/2) / (1 + e^(-h/2)) - f / (e^h - 1) on l_(u-1);
- e^(-l_j) times the mass on l_j on l_(-j).

Rounding: d is rounded up to a ball of one point, and d' is counted as `raised`: with the same noise the loss for d' is
above that for d by at most d' - d.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb

from ggdp.proofs.loss_distribution import GeometricMasses, Masses

if TYPE_CHECKING:
    from ggdp.proofs.layouts import LossLayout
    from ggdp.proofs.noise_law import NoiseLaw

# On the integers fewer losses than these are laid one by one.
_MANY = 4096
# Scale times step, at least the root of 2, from which on d' - d is at most h^2 / 8, which bounds what a split adds to a
# loss. Its square may be beyond the floats.
_WIDE = 1.4143


def laid_laplace(law: NoiseLaw, shift: float, layout: LossLayout) -> Masses | None:
    """Lay the loss of a coordinate that moves by `shift`; None where the closed form is not at hand or not tight."""
    if law.order != 1.0:
        return None
    if law.support == "integer" and (shift < _MANY or law.scale * layout.step < _WIDE):
        return None
    b, h = arb(law.scale), arb(layout.step)
    exact = arb(shift) / b
    d = (exact + 2 * (1 / (2 * b)).cosh().log() if law.support == "integer" else exact).upper()
    if not d <= layout.high * h:
        # Not looked for: knots so far above the grid may be beyond what can be counted one by one.
        return None
    last = math.ceil(float(d / h))
    while not d <= last * h:
        last += 1
    while d <= (last - 1) * h:
        last -= 1
    # The two knots next to the lowest one are kept, or none of the three.
    if not (last >= 2 and layout.low <= last - 2):
        return None
    first = max(layout.low, -last)

    def height(index: int) -> arb:
        return ((index * h - d) / 2).exp()

    missing = 1 - height(last - 1)
    ends = {last: -missing / (-h).expm1(), last - 1: height(last - 1) / (1 + (-h / 2).exp()) - missing / h.expm1()}
    masses = ends | {-index: mass * (-index * h).exp() for index, mass in ends.items() if -index >= first}
    low, high = max(first, 2 - last), last - 2
    run = GeometricMasses(low, high, height(high) * (h / 4).tanh(), h / 2)
    misplaced = []
    if first > -last:
        # All that is below the grid is raised to its first knot.
        below = 1 - run.total() - sum(masses.values(), arb(0))
        masses[first] = masses.get(first, arb(0)) + below
        misplaced.append((first, below))
    return Masses(
        step=layout.step,
        masses=masses,
        infinite=arb(0),
        certain=arb(0),
        spread=h**2 / 8,
        misplaced=misplaced,
        raised=d - exact,
        run=run,
    )
