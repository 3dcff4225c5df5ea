"""How far some allowed move is known to go, beside how far all of them go at most.

`Sensitivity.lp` is an upper bound of the norms of all moves. Where a joint norm binds, or where only whole numbers
move, no move may reach it; a lower bound of a loss must not use it then.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ggdp.privacy.sensitivity import Sensitivity

# A norm that is rounded up by some ulps is attained to within this share.
ATTAINED = 1.0 - 2.0**-40


def joint_binds(query: Sensitivity) -> bool:
    """Return whether a joint norm may exclude the far corner of the box."""
    return query.joint is not None and (
        query.kind == "norm" or replace(query, joint=None).lp(query.joint[0]) > query.joint[1]
    )


def most_l1(query: Sensitivity, support: str) -> float:
    """Return a positive upper bound of the l_1 norm of all moves; that of whole moves is a whole number."""
    size = query.lp(1)
    return float(math.floor(size)) if support == "integer" and size >= 1.0 else size


def attained_norm(query: Sensitivity, p: float, support: str) -> float:
    """Return a float that the l_p norm of some allowed move is not below, rounded down.

    Claim: without a binding joint norm the corner is a move. On the reals a joint norm of the same order is reached by
    a multiple of the corner, and a norm alone by a move of one coordinate or of all of them equally. The l_1 norm of
    whole moves grows in steps of 1, up to the least of the joint norm and the corner. Every coordinate can move alone.
    """
    if not joint_binds(query):
        return query.lp(p) * ATTAINED
    assert query.joint is not None
    q, bound = query.joint
    if support == "real" and (q == p if query.kind == "box" else query.sizes[0] == bound):
        return query.lp(p) * ATTAINED
    if support == "integer" and q == p == 1.0:
        corner = sum((Fraction(math.floor(size)) * count for size, count in query.corner), Fraction(0))
        reached = min(Fraction(math.floor(bound)), corner)
        return float(reached) if Fraction(float(reached)) <= reached else math.nextafter(float(reached), 0.0)
    return float(math.floor(query.largest)) if support == "integer" else query.largest


def is_reached(query: Sensitivity, p: float, support: str) -> bool:
    """Return whether some move reaches the upper bound of the l_p norm that proofs use, but for rounding."""
    most = most_l1(query, support) if p == 1.0 else query.lp(p)
    return attained_norm(query, p, support) >= most * ATTAINED
