"""The views of releases and budgets in a real browser: one confirmation is one charge, until the budget is spent."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.explorer.browser.accessibility import findings
from tests.explorer.browser.conftest import TOKEN

import ggdp

TABLE = "view=release&by=ward&levels=ward%3Dbirths,eyes&epsilon=0.4"


@pytest.fixture
def charged(browser, guarded):
    """A server with a table and a new ledger of epsilon = 1."""
    assert browser.is_connected()
    for file in guarded.folder.glob("people.ledger*"):
        file.unlink()
    guarded.ledger = ggdp.Ledger.create(guarded.folder / "people.ledger", ggdp.PureDP(1.0))
    return guarded


def asked(page, server, query=TABLE):
    """Open the view, or stay in it, and ask for a release."""
    if not page.url.startswith(server.address):
        page.goto(f"{server.address}?{query}&token={TOKEN}")
        expect(page.locator("#release-chooser-words")).to_have_text("Looking at people.csv.")
    page.get_by_role("button", name="Release ...").click()
    expect(page.locator("dialog")).to_be_visible()
    return page.locator("dialog")


def test_releases_are_charged_one_by_one_until_the_budget_is_spent(page, charged):
    dialog = asked(page, charged)
    expect(dialog).to_contain_text("It spends epsilon = 0.4 of the privacy of everybody in people.csv.")
    expect(dialog).to_contain_text("The ledger has epsilon = 1 now. Afterwards: epsilon = 0.6.")
    # Nothing is released by asking, nor by closing the dialog.
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert charged.ledger.entries() == ()

    asked(page, charged)
    # Two clicks on one button are one release.
    page.get_by_role("button", name="Release and spend epsilon = 0.4").dblclick()
    results = page.locator("#release-results")
    expect(results).to_contain_text("Charged as entry 1; epsilon = 0.6 remains.")
    expect(results).to_contain_text("The certificate was proved again here")
    expect(results.locator("figure svg")).to_be_visible()
    expect(results.locator("table tbody tr")).to_have_count(2)
    assert len(charged.ledger.entries()) == 1
    files = {}
    for name in ("Table (CSV)", "Manifest (JSON)", "Figure (SVG)"):
        with page.expect_download() as waiting:
            results.get_by_role("link", name=name).click()
        files[waiting.value.suggested_filename] = Path(waiting.value.path()).read_bytes()
    assert set(files) == set(charged.ledger.entries()[0].files)
    manifest = json.loads(files["people-private.manifest.json"])
    assert manifest["ledger"]["entry"] == 1
    counts = [int(line.split(",")[1]) for line in files["people-private.csv"].decode().splitlines()[1:]]
    shown = [row.locator("td").nth(1).text_content() for row in results.locator("table tbody tr").all()]
    assert shown == [f"{count:,}" for count in counts]

    asked(page, charged)
    page.get_by_role("button", name="Release and spend epsilon = 0.4").click()
    expect(results).to_contain_text("Charged as entry 2; epsilon = 0.2 remains.")
    dialog = asked(page, charged)
    expect(dialog).to_contain_text("This release does not fit")
    expect(dialog).not_to_contain_text("stays spent")
    expect(dialog).to_contain_text("there remains epsilon = 0.2")
    expect(dialog.locator("button")).to_have_text(["Close"])
    dialog.get_by_role("button", name="Close").click()
    assert len(charged.ledger.entries()) == 2

    page.get_by_role("tab", name="Budget").click()
    expect(page.locator("#budget-results .headlines")).to_contain_text("0.2")
    expect(page.locator("#budget-results figure svg")).to_have_count(2)
    page.locator("#budget-epsilon-number").fill("0.3")
    expect(page.locator("#budget-results .problem")).to_contain_text("It does not fit")
    expect(page.locator("#budget-results table.rows tbody tr")).to_have_count(2)


def test_of_two_tabs_that_ask_for_the_same_one_releases_and_no_page_releases_by_itself(watched, charged):
    first, second = watched(), watched()
    asked(first, charged)
    asked(second, charged)
    first.get_by_role("button", name="Release and spend epsilon = 0.4").click()
    expect(first.locator("#release-results")).to_contain_text("Charged as entry 1")
    second.get_by_role("button", name="Release and spend epsilon = 0.4").click()
    expect(second.locator("#release-status .problem")).to_contain_text("Another release was made since this was asked")
    assert len(charged.ledger.entries()) == 1
    # Neither a reload nor a changed setting releases anything.
    first.reload()
    expect(first.locator("#release-by")).to_have_value("ward")
    first.locator("#release-epsilon-number").fill("0.1")
    expect(first).to_have_url(f"{charged.address}?view=release&by=ward&levels=ward%3Dbirths%2Ceyes&epsilon=0.1")
    expect(first.locator("#release-results")).to_be_empty()
    assert len(charged.ledger.entries()) == 1


def test_without_a_ledger_the_page_says_so_and_errors_are_shown(page, served):
    page.goto(f"{served.address}?view=release&by=ward&levels=ward%3Dbirths,eyes")
    expect(page.locator("#release-ledger")).to_contain_text("Without a ledger")
    page.get_by_role("button", name="Release ...").click()
    expect(page.locator("#release-status .problem")).to_contain_text("Choose a file first")
    page.locator("#release-chooser").set_input_files(
        {"name": "people.csv", "mimeType": "text/csv", "buffer": b"country\nFrance\n"}
    )
    dialog = asked(page, served)
    expect(dialog).to_contain_text("There is no ledger")
    page.get_by_role("button", name="Release and spend epsilon = 1").click()
    expect(page.locator("#release-status .problem")).to_contain_text("there is no such column in people.csv")
    # Another question is not hidden by the answer to an earlier one.
    page.locator("#release-by").fill("")
    page.get_by_role("button", name="Release ...").click()
    expect(page.locator("#release-status .problem")).to_contain_text("Count by = ''")
    page.get_by_role("tab", name="Budget").click()
    expect(page.locator("#budget-status")).to_contain_text("ggdp ledger init")


def test_dialog_release_and_budget_are_usable_without_eyes_and_on_a_phone(watched, charged):
    page = watched(color_scheme="dark", viewport={"width": 390, "height": 900})
    asked(page, charged)
    assert findings(page) == []
    # The dialog has the focus, on the button that does no harm, and gives it back.
    assert page.evaluate("document.activeElement.textContent") == "Cancel"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#release-results")).to_contain_text("Charged as entry 1")
    assert page.evaluate("document.activeElement.id") == "release-ask"
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("tab", name="Budget").click()
    expect(page.locator("#budget-results figure svg").first).to_be_visible()
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
