"""Reserved laws in words: which noise was reserved, and how often it can still be used."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ggdp.ledger.canonical import parsed
from ggdp.proofs.total_loss import CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ggdp.ledger.entries import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedLaw:
    """A law of noise that was reserved: its hash, its noise in words, how often it was reserved and is left."""

    law: str
    noise: str
    reserved: int
    left: int

    def to_dict(self) -> dict[str, Any]:
        """Return the law as plain values."""
        return asdict(self)


def times(number: int, one: str, several: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> times(1, "use", "uses"), times(1200, "use", "uses")
    ('1 use', '1,200 uses')
    """
    return f"{number:,} {one if number == 1 else several}"


def law_in_words(losses: Iterable[CountedLoss]) -> str:
    """Return the noise of a release as a person can compare it with a plan: all that its law depends on.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.total_loss import CoordinateLoss
    >>> noise = CoordinateLoss(NoiseLaw(order=1, scale=40, support="integer"), 1)
    >>> law_in_words([CountedLoss(noise, 2)])
    'integer noise of order 1 and scale 40 for 2 cells that move by 1'
    """
    return " and ".join(_in_words(counted) for counted in losses)


def _in_words(counted: CountedLoss) -> str:
    loss, count = counted.loss, counted.count
    if isinstance(loss, ResponseLoss):
        many = "" if count == 1 else f", {count:,} times"
        return f"any mechanism with epsilon = {_digits(loss.epsilon)} and delta = {_digits(loss.delta)}{many}"
    noise = f"{loss.law.support} noise of order {_digits(loss.law.order)} and scale {_digits(loss.law.scale)}"
    return f"{noise} for {times(count, 'cell that moves', 'cells that move')} by {_digits(loss.size)}"


def _digits(number: float) -> str:
    """Return all digits of a float: laws that differ in the last one are different laws."""
    return repr(float(number)).removesuffix(".0")


def reserved_laws(records: Iterable[Record], left: Mapping[str, int]) -> tuple[ReservedLaw, ...]:
    """Return the reserved laws of the records of a ledger, in the order in which they were first reserved.

    `left` is how often each can still be used, by its hash.
    """
    # Reserving ends with the first release.
    contents = [parsed(record.content) for record in takewhile(lambda one: one.kind == "reservation", records)]
    counts: dict[str, int] = {}
    noise: dict[str, str] = {}
    for part in (part for content in contents for part in content["reserved"]):
        law = part["law"]
        counts[law] = counts.get(law, 0) + part["count"]
        noise[law] = law_in_words(CountedLoss.from_dict(one) for one in part["losses"])
    return tuple(
        ReservedLaw(law=law, noise=noise[law], reserved=count, left=left.get(law, 0)) for law, count in counts.items()
    )
