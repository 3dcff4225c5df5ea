"""Totals of several releases by ggdp; a worker in an environment that has it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import ggdp
from ggdp.proofs.losses import CountedLoss
from timing import TooLongError, processor_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable

# The delta of the guarantee that a part states of itself; only the plain sum uses it.
STATED = 1e-9


@dataclass(frozen=True, slots=True)
class Known:
    """A part whose noise is known: its losses, and a guarantee that it has."""

    losses: tuple[CountedLoss, ...]
    guarantee: ggdp.PureDP | ggdp.ApproxDP


@cache
def guarantee(order: float, scale: float, support: str, cells: int) -> ggdp.PureDP | ggdp.ApproxDP:
    """Return a guarantee of noise on so many cells that all move by 1: the plain sum of those of one cell."""
    one = ggdp.guarantee_of(
        order=order,
        scale=scale,
        support=support,
        sensitivity=ggdp.Sensitivity.disjoint(1),
        delta=0.0 if order == 1.0 else STATED,
    )
    return ggdp.compose([(one, cells)]).basic


def part(record: dict[str, Any]) -> tuple[Any, int]:
    """Return what is composed, and how often."""
    if record["kind"] == "response":
        return ggdp.PureDP(record["epsilon"]), record["releases"]
    counted = CountedLoss.from_dict({name: value for name, value in record.items() if name != "releases"})
    kept = guarantee(record["order"], record["scale"], record["support"], record["count"])
    return Known((counted,), kept), record["releases"]


def bounds(call: Callable[[], tuple[float, float]], most: float) -> dict[str, Any]:
    """Return the bounds that a call finds and its time; or how it failed, as the page must say."""
    try:
        (lower, upper), seconds = processor_time(call, most=most)
    except TooLongError:
        return {"failed": f"more than {most:g} s"}
    except Exception as failed:
        return {"failed": f"{type(failed).__name__}: {failed}"}
    return {"lower": lower, "upper": upper, "seconds": seconds}


def epsilon(*, losses: list[dict[str, Any]], delta: float, most: float) -> dict[str, Any]:
    """Return the bounds of the epsilon for a delta, found from the laws."""
    parts = [part(record) for record in losses]
    return bounds(lambda: ggdp.compose(parts).epsilon(delta), most)


def delta(*, losses: list[dict[str, Any]], epsilon: float, most: float) -> dict[str, Any]:
    """Return the bounds of the delta at an epsilon, found from the laws."""
    parts = [part(record) for record in losses]
    return bounds(lambda: ggdp.compose(parts).delta(epsilon), most)


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("ggdp", "python-flint")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (epsilon, delta, versions)})
