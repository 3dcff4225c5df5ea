"""Shells complete commands, options and words, by the protocol of their own scripts, without loading the library."""

import os
import subprocess
import sys

import pytest

# What a release needs and a completion must not wait for.
HEAVY = (
    "numpy",
    "scipy",
    "flint",
    "duckdb",
    "pyarrow",
    "sqlalchemy",
    "matplotlib",
    "ggdp.proofs",
    "ggdp.ledger",
    "ggdp.sources",
)
# Of the tables, only the fields of a request and the names of statistics, which flags are made from; of the domain,
# only how text is read, which is checked by these fields.
LIGHT = (
    "ggdp.tables.request",
    "ggdp.tables.statistics",
    "ggdp.tables.statistics.statistic",
    "ggdp.domain.periods",
    "ggdp.domain.text_values",
)
SCRIPT = f"""
import atexit, sys
is_light = lambda name: not name.startswith(("ggdp.tables.", "ggdp.domain.")) or name in {LIGHT!r}
is_heavy = lambda name: name in {HEAVY!r} or not is_light(name)
atexit.register(lambda: print("loaded", *[name for name in sys.modules if is_heavy(name)], file=sys.stderr))
sys.argv = ["ggdp"]
from ggdp.cli import main
main()
"""


def ask(**variables):
    """Run ggdp as a shell's script does, and return what it prints and the heavy modules that it loads."""
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def completions(shell, line):
    """Return the words that a shell offers at the end of a line."""
    if shell == "bash":
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    else:
        words = {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    printed, loaded = ask(_GGDP_COMPLETE=f"complete_{shell}", **words)
    assert loaded.split() == ["loaded"]
    return printed


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ggdp rel", ["release"]),
        ("ggdp re", ["release", "report", "reproduce"]),
        ("ggdp ledger ex", ["export"]),
        ("ggdp ledger init --accounting ", ["sum", "renyi", "reserved"]),
        ("ggdp ledger init --accounting re", ["renyi", "reserved"]),
        ("ggdp release --neigh", ["--neighbours"]),
        ("ggdp release --neighbours ", ["add-remove", "replace-one"]),
        ("ggdp reproduce m", ["mildew"]),
    ],
)
def test_bash_completes(line, expected):
    assert completions("bash", line).split() == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_complete(shell):
    commands, words = completions(shell, "ggdp rel"), completions(shell, "ggdp ledger init --accounting re")
    assert "release" in commands
    assert "account" not in commands
    assert "renyi" in words
    assert "reserved" in words
    assert "sum" not in words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_calls_ggdp(shell):
    printed, _ = ask(_GGDP_COMPLETE=f"source_{shell}")
    assert f"_GGDP_COMPLETE=complete_{shell}" in printed


def test_completion_is_installed_for_the_shell_that_is_used(tmp_path):
    code = "import sys; sys.argv = ['ggdp', '--install-completion']; from ggdp.cli import main; main()"
    # Typer looks for the shell among the parents of its process.
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "{code}"; true'],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "bash completion installed" in done.stdout
    assert "_GGDP_COMPLETE=complete_bash" in (tmp_path / ".bash_completions" / "ggdp.sh").read_text("utf-8")
