"""``ggdp release`` that is refused or fails: the flag is named, nothing is left behind, and no data are told."""

import errno
import os
import shlex
import sys
from pathlib import Path

import pytest
from tests.cli.people import BY_TOWN, PEOPLE, release, written
from tests.sources.damage import SECRET, contradicting, invalidating, people, text_files
from tests.sources.damage import written as parquet

from ggdp.cli.app import run
from ggdp.tables import table_plan

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--count rows", "error: --count = 'rows': needs --unit COL"),
        ("--unit person --max-cells 1 --count rows", "error: --count = 'rows': needs --max-rows-per-cell"),
        ("--unit person --max-cells 1 --max-rows-per-cell 2", "error: --max-rows-per-cell = 2: needs --count rows"),
        ("--unit person --max-cells 9 --count-cut 0.1", "error: --count-cut = 0.1: is not needed: --max-cells 9"),
        ("--unit-name ,", None),
    ],
)
def test_flags_of_units_are_refused_by_their_names(flags, said, capsys):
    code = release(*BY_TOWN, *flags.split(), "--out", "out.csv")
    if said is None:
        assert code == 0
        return
    assert code == 1
    assert capsys.readouterr().err.startswith(said)
    assert written() == []


def test_undeclared_levels_need_delta(capsys):
    assert release("--by", "town", "--out", "out.csv") == 1
    assert "error: --by = 'town': no domain is given: declare its levels or edges with " in capsys.readouterr().err
    assert release("--by", "town,age", "--levels", "town=a", "--out", "out.csv") == 1
    assert "error: --by = 'age': the domain does not declare this column: " in capsys.readouterr().err
    Path("towns.toml").write_text('[columns.town]\nlevels = ["a"]\n', "utf-8")
    assert release("--by", "twon", "--domain", "towns.toml", "--out", "out.csv") == 1
    assert "the domain does not declare this column (did you mean 'town'?): " in capsys.readouterr().err
    assert release("--by", "town", "--delta", "1e-6", "--out", "out.csv") == 0
    assert "(no cell has a noisy count at or above the threshold)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--by town --levels town=a --unit person", "--unit = 'person': needs --max-cells: "),
        ("--by town --levels town=a --max-cells 2", "--max-cells = 2: needs --unit COL: "),
        ("--by town --levels town=a --total 3", "--total = 3: needs --neighbours replace-one"),
        ("--by town --domain none.toml", "--domain = 'none.toml': cannot be read"),
        (
            "--by town --domain people.toml --levels town=a",
            "--levels = 'town=a': 'town' is already declared by the file",
        ),
        ("--by town --levels town=a --levels town=b", "--levels = 'town=b': 'town' is already declared by --levels"),
        ("--by town --levels town=a --bins town=1,2", "--bins = 'town=1,2': 'town' is already declared by --levels"),
        ("--by town --levels city=a", "--levels = 'city=a': 'city' is not one of the columns of --by"),
        ("--by town --levels town", "--levels = 'town': must be a column, '=' and its values"),
        ("--by town --levels =a", "--levels = '=a': must be a column, '=' and its values"),
        ("--by town --levels town=", "--levels = 'town=': must be values separated by ','"),
        ("--by town --levels 'town=\"a'", "--levels = 'town=\"a': must be values separated by ','"),
        ("--by age --bins age=a,b", "--bins = 'a,b': must be numbers"),
        ("--by age --bins age=2,1", "edges of 'age' = [2.0, 1.0]: must increase"),
        ("--by town,town --levels town=a", "--by = 'town,town': names a column twice"),
        ("--by town,age --by age,town --levels town=a", "--by town,age --by age,town: requests the same table twice"),
        ("--by '\"a,b\",c' --by 'c,\"a,b\"'", '--by "a,b",c --by c,"a,b": requests the same table twice'),
        ("--by '' --levels town=a", "--by = '': must be values separated by ','"),
        ("--by town,agee --levels town=a --bins agee=0,1", "--by = 'agee': there is no such column in people.csv"),
        (
            "--by town --levels town=a --unit who --max-cells 1",
            "--unit = 'who': there is no such column in people.csv",
        ),
        ("--by town --levels town=a --order 2", "--order = 2.0: needs a delta: give a --delta above 0, or --order 1\n"),
        ("--by town --levels town=a --order fast", "--order = 'fast': must be a number of at least 1, or auto"),
        ("--by town --levels town=a --order 0.5", "--order = 0.5"),
        ("--by town --levels town=a --false-cells 1", "--false-cells = 1.0: must be below the number of cells, 1"),
        (
            "--by town --levels town=a --notion approximate",
            "--delta = None: is required for approximate DP",
        ),
        ("--by town --levels town=a --plot out.jpg", "--plot = 'out.jpg': must end in .png, .pdf, .svg"),
        ("--by town --levels town=a --plot none/out.png", "--plot = 'none/out.png': cannot be written"),
    ],
)
def test_errors_name_the_flag_and_leave_no_file(capsys, flags, message):
    assert release(*shlex.split(flags), "--out", "out.csv") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert written() == []


