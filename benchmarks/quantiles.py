"""How good and how fast private quantiles and private ranges are; prints its page as a JSON document for ``run.py``."""

from __future__ import annotations

import json
import math
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa

import ggdp
from ggdp.mechanisms import CellValues, QuantilePlan
from ggdp.mechanisms.quantiles import Node, Part, draw_steps
from ggdp.noise.entropy import SECURE
from pages import row, table

QUARTILES = [0.25, 0.5, 0.75]
REPEATS = 50
RELEASES = 5


def income(generator: np.random.Generator, n: int) -> np.ndarray:
    return np.exp(generator.normal(10.3, 0.8, n)).astype(np.int64)


SAMPLES = {
    "incomes": income,
    "incomes, a third 0": lambda g, n: np.where(g.random(n) < 1 / 3, 0, income(g, n)),
    "ages": lambda g, n: g.integers(0, 95, n),
    "changes, both signs": lambda g, n: g.normal(0, 300, n),
    "constant": lambda _g, n: np.full(n, 1234.0),
}


def cells_of(rows: np.ndarray, cells: int) -> CellValues:
    step, count = np.unique(rows, return_counts=True)
    cell = np.repeat(np.arange(cells), step.size)
    return CellValues.of(
        cell, np.tile(step.astype(np.int64), cells), np.tile(count.astype(np.int64), cells), cells=cells
    )


def naive_ends(values: CellValues, steps: int, n: int, epsilon: float) -> np.ndarray:
    """Widths of intervals whose ends are two more quantiles each, at ranks that the law of the mechanism allows for."""
    share = Fraction(epsilon) / 2 / 6
    whole = Part.whole(values, steps, 1)
    widths = []
    for q in QUARTILES:
        far = 2 * math.log(steps / 0.0125) / float(share) / n
        ends = []
        for end in (q - far, q + far):
            at = min(max(round(end * 10**6), 0), 10**6)
            drawn = draw_steps(whole, Node(0, at, 10**6, 10**6, share, None, None), SECURE)
            ends.append(drawn if 0 < end < 1 else np.full(values.cells, 0 if end <= 0 else steps))
        widths.append(np.mean(ends[1] - ends[0]))
    return np.array(widths)


def quantile_rows() -> list[str]:
    lines = []
    generator = np.random.default_rng(1)
    for name in ("incomes", "incomes, a third 0", "ages"):
        steps = 120 if name == "ages" else 200_000
        for n in (20, 200, 20_000):
            rows = np.minimum(SAMPLES[name](generator, n), steps)
            values = cells_of(rows, REPEATS)
            draws = QuantilePlan(fractions=QUARTILES, steps=steps, epsilon=1.0).draw(values)
            ordered = np.sort(rows)
            low, high = (np.searchsorted(ordered, draws.values, side) for side in ("left", "right"))
            target = np.array(QUARTILES) * n
            errors = np.maximum(np.maximum(low - target, target - high), 0)
            width = (draws.upper - draws.lower).mean(axis=0) / steps
            naive = naive_ends(values, steps, n, 1.0) / steps
            steps_of = np.arange(steps + 1)
            below, upto = np.searchsorted(ordered, steps_of), np.searchsorted(ordered, steps_of, "right")
            sets = [steps_of[(below <= t) & (t <= upto)] for t in target]
            covered = np.mean([(draws.lower[:, i] <= s[0]) & (draws.upper[:, i] >= s[-1]) for i, s in enumerate(sets)])
            lines.append(
                row(name, f"{n:,}", f"{np.median(errors):.0f}", f"{np.quantile(errors, 0.95):.0f}",
                    f"{100 * width.mean():.1f}", f"{100 * naive.mean():.1f}", f"{100 * covered:.1f}")
            )  # fmt: skip
    return lines


def range_rows() -> list[str]:
    lines = []
    generator = np.random.default_rng(2)
    for name, sample in SAMPLES.items():
        for n in (20, 200, 20_000):
            cells = []
            for epsilon in (0.1, 1.0):
                values = sample(generator, n)
                data = pa.table({"x": values})
                found = [ggdp.private_range(data, "x", ggdp.PureDP(epsilon)) for _ in range(RELEASES)]
                ranges = [(f.lower, f.upper) for f in found if f.lower is not None]
                clamped = [np.mean((values < low) | (values > high)) for low, high in ranges]
                widths = [(high - low) / max(np.ptp(values), 1) for low, high in ranges]
                cells += [
                    f"{len(ranges)} of {RELEASES}",
                    f"{100 * np.mean(clamped):.1f}" if ranges else "",
                    f"{np.median(widths):.1f}" if ranges and name != "constant" else "",
                ]
            lines.append(row(name, f"{n:,}", *cells))
    return lines


def speed() -> str:
    generator = np.random.default_rng(3)
    cells, each, steps = 10_000, 1_000, 1 << 31
    step = np.sort(generator.integers(0, steps, size=(cells, each)), axis=1)
    cell = np.repeat(np.arange(cells), each)
    kept = np.append(True, (np.diff(step.ravel()) != 0) | (np.diff(cell) != 0))
    values = CellValues.of(cell[kept], step.ravel()[kept], np.ones(int(kept.sum()), dtype=np.int64), cells=cells)
    plan = QuantilePlan(fractions=QUARTILES, steps=steps, epsilon=1.0)
    begun = time.process_time()
    plan.draw(values)
    return f"{time.process_time() - begun:.1f}"


def main() -> None:
    lines = [
        "# Private quantiles and private ranges",
        "",
        "Printed by `benchmarks/quantiles.py`. Quartiles at epsilon = 1 for a cell, half of it for intervals; "
        f"{REPEATS} releases of one sample each. Errors are in ranks; widths are shares of the public range; "
        "the naive intervals are from two more quantiles for each end, for the same epsilon and with the true count.",
        *table("values", "n", "median error", "95 % error", "width, %", "naive width, %", "covered, %"),
        *quantile_rows(),
        "",
        f"Quartiles and intervals of 10,000 cells, 10 million distinct values on 2^31 steps: {speed()} s of one core.",
        "",
        f"Private ranges, {RELEASES} releases each: how often one was found, the share of values outside of it, and "
        "its width over that of the values.",
        *table("values", "n", "found, 0.1", "outside, %", "width", "found, 1", "outside, %", "width"),
        *range_rows(),
    ]
    print(json.dumps({"page": "\n".join(lines) + "\n"}))


if __name__ == "__main__":
    main()
