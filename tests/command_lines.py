"""Command lines as they are shown, run in this process."""

import contextlib
import io
import re
import shlex
from pathlib import Path

from ggdp.cli.app import run


def commands(script):
    """Return the command lines of a script, those that go on after a backslash joined, comments removed."""
    lines = [re.sub(r"\s+#\s.*$", "", line).strip() for line in re.sub(r"\\\n\s*", "", script).splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def run_line(line):
    """Run a line of ``ggdp`` in the present directory, with ``> FILE``, and return (exit code, output)."""
    words = shlex.split(line)
    assert words[0] == "ggdp", line
    target = None
    if ">" in words:
        target = Path(words[words.index(">") + 1])
        words = words[: words.index(">")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = run(words[1:])
    if target is not None:
        target.write_text(printed.getvalue(), "utf-8")
    return code, printed.getvalue()
