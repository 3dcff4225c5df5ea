"""Converters of the fields that laws and noise have in common: checks whose errors name the field."""

from __future__ import annotations

from ggdp import _validate


def order(order: float) -> float:
    """Return the order of a law, at least 1."""
    return _validate.order(order=order)


def scale(scale: float) -> float:
    """Return the scale of a law, above 0."""
    return _validate.positive(scale=scale)


def location(location: float) -> float:
    """Return the location of a law."""
    return _validate.finite(location=location)
