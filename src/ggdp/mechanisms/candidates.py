"""Candidates that a mechanism selects among: their public labels, and which of them are excluded."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.sampling.selection import MOST_CANDIDATES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def labels_of(candidates: Sequence[Any] | NDArray[Any] | int) -> Sequence[Any] | NDArray[Any]:
    """Return the labels of candidates as an immutable sequence."""
    labels: Sequence[Any] | NDArray[Any]
    if isinstance(candidates, Integral):
        count = _validate.integer(candidates=candidates, at_least=1)
        if count > MOST_CANDIDATES:
            raise ArgumentError("candidates", candidates, "must be at most 2^31")
        labels = range(count)
    elif hasattr(candidates, "dtype"):
        labels = np.array(candidates)
        labels.setflags(write=False)
        if labels.ndim != 1:
            raise ArgumentError("candidates", f"of shape {labels.shape}", "must be one list of labels")
    elif isinstance(candidates, Sequence) and not isinstance(candidates, str | bytes | bytearray):
        labels = candidates if isinstance(candidates, range) else tuple(candidates)
    else:
        raise ArgumentTypeError("candidates", candidates, "must be a sequence of labels, or their number")
    if not 1 <= len(labels) <= MOST_CANDIDATES:
        raise ArgumentError("candidates", f"{len(labels):,} of them", "must be at least 1 and at most 2^31")
    return labels


def as_mask(excluded: ArrayLike) -> NDArray[Any]:
    """Return which candidates are excluded as an array that cannot be changed."""
    try:
        mask = np.array(excluded)
    except ValueError:
        raise ArgumentTypeError("excluded", type(excluded).__name__, "must be one list of True or False") from None
    mask.setflags(write=False)
    return mask


def require_mask(mask: NDArray[Any], count: int) -> None:
    """Raise unless an array says of each candidate whether it is excluded."""
    if mask.dtype != np.bool_ or mask.shape != (count,):
        refusal = ArgumentError if mask.dtype == np.bool_ and mask.ndim == 1 else ArgumentTypeError
        raise refusal(
            "excluded", f"{mask.dtype} of shape {mask.shape}", f"must be True or False for each of {count:,} candidates"
        )


def scalar_array(label: object) -> NDArray[Any]:
    """Return a label as an array without axes; one that is itself a sequence stays whole."""
    if isinstance(label, bool | int | float | str | np.generic):
        return np.asarray(label)
    whole = np.empty((), dtype=object)
    whole[()] = label
    return whole
