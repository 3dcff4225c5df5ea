"""Studies in a real browser: opened, changed, saved, released; what an upload names on the machine stays untouched."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.explorer.browser.accessibility import findings
from tests.explorer.browser.conftest import Served
from typer.testing import CliRunner

import ggdp
from ggdp.cli.app import app

STUDY = """
source = "visits.csv"
ledger = "year.ledger"
where = "age >= 18"
epsilon = 0.5

[unit]
column = "patient"
name = "patients"
max_cells = 2
count_cut = 0.2

[format]
delimiter = ";"
decimal = ","

[columns.ward]
levels = ["births", "eyes"]
labels = ["Births", "Eyes"]

[columns.smokes]
levels = [true, false]

[[tables]]
name = "wards"
by = ["ward", "smokes"]

[[tables]]
name = "smoking"
by = ["smokes"]
"""


@pytest.fixture(scope="module")
def year(tmp_path_factory):
    """A folder with a study, its table and its ledger."""
    folder = tmp_path_factory.mktemp("year")
    (folder / "year.toml").write_text(STUDY)
    rows = "".join(f"{k};{('births', 'eyes')[k % 2]};{'true' if k % 3 else 'false'};{k % 90},5\n" for k in range(600))
    (folder / "visits.csv").write_text(f"patient;ward;smokes;age\n{rows}")
    ggdp.Ledger.create(folder / "year.ledger", ggdp.PureDP(2.0), unit="patients")
    return folder


@pytest.fixture(scope="module")
def serving(year):
    """A server that was started with the study."""
    server = Served(str(year / "year.toml"))
    yield server
    assert server.stop() == "", "the server wrote something"


def unfolded(page):
    page.evaluate("document.querySelectorAll('.tab-pane.active details').forEach((one) => { one.open = true; })")
    return page


def sent(page, text, name="year.toml"):
    unfolded(page).locator("#release-opener").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    )


def saved(page):
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Save as study").click()
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_a_study_is_opened_changed_saved_and_opened_again_as_it_was_saved(page, served):
    page.goto(f"{served.address}?view=release&by=country&levels=country%3DFrance")
    expect(page.locator("#release-by")).to_have_value("country")
    sent(page, STUDY)
    expect(page.locator("#release-kept")).to_contain_text("year.toml is open.")
    expect(page.locator("#release-kept")).to_contain_text("unit.count_cut = 0.2; levels of column 'smokes'")
    expect(page.locator("#release-by")).to_have_value("ward,smokes\nsmokes")
    expect(page.locator("#release-levels")).to_have_value("ward=births,eyes")
    expect(page.locator("#release-labels")).to_have_value("ward=Births,Eyes")
    expect(page.locator("#release-where")).to_have_value("age >= 18")
    expect(page.locator("#release-decimal")).to_have_value(",")
    expect(page.locator("#release-max_cells-number")).to_have_value("2")
    study = ggdp.Study.parse(STUDY.encode(), "year.toml")
    assert saved(page) == ("year.toml", study.to_toml().encode())

    page.locator("#release-epsilon-number").fill("0.25")
    page.locator("#release-thousands").fill(".")
    expect(page.locator("#release-status .problem")).to_have_count(0)
    changed = study.to_toml().replace("epsilon = 0.5", "epsilon = 0.25")
    changed = changed.replace('decimal = ","\n', 'decimal = ","\nthousands = "."\n')
    # The address follows what the server knows of the form.
    expect(page).to_have_url(re.compile("thousands=.*epsilon=0.25|epsilon=0.25.*thousands="))
    name, content = saved(page)
    assert content.decode() == changed

    page.reload()
    sent(page, content.decode())
    expect(page.locator("#release-epsilon-number")).to_have_value("0.25")
    expect(page.locator("#release-thousands")).to_have_value(".")
    assert saved(page) == (name, content)


def test_what_an_upload_names_on_this_machine_is_neither_read_nor_charged(page, served, year):
    hostile = STUDY.replace("visits.csv", "/etc/passwd").replace("year.ledger", str(year / "year.ledger"))
    page.goto(f"{served.address}?view=release")
    sent(page, hostile, name="../../etc/year.toml")
    expect(page.locator("#release-kept")).to_contain_text("Its source and ledger are ignored")
    expect(page.locator("#release-chooser-words")).to_have_text("No file yet.")
    expect(page.locator("#release-ledger")).to_contain_text("Without a ledger")
    page.get_by_role("button", name="Release ...").click()
    expect(page.locator("#release-status .problem")).to_contain_text("Choose a file first")
    page.locator("#release-chooser").set_input_files(str(year / "visits.csv"))
    expect(page.locator("#release-chooser-words")).to_have_text("Looking at visits.csv.")
    page.get_by_role("button", name="Release ...").click()
    expect(page.locator("dialog")).to_contain_text("There is no ledger")
    page.keyboard.press("Escape")
    assert ggdp.Ledger(year / "year.ledger").entries() == ()
    # A study that names another file is refused, and the one that was open stays.
    sent(page, STUDY + '[columns.region]\nlookup = "/etc/passwd"\n', name="other.toml")
    expect(page.locator("#release-opener-words")).to_contain_text("opens no file because an upload names it")
    expect(page.locator("#release-opener-words")).to_contain_text("year.toml is open.")
    sent(page, STUDY.replace("max_cells", "max_cell"), name="other.toml")
    expect(page.locator("#release-opener-words")).to_contain_text("line 10: unit.max_cell = 2: is not a key")


def test_a_release_of_a_study_is_the_one_of_the_command_line(page, serving, year, tmp_path):
    page.goto(serving.address)
    expect(page.get_by_role("tab", selected=True)).to_have_text("Release")
    expect(page.locator("#release-by")).to_have_value("ward,smokes\nsmokes")
    expect(page.locator("#release-kept")).not_to_contain_text("ignored")
    page.get_by_role("button", name="Release ...").click()
    dialog = page.locator("dialog")
    expect(dialog).to_contain_text("The ledger has epsilon = 2 now. Afterwards: epsilon = 1.5.")
    dialog.get_by_role("button", name="Release and spend epsilon = 0.5").click()
    results = page.locator("#release-results")
    expect(results).to_contain_text("Charged as entry 1; epsilon = 1.5 remains.")
    expect(results.locator("figure svg")).to_have_count(2)
    files = {}
    for name in ("Manifest (JSON)", "Study (TOML)", "All files (ZIP)"):
        with page.expect_download() as waiting:
            results.get_by_role("link", name=name).click()
        files[waiting.value.suggested_filename] = Path(waiting.value.path()).read_bytes()
    assert list(files) == ["manifest.json", "year.toml", "visits-private.zip"]
    out = tmp_path / "tables"
    assert CliRunner().invoke(app, ["release", str(year / "year.toml"), "--out", str(out)]).exit_code == 0
    here, there = json.loads(files["manifest.json"]), json.loads((out / "manifest.json").read_text())
    assert here["table"]["request"] == there["table"]["request"]
    assert here["guarantee"] == there["guarantee"]
    assert [one["url"] for one in here["table"]["tables"]] == [one["url"] for one in there["table"]["tables"]]
    assert ggdp.Study.parse(files["year.toml"], "year.toml") == ggdp.Study.parse(STUDY.encode(), "year.toml")
    # An address with settings is opened with these, and the study stays open.
    page.goto(f"{serving.address}?view=release&by=ward&epsilon=0.1")
    expect(page.locator("#release-kept")).to_contain_text("year.toml is open.")
    expect(page.locator("#release-by")).to_have_value("ward")
    expect(page.locator("#release-where")).to_have_value("")


def test_inputs_of_what_is_kept_are_hidden_until_the_study_is_closed_also_on_a_phone(watched, served):
    page = watched(color_scheme="dark", viewport={"width": 390, "height": 900})
    page.goto(f"{served.address}?view=release")
    expect(page.locator("#release-unit_warning")).to_contain_text("No unit is declared")
    sent(page, STUDY.replace("epsilon = 0.5", "epsilon = 50"))
    expect(page.locator("#release-kept")).to_contain_text("goal = 50-DP")
    expect(page.locator("#release-epsilon")).to_be_hidden()
    expect(page.locator("#release-unit_warning")).to_have_text("")
    unfolded(page)
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Close the study").click()
    expect(page.locator("#release-kept")).to_be_empty()
    expect(page.locator("#release-epsilon")).to_be_visible()


def test_the_option_that_each_row_is_one_person_is_said_or_missed(page, served):
    page.goto(f"{served.address}?view=release")
    warning = page.locator("#release-unit_warning")
    expect(warning).to_contain_text('declare it with "Each row is one person"')
    page.get_by_role("radio", name="yes, nobody has two rows").check()
    expect(warning).to_have_text("")
    page.get_by_role("radio", name="not stated").check()
    expect(warning).to_contain_text("No unit is declared")
