"""Releases as tables, one row per value.

===============  ==============================================================================
axis_0, ...      where the value is, for values of more than one axis
place            where the value was in the flat array, where cells were left out
value            what is published
noisy            the raw noisy value, before any adjustment
lower, upper     95 % interval for the true value, from the raw noisy value
===============  ==============================================================================

The values of a selection are names, with no noise on them: their table has the column ``value`` alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import MissingExtraError
from ggdp.releases.mechanism_record import NoiseRecord

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from ggdp.releases.release import Release


def columns(release: Release) -> dict[str, NDArray[Any]]:
    """Return the columns of a release, each a flat array."""
    found: dict[str, NDArray[Any]] = {}
    if release.places is not None:
        found["place"] = release.places
    if release.values.ndim > 1:
        places = np.indices(release.values.shape).reshape(release.values.ndim, -1)
        found = {f"axis_{axis}": place for axis, place in enumerate(places)}
    found["value"] = _plain(release.values.reshape(-1))
    if isinstance(release.mechanism, NoiseRecord):
        lower, upper = release.interval()
        found |= {"noisy": release.noisy.reshape(-1), "lower": lower.reshape(-1), "upper": upper.reshape(-1)}
    return found


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    """Return values as they are, or as text where they are labels of a kind that not every table has."""
    return values if values.dtype.kind in "biufU" else np.array([str(label) for label in values.tolist()])


def to_pandas(release: Release) -> pd.DataFrame:
    """Return the columns of a release as a pandas frame."""
    return needed("pandas").DataFrame({name: column.copy() for name, column in columns(release).items()})


def to_polars(release: Release) -> pl.DataFrame:
    """Return the columns of a release as a polars frame."""
    return needed("polars").DataFrame(columns(release))


def to_arrow(release: Release) -> pa.Table:
    """Return the columns of a release as an Arrow table."""
    return needed("pyarrow").table(columns(release))


def needed(name: str) -> Any:  # noqa: ANN401 - a module
    """Return a module that a frame needs; the error says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        message = f"this needs {name}: pip install {name}"
        raise MissingExtraError(message) from None
