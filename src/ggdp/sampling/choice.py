"""Choice of the sampler of a law: a table if it is small, rejection at wider scales."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError
from ggdp.sampling.envelope import envelope
from ggdp.sampling.law_tables import tail_law, thresholds_needed, whole_law

if TYPE_CHECKING:
    from ggdp.sampling.rejection import Envelope
    from ggdp.sampling.table import Table

# Beyond this many thresholds on a side a table takes longer to build than is worth it.
_MOST_THRESHOLDS = 1 << 15
# A draw of 2^63 is then 256 scales out, which has a probability below e^-256.
WIDEST = 2.0**55
_FARTHEST = 1 << 62
_MOST_ORDER = 1e6
# Noise so far out has a probability of exp(-2^40), and exponents are computed to their last bits.
_MOST_EXPONENT_BITS = 40


@lru_cache(maxsize=32)
def sampler_of(order: float, scale: float) -> Table | Envelope:
    """Return what draws the law of all integers."""
    _refuse_extremes(order, scale)
    if thresholds_needed(order, scale) <= _MOST_THRESHOLDS:
        return whole_law(order, scale)
    return envelope(order, scale, two_sided=True)


@lru_cache(maxsize=32)
def sampler_from(order: float, scale: float, start: int) -> Table | Envelope:
    """Return what draws the law given that it is at least `start` >= 1."""
    _refuse_extremes(order, scale)
    refuse_too_far(order, scale, start)
    if thresholds_needed(order, scale, start=start) <= _MOST_THRESHOLDS:
        return tail_law(order, scale, start)
    return envelope(order, scale, start=start)


def refuse_too_far(order: float, scale: float, start: int) -> None:
    """Raise for thresholds that noise of this law practically never reaches."""
    if start > _FARTHEST or order * math.log2(max(start / scale, 1.0)) > _MOST_EXPONENT_BITS:
        raise ArgumentError("threshold", start, f"is too far out for noise of order {order!r} and scale {scale!r}")


@lru_cache(maxsize=32)
def sampler_within(order: float, scale: float, width: int) -> Envelope:
    """Return what draws the law given that it is at most `width` in absolute value, for widths that no table fits."""
    _refuse_extremes(order, 0.0)
    return envelope(order, scale, two_sided=True, stop=width)


def _refuse_extremes(order: float, scale: float) -> None:
    """Refuse scales whose noise could come near the ends of 64 bits: truncated noise would not have the proved law."""
    if order > _MOST_ORDER:
        raise ArgumentError("order", order, "is too large to be drawn exactly (10^6 at most)")
    if scale > WIDEST:
        raise ArgumentError("scale", scale, "is too wide for 64-bit draws (2^55 at most); use a larger unit")
