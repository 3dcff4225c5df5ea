"""The command line, one module per command."""

from __future__ import annotations

import sys

# As shells have it: 128 and the number of the signal.
INTERRUPTED = 130


def main() -> None:
    """Run the command line: exit 0 on success, 1 for an error of ggdp, 2 for wrong usage, 130 for an interrupt."""
    try:
        from ggdp.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        # While modules are loaded, or an error is reported; elsewhere `run` does the same.
        sys.stderr.write("error: interrupted\n")
        code = INTERRUPTED
    sys.exit(code)
