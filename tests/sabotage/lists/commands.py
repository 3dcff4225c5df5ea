"""The command line's help and completion: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

COMPLETION = "tests/cli/test_completion.py::"
HELP = "tests/cli/test_help.py::"

SABOTAGES = [
    Sabotage(
        "a table that is piped is folded",
        "cli/output.py",
        "if not console.is_terminal:",
        "if False:",
        (
            "tests/cli/test_ledger.py::"
            "test_a_table_that_is_piped_has_a_line_for_each_row_and_one_on_a_terminal_is_folded",
        ),
    ),
    Sabotage(
        "a list with spaces is answered without a remedy",
        "cli/app.py",
        "return _list_with_spaces(typed) or said",
        "return said",
        ("tests/cli/test_columns.py::test_a_list_with_spaces_is_answered_with_what_to_write",),
    ),
    Sabotage(
        "ggdp check ignores how the rows of a unit become one value",
        "cli/check.py",
        "per_unit=per_unit,",
        "per_unit=None,",
        ("tests/tables/test_check.py::test_check_counts_the_sums_that_the_rule_of_the_release_would_clamp",),
    ),
    Sabotage(
        "the kinds of accounting are not completed",
        "cli/ledger.py",
        "            autocompletion=lambda: list(_ACCOUNTINGS),\n",
        "            autocompletion=lambda: [],\n",
        (f"{COMPLETION}test_zsh_and_fish_complete[zsh]",),
    ),
    Sabotage(
        "a completion waits for NumPy",
        "cli/app.py",
        "import typer\n\nfrom ggdp.cli import INTERRUPTED\n",
        "import numpy\nimport typer\n\nfrom ggdp.cli import INTERRUPTED\n",
        (f"{COMPLETION}test_zsh_and_fish_complete[fish]",),
    ),
    Sabotage(
        "an example of a help text names an option that does not exist",
        "cli/app.py",
        "february.manifest.json --delta 1e-6",
        "february.manifest.json --slack 1e-6",
        (f"{HELP}test_an_example_is_parsed[account]",),
    ),
    Sabotage(
        "the lines of an example are filled into a paragraph",
        "cli/examples.py",
        '    return "\\b\\nExample:\\n" + ',
        '    return "Example:\\n" + ',
        (f"{HELP}test_the_help_shows_its_example_in_lines_that_can_be_copied[release]",),
    ),
    Sabotage(
        "an interrupt while modules load prints a traceback",
        "cli/__init__.py",
        "    except KeyboardInterrupt:\n",
        "    except ZeroDivisionError:\n",
        ("tests/cli/test_interrupts.py::test_an_interrupt_while_modules_are_loaded_is_one_line",),
    ),
    Sabotage(
        "the name of a file steers the terminal",
        "cli/output.py",
        'typer.echo("\\n".join(printable(line) for line in text.split("\\n")), err=err)',
        "typer.echo(text, err=err)",
        ("tests/cli/test_hostile_files.py::test_the_name_of_a_file_cannot_steer_the_terminal",),
    ),
]
