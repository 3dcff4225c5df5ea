"""The pure loss of Laplace noise, on the reals and on the integers.

Claim: the loss of a move d is at most sum_k |d_k| / b, by the triangle inequality, and a move of one coordinate, or of
several in one direction of their signs, reaches it. So the loss is D_1 / b, D_1 being the l_1 norm of the move.

References
----------
Dwork, McSherry, Nissim and Smith, "Calibrating Noise to Sensitivity in Private Data Analysis", TCC 2006, Prop. 1; Liu,
arXiv 1602.06028 v5, Claim 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Bound, Quantity, require_unbounded
from ggdp.proofs.enclosures import Enclosure, enclosed

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLoss(Bound):
    """The exact pure loss of noise of order 1.

    Attributes
    ----------
    sensitivity : float
        The l_1 norm of the move.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> LaplaceLoss(sensitivity=2.0).enclose(NoiseLaw(order=1, scale=4.0)).upper
    0.5
    """

    name: ClassVar[str] = "laplace"
    quantity: ClassVar[Quantity] = "epsilon"
    statement: ClassVar[str] = "Laplace noise: the loss is at most the l_1 sensitivity divided by the scale"
    exact: ClassVar[bool] = True

    sensitivity: float

    def __post_init__(self) -> None:
        _validate.positive(sensitivity=self.sensitivity)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the loss with so many bits."""
        require_unbounded(law)
        if law.order != 1.0:
            raise ArgumentError("order", law.order, "this bound is about noise of order 1")
        with BALLS, working_precision(bits):
            return enclosed(arb(self.sensitivity) / arb(law.scale))