@pytest.mark.parametrize("source", ["none.csv", "none/*.parquet", "people.xyz", "."])
def test_a_source_that_is_not_there_is_one_line(capsys, source):
    assert release(*BY_TOWN, "--out", "out.csv", source=source) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert written() == []


@pytest.mark.parametrize(
    "flags", [["--by", "town"], ["--out", "out.csv"], ["--by", "town", "--out", "o.csv", "--engine", "x"]]
)
def test_wrong_usage_is_exit_code_2(capsys, flags):
    assert release(*flags) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert written() == []


@pytest.mark.parametrize(
    ("flag", "value"), [("--delta", "x"), ("--total", "1.5"), ("--max-cells", "--by"), ("--engine", "x")]
)
def test_wrong_usage_shows_the_flag_and_its_value(capsys, flag, value):
    assert release(*BY_TOWN, "--out", "out.csv", flag, value) == 2
    said = capsys.readouterr().err
    assert flag in said
    assert repr(value) in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("out", ["out.txt", "none/out.csv", "people.csv"])
def test_an_out_that_cannot_be_written_is_refused_before_the_source_is_opened(capsys, out):
    assert release(*BY_TOWN, "--out", out, source="none.csv") == 1
    assert f"error: --out = '{out}': " in capsys.readouterr().err
    assert Path("people.csv").read_text("utf-8") == PEOPLE


@pytest.mark.parametrize("source", ["people.csv", "./people.csv", "*.csv", "link.csv"])
def test_the_source_is_never_overwritten(capsys, source):
    Path("link.csv").symlink_to("people.csv")
    assert release(*BY_TOWN, "--out", "people.csv", "--overwrite", source=source) == 1
    assert "error: --out = 'people.csv': is the source file" in capsys.readouterr().err
    assert Path("people.csv").read_text("utf-8") == PEOPLE


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_full_disk_leaves_nothing_behind(monkeypatch, capsys, fails_at):
    calls = []

    def full(_):
        calls.append(1)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert release(*BY_TOWN, "--out", "out.csv", "--plot", "out.png") == 1
    assert "No space left on device" in capsys.readouterr().err
    assert written() == []


