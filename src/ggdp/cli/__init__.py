"""The command line, one module per command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line: exit 0 on success, 1 for an error of ggdp, 2 for wrong usage."""
    from ggdp.cli.app import run

    sys.exit(run(sys.argv[1:]))
