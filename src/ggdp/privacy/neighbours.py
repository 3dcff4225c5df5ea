"""Relations of neighbouring data sets: one unit added or removed, or one unit replaced."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast, get_args

from ggdp import _validate

Neighbours: TypeAlias = Literal["add-remove", "replace-one"]

NEIGHBOURS: tuple[str, ...] = get_args(Neighbours)


def validated_neighbours(neighbours: object) -> Neighbours:
    """Return `neighbours` if it is one of the two relations."""
    return cast("Neighbours", _validate.choice(among=NEIGHBOURS, neighbours=neighbours))


def neighbours_or_none(neighbours: object) -> Neighbours | None:
    """Return `neighbours` if it is one of the two relations or None."""
    return None if neighbours is None else validated_neighbours(neighbours)
