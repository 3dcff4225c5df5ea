"""Sanitised counts next to the original ones: l_1 distance and Kullback-Leibler divergence over many repeats.

=============  =========================================================================================
y, y*          original and sanitised counts of the m cells: all of a small table, the non-empty ones of adult
n              the total of the table
raw            y* as drawn: before any adjustment the mean of l_1 is m E|noise|, in closed form
clip-rescale   into [0, n], then scaled to n: what the paper does
project        to the nearest counts, by Euclid, that are not negative and add up to n
clip-zero      negative counts to 0; no total is used
l_1            sum_k |y_k - y*_k|
f(y)           (y + a) / (sum y + m a), the mean of a Dirichlet posterior with prior weight a
KL(y||y*)      sum_k f_k(y) ln(f_k(y) / f_k(y*))
=============  =========================================================================================

The paper clips to [0, n] and rescales to n while its scales are for add/remove neighbours, under which n is not
public: the typed releases of ggdp refuse that. It is simulated as the paper did it, as plain arithmetic, and every row
says whether a release could do it (`private`). Sanitising the non-empty cells only, as on the adult data, is not
differentially private at all: which cells are empty is published as it is.

The divergence is that of R's ``entropy::KL.Dirichlet(y1, y2, a1, a2)`` with the same prior on both sides, in natural
units. The paper names neither its prior nor its direction: the prior is a parameter here, by default Jeffreys' 1/2, and
both directions are computed.

References
----------
Liu, arXiv 1602.06028 v5, Section 4. Hausser and Strimmer, "Entropy inference and the James-Stein estimator", JMLR 10
(2009), Table 1 (the prior weights). Michelot, "A finite algorithm for finding the projection of a point onto the
canonical simplex of R^n", J. Optim. Theory Appl. 50 (1986).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from ggdp.errors import ArgumentError
from ggdp_reproduction.adult_data import EMPTY_CELLS_SHOW
from ggdp_reproduction.checks import Floats, choice, integer, positive
from ggdp_reproduction.experiments.sanitisers import DELTAS, EPSILONS, REPEATS, Sanitiser, Setting, known, settings_of
from ggdp_reproduction.experiments.tasks import run_tasks
from ggdp_reproduction.simulation import simulated_noise, stream_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    import ggdp

Adjustment: TypeAlias = Literal["raw", "clip-rescale", "project", "clip-zero"]

JEFFREYS = 0.5
# Draws that are handled at once: a few arrays of them fit into a core's own cache.
_BLOCK = 1 << 15
# Below this many draws in all, starting processes takes longer than the work.
_WORTH_PROCESSES = 50_000_000
# What the figures of sanitised against original counts show.
_SHOWN: Adjustment = "clip-rescale"


def clip_rescale(noisy: Floats, total: float) -> Floats:
    """Return the counts clipped to [0, n] and scaled to n, over the last axis; all alike where none is above 0."""
    clipped = np.clip(noisy, 0.0, total)
    sums = clipped.sum(axis=-1, keepdims=True)
    if not sums.all():
        clipped = np.where(sums > 0.0, clipped, 1.0)
        sums = clipped.sum(axis=-1, keepdims=True)
    # A power of 2, which rounds nothing: the total over a sum next to nothing would overflow.
    lift = np.where(sums < 2.0**-500, 2.0**500, 1.0)
    clipped *= lift
    clipped *= total / (sums * lift)
    return clipped


def projected(noisy: Floats, total: float) -> Floats:
    """Return the nearest counts, by Euclid, that are not negative and add up to n > 0, over the last axis.

    Notes
    -----
    All counts are lowered by one level t, and what is then below 0 is put to 0. The level rises from that of all cells
    to that of the cells above it until none drops out (Michelot), which needs no sorting.
    """
    # Relative to the largest count, no digits are lost to a common level.
    lowered: Floats = noisy - noisy.max(axis=-1, keepdims=True)
    level = (lowered.sum(axis=-1, keepdims=True) - total) / lowered.shape[-1]
    above, left = np.ones(lowered.shape, dtype=np.bool_), np.full(level.shape, lowered.shape[-1])
    while True:
        # What has dropped out stays out, also where rounding lowers the level again.
        above &= lowered > level
        count = above.sum(axis=-1, keepdims=True)
        if (count == left).all():
            break
        rising = (np.where(above, lowered, 0.0).sum(axis=-1, keepdims=True) - total) / count
        level, left = np.where(count == left, level, rising), count
    lowered -= level
    np.maximum(lowered, 0.0, out=lowered)
    return lowered


ADJUSTMENTS: dict[Adjustment, Callable[[Floats, float], Floats]] = {
    "raw": lambda noisy, _: noisy,
    "clip-rescale": clip_rescale,
    "project": projected,
    "clip-zero": lambda noisy, _: np.maximum(noisy, 0.0),
}
# What tables and figures call them.
ADJUSTMENT_LABELS: dict[Adjustment, str] = {
    "raw": "as drawn",
    "clip-rescale": "clip, rescale to n",
    "project": "project to n",
    "clip-zero": "clip at 0",
}


def l1_distance(original: ArrayLike, sanitised: ArrayLike) -> Any:  # noqa: ANN401 - a float, or one for each row
    """Return the sum of the absolute differences over the last axis; either may have one row for each repeat."""
    return np.abs(np.asarray(sanitised, dtype=np.float64) - np.asarray(original, dtype=np.float64)).sum(axis=-1)


def dirichlet_frequencies(counts: ArrayLike, *, prior: float = JEFFREYS) -> Floats:
    """Return (y + a) / (sum y + m a) over the last axis, for counts y that are not negative and the prior weight a."""
    weighted = np.asarray(counts, dtype=np.float64)
    if weighted.size and weighted.min() < 0.0:
        raise ArgumentError("counts", "with negative ones", "a divergence needs counts that are not negative")
    weighted = weighted + positive(prior=prior)
    weighted /= weighted.sum(axis=-1, keepdims=True)
    return weighted


def kl_both(original: Floats, sanitised: Floats, *, prior: float = JEFFREYS) -> tuple[Floats, Floats]:
    """Return KL(original || sanitised) and KL(sanitised || original) of many repeats, with one logarithm a count.

    Counts are of shape (cells,) and (repeats, cells), and not negative; the prior is its weight in each cell, above 0.
    """
    # In place and by blocks of the caller's choice: this is where the time of a large table goes.
    f, g = dirichlet_frequencies(original, prior=prior), dirichlet_frequencies(sanitised, prior=prior)
    logs = g / f
    np.log(logs, out=logs)
    g *= logs
    logs *= f
    return -logs.sum(axis=-1), g.sum(axis=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRun:
    """The errors of sanitised counts of one table."""

    dataset: str  # name of the table
    # Its total, and how many cells were sanitised.
    n: int
    cells: int
    # One for each setting and adjustment: dataset, sanitiser, group, epsilon, delta (None where there is none), order,
    # scale, support, neighbours, adjustment, private ("yes", or "no: " and why: whether a release could do it, with
    # exact noise in place of the simulated), note, repeats, l1_mean, l1_sd, kl_mean, kl_sd (of KL(original ||
    # sanitised)), kl_back_mean, kl_back_sd (the other direction; None for raw counts, which can be negative), and
    # l1_expected (the closed form of l1_mean for raw counts; else None).
    rows: list[dict[str, Any]]
    # The first repeat's counts, clipped and rescaled, by (sanitiser, epsilon, delta).
    examples: dict[tuple[str, float, float | None], Floats] = field(repr=False)

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
    counts: Floats
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
    """
    array = np.asarray(counts)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu" or array.min() < 0 or not array.any():
        raise ArgumentError(
            "counts", "not shown", "must be a flat array of whole numbers, none negative, not all of them 0"
        )
    table = _Table(
        name=name,
        counts=array.astype(np.float64),
        adjustments=tuple(cast("Adjustment", choice(among=(*ADJUSTMENTS,), adjustment=one)) for one in adjustments),
        repeats=integer(repeats=repeats, at_least=2),
        seed=integer(seed=seed, at_least=0),
        prior=positive(prior=prior),
    )
    settings = settings_of(sanitisers, epsilons, deltas)
    steps = len(settings)

    def report(done: int, before: int = 0) -> None:
        if progress is not None:
            progress(before + done, 2 * steps)

    calibrated = known(settings, workers=workers, progress=lambda done, _: report(done))
    tasks = list(zip(settings, calibrated, strict=True))
    many = array.size * table.repeats * steps >= _WORTH_PROCESSES
    found = run_tasks(
        _measured, tasks, shared=table, workers=workers if many else 1, progress=lambda done, _: report(done, steps)
    )
    rows = [
        _row(table, setting, noise, adjustment, measured[kind])
        for (setting, noise), (measured, _) in zip(tasks, found, strict=True)
        for kind, adjustment in enumerate(table.adjustments)
    ]
    examples = {setting.key: example for setting, (_, example) in zip(settings, found, strict=True)}
    return CountRun(dataset=name, n=int(table.counts.sum()), cells=array.size, rows=rows, examples=examples)


