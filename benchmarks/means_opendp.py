"""Means by group by OpenDP's context of polars; a worker in an environment of its own.

`dp.mean` with bounds, keys given by `with_keys`, and a margin that bounds the rows of a group, which sums of floats
need. The query of the context is resolved into its measurement once, which searches for its scale and takes seconds,
and the measurement is invoked as often as asked: what the context does with it too, so every repeat has the law of a
release.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from itertools import product
from typing import Any

import opendp.prelude as dp
import polars as pl

import tables_data
from means_data import KEY, REQUESTS, VALUE
from timing import calls_time
from worker import serve

dp.enable_features("contrib")
# Public bounds on the rows of a group.
LONGEST, LONGEST_OF_CELLS = 10**5, 10**7


def query(data: Any, by: list[str], keys: Any, loss: Any, aggregates: list[Any], longest: int) -> Any:
    context = dp.Context.compositor(
        data=data,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=loss,
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=by, max_length=longest)],
    )
    return context.query().group_by(by).agg(*aggregates).with_keys(keys)


def opendp(*, name: str, path: str, epsilon: float, repeats: int) -> list[list[float]]:
    """Return the means of all groups, a list a repeat; whole numbers are whole numbers to the library too."""
    request = REQUESTS[name]
    bounds: tuple[Any, Any] = (request.low, request.high)
    data = pl.read_parquet(path)
    if request.step == 1.0:
        bounds = (int(request.low), int(request.high))
        data = data.with_columns(pl.col(VALUE).cast(pl.Int64))
    keys = pl.LazyFrame({KEY: list(request.groups)})
    mean = pl.col(VALUE).dp.mean(bounds)
    asked = query(data.lazy(), [KEY], keys, dp.loss_of(epsilon=epsilon), [mean], LONGEST)
    measurement = asked.resolve()
    found = []
    for _ in range(repeats):
        means = dict(measurement(data.lazy()).collect().select(KEY, VALUE).iter_rows())
        found.append([means[group] for group in request.groups])
    return found


@cache
def cells() -> Any:
    public = tables_data.domain(tables_data.COUNTED)
    return pl.DataFrame(list(product(*public.values())), schema=list(public), orient="row").lazy()


def released(path: str) -> object:
    """Release count and mean of a column by 10,000 cells, from a file to a frame; the library has no variance."""
    by = list(tables_data.COUNTED)
    # A sum of so many values might not fit in the 32 bits of the file, and the library refuses it then.
    data = pl.scan_parquet(path).select(*by, pl.col(tables_data.VALUE).cast(pl.Int64))
    bounds = (0, tables_data.LARGEST_VALUE)
    aggregates = [dp.len(signed=True), pl.col(tables_data.VALUE).dp.mean(bounds)]
    return query(data, by, cells(), dp.loss_of(epsilon=1.0), aggregates, LONGEST_OF_CELLS).release().collect()


def once(*, path: str) -> float:
    return calls_time(lambda: released(path), 1)


def versions() -> dict[str, str]:
    return {"opendp": version("opendp"), "its polars": version("polars")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (opendp, once, versions)})
