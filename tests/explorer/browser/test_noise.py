"""The view of noise in a real browser: what is moved, shown, copied, downloaded and found in the address."""

import csv
import io

import pytest
from playwright.sync_api import expect

import ggdp


def opened(page, served, query="view=noise"):
    page.goto(f"{served.address}?{query}")
    expect(page.locator("#noise-summary .headline strong")).to_be_visible()
    return page


def test_a_moved_slider_shows_the_new_plus_minus_and_puts_it_into_the_address(page, served):
    opened(page, served)
    expect(page.locator("#noise-summary .headline strong")).to_have_text("± 8")
    page.locator("#noise-epsilon input[type=range]").press("End")
    expect(page.locator("#noise-epsilon-number")).to_have_value("20")
    expect(page.locator("#noise-summary .headline strong")).not_to_have_text("± 8")
    expect(page).to_have_url(f"{served.address}?view=noise&epsilon=20")


def test_an_address_opens_the_view_with_its_settings(page, served):
    opened(page, served, "view=noise&epsilon=0.5&order=3&support=real")
    noise = ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-6), ggdp.Sensitivity.histogram(), order=3)
    expect(page.locator("#noise-details")).to_contain_text(repr(noise.scale))
    expect(page.locator("#noise-epsilon-number")).to_have_value("0.5")
    assert page.get_by_label("Any number").is_checked()


@pytest.mark.exhaustive
def test_a_wrong_address_shows_the_defaults_and_what_is_wrong_or_impossible_is_said(page, served):
    opened(page, served, "view=noise&epsilon=-1&support=complex&nonsense=1")
    expect(page.locator("#noise-epsilon-number")).to_have_value("1")
    page.locator("#noise-epsilon-number").fill("-3")
    expect(page.locator("#noise-status .problem")).to_contain_text("must be from 0.01 to 20")
    expect(page.locator("#noise-downloads a")).to_have_count(0)
    page.locator("#noise-epsilon-number").fill("1")
    # Pure DP has no delta, and no noise of order 2.
    expect(page.locator("#noise-delta-number")).to_be_visible()
    page.get_by_label("Epsilon, always (pure)").first.check()
    expect(page.locator("#noise-delta-number")).to_be_hidden()
    expect(page.locator("#noise-status .problem")).to_contain_text("Pure DP")


@pytest.mark.exhaustive
def test_the_planners_order_is_taken_over_and_several_cells_do_not_block_the_page(page, served):
    opened(page, served, "view=noise&max_cells=3&order=5")
    expect(page.locator("#noise-orders")).to_contain_text("The planner chooses")
    page.get_by_role("button", name="Use the planner's order").click()
    expect(page.locator("#noise-order-number")).not_to_have_value("5")
    # A plan of many cells is under way, and the view of attackers answers nevertheless.
    page.locator("#noise-max_cells-number").fill("40")
    page.get_by_role("tab", name="What an attacker learns").click()
    expect(page.locator("#attacker-results .headline strong")).to_have_text("10 % → 23.2 %")


def downloaded(page, name):
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    with open(waiting.value.path(), encoding="utf-8") as file:
        return waiting.value.suggested_filename, file.read()


def test_downloads_hold_what_is_shown_and_the_command_line_is_copied(watched, served):
    page = watched(permissions=["clipboard-read", "clipboard-write"])
    opened(page, served)
    name, text = downloaded(page, "The noise (SVG)")
    assert name == "noise.svg"
    assert text.startswith("<?xml")
    assert "var(--" not in text
    name, text = downloaded(page, "Noise (CSV)")
    assert name == "noise.csv"
    noise = ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.histogram(), order=2, support="integer")
    assert float(next(csv.DictReader(io.StringIO(text)))["scale"]) == noise.scale
    page.get_by_role("button", name="Copy: Command line").first.click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("ggdp calibrate --order 2 --epsilon 1")