def _measured(table: _Table, task: tuple[Setting, ggdp.Calibration]) -> tuple[Floats, Floats]:
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
    table: _Table, setting: Setting, noise: ggdp.Calibration, adjustment: Adjustment, measured: Floats
) -> dict[str, Any]:
    """Return a row of the run."""
    raw = adjustment == "raw"
    notes, private = noise.notes, "yes"
    if setting.sanitiser.notion == "probabilistic" and not raw:
        notes = (*notes, "probabilistic DP is approximate DP after the adjustment")
    if table.name == "adult":
        private = f"no: {EMPTY_CELLS_SHOW}"
    elif adjustment in ("clip-rescale", "project") and setting.sanitiser.neighbours == "add-remove":
        private = "no: it publishes the total, which differs between add/remove neighbours"
    row = {
        "dataset": table.name,
        **setting.row(noise),
        "adjustment": adjustment,
        "private": private,
        "note": "; ".join(notes),
        "repeats": table.repeats,
    }
    for measure, values in zip(("l1", "kl", "kl_back"), measured, strict=True):
        absent = raw and measure != "l1"
        row[f"{measure}_mean"] = None if absent else float(values.mean())
        row[f"{measure}_sd"] = None if absent else float(values.std(ddof=1))
    row["l1_expected"] = table.counts.size * noise.mean_abs if raw else None
    return row
