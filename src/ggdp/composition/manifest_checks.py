"""Whether what a manifest adds to a composition is what its certificate proves.

A manifest is a file that anybody can edit. Its certificate is proved again, and what it says of the loss is compared
with that: a guarantee below the proved one, or losses below those of the noise and moves that the proof is about, are
refused. Not checked, since no manifest can prove it: that the noise was drawn as stated, that the stated moves are
those of the query, and what a table adds for units cut and keys shown.

=======================================  ==============================================================================
proof                                    losses of the noise must
=======================================  ==============================================================================
one coordinate, a corner                 be those coordinates; or have, at the proved epsilon, at least the proved delta
the paper's bound of a corner            be those coordinates; or one that moves by the joint norm
pure loss, at order 1                    move by the l_1 norm together; how it is divided among cells is believed
a norm of the order, or l_2              move by that norm together
any                                      be randomised response of at least the proved epsilon and delta
=======================================  ==============================================================================
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from ggdp.composition.total import TotalLoss
from ggdp.errors import CertificateError
from ggdp.proofs.absolute_sum import AbsoluteSumDelta
from ggdp.proofs.certificate import Certificate, require_proved
from ggdp.proofs.corner import CornerDelta
from ggdp.proofs.integer_gaussian import IntegerGaussianDelta
from ggdp.proofs.integer_shift import IntegerShiftDelta
from ggdp.proofs.laplace import LaplaceLoss
from ggdp.proofs.radial import RadialDelta
from ggdp.proofs.shift import ShiftDelta
from ggdp.proofs.total_loss import CoordinateLoss, CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ggdp.privacy import Guarantee

__all__ = ["contradiction"]

# Norms of floats are rounded, and two proofs of one delta differ by less than this.
_ROUNDING = 1e-9
_SAME_DELTA = 1e-3


def contradiction(
    guarantee: Guarantee, losses: tuple[CountedLoss, ...], certificate: Mapping[str, Any] | None
) -> str | None:
    """Return in which way the losses or the guarantee of a manifest are not those of its certificate, or None."""
    if certificate is None:
        # A selection, whose proof is its mechanism.
        return None if _responds(losses, guarantee.epsilon, guarantee.delta) else "its losses are not its guarantee"
    try:
        proof = Certificate.from_dict(dict(certificate))
        require_proved(proof)
    except CertificateError as wrong:
        return f"its certificate does not hold: {wrong}"
    is_loss = proof.quantity == "epsilon"
    epsilon = proof.proved if is_loss else proof.bound.epsilon  # type: ignore[attr-defined]
    delta = 0.0 if is_loss else proof.proved
    if guarantee.epsilon < epsilon or guarantee.delta < delta:
        return f"its guarantee is below what its certificate proves, epsilon = {epsilon!r} and delta = {delta!r}"
    own = tuple(one for one in losses if isinstance(one.loss, CoordinateLoss) and one.loss.law == proof.law)
    proved = _moves(proof, own, epsilon) if own else _responds(losses, epsilon, delta)
    return None if proved else "its losses are not those of its noise"


def _responds(losses: tuple[CountedLoss, ...], epsilon: float, delta: float) -> bool:
    """Return whether one of the losses is randomised response of at least an epsilon and a delta."""
    return any(
        isinstance(one.loss, ResponseLoss) and one.loss.epsilon >= epsilon and one.loss.delta >= delta for one in losses
    )


def _moves(proof: Certificate, losses: tuple[CountedLoss, ...], epsilon: float) -> bool:
    """Return whether coordinates with the proved noise move by at least what the proof is about."""
    bound, moves = proof.bound, Counter[float]()
    for one in losses:
        assert isinstance(one.loss, CoordinateLoss)
        moves[one.loss.size] += one.count
    if isinstance(bound, LaplaceLoss):
        return _norm(moves, 1.0) >= bound.sensitivity * (1.0 - _ROUNDING)
    if isinstance(bound, RadialDelta):
        return _norm(moves, proof.law.order) >= bound.sensitivity * (1.0 - _ROUNDING)
    if isinstance(bound, IntegerGaussianDelta):
        return _norm(moves, 2.0) >= bound.sensitivity * (1.0 - _ROUNDING)
    if isinstance(bound, AbsoluteSumDelta) and bound.joint is not None and len(moves) == 1:
        ((size, count),) = moves.items()
        if count == 1 and size >= bound.joint * (1.0 - _ROUNDING):
            return True
    if isinstance(bound, AbsoluteSumDelta | CornerDelta):
        certified = Counter[float]()
        for size, count in bound.corner:
            certified[size] += count
    elif isinstance(bound, ShiftDelta | IntegerShiftDelta):
        certified = Counter({float(bound.sensitivity): 1})
    else:
        return False
    if moves == certified:
        return True
    return not isinstance(bound, AbsoluteSumDelta) and TotalLoss.of(losses).delta(epsilon)[1] >= proof.proved * (
        1.0 - _SAME_DELTA
    )


def _norm(moves: Counter[float], order: float) -> float:
    """Return the l_p norm of coordinates, in parts of the largest, whose power could overflow."""
    largest = max(moves)
    total = math.fsum(count * (size / largest) ** order for size, count in moves.items())
    return largest * float(total ** (1.0 / order))
