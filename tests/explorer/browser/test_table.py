"""The view of a table in a real browser: simulated and public tables, statistics, errors, the address, downloads."""

import csv

import pytest
from playwright.sync_api import expect


def opened(page, served, query="view=table"):
    page.goto(f"{served.address}?{query}")
    expect(page.locator("#table-results figure").first).to_be_visible()
    return page


def rows_of(waiting):
    with open(waiting.value.path(), encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_table_is_simulated_says_so_and_follows_its_sliders(page, served):
    opened(page, served)
    expect(page.locator("#table-results .origin")).to_contain_text("Simulated, no data are read: 100 rows")
    expect(page.locator("#table-results figure svg")).to_have_count(2)
    expect(page.locator("#table-results .headlines")).to_contain_text("have an interval that includes 0")
    # Every figure has a name and a description, for those who do not see it.
    for svg in page.locator("#table-results figure svg").all():
        assert svg.get_attribute("role") == "img"
        assert len(svg.locator("desc").text_content()) > 40
    expect(page.locator("#table-results .headlines")).to_contain_text("± 6")
    page.locator("#table-epsilon-number").fill("0.05")
    expect(page.locator("#table-results .headlines")).to_contain_text("± 60")
    expect(page).to_have_url(f"{served.address}?view=table&epsilon=0.05")
    expect(page.locator("#table-code")).to_contain_text("--epsilon 0.05")


@pytest.mark.exhaustive
def test_public_data_are_shown_beside_what_a_release_makes_of_them(page, served):
    opened(page, served)
    page.get_by_label("Czech autoworkers, public").check()
    expect(page.locator("#table-results .origin")).to_contain_text("Edwards and Havranek")
    expect(page.locator("#table-by")).to_have_value("smoking, mental_work")
    expect(page.locator("#table-code")).to_contain_text("--by smoking,mental_work")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Table (CSV)").click()
    assert sum(float(row["original_count"]) for row in rows_of(waiting)) == 1841


@pytest.mark.exhaustive
def test_statistics_of_an_address_are_shown(page, served):
    query = "view=table&by=ward&levels=ward%3Da,b&bins=&statistics=mean+income&ranges=income%3D0:100&column=mean_income"
    opened(page, served, query)
    expect(page.locator("#table-results figcaption")).to_contain_text("The mean income of 2 cells")
    expect(page.locator("#table-column")).to_have_value("mean_income")
    expect(page.get_by_role("link", name="Dots (SVG)")).to_have_count(0)


WRONG = {"by": "", "levels": "wards=a,b", "statistics": "mode income"}
NAMES = {"by": "Count by", "levels": "Levels", "statistics": "Statistics"}


@pytest.mark.exhaustive
def test_what_is_wrong_is_said_in_the_words_of_the_page(page, served):
    opened(page, served)
    page.locator("summary", has_text="Statistics").locator("visible=true").click()
    for field, value in WRONG.items():
        before = page.locator(f"#table-{field}").input_value()
        page.locator(f"#table-{field}").fill(value)
        expect(page.locator("#table-status .problem")).to_contain_text(f"{NAMES[field]} = {value!r}")
        expect(page.locator("#table-results figure")).to_have_count(0)
        page.locator(f"#table-{field}").fill(before)
        expect(page.locator("#table-status .problem")).to_have_count(0)


def test_levels_and_bins_follow_the_columns_and_other_views_follow_both(page, served):
    opened(page, served)
    page.locator("#table-by").fill("ward")
    expect(page.locator("#table-bins")).to_have_value("")
    expect(page.locator("#table-levels")).to_have_value("ward=births, eyes, surgery")
    expect(page.locator("#table-results figcaption").first).to_contain_text("The count of 3 cells")
    # A column that comes back has its bins again, and what was never a column is not removed in silence.
    page.locator("#table-levels").fill("ward=births, eyes\nwards=a,b")
    page.locator("#table-by").fill("age")
    expect(page.locator("#table-bins")).to_have_value("age=0,18,65,inf")
    expect(page.locator("#table-levels")).to_have_value("wards=a,b")
    expect(page.locator("#table-status .problem")).to_contain_text("Levels = 'wards=a,b'")
    page.locator("#table-levels").fill("")
    expect(page.locator("#table-results figcaption").first).to_contain_text("The count of 3 cells")
    # What is typed in one view is there in the others.
    page.get_by_role("tab", name="Release").click()
    expect(page.locator("#release-by")).to_have_value("age")
    expect(page.locator("#release-bins")).to_have_value("age=0,18,65,inf")
    page.get_by_role("tab", name="Cells per unit").click()
    expect(page.locator("#cells-by")).to_have_value("age")
