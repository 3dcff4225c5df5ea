"""What the first tutorial shows is what its commands print."""

import re
from pathlib import Path

from tests.command_lines import commands, run_line

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorials" / "five-minutes.md").read_text("utf-8")
PLAN = re.search(r"^## Plan\n.*?```sh\n(.*?)```.*?```text\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_plan_is_on_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    (line,) = commands(PLAN[1])
    code, printed = run_line(line)
    assert code == 0
    assert printed.split() == PLAN[2].split()


def test_the_plus_minus_in_the_text_is_that_of_the_plan():
    (half,) = re.findall(r"plus-minus +(\d+) at 95 %", PLAN[2])
    assert f"Each count will be within {half} of the true one with a probability of 95 %" in " ".join(PAGE.split())
