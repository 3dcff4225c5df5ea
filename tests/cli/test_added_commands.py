"""Commands that other packages add, and the one that says what to install."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
import typer

from ggdp.cli import app as commands
from ggdp.cli.app import run
from ggdp.errors import ArgumentError

paint = typer.Typer(add_completion=False, rich_markup_mode=None)


@paint.command()
def _paint(colour: str = "red", coats: int = 1) -> None:
    """Paint it."""
    if coats < 1:
        raise ArgumentError("coats", coats, "must be at least 1")
    typer.echo(f"{coats} x {colour}")


@pytest.fixture
def installed(monkeypatch):
    """Install packages that add commands, by their names; the commands of ggdp are built anew."""

    def install(**entries):
        monkeypatch.setattr(commands, "_installed_commands", lambda: entries)
        commands._command.cache_clear()

    yield install
    commands._command.cache_clear()


def entry(name, value):
    return EntryPoint(name, value, "ggdp.commands")


def test_a_command_of_another_package_runs_and_its_errors_name_the_flags_of_it(installed, capsys, monkeypatch):
    installed(paint=entry("paint", "nowhere:paint"))
    monkeypatch.setattr(EntryPoint, "load", lambda _: paint)
    assert run(["paint", "--colour", "blue"]) == 0
    assert capsys.readouterr().out == "1 x blue\n"
    assert run(["paint", "--coats", "0"]) == 1
    assert capsys.readouterr().err == "error: --coats = 0: must be at least 1\n"


def test_help_lists_it_without_loading_it(installed, capsys):
    installed(paint=entry("paint", "nowhere.that.exists:paint"))
    assert run(["--help"]) == 0
    assert "\n  paint\n" in capsys.readouterr().out
    assert run(["calibrate", "--order", "1", "--epsilon", "1"]) == 0


def test_no_package_replaces_a_command_of_ggdp(installed, capsys):
    installed(verify=entry("verify", "nowhere.that.exists:paint"))
    assert run(["verify", "--help"]) == 0
    assert "Verify manifests and certificates." in capsys.readouterr().out


@pytest.mark.parametrize("words", ["", "all --out x", "--json mildew"])
def test_without_the_reproduction_its_command_says_what_to_install(installed, capsys, words):
    installed()
    assert run(["reproduce", *words.split()]) == 1
    captured = capsys.readouterr()
    printed = f"error: {json.loads(captured.out)['error']}\n" if "--json" in words else captured.err
    assert (captured.out == "", printed) == ("--json" not in words, captured.err)
    assert captured.err.startswith("error: the reproduction of the paper is not installed; ")
    assert captured.err.endswith("run: pip install . ./reproduction\n")
    assert run(["--help"]) == 0
    assert "reproduce  Reproduce the paper, with a verdict on every claim." in capsys.readouterr().out


def test_the_reproduction_is_loaded_when_its_command_is_run_and_not_before():
    code = "import sys; from ggdp.cli.app import run; run(sys.argv[1:]); assert 'ggdp_reproduction' not in sys.modules"
    for words in (["--help"], ["calibrate", "--order", "1", "--epsilon", "1"]):
        subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True)
