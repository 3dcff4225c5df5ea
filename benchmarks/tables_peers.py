"""The same private table by OpenDP's context of polars; a worker in an environment of its own.

One row a unit, epsilon 1, integer Laplace noise. With `public keys` all cells are listed, as ggdp's domain lists them,
and empty ones get noise too; with `keys of the data` the library is told that the keys that occur are public, which
takes less time and asks for a promise that a curator can seldom make.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from itertools import product
from math import prod
from typing import Any

import opendp.prelude as dp
import polars as pl

import tables_data as data
from timing import calls_time
from worker import serve

dp.enable_features("contrib")
EPSILON = 1.0


@cache
def keys() -> Any:
    public = data.domain(data.COUNTED)
    return pl.DataFrame(list(product(*public.values())), schema=list(public), orient="row").lazy()


def released(path: str, known: str) -> object:
    """Release the counts, from a file to a frame."""
    by = list(data.COUNTED)
    in_data = known == "keys of the data"
    context = dp.Context.compositor(
        data=pl.scan_parquet(path).select(by),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=by, invariant="keys", max_groups=prod(data.COUNTED.values()))] if in_data else [],
    )
    query = context.query().group_by(by).agg(dp.len(signed=True))
    return (query if in_data else query.with_keys(keys())).release().collect()


def plain(path: str) -> object:
    return pl.scan_parquet(path).group_by(list(data.COUNTED)).agg(pl.len()).collect()


def once(*, known: str, path: str) -> float:
    """Time one release; or, if nothing is said of keys, the plain count of polars."""
    return calls_time(lambda: released(path, known) if known else plain(path), 1)


def versions() -> dict[str, str]:
    return {"opendp": version("opendp"), "its polars": version("polars")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (once, versions)})
