"""Pieces of the reports."""

from __future__ import annotations

import os
import platform


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(*headings: str) -> list[str]:
    """Return the head of a table."""
    return ["", row(*headings), row(*["---"] * len(headings))]


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.2f}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def machine() -> str:
    """Say where this was measured."""
    return (
        f"Measured by `make bench` on {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
