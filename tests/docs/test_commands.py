"""The reference of the commands and of the manifest has what the program has."""

import re
import runpy
from pathlib import Path

import pytest
import typer

from ggdp.cli.app import app
from ggdp.releases import manifest_schema

MADE = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "command_reference.py"))
SECTIONS = dict(
    re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", MADE["commands_page"](), re.MULTILINE | re.DOTALL),
)


def leaves(command, path="ggdp"):
    if not hasattr(command, "commands"):
        return {path: command}
    parts = {key: command.get_command(None, key) for key in command.list_commands(None)}
    return {name: leaf for key, part in parts.items() for name, leaf in leaves(part, f"{path} {key}").items()}


COMMANDS = leaves(typer.main.get_command(app))


def test_every_command_has_a_section():
    assert set(SECTIONS) == set(COMMANDS)
    assert "ggdp ledger init" in SECTIONS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_section_has_every_option_with_its_help_and_the_example(name):
    text, command = SECTIONS[name], COMMANDS[name]
    for param in command.params:
        assert re.search(rf"^`{re.escape(max(param.opts, key=len))}\b" if param.opts[0][0] == "-" else "`", text, re.M)
    assert text.count("\n: ") == len(command.params) + 1  # and --help
    assert "\n: \n" not in text
    assert command.epilog.splitlines()[-1].strip() in text


def test_the_manifest_has_every_field_with_a_description():
    rows = [row.strip("|").split("|") for row in MADE["manifest_fields"]().splitlines()[2:]]
    assert [row[0].strip().strip("`") for row in rows] == list(manifest_schema()["properties"])
    assert all(row[1].strip() not in ("", "Optional.") for row in rows)
