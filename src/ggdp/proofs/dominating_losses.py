"""Which losses dominate a noisy query: what it adds to a composition.

==========================================  =====================================================================
one coordinate, a box, at most m cells      the far corner: a loss for every coordinate that moves
order 2 on the reals                        one coordinate that moves by the l_2 norm: the law is rotation invariant
an l_1 norm                                 one coordinate that moves by the norm (`ggdp.proofs.profile`)
another norm, noise kept in bounds          randomised response with the proved epsilon and delta
==========================================  =====================================================================

Claim. Each is at least as hard to hide as the query, for every epsilon: the claims of `ggdp.proofs.corner` and
`ggdp.proofs.profile` are about all trade-off functions at once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp.proofs.attained import most_l1
from ggdp.proofs.total_loss import CoordinateLoss, CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from ggdp.privacy.guarantees import Guarantee
    from ggdp.privacy.sensitivity import Sensitivity
    from ggdp.proofs.noise_law import NoiseLaw


def dominating_losses(law: NoiseLaw, query: Sensitivity, guarantee: Guarantee) -> tuple[CountedLoss, ...]:
    """Return losses that together dominate a query with noise; the guarantee is what is proved of it."""
    if law.bounding is None:
        if law.order == 2.0 and law.support == "real":
            return (CountedLoss(CoordinateLoss(law, query.lp(2)), 1),)
        if query.joint is not None and query.joint[0] == 1.0:
            return _whole(law, ((most_l1(query, law.support), 1),))
        if query.kind != "norm":
            return _whole(law, query.corner)
    return (CountedLoss(ResponseLoss(guarantee.epsilon, guarantee.delta), 1),)


def _whole(law: NoiseLaw, corner: tuple[tuple[float, int], ...]) -> tuple[CountedLoss, ...]:
    """Return the losses of a corner; on the integers only whole numbers move."""
    if law.support == "integer":
        corner = tuple((float(math.floor(size)), count) for size, count in corner if size >= 1.0)
    return tuple(CountedLoss(CoordinateLoss(law, size), count) for size, count in corner)
