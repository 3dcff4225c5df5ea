"""The view of cells per unit in a real browser: an upload, wrong files, and that it says it is not private."""

import os
import re
import tempfile
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.explorer.browser.accessibility import findings

from ggdp.explorer.uploads import LARGEST

TABLE = "by=ward&levels=ward%3Dbirths,eyes,surgery&unit=patient"
SECRET = "Jane Doe of Oxford"
VISITS = "patient,ward\n" + "".join(
    f"{SECRET} {n},{ward}\n" for n in range(60) for ward in ("births", "eyes", "surgery")[: 1 + n % 3]
)


def opened(page, served, query=f"view=cells&{TABLE}"):
    page.goto(f"{served.address}?{query}")
    expect(page.locator("#cells-chooser")).to_be_visible()
    return page


def uploaded(page, name, content):
    page.locator("#cells-chooser").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
    return page.locator("#cells-chooser-words")


def written_files():
    """Return the files of uploads, in the directories that the web framework writes them to, that hold the data."""
    found = []
    for directory in Path(tempfile.gettempdir()).glob("fileupload-*"):
        found += [path for path in directory.rglob("*") if path.is_file()]
    return [path for path in found if SECRET.encode() in path.read_bytes()]


def test_an_upload_is_looked_at_and_stays_in_memory(page, served):
    opened(page, served)
    expect(uploaded(page, "visits.csv", VISITS.encode())).to_have_text("Looking at visits.csv.")
    page.get_by_role("button", name="Look at the data").click()
    expect(page.locator("#cells-results figure")).to_be_visible()
    expect(page.locator(".warning").locator("visible=true")).to_contain_text("For the steward alone")
    expect(page.locator("#cells-results")).to_contain_text("60 different values of patient in 120 rows")
    expect(page.locator("#cells-results figure svg desc")).to_have_text(re.compile("not private"))
    assert findings(page) == []
    assert written_files() == []
    # Nothing of the data is in the address, only what was typed.
    assert "Jane" not in page.url
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Not private: numbers (CSV)").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert text.startswith("# NOT PRIVATE")
    assert text.splitlines()[1].startswith("cells per unit,")


def files_in_memory(served):
    """Return how many uploads the server holds."""
    descriptors = Path(f"/proc/{served.process.pid}/fd").iterdir()
    return sum(os.path.lexists(one) and "ggdp-upload" in os.readlink(one) for one in descriptors)


def test_an_upload_is_freed_when_its_page_is_closed(watched, served):
    page, other = opened(watched(), served), watched()
    expect(uploaded(page, "visits.csv", VISITS.encode())).to_have_text("Looking at visits.csv.")
    assert files_in_memory(served) >= 1
    page.close()
    # The server learns of it by and by: every request here is one that it answers meanwhile.
    for _ in range(100):
        other.goto(served.address)
        if not files_in_memory(served):
            break
    assert not files_in_memory(served)


WRONG = [
    ("visits.xlsx", b"PK", "must be a table that ggdp reads"),
    ("empty.csv", b"", "is empty; choose a file with a header and rows. No file yet."),
    ("broken.parquet", b"PAR1 the secret of Jane Doe", "is not a Parquet file, or it is damaged"),
]


def test_wrong_and_huge_files_are_refused_in_words_and_never_quoted(page, served, tmp_path):
    opened(page, served)
    for name, content, said in WRONG:
        words = uploaded(page, name, content)
        expect(words).to_contain_text(said)
        assert "Jane" not in words.text_content()
    huge = tmp_path / "huge.csv"
    with open(huge, "wb") as file:
        os.truncate(file.fileno(), LARGEST + 1)
    page.locator("#cells-chooser").set_input_files(huge)
    expect(page.locator("#cells-chooser-words")).to_contain_text("larger than 50 MB")
    page.get_by_role("button", name="Look at the data").click()
    expect(page.locator("#cells-status .problem")).to_contain_text("Choose a file first")
    expect(page.locator("#cells-downloads a")).to_have_count(0)


@pytest.mark.exhaustive
def test_a_file_with_semicolons_in_another_encoding_is_read_as_it_is_declared(page, served):
    opened(page, served, f"view=cells&{TABLE}&delimiter=%3B&encoding=latin-1&lines=strict")
    visits = VISITS.replace(",", ";").replace("Oxford", "Köln").encode("latin-1")
    expect(uploaded(page, "visits.csv", visits)).to_have_text("Looking at visits.csv.")
    page.get_by_role("button", name="Look at the data").click()
    expect(page.locator("#cells-results")).to_contain_text("60 different values of patient in 120 rows")
    expect(page.locator("#cells-code")).to_contain_text("--encoding latin-1")
    expect(page.locator("#cells-code")).to_contain_text("--strict-lines")
    # A column that is not there is named, and nothing else of the file.
    page.locator("#cells-by").fill("country")
    page.locator("#cells-levels").fill("country=a,b")
    page.get_by_role("button", name="Look at the data").click()
    expect(page.locator("#cells-status .problem")).to_contain_text("no such column in visits.csv")
    expect(page.locator("#cells-status .problem")).not_to_contain_text("Jane")
