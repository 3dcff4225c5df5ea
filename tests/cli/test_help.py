"""Every help text ends with an example, and the examples work."""

import contextlib
import shutil
from pathlib import Path

import pytest
import typer
from tests.command_lines import commands, run_line

from ggdp.cli.app import app, run

ROOT = Path(__file__).parents[2]
# They take long or serve until they are stopped, and are run elsewhere.
PARSED_ONLY = {"explore", "reproduce"}


def walk(command, path=()):
    """Yield every command with the words that name it."""
    yield path, command
    # Of each: what other packages add is loaded by that.
    for name in command.list_commands(None) if hasattr(command, "commands") else ():
        yield from walk(command.get_command(None, name), (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))


def example(path):
    """Return the command lines at the end of a help text."""
    opening, _, lines = (COMMANDS[path].epilog or "").partition("Example:\n")
    assert opening == "\b\n", f"ggdp {' '.join(path)} --help has no example"
    return commands(lines)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory with the example files, two releases and a ledger that one of them was charged to."""
    directory = tmp_path_factory.mktemp("made")
    (directory / "docs").symlink_to(ROOT / "docs")
    release = "ggdp release docs/examples/workers.csv --by smoking --levels smoking=no,yes --epsilon 1"
    with contextlib.chdir(directory):
        for line in (
            *example(("ledger", "init")),
            f"{release} --out january.csv --ledger people.ledger",
            f"{release} --out february.csv",
        ):
            assert run_line(line)[0] == 0, line
    return directory


@pytest.fixture
def clone(made, tmp_path, monkeypatch):
    """A copy of it."""
    directory = shutil.copytree(made, tmp_path / "clone", symlinks=True)
    monkeypatch.chdir(directory)
    return directory


def test_the_walk_finds_groups_and_their_commands():
    assert {(), ("release",), ("range",), ("ledger",), ("ledger", "init")} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_help_shows_its_example_in_lines_that_can_be_copied(path, capsys):
    assert run([*path, "--help"]) == 0
    printed = capsys.readouterr().out
    shown = printed.partition("  Example:\n")[2]
    assert commands(shown) == example(path)
    assert max(map(len, shown.splitlines())) <= 90


@pytest.mark.parametrize("path", [(), ("ledger",)], ids=" ".join)
def test_summaries_of_commands_are_not_cut_off(path, capsys):
    assert run([*path, "--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert listed
    assert "..." not in listed


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_an_example_is_of_its_command(path):
    assert tuple(example(path)[-1].split()[1 : len(path) + 1]) == path


@pytest.mark.parametrize(
    "path", [path for path in COMMANDS if path[:1] not in {(name,) for name in PARSED_ONLY}], ids=" ".join
)
def test_an_example_works(path, clone):
    if path in ((), ("ledger",), ("ledger", "init")):
        (clone / "people.ledger").unlink()
    for line in example(path):
        code, printed = run_line(line)
        assert code == 0, line
        assert printed, line


@pytest.mark.parametrize("path", [path for path in COMMANDS if path], ids=" ".join)
def test_an_example_is_parsed(path):
    for line in example(path):
        words = line.partition(" > ")[0].split()[1:]
        command = COMMANDS[tuple(words[:2])] if tuple(words[:2]) in COMMANDS else COMMANDS[(words[0],)]
        command.make_context(words[0], words[2 if tuple(words[:2]) in COMMANDS else 1 :])