def test_without_matplotlib_no_budget_is_spent_on_a_picture(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(table_plan, "release_counts", lambda *_, **__: pytest.fail("the data were opened"))
    assert release(*BY_TOWN, "--out", "out.csv", "--plot", "out.png") == 1
    assert "pip install 'ggdp[plots]'" in capsys.readouterr().err
    assert written() == []


def test_whatever_fails_inside_is_not_repeated(monkeypatch, capsys):
    def fails(*_, **__):
        message = "could not convert 'the secret'"
        raise RuntimeError(message)

    monkeypatch.setattr(table_plan, "release_counts", fails)
    assert release(*BY_TOWN, "--out", "out.csv") == 1
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err
    assert said.err.startswith("error: the release failed, and nothing was published.")
    assert written() == []


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--encoding", "klingon"), "--encoding = 'klingon': is unknown"),
        (("--encoding", "utf-7"), "--encoding = 'utf-7': cannot be read record by record"),
        (("--delimiter", "::"), "--delimiter = '::': must be one ASCII character"),
        (("--temp-dir", "nowhere"), "--temp-dir = 'nowhere': is not a directory; create it first"),
    ],
)
def test_flags_of_files_are_refused_by_their_names(flags, said, capsys):
    assert release("--by", "sex", "--levels", "sex=f,m", "--epsilon", "1", "--out", "out.csv", *flags) == 1
    assert said in capsys.readouterr().err
    assert not Path("out.csv").exists()


def test_strict_lines_need_a_header_of_one_line(capsys):
    Path("people.csv").write_text(PEOPLE.replace("town", '"town\n"', 1))
    assert release(*BY_TOWN, "--out", "out.csv", "--strict-lines") == 1
    assert "with --strict-lines it must be one line" in capsys.readouterr().err
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(("flag", "value"), [("--percent", ()), ("--percent-of", ("town",))])
def test_percentages_are_refused_with_statistics_by_the_flag_that_was_typed(flag, value, capsys):
    typed = [
        "--by",
        "town,sex",
        "--mean",
        "age",
        "--range",
        "age=0:100",
        flag,
        *value,
        "--epsilon",
        "1",
        "--out",
        "o.csv",
    ]
    levels = ["--levels", "town=Bonn", "--levels", "sex=f"]
    assert run(["release", "people.csv", *typed, *levels, "--unit-is-row"]) == 1
    said = capsys.readouterr().err
    assert f"error: {flag} = " in said
    assert "does not go with --mean" in said


@pytest.mark.parametrize(("mark", "typed"), [(";", "';'"), ("\t", r"'\t'"), ("|", "'|'")])
def test_a_header_of_one_field_hints_at_its_delimiter(capsys, mark, typed):
    Path("other.csv").write_text(PEOPLE.replace(",", mark))
    assert release(*BY_TOWN, "--out", "out.csv", source="other.csv") == 1
    assert f"try --delimiter {typed}\n" in capsys.readouterr().err
    assert run(["check", "other.csv", *BY_TOWN]) == 1
    assert f"try --delimiter {typed}\n" in capsys.readouterr().err
    assert release(*BY_TOWN, "--out", "out.csv", "--delimiter", typed.strip("'"), source="other.csv") == 0


COMMANDS = {
    "release": ["release", "{}", "--by", "town", "--levels", "town=a,b", "--epsilon", "1", "--out", "out.csv"],
    "check": ["check", "{}", "--by", "town", "--levels", "town=a,b"],
    "range": ["range", "{}", "age", "--epsilon", "1", "--out", "out.json"],
}
DAMAGED = {
    "invalidating.parquet": lambda: invalidating(invalidating(parquet(people()), 1), 2),
    "contradicting.parquet": lambda: contradicting(parquet(people())),
    "cut.parquet": lambda: parquet(people())[:-5],
    "cut.csv.gz": lambda: text_files()[".csv.gz"][:-300],
    "changed.csv.gz": lambda: text_files()[".csv.gz"][:40] + bytes(400) + text_files()[".csv.gz"][440:],
    "cut.csv.zst": lambda: text_files()[".csv.zst"][:-300],
    "cut.jsonl.gz": lambda: text_files()[".jsonl.gz"][:-300],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_ends_with_one_line_and_no_file(name, command, capsys):
    Path(name).write_bytes(DAMAGED[name]())
    before = sorted(Path().iterdir())
    assert run([part.format(name) for part in COMMANDS[command]]) == 1
    said = capsys.readouterr()
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    assert "rite it again" in line
    assert SECRET not in said.err + said.out
    assert sorted(Path().iterdir()) == before
