"""The command line's help and completion: changes that tests must notice."""

from tests.sabotage.sabotage import Sabotage

COMPLETION = "tests/cli/test_completion.py::"
HELP = "tests/cli/test_help.py::"

SABOTAGES = [
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
        "import typer\n\nfrom ggdp.cli.account import account\n",
        "import numpy\nimport typer\n\nfrom ggdp.cli.account import account\n",
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
]
