"""The pure loss of noise of a norm: the Minkowski mechanism, for many numbers at once.

Noise X with probability, or density, proportional to exp(-||x||/b) is added to a vector that changes by d.

==============  =======================================================================================================
x_j             the free coordinates of group j; x_j+ and x_j- their positive and negative parts
u               the common total of the complete groups: the further cell of each is u less the sum of its x_j
added           ||(x, u)|| = least a + c with a - c = u, a >= ||x_j+||_1 and c >= ||x_j-||_1 for all j; where no group
                is complete, ||x|| is the least over all u: max_j ||x_j+||_1 + max_j ||x_j-||_1
replaced        ||x|| = max_j max(||x_j+||_1, ||x_j-||_1); u = 0
signed          ||x|| = max_j ||x_j||_1
lp              ||x|| = the l_p norm of x, or of the x_k / sizes_k, on the reals
M, R            one unit adds at most R to each of at most M cells of a group, and exactly M R to a complete group
==============  =======================================================================================================

Claim (loss). The loss is at most ||d||/b, for every x, and reaches it at x = 0. So pure DP is exact: with S the largest
norm of a change, epsilon = S/b. Proof. The normalizer does not depend on the data, so the loss at x is
(||x + d|| - ||x||)/b, or its negative, and the triangle inequality bounds it by ||d||/b. The released cells are a
linear function of (x, u), one to one.

Claim (norm). Each is a norm. Proof for "added", the others are maxima of norms or clear: positive parts of sums are at
most the sums of positive parts, so (a + a', c + c') serves (x + y, u + v) where (a, c) and (a', c') serve (x, u) and
(y, v), likewise multiples; (c, a) serves (-x, -u); and only 0 has a = c = 0. A least value over u of a norm of (x, u)
is one of x.

Claim (changes of groups). Under add-remove neighbours the norm "added" of a change is at most M R; where no group is
complete, at most R min(M, K) for the largest group, of K cells. Under replace-one the norm "replaced" is at most R
times the largest of min(M, K) over groups that are not complete and min(M, K - M) over those that are. Each is reached.
Proof. A unit that is added changes group j by v_j >= 0, and u by M R: a = M R and c = 0 serve, or a = max_j ||v_j||_1
if there is no u; and a + c >= |u|. A unit that takes the place of another changes group j by v'_j - v_j, whose positive
part is at most v'_j and whose negative part is at most v_j; u stays. In a complete group both have exactly M cells with
R, of which at least 2 M - K are the same, so that at most min(M, K - M) rise and as many fall. If the further cell is
among those that fall, the free ones alone reach the norm.

Claim (changes of a box or a norm). The largest "lp" norm is that of `Sensitivity.lp`, or with sizes that of the corner
(D_k / sizes_k); "signed" with groups of one coordinate is the l_inf norm.

Rounding: every norm upwards; epsilon in balls.

References
----------
Liu, arXiv 1602.06028 v5, the remark on the Minkowski distance as utility at the end of the section on the Exponential
mechanism. Hardt and Talwar, "On the Geometry of Differential Privacy", STOC 2010, Def. 3.1 (K-norm mechanism). Awan and
Slavkovic, "Structure and Sensitivity in Differential Privacy", JASA 2021 (choice of the norm).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Applicable, Bound, Enclosure, enclosure_of
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from ggdp.proofs.worst_case import WorstCase

IS_PURE = "upper bound: this noise keeps pure DP, which is more than the goal asks for"
MAY_NOT_REACH = "upper bound: no change is known that is as large in the norm of the noise"


@dataclass(frozen=True, slots=True, kw_only=True)
class MinkowskiLoss(Bound):
    """The exact pure loss of noise of a norm.

    Examples
    --------
    >>> from ggdp.proofs.noise_law import Norm
    >>> law = NoiseLaw(order=1, scale=4.0, support="integer", norm=Norm(kind="added", groups=(2, 2)))
    >>> MinkowskiLoss(sensitivity=2.0).enclose(law).upper
    0.5
    """

    name = "minkowski"
    quantity = "epsilon"
    statement = "noise of a norm: the loss is at most the largest norm of a change divided by the scale"
    exact = True

    sensitivity: float  # the largest norm of a change

    def __post_init__(self) -> None:
        _validate.positive(sensitivity=self.sensitivity)

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:  # noqa: ARG003 - any epsilon
        """Return the loss of the largest change in the norm of the noise."""
        if case.norm is not None:
            bound = cls(sensitivity=case.largest_norm)
            # A change of all coordinates at once is in a box, but perhaps not in its joint norm.
            note = MAY_NOT_REACH if case.joint_binds and case.sensitivity.is_per_coordinate else None
            yield Applicable(bound, note if notion == "pure" else IS_PURE)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the loss with so many bits."""
        if law.norm is None:
            raise ArgumentError("norm", None, "this bound is about noise of a norm")
        with BALLS, working_precision(bits):
            return enclosure_of(arb(self.sensitivity) / arb(law.scale))
