"""CPU time of what a moved slider of the page computes: calibrations, their numbers, and the figure as SVG.

Run by ``benchmarks/run.py explorer``, in an environment with the extra explorer. Sliders
are moved to random places, from a public seed, without the cache of certificates; settings that are not moved stay as
the page opens with them, but for those named in the row. The process that computes for the page makes the same calls.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from typing import TYPE_CHECKING, Any

os.environ["GGDP_CACHE"] = "off"

from ggdp.explorer.simulated_table import MOST_CELLS
from ggdp.explorer.views.noise_view import (
    AttackerSettings,
    NoiseSettings,
    attacker_results,
    noise_results,
    plan_results,
)
from ggdp.explorer.views.table_view import TableSettings, dots_results, table_results
from ggdp.explorer.workers import keep_loaded
from pages import machine, row, table

if TYPE_CHECKING:
    from collections.abc import Callable

MOVES = 100
SEARCHES = 10
LIMIT = 200.0
# The ends of the sliders.
EPSILON, DELTA, ORDER, PRIOR = (0.01, 20.0), (1e-12, 0.5), (1.0, 50.0), (0.01, 99.99)
PEOPLE = (1.0, 20_000.0)


def place(rng: random.Random, ends: tuple[float, float], *, logarithmic: bool = True) -> float:
    """Return where a slider stops: one of 400 places, in two digits."""
    share = rng.randint(0, 400) / 400
    value = ends[0] * (ends[1] / ends[0]) ** share if logarithmic else ends[0] + share * (ends[1] - ends[0])
    return min(max(float(f"{value:.2g}"), ends[0]), ends[1])


def moved(make: Callable[[random.Random], Any], compute: Callable[[Any], object], times: int = MOVES) -> list[float]:
    """Return the CPU milliseconds of each move."""
    rng, found = random.Random(20261), []
    compute(make(rng))
    # As the process that computes for the page does after a call.
    keep_loaded()
    for _ in range(times):
        settings = make(rng)
        start = time.process_time()
        compute(settings)
        found.append(1e3 * (time.process_time() - start))
    return found


def shown(found: list[float]) -> tuple[str, ...]:
    cuts = statistics.quantiles(found, n=20)
    return tuple(f"{value:.0f}" for value in (statistics.median(found), cuts[-1], max(found)))


def noise(**fixed: Any) -> Callable[[random.Random], NoiseSettings]:
    """Return a function that moves each of the three sliders of noise to a random place."""
    order = fixed.pop("order", None)
    return lambda rng: NoiseSettings(
        epsilon=place(rng, EPSILON), delta=place(rng, DELTA), order=order or place(rng, ORDER), **fixed
    )


def attacker(rng: random.Random) -> AttackerSettings:
    return AttackerSettings(epsilon=place(rng, EPSILON), prior=place(rng, PRIOR, logarithmic=False))


def simulated(rng: random.Random) -> TableSettings:
    return TableSettings(epsilon=place(rng, EPSILON), units=int(place(rng, PEOPLE)))


def simulated_at_most(rng: random.Random) -> TableSettings:
    """Return a table of as many cells as are simulated."""
    levels = f"cell=1..{MOST_CELLS}"
    return TableSettings(by="cell", levels=levels, bins="", epsilon=place(rng, EPSILON), units=int(place(rng, PEOPLE)))


def main() -> None:
    cases = [
        ("Noise, counts", noise(), noise_results),
        ("Noise, any number", noise(support="real"), noise_results),
        ("Noise, counts, pure", noise(notion="pure", order=1.0), noise_results),
        ("Noise, counts, probabilistic", noise(notion="probabilistic"), noise_results),
        ("What an attacker learns", attacker, attacker_results),
        ("Table, simulated, 9 cells", simulated, table_results),
        (f"Table, simulated, {MOST_CELLS:,} cells", simulated_at_most, table_results),
    ]
    print("# The page: CPU milliseconds of what a moved slider shows\n")
    print(f"{machine()}. One process; calibrations of three orders, their")
    print(f"numbers and the figure as SVG. {MOVES} moves to random places, without the cache of certificates. The 95th")
    print(f"percentile is to be at most {LIMIT:.0f}.")
    print("\n".join(table("view", "median", "95th percentile", "most")))
    for name, make, compute in cases:
        print(row(name, *shown(moved(make, compute))), flush=True)
    print("\nBeside it, in a process of its own with a bar of progress, so that the page answers meanwhile:")
    print("\n".join(table("view", "median", "most")))
    slow = [
        ("Table, quantile dots of 3 cells", simulated, dots_results),
        ("Noise, error by order", noise(order=2.0), plan_results),
        ("Noise, 10 cells per person", noise(max_cells=10), noise_results),
        ("Noise, 10 cells per person, error by order", noise(max_cells=10, order=2.0), plan_results),
    ]
    for name, make, compute in slow:
        median, _, most = shown(moved(make, compute, SEARCHES))
        print(row(name, median, most), flush=True)


if __name__ == "__main__":
    main()
