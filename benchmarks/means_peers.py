"""Means by group of PipelineDP and of diffprivlib; a worker in an environment of its own.

PipelineDP: `Metrics.MEAN` on its local backend, with public partitions and bounds that the rows keep already. It adds
up the rows once and draws the noise of its last stage as often as asked, so that every repeat has the law of a run.
diffprivlib: `tools.mean` of each group, which takes the number of its rows as public.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pipeline_dp
import pyarrow.parquet as pq
from diffprivlib import tools

from means_data import KEY, REQUESTS, VALUE
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST_STAGE = "Compute DP metrics"


class RepeatedNoise(pipeline_dp.LocalBackend):
    """The local backend, whose last stage, which adds the noise, is done several times on the same sums."""

    def __init__(self, repeats: int) -> None:
        super().__init__()
        self._repeats = repeats

    def map_values(self, col: Any, fn: Callable[[Any], Any], stage_name: str | None = None, *more: Any) -> Any:
        if stage_name != _LAST_STAGE:
            return super().map_values(col, fn, stage_name, *more)
        return super().map_values(col, lambda sums: [fn(sums) for _ in range(self._repeats)], stage_name, *more)


@cache
def columns(path: str) -> tuple[Any, Any]:
    table = pq.read_table(path)
    return table[KEY].to_numpy(), table[VALUE].to_numpy()


def pipelinedp(*, name: str, path: str, epsilon: float, delta: float, repeats: int) -> list[list[float]]:
    """Return the means of all groups, a list a repeat: Laplace noise if delta is 0, Gaussian noise otherwise."""
    request = REQUESTS[name]
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, RepeatedNoise(repeats))
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.MEAN],
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN if delta else pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=request.low,
        max_value=request.high,
        contribution_bounds_already_enforced=True,
    )
    extractors = pipeline_dp.DataExtractors(
        partition_extractor=lambda pair: pair[0], value_extractor=lambda pair: pair[1]
    )
    pairs = list(zip(*columns(path), strict=True))
    result = engine.aggregate(pairs, params, extractors, public_partitions=list(request.groups))
    accountant.compute_budgets()
    found = {group: [float(one.mean) for one in drawn] for group, drawn in result}
    return [[found[group][i] for group in request.groups] for i in range(repeats)]


def diffprivlib(*, name: str, path: str, epsilon: float, repeats: int) -> list[list[float]]:
    """Return the means of all groups, a list a repeat; each row is in one group, so each group takes all of epsilon."""
    request = REQUESTS[name]
    keys, values = columns(path)
    groups = [values[keys == group] for group in request.groups]
    bounds = (request.low, request.high)
    return [[float(tools.mean(group, epsilon=epsilon, bounds=bounds)) for group in groups] for _ in range(repeats)]


def versions() -> dict[str, str]:
    return {"pipeline-dp": version("pipeline-dp"), "diffprivlib": version("diffprivlib")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (pipelinedp, diffprivlib, versions)})
