"""Examples below the options of ``--help``."""

from __future__ import annotations


def example(*lines: str) -> str:
    """Return the end of a help text: command lines that work in a clone of the repository."""
    # A paragraph that begins with a backspace is printed as it is, so that its lines can be copied.
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
