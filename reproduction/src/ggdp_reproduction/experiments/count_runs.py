"""Sanitised counts beside the original ones: l_1 distance and Kullback-Leibler divergence over many repeats.

===========  ===================================================================================
n            the total of the table
m            how many cells are sanitised: all of a small table, the non-empty ones of adult
raw l_1      before any adjustment its mean is m E|noise|, in closed form
===========  ===================================================================================

The paper clips to [0, n] and rescales to n while its scales are for add/remove neighbours, under which n is not
public. That is simulated as the paper did it, and every row says whether a release could do it (`private`). Sanitising
the non-empty cells only, as on the adult data, is not differentially private at all: which cells are empty is published
as it is.

References
----------
Liu, arXiv 1602.06028 v5, Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ggdp.errors import ArgumentError
from ggdp_reproduction.checks import choice, integer, positive
from ggdp_reproduction.experiments.adult_split import EMPTY_CELLS_SHOW
from ggdp_reproduction.experiments.count_distances import JEFFREYS, kl_both, l1_distance
from ggdp_reproduction.experiments.noisy_counts import ADJUSTMENTS, Adjustment, simulated_noise, stream_seed
from ggdp_reproduction.experiments.process_pool import run_tasks
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS, REPEATS, Sanitiser, Setting, known, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    import ggdp

    Reals = NDArray[np.float64]

__all__ = ["CountRun", "run_counts"]

# Draws that are handled at once: a few arrays of them fit into a core's own cache.
_BLOCK = 1 << 15
# Below this many draws in all, starting processes takes longer than the work.
_WORTH_PROCESSES = 50_000_000
# What the figures of sanitised against original counts show.
_SHOWN: Adjustment = "clip-rescale"
_USE_THE_TOTAL = ("clip-rescale", "project")
_CAVEATS = {"adult": EMPTY_CELLS_SHOW}


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRun:
    """The errors of sanitised counts of one table.

    Attributes
    ----------
    dataset : str
        Name of the table.
    n, cells : int
        Its total, and how many cells were sanitised.
    rows : list of dict
        One for each setting and adjustment: dataset, sanitiser, group, epsilon, delta (None where there is none),
        order, scale, support, neighbours, adjustment, private ("yes", or "no: " and why: whether a release could do
        it, with exact noise in place of the simulated), note, repeats, l1_mean, l1_sd, kl_mean, kl_sd (of
        KL(original || sanitised)), kl_back_mean, kl_back_sd (the other direction; None for raw counts, which can be
        negative), and l1_expected (the closed form of l1_mean for raw counts; else None).
    examples : dict
        The first repeat's counts, clipped and rescaled, by (sanitiser, epsilon, delta).
    """

    dataset: str
    n: int
    cells: int
    rows: list[dict[str, Any]]
    examples: dict[tuple[str, float, float | None], NDArray[np.float64]] = field(repr=False)

    def row(self, sanitiser: str, epsilon: float, delta: float | None, adjustment: str = _SHOWN) -> dict[str, Any]:
        """Return the row of a setting and an adjustment."""
        wanted = (sanitiser, epsilon, delta, adjustment)
        for row in self.rows:
            if (row["sanitiser"], row["epsilon"], row["delta"], row["adjustment"]) == wanted:
                return row
        raise ArgumentError("sanitiser", wanted, f"was not run on {self.dataset}")


class _Table(NamedTuple):
    """What every setting of a run shares."""

    name: str
    counts: Reals
    adjustments: tuple[Adjustment, ...]
    repeats: int
    seed: int
    prior: float


def run_counts(
    name: str,
    counts: ArrayLike,
    *,
    sanitisers: Iterable[Sanitiser],
    epsilons: Iterable[float] = EPSILONS,
    deltas: Iterable[float] = DELTAS,
    repeats: int = REPEATS,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    adjustments: Iterable[Adjustment] = tuple(ADJUSTMENTS),
    prior: float = JEFFREYS,
) -> CountRun:
    """Sanitise the counts of a table many times over and measure how far they move.

    Parameters
    ----------
    name : str
        Name of the table; part of every stream of random numbers.
    counts : array of int
        The counts of all cells that are sanitised.
    sanitisers : iterable of Sanitiser
        What to run, such as ``sanitisers_for(name)``.
    epsilons, deltas : iterable of float
        Privacy parameters; a sanitiser that has no delta runs once for each epsilon.
    repeats : int, default 500
        How often. The first repeats of a longer run are those of a shorter one.
    seed : int, default 0
        Seed of the run.
    workers : int, default 1
        How many processes to use; the results are the same, to the last bit, for any number.
    progress : callable, optional
        Called with the number of steps done and their total.
    adjustments : iterable of str
        What is done to noisy counts; by default each of "raw", "clip-rescale", "project", "clip-zero".
    prior : float, default 1/2
        Weight of the Dirichlet prior of the divergence.

    Returns
    -------
    CountRun
        Means and standard deviations over the repeats.

    Examples
    --------
    >>> from ggdp_reproduction.experiments.sanitisers import sanitiser_of
    >>> run = run_counts("toy", [5, 0, 2, 1], sanitisers=[sanitiser_of("laplace")], epsilons=[1.0], repeats=200)
    >>> raw = run.row("laplace", 1.0, None, "raw")
    >>> raw["l1_expected"], abs(raw["l1_mean"] - 4.0) < 5 * (4 / 200) ** 0.5
    (4.0, True)
    """
    table = _Table(
        name=name,
        counts=_counts(counts),
        adjustments=tuple(cast("Adjustment", choice(among=(*ADJUSTMENTS,), adjustment=one)) for one in adjustments),
        repeats=integer(repeats=repeats, at_least=2),
        seed=integer(seed=seed, at_least=0),
        prior=positive(prior=prior),
    )
    settings = settings_of(sanitisers, epsilons, deltas)
    steps = len(settings)

    def report(done: int) -> None:
        if progress is not None:
            progress(done, 2 * steps)

    calibrated = known(settings, workers=workers, progress=lambda done, _: report(done))
    tasks = list(zip(settings, calibrated, strict=True))
    many = table.counts.size * table.repeats * steps >= _WORTH_PROCESSES
    found = run_tasks(
        _measured, tasks, shared=table, workers=workers if many else 1, progress=lambda done, _: report(steps + done)
    )
    rows = [
        _row(table, setting, noise, adjustment, measured[kind])
        for (setting, noise), (measured, _) in zip(tasks, found, strict=True)
        for kind, adjustment in enumerate(table.adjustments)
    ]
    return CountRun(
        dataset=name,
        n=int(table.counts.sum()),
        cells=table.counts.size,
        rows=rows,
        examples={setting.key: example for setting, (_, example) in zip(settings, found, strict=True)},
    )


def _measured(table: _Table, task: tuple[Setting, ggdp.Calibration]) -> tuple[Reals, Reals]:
    """Return l_1 and both divergences of every adjustment and repeat, and the first repeat's counts as shown."""
    setting, noise = task
    cells, total = table.counts.size, float(table.counts.sum())
    height = max(_BLOCK // cells, 1)
    found = np.full((len(table.adjustments), 3, table.repeats), np.nan)
    example = np.empty(0)
    for block in range(-(-table.repeats // height)):
        seed = stream_seed(table.seed, table.name, *setting.key, block)
        start, stop = block * height, min((block + 1) * height, table.repeats)
        # The whole block is drawn, so that its first repeats do not depend on how many are requested.
        noisy = simulated_noise(noise, (height, cells), seed=seed)[: stop - start]
        noisy += table.counts
        if block == 0:
            example = ADJUSTMENTS[_SHOWN](noisy[:1], total)[0]
        for kind, adjustment in enumerate(table.adjustments):
            sanitised = ADJUSTMENTS[adjustment](noisy, total)
            found[kind, 0, start:stop] = l1_distance(table.counts, sanitised)
            if adjustment != "raw":
                found[kind, 1:, start:stop] = kl_both(table.counts, sanitised, prior=table.prior)
    return found, example


def _row(
    table: _Table, setting: Setting, noise: ggdp.Calibration, adjustment: Adjustment, measured: Reals
) -> dict[str, Any]:
    """Return a row of the run."""
    raw = adjustment == "raw"
    notes = noise.notes
    if setting.sanitiser.notion == "probabilistic" and not raw:
        notes = (*notes, "probabilistic DP is approximate DP after the adjustment")
    row = {
        "dataset": table.name,
        **setting.row(noise),
        "adjustment": adjustment,
        "private": _private(table.name, setting.sanitiser, adjustment),
        "note": "; ".join(notes),
        "repeats": table.repeats,
    }
    for measure, values in zip(("l1", "kl", "kl_back"), measured, strict=True):
        absent = raw and measure != "l1"
        row[f"{measure}_mean"] = None if absent else float(values.mean())
        row[f"{measure}_sd"] = None if absent else float(values.std(ddof=1))
    row["l1_expected"] = table.counts.size * noise.mean_abs if raw else None
    return row


def _private(name: str, sanitiser: Sanitiser, adjustment: Adjustment) -> str:
    """Return whether a release could do this."""
    if name in _CAVEATS:
        return f"no: {_CAVEATS[name]}"
    if adjustment in _USE_THE_TOTAL and sanitiser.neighbours == "add-remove":
        return "no: it publishes the total, which differs between add/remove neighbours"
    return "yes"


def _counts(counts: ArrayLike) -> Reals:
    """Return counts as floats, once they are counts."""
    array = np.asarray(counts)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0 or not array.any():
        raise ArgumentError(
            "counts", "not shown", "must be a flat array of whole numbers, none negative, not all of them 0"
        )
    return array.astype(np.float64)
