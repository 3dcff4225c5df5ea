"""``ggdp ledger`` and ``ggdp release --ledger``: what is printed, what is refused, and what is left behind."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.sources import query

CSV = "smokes\nno\nno\nyes\nno\nyes\n"
TABLE = ["--by", "smokes", "--levels", "smokes=no,yes"]

NEW = ["ledger", "init", "new.ledger", "--epsilon", "1", "--delta", "1e-6"]


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(CSV)
    return tmp_path


@pytest.fixture
def ledger(places):
    del places
    assert run(["ledger", "init", "people.ledger", "--epsilon", "1", "--delta", "1e-6"]) == 0
    return ggdp.Ledger("people.ledger")


def release(epsilon, out="table.csv", *more):
    command = ["release", "people.csv", *TABLE, "--epsilon", str(epsilon), "--out", out]
    return run([*command, "--ledger", "people.ledger", *more])


def printed(capsys, *command):
    """Return the one JSON document of a command."""
    capsys.readouterr()
    assert run([*command, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *command, code=1):
    """Return the one line of an error."""
    capsys.readouterr()
    assert run([*command]) == code
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("error: ")
    return line


def test_a_year_with_a_ledger(capsys, ledger):
    assert release(0.5) == 0
    assert release(0.25, "second.csv") == 0
    found = printed(capsys, "ledger", "show", "people.ledger")
    assert found["budget"] == {"epsilon": 1.0, "delta": 1e-6}
    assert found["spent"] == {"epsilon": 0.75, "delta": 0.0}
    assert found["remaining"] == {"epsilon": 0.25, "delta": 1e-6}
    assert (found["entries"], found["published"], found["head"]) == (2, 2, ledger.head.hash)
    manifest = json.loads(Path("second.manifest.json").read_text("utf-8"))
    assert manifest["ledger"] == {"identity": found["identity"], "entry": 2}
    verified = printed(capsys, "ledger", "verify", "people.ledger", "--head", found["head"])
    assert verified["verified"] is True


def test_a_table_that_is_piped_has_a_line_for_each_row_and_one_on_a_terminal_is_folded(capsys, ledger, monkeypatch):
    del ledger
    name = "a-long-name-of-a-table-" * 6 + ".csv"
    monkeypatch.setenv("COLUMNS", "80")
    assert release(0.5, name) == 0
    capsys.readouterr()
    assert run(["ledger", "show", "people.ledger"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "a-long-name" in line)
    assert name in line
    assert line.split()[0] == "1"
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run(["ledger", "show", "people.ledger"]) == 0
    assert name not in capsys.readouterr().out


def test_a_release_that_does_not_fit_names_what_remains_and_leaves_nothing(capsys, ledger):
    assert release(0.75) == 0
    before = ledger.head
    command = ["release", "people.csv", *TABLE, "--epsilon", "0.5", "--out", "second.csv", "--ledger", "people.ledger"]
    said = refused(capsys, *command, code=3)
    assert "there remains epsilon = 0.25" in said
    assert "largest epsilon that fits at this delta is 0.25" in said
    assert not list(Path().glob("second*"))
    assert ledger.head == before


def test_ten_releases_of_a_tenth_fit_in_one(ledger):
    assert [release(0.1, f"t{number}.csv") for number in range(11)] == [0] * 10 + [3]
    assert ledger.remaining().epsilon == 0


def test_a_failure_after_the_charge_says_that_it_stays(capsys, ledger, monkeypatch):
    def failing(*_):
        message = "row 17 is bad"
        raise RuntimeError(message)

    monkeypatch.setattr(query, "_sorted_columns", failing)
    command = ["release", "people.csv", *TABLE, "--epsilon", "0.5", "--out", "table.csv", "--ledger", "people.ledger"]
    said = refused(capsys, *command)
    assert said.endswith("the charge of entry 1 stays: there is no refund")
    assert "row 17" not in said
    assert len(ledger.entries()) == 1
    assert not list(Path().glob("table*"))


def test_a_dry_run_says_whether_it_fits_and_charges_nothing(capsys, ledger):
    command = ["release", "people.csv", *TABLE, "--ledger", "people.ledger", "--dry-run", "--epsilon"]
    assert printed(capsys, *command, "0.5")["fits"] is True
    said = printed(capsys, *command, "1.5")
    assert said["fits"] is False
    assert said["refusal"].endswith("the largest epsilon that fits at this delta is 1")
    assert run([*command, "1.5"]) == 0
    assert "there remains epsilon = 1, delta = 1e-06" in capsys.readouterr().out
    assert run([*command, "0.5"]) == 0
    assert "It fits in what remains of the ledger." in capsys.readouterr().out
    assert ledger.entries() == ()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["ledger", "show", "none.ledger"], "none.ledger: there is no such file"),
        (["ledger", "show", "people.csv"], "ledger"),
        (["ledger", "init", "people.ledger", "--epsilon", "2"], "already exists"),
        (["ledger", "init", "new.ledger", "--epsilon", "-1"], "--epsilon = -1.0"),
        (["ledger", "init", "new.ledger", "--epsilon", "1", "--delta", "2"], "--delta = 2.0"),
        (["ledger", "init", "new.ledger", "--epsilon", "1", "--accounting", "composed"], "arXiv 2602.06756"),
        (["ledger", "init", "new.ledger", "--epsilon", "1", "--accounting", "best"], "--accounting = 'best'"),
        (["ledger", "init", "new.ledger", "--epsilon", "1", "--accounting", "renyi"], "needs a budget with a delta"),
        (["ledger", "init", "new.ledger", "--epsilon", "1", "--analyst", "ana"], "--analyst = 'ana'"),
        (["ledger", "init", "new.ledger", "--epsilon", "1", "--analyst", "ana=x"], "--analyst = 'ana=x'"),
        ([*NEW, "--analyst", "=1"], "--analyst = '': must be text that is not blank"),
        ([*NEW, "--analyst", "ana=-1"], "--analyst = 'ana=-1': has a wrong epsilon, which must"),
        ([*NEW, "--analyst", "ana=1,2"], "--analyst = 'ana=1,2': has a wrong delta, which must"),
        ([*NEW, "--analyst", "ana=1", "--analyst", " ana =0.5"], "--analyst = ' ana =0.5': gives 'ana' a second cap"),
        ([*NEW, "--analyst", "ana=1.5"], "--analyst = 'ana': has a cap of epsilon = 1.5, delta = 0, above the budget"),
        ([*NEW, "--analyst", "ana=1,2e-6"], "--analyst = 'ana': has a cap of epsilon = 1, delta = 2e-06, above"),
        ([*NEW, "--accounting", "renyi", "--analyst", "ana=1"], "--analyst = 'ana': has a cap without a delta"),
        ([*NEW, "--accounting", "renyi", "--analyst", "ana=0.01,1e-6"], "too small: no release keeps it by the Renyi"),
        (
            ["ledger", "init", "new.ledger", "--epsilon", "1e6", "--delta", "1e-6", "--accounting", "renyi"],
            "--accounting = 'renyi': has no orders for epsilon = 1,000,000",
        ),
        (["ledger", "verify", "people.ledger", "--head", "abc"], "--head = 'abc'"),
        (["ledger", "verify", "people.ledger", "--head", "0" * 64], "older copy, or written anew"),
        (["ledger", "reserve", "people.ledger", "people.csv"], "'people.csv': is not a JSON file; make a plan"),
        (["ledger", "reserve", "people.ledger", "none.json=3"], "'none.json': cannot be read"),
        (["ledger", "show", "people.ledger", "--plot", "burn.txt"], "--plot = 'burn.txt'"),
        (["release", "people.csv", *TABLE, "--epsilon", "1", "--out", "t.csv", "--analyst", "ana"], "--analyst"),
    ],
    ids=lambda given: " ".join(given[:3]) if isinstance(given, list) else "",
)
@pytest.mark.usefixtures("ledger")
def test_an_error_is_one_line_that_names_the_flag(capsys, command, said):
    assert said in refused(capsys, *command)
    assert not Path("new.ledger").exists()


@pytest.mark.usefixtures("ledger")
def test_other_units_and_neighbours_are_refused_in_the_words_of_the_command_line(capsys):
    command = ["release", "people.csv", *TABLE, "--epsilon", "0.5", "--out", "t.csv", "--ledger", "people.ledger"]
    assert "(--unit-name)" in refused(capsys, *command, "--unit-name", "households")
    assert "--neighbours add-remove" in refused(capsys, *command, "--neighbours", "replace-one")


def test_caps_of_analysts(capsys, places):
    del places
    caps = ["--analyst", "ana=0.5", "--analyst", "ben=0.75,1e-7"]
    assert run(["ledger", "init", "people.ledger", "--epsilon", "1", "--delta", "1e-6", *caps]) == 0
    assert release(0.5, "table.csv", "--analyst", "ana") == 0
    found = printed(capsys, "ledger", "show", "people.ledger")
    assert found["analysts"]["ana"]["remaining"] == {"epsilon": 0.0, "delta": 0.0}
    assert found["analysts"]["ben"]["cap"] == {"epsilon": 0.75, "delta": 1e-7}
    assert release(0.25, "second.csv", "--analyst", "ana") == 3
    assert release(0.25, "second.csv") == 1
    assert run(["ledger", "show", "people.ledger"]) == 0
    assert "ana" in capsys.readouterr().out


def test_an_edit_is_found(capsys, ledger):
    assert release(0.5) == 0
    with closing(sqlite3.connect(ledger.name)) as connection:
        connection.execute("UPDATE ggdp_records SET content = replace(content, '0.5', '0.4') WHERE number = 1")
        connection.commit()
    assert "record 1 was changed" in refused(capsys, "ledger", "verify", "people.ledger")


@pytest.mark.usefixtures("ledger")
def test_exports(capsys):
    assert release(0.5) == 0
    assert len(printed(capsys, "ledger", "export", "people.ledger")["records"]) == 2
    assert run(["ledger", "export", "people.ledger"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["charge", "publication"]
    assert run(["ledger", "export", "people.ledger", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("number,kind,entry")


def test_planned_releases_are_reserved_and_used(capsys, places):
    del places
    options = ["--epsilon", "1", "--delta", "1e-6", "--accounting", "reserved"]
    assert run(["ledger", "init", "people.ledger", *options]) == 0
    plan = printed(capsys, "release", "people.csv", *TABLE, "--epsilon", "0.025", "--dry-run")
    Path("week.json").write_text(json.dumps(plan))
    assert printed(capsys, "ledger", "reserve", "people.ledger", "week.json=52")["delta"] <= 1e-6
    assert release(0.025) == 0
    assert release(0.5, "second.csv") == 3
    found = printed(capsys, "ledger", "show", "people.ledger")
    assert sum(found["remaining"]["laws"].values()) == 51
    assert run(["ledger", "show", "people.ledger"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "51 uses of 1 reserved law reserved 51 of 52 left: integer noise of order 1 and scale 40 for 1 cell" in said


def test_a_manifest_can_be_reserved_again(places, capsys):
    del places
    assert run(["release", "people.csv", *TABLE, "--epsilon", "0.5", "--out", "last.csv"]) == 0
    options = ["--epsilon", "1", "--delta", "1e-6", "--accounting", "reserved"]
    assert run(["ledger", "init", "people.ledger", *options]) == 0
    assert run(["ledger", "reserve", "people.ledger", "last.manifest.json=2"]) == 0
    capsys.readouterr()
    assert release(0.5) == 0


def test_a_burn_down_is_drawn(ledger):
    del ledger
    assert release(0.5) == 0
    assert run(["ledger", "show", "people.ledger", "--plot", "burn.png"]) == 0
    assert Path("burn.png").read_bytes().startswith(b"\x89PNG")
    assert run(["ledger", "show", "people.ledger", "--plot", "burn.png"]) == 1


@pytest.mark.parametrize("command", ["show", "release"])
@pytest.mark.usefixtures("places")
def test_an_output_that_is_the_ledger_is_refused(capsys, command):
    assert run(["ledger", "init", "people.png", "--epsilon", "1"]) == 0
    Path("link.png").symlink_to("people.png")
    content = Path("people.png").read_bytes()
    release = ["release", "people.csv", *TABLE, "--epsilon", "0.5", "--out", "table.csv", "--ledger", "people.png"]
    typed = ["ledger", "show", "people.png"] if command == "show" else release
    for plot in ("people.png", "link.png"):
        said = refused(capsys, *typed, "--plot", plot, "--overwrite")
        assert f"--plot = '{plot}': is the file of the ledger" in said
    assert Path("people.png").read_bytes() == content


def test_a_ledger_of_the_present_schema_is_upgraded_to_itself(capsys, ledger):
    assert printed(capsys, "ledger", "upgrade", "people.ledger")["identity"] == ledger.identity


def test_help_says_what_verify_cannot_find(capsys):
    assert run(["ledger", "verify", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "older copy" in said
    assert "written anew" in said


def test_wrong_usage_exits_2(capsys):
    assert run(["ledger", "init", "x.ledger"]) == 2
    assert "--epsilon" in capsys.readouterr().err


def _without_a_page(data):
    start = data.index(b"births")
    return data[: start - 8] + bytes(16) + data[start + 8 :]


def _without_a_footer(data):
    size = int.from_bytes(data[-8:-4], "little")
    return data[: -8 - size] + bytes(size) + data[-8:]


@pytest.mark.parametrize(
    ("damage", "said", "entries"),
    [
        (lambda data: data[:-1], "error: SOURCE = 'people.parquet': is incomplete or not a Parquet file", 0),
        (_without_a_footer, "error: source 'people.parquet' could not be read or counted", 1),
        (_without_a_page, "error: source 'people.parquet' could not be read or counted", 1),
    ],
    ids=["cut", "footer", "page"],
)
def test_a_damaged_file_is_charged_unless_no_row_can_be_the_reason(capsys, ledger, damage, said, entries):
    """The message says so, nothing is written, and the next release is made."""
    ward = pa.table({"smokes": ["no", "yes"] * 50, "ward": ["births"] * 100})
    pq.write_table(ward, "people.parquet", use_dictionary=False, compression="none")
    data = Path("people.parquet").read_bytes()
    Path("people.parquet").write_bytes(damage(data))
    command = ["release", "people.parquet", "--by", "ward", "--levels", "ward=births", "--epsilon", "0.5"]
    command += ["--ledger", "people.ledger", "--out", "table.csv"]
    line = refused(capsys, *command)
    assert line.startswith(said)
    assert ("the charge of entry 1 stays: there is no refund" in line) == bool(entries)
    assert "write it again" in line.lower()
    assert "births" not in line
    assert len(ledger.entries()) == entries
    assert not list(Path().glob("table*"))
    Path("people.parquet").write_bytes(data)
    assert run(command) == 0
    assert len(ledger.entries()) == entries + 1
