"""The commands, and how their failures are reported."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ggdp.cli import INTERRUPTED
from ggdp.cli.demo import demo
from ggdp.cli.explore import explore
from ggdp.cli.flags import mention_flag
from ggdp.cli.ledger_commands import ledger
from ggdp.cli.manifest_commands import account, compare, report, verify
from ggdp.cli.noise_commands import belief, calibrate, plan
from ggdp.cli.output import example, print_json, printable, say
from ggdp.cli.table_commands import UsageError, check, private_range, release
from ggdp.errors import ArgumentError, BudgetExceededError, GgdpError, MissingExtraError, in_words_of

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# What the package in reproduction/ adds; without it the command says so.
REPRODUCE = "reproduce"


class _Commands(TyperGroup):
    """The commands of ggdp and those that installed packages add, which are loaded only when they are run."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - a context of whichever click there is
        return [*self.commands, *sorted(set(_installed_commands()) - set(self.commands))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        if (cmd_name not in self.commands or cmd_name == REPRODUCE) and cmd_name in _installed_commands():
            self.commands[cmd_name] = typer.main.get_command(_installed_commands()[cmd_name].load())
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        rows = []
        for name in self.list_commands(ctx):
            command = self.commands.get(name)
            if command is None:
                added = _installed_commands()[name].dist
                command = TyperCommand(name, help="" if added is None else added.metadata["Summary"])
            rows.append((name, command.get_short_help_str(formatter.width)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@cache
def _installed_commands() -> dict[str, EntryPoint]:
    """Return the commands that installed packages add, from their metadata alone."""
    from importlib.metadata import entry_points

    # Each is a `typer.Typer` that adds the command of its name.
    return {entry.name: entry for entry in entry_points(group="ggdp.commands")}


def _missing() -> None:
    """Reproduce the paper, with a verdict on every claim.

    It is a package of its own and not installed; in a clone of ggdp, run: pip install . ./reproduction
    """
    said = "the reproduction of the paper is not installed; in a clone of ggdp, run: pip install . ./reproduction"
    raise MissingExtraError(said)


app = typer.Typer(
    name="ggdp",
    cls=_Commands,
    help="Differential privacy with generalized Gaussian noise of any order.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


app.command(epilog=example("ggdp account january.manifest.json february.manifest.json --delta 1e-6"))(account)
app.command(epilog=example("ggdp belief --epsilon 1 --delta 1e-6 --prior 0.1"))(belief)
app.command(epilog=example("ggdp calibrate --order 3 --epsilon 1 --delta 1e-6"))(calibrate)
app.command(
    epilog=example("ggdp check docs/examples/workers.csv --by smoking \\", "    --domain docs/examples/workers.toml")
)(check)
app.command(
    epilog=example(
        "ggdp compare january.manifest.json february.manifest.json",
        "ggdp compare january.manifest.json --cell smoking=yes --cell smoking=no",
    )
)(compare)
app.command(epilog=example("ggdp demo --out demo-output"))(demo)
app.command(epilog=example("ggdp explore docs/examples/visits.csv --port 8000 --no-browser"))(explore)
app.command(epilog=example("ggdp plan --plus-minus 10 --delta 1e-6 --support integer"))(plan)
app.command("range", epilog=example("ggdp range docs/examples/incomes.csv income --epsilon 0.2"))(private_range)
app.command(
    epilog=example(
        "ggdp release docs/examples/workers.csv --by smoking \\",
        "    --domain docs/examples/workers.toml --epsilon 1 --dry-run",
        "ggdp release docs/examples/workers.csv --by smoking \\",
        "    --domain docs/examples/workers.toml --epsilon 1 --out smoking.csv",
    )
)(release)
app.command(
    epilog=example(
        "ggdp report january.manifest.json february.manifest.json --out report.html",
        "ggdp report january.manifest.json --ledger people.ledger \\",
        "    --deployment docs/examples/deployment.toml --out signed.html",
    )
)(report)
app.command(
    REPRODUCE,
    epilog=example("ggdp reproduce all --out reproduction --quick"),
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)(_missing)
app.command(epilog=example("ggdp verify january.manifest.json february.manifest.json"))(verify)
app.add_typer(ledger)


def _show_version(requested: bool) -> None:
    if requested:
        import ggdp

        say(ggdp.__version__)
        raise typer.Exit


@app.callback(epilog=example("ggdp demo", "ggdp release --help"))
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Differential privacy with generalized Gaussian noise of any order."""


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    Every failure is one line on standard error; with ``--json`` it is also a document on standard output.
    """
    report = partial(_report, as_json="--json" in arguments)
    try:
        result = _command()(list(arguments) or ["--help"], prog_name="ggdp", standalone_mode=False)
    except UsageError as wrong:
        said = _usage(wrong, arguments)
        message, found = str(said), [getattr(wrong, name, None) for name in ("param_hint", "option_name")]
        named = [*filter(None, found), max(getattr(getattr(wrong, "param", None), "opts", ()), key=len, default="")]
        flag = named[0].strip("'") if named[0].lstrip("'").startswith("--") else None
        report(message, field=flag, value=getattr(said, "value", None), hint=getattr(said, "expected", message))
        return 2
    except typer.Abort:
        result = INTERRUPTED
    except ArgumentError as refused:
        flag = _flag(refused.argument, arguments)
        said = in_words_of(refused.expected, mention_flag)
        message = str(ArgumentError(flag, refused.value, said))
        # Of a study the key, without its file and line.
        report(message, refused, field=flag.rpartition(": ")[2], value=refused.value, hint=said)
        return 1
    except BudgetExceededError as refused:
        # What it costs, what remains, and what would fit, without its first words.
        reason = str(refused).partition(": ")[2] or str(refused)
        report(str(refused), refused, hint=f"{reason}. More needs a new budget, in another ledger")
        return 3
    except GgdpError as failed:
        report(str(failed), failed)
        return 1
    except (MemoryError, OverflowError) as failed:
        report("the numbers given are too large to compute with; use a larger unit or fewer cells", failed)
        return 1
    except BrokenPipeError:
        # The reader of our output has closed it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as failed:
        report(f"{failed.filename or 'file'}: {failed.strerror or failed}")
        return 1
    # What Typer makes of an interrupt depends on its version.
    if result == INTERRUPTED:
        report("interrupted")
    return result if isinstance(result, int) else 0


@cache
def _command() -> Any:  # noqa: ANN401 - a command of whichever click there is
    """Return the command with all its parameters, which takes some time to build."""
    return typer.main.get_command(app)


def _flag(argument: str, typed: Sequence[str]) -> str:
    """Return the flag of an argument, if the command that was typed has one."""
    command = _command()
    for word in typed:
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    flag = str({param.name: max(param.opts, key=len) for param in command.params}.get(argument, argument))
    # A sensitivity may come from --max-cells or --box.
    return argument if argument == "sensitivity" and flag not in typed else flag


def _usage(wrong: Any, typed: Sequence[str]) -> str | ArgumentError:  # noqa: ANN401 - an error of whichever click there is
    """Return the message of a usage error, with the offending value."""
    said = str(wrong.format_message())
    if "unexpected extra argument" in said:
        # Perhaps a list with a space after a comma, which a shell passes on as two words.
        for place, flag in enumerate(typed):
            pairs = takewhile(
                lambda pair: pair[0].endswith(",") or pair[1].startswith(","), pairwise(typed[place + 1 :])
            )
            further = [word for _, word in pairs]
            if flag.startswith("--") and further:
                values = [typed[place + 1], *further]
                written = f"{flag} {shlex.quote(''.join(values))}"
                wrong.option_name = flag
                return f"{flag} {' '.join(values)}: has spaces between its values; write {written}"
        # Perhaps a pattern without quotes, which a shell passes on as the files that match.
        suffix = os.path.splitext(typed[1])[1]
        files = [word for word in typed[1:] if word.endswith(suffix) and os.path.isfile(word)]
        if suffix and len(files) > 1:
            return f"{files[1]}: is a second file; name several by a pattern in quotes, such as '*{suffix}'"
        return said
    # Typer parses numbers by pydantic, whose words leave out what could not be parsed; its error has it.
    found: list[dict[str, Any]] = getattr(wrong.__cause__, "errors", list)()
    kinds = {"float": "must be a number", "int": "must be an integer"}
    if len(found) == 1 and wrong.param and (kind := str(found[0]["type"]).partition("_")[0]) in kinds:
        return ArgumentError(max(wrong.param.opts, key=len), found[0]["input"], kinds[kind])
    return said.removeprefix("Invalid value: ").replace(": Value error, ", ": ")


def _report(
    message: str,
    failed: BaseException | None = None,
    *,
    as_json: bool,
    field: str | None = None,
    value: object = None,
    hint: str | None = None,
) -> None:
    """Print an error with its notes, such as that a charge stays; as JSON also what it is about."""
    whole = "; ".join([message, *getattr(failed, "__notes__", ())])
    say(printable(f"error: {whole}"), err=True)
    if as_json:
        try:
            plain = json.loads(json.dumps(value, allow_nan=False))
        except (RecursionError, TypeError, ValueError):
            # As text where JSON has no such value.
            plain = printable(value)
        print_json({"error": whole, "field": field, "value": plain, "hint": hint})
