"""Parts of the reference that are read from the program: its commands with their options, and the manifest's fields."""

from __future__ import annotations

import re
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import typer
from docutils.nodes import section
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from docutils.nodes import Node
    from sphinx.application import Sphinx


def commands_page() -> str:
    """Return a section for each command, in MyST."""
    from ggdp.cli.app import app

    return "\n".join(_section(path, command) for path, command in _commands(typer.main.get_command(app)))


def _commands(command: Any, path: tuple[str, ...] = ("ggdp",)) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    """Yield each command that can be run, with the words that name it."""
    if not hasattr(command, "commands"):
        yield path, command
        return
    for name in sorted(command.list_commands(None)):
        yield from _commands(command.get_command(None, name), (*path, name))


def _section(path: tuple[str, ...], command: Any) -> str:  # noqa: ANN401
    context = command.make_context(" ".join(path), [], resilient_parsing=True)
    usage = command.get_usage(context).partition(": ")[2]
    example = (command.epilog or "").partition("Example:\n")[2]
    # The type of an argument says no more than its name.
    records = [
        (record[0].partition(" <")[0] if param.param_type_name == "argument" else record[0], record[1])
        for param in command.get_params(context)
        if (record := param.get_help_record(context))
    ]
    blocks = [f"## {' '.join(path)}", _prose(command.help), f"```text\n{usage}\n```"]
    blocks += [f"`{names}`\n: {_description(said)}" for names, said in records]
    blocks += [f"```sh\n{dedent(example)}\n```"]
    return "\n\n".join(blocks) + "\n"


def _description(said: str) -> str:
    """Return the help of a parameter, with what it says in brackets as sentences."""
    text, _, default = said.partition("[default: ")
    text, required, _ = text.partition("[required]")
    sentences = [_prose(text), "Required." if required else "", f"Default: `{default.rstrip(']')}`." if default else ""]
    return " ".join(filter(None, sentences))


def _prose(text: str | None) -> str:
    """Return a help text in one line a paragraph, with nothing that MyST would read as markup."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in (text or "").split("\n\n"))
    marked = "\n\n".join(paragraphs).replace("*", r"\*").replace("[", r"\[").replace("<", r"\<")
    quoted = marked.replace("'\\'", "`\\`").replace("'\\t'", "`\\t`")
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*[a-z])", r"`\1`", quoted)


def manifest_fields() -> str:
    """Return the fields of a manifest with their descriptions, from its schema."""
    from ggdp.releases import manifest_schema

    schema = manifest_schema()
    rows = ["| field | |", "|---|---|"]
    for name, field in schema["properties"].items():
        reference = field.get("$ref", "").rpartition("/")[2]
        described = field.get("description") or schema["$defs"].get(reference, {}).get("description") or ""
        optional = "" if name in schema["required"] else " Optional."
        rows.append(f"| `{name}` | {described}{optional} |")
    return "\n".join(rows)


def _directive(text: Callable[[], str]) -> type[SphinxDirective]:
    class Generated(SphinxDirective):
        """A text that is made when the documentation is built."""

        def run(self) -> list[Node]:
            # The program may have changed where the page has not.
            self.env.note_reread()
            node = section()
            lines = StringList(text().splitlines(), source=self.get_source_info()[0])
            self.state.nested_parse(lines, self.content_offset, node, match_titles=True)
            return list(node.children)

    return Generated


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directives."""
    app.add_directive("command-reference", _directive(commands_page))
    app.add_directive("manifest-fields", _directive(manifest_fields))
    return {"parallel_read_safe": True}
