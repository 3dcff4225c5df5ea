"""The page as a whole, in a real browser: every view, accessibility, light and dark, narrow screens, two tabs."""

import re

import pytest
from playwright.sync_api import expect
from tests.explorer.browser.accessibility import findings
from tests.explorer.browser.conftest import chromium

from ggdp.explorer.views import VIEWS

# What the views show in the end that need no file.
SHOWN = {"noise": "#noise-orders figure", "attacker": "#attacker-results figure", "paper": "#paper-results figure"}


# The part of the paper that is computed in the least time.
CZECH = "&part=czech"


def opened(page, served, key, settings=""):
    page.goto(f"{served.address}?view={key}{settings}")
    expect(page.get_by_role("tab", selected=True)).to_have_text(next(view.title for view in VIEWS if view.key == key))
    return page


def turned_to(page, view):
    """The page at another view, once all is computed."""
    page.get_by_role("tab", name=view.title, exact=True).click()
    expect(page.get_by_role("tab", selected=True)).to_have_text(view.title)
    # What is computed is shown within a moment, or it shows that it is under way.
    if view.key in SHOWN:
        expect(page.locator(SHOWN[view.key]).first).to_be_visible()
    expect(page.locator("html.shiny-busy")).to_have_count(0)
    expect(page.locator(".tab-pane.active .computing")).to_have_count(0)
    return page


def test_views_without_data_are_usable_without_eyes_in_light_and_dark(page, served):
    opened(page, served, "paper", CZECH)
    # From the last to the first: what is computed in a view that is left is dropped.
    for view in reversed(VIEWS):
        if view.key not in SHOWN:
            continue
        turned_to(page, view)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            expect(page.locator("html")).to_have_attribute("data-bs-theme", theme)
            # Colours are all that the themes differ in.
            rules = ["color-contrast"] if theme == "dark" else []
            assert findings(page, *rules) == [], (view.key, theme)


@pytest.mark.exhaustive
def test_nothing_is_wider_than_a_narrow_screen(watched, served):
    page = opened(watched(viewport={"width": 390, "height": 800}), served, "paper", CZECH)
    for view in VIEWS:
        turned_to(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, view.key
        # The tab of the view is in sight.
        box = page.get_by_role("tab", selected=True).bounding_box()
        assert 0 <= box["x"] <= 390 - 20, view.key


# What axe-core looks for too.
@pytest.mark.exhaustive
def test_every_input_has_a_label_and_every_figure_a_description(page, served):
    opened(page, served, "noise")
    expect(page.locator("#noise-laws svg")).to_be_visible()
    for field in page.locator("#noise-summary, .tab-pane.active").locator("input:visible").all():
        assert field.evaluate("one => (one.labels && one.labels.length) || one.getAttribute('aria-label')")
    picture = page.locator("#noise-laws svg")
    assert picture.get_attribute("role") == "img"
    described = picture.get_attribute("aria-labelledby").split()[1]
    assert "95 of 100" in page.locator(f"#{described}").text_content()


def test_the_page_is_used_with_the_keyboard_alone(page, served):
    opened(page, served, "noise")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    tab = page.get_by_role("tab", name="Noise")
    tab.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", selected=True)).to_have_text("What an attacker learns")
    expect(page.locator("#attacker-results .headline strong")).to_have_text("10 % → 23.2 %")
    page.locator("#attacker-prior-number").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("50")
    expect(page.locator("#attacker-results .headline strong")).to_have_text("50 % → 73.2 %")


@pytest.mark.exhaustive
def test_the_switch_is_kept(watched, served):
    page = watched(color_scheme="light")
    opened(page, served, "attacker")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "dark")
    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-bs-theme", "light")


@pytest.mark.exhaustive
def test_two_tabs_have_settings_of_their_own(watched, served):
    first, second = watched(), watched()
    opened(first, served, "attacker")
    opened(second, served, "attacker")
    first.locator("#attacker-epsilon-number").fill("0.1")
    expect(first.locator("#attacker-results .headline strong")).to_have_text("10 % → 11 %")
    expect(second.locator("#attacker-results .headline strong")).to_have_text("10 % → 23.2 %")
    expect(second.locator("#attacker-epsilon-number")).to_have_value("1")


# The view of noise has tests of both: settings go into the address, and an address is opened with its settings.
@pytest.mark.exhaustive
def test_a_view_of_a_colleague_is_opened_by_its_address(page, watched, served):
    opened(page, served, "attacker")
    page.locator("#attacker-epsilon-number").fill("2")
    expect(page).to_have_url(re.compile("epsilon=2"))
    shown = page.locator("#attacker-results .headline strong")
    expect(shown).to_have_text("10 % → 45.1 %")
    other = watched()
    other.goto(page.url)
    expect(other.locator("#attacker-results .headline strong")).to_have_text("10 % → 45.1 %")


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        (CZECH, "Czech"),
        pytest.param("", "Densities of the generalized Gaussian family", marks=pytest.mark.exhaustive),
    ],
)
def test_the_paper_shows_its_figures_with_verdicts(page, served, settings, title):
    opened(page, served, "paper", settings)
    expect(page.locator("#paper-results .of-paper").first).to_contain_text(title)
    expect(page.locator("#paper-results .verdict.holds").first).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All figures").click()
    assert waiting.value.suggested_filename == "figures.zip"


def test_a_browser_is_looked_for_by_name():
    assert chromium() is None or "chrom" in chromium()


@pytest.mark.exhaustive
def test_back_and_forward_lead_to_views_and_not_away_from_the_page(page, served):
    page.goto(f"{served.address}?view=attacker")
    expect(page).to_have_url(f"{served.address}?view=attacker")
    page.get_by_role("tab", name="Budget").click()
    expect(page).to_have_url(f"{served.address}?view=budget")
    page.evaluate("document.body.dataset.kept = 'yes'")
    page.go_back()
    expect(page.get_by_role("tab", name="What an attacker learns")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.get_by_role("tab", name="Budget")).to_have_attribute("aria-selected", "true")
    assert page.evaluate("document.body.dataset.kept") == "yes"


def test_the_main_button_of_a_view_keeps_its_colour_under_the_pointer(page, served):
    page.goto(f"{served.address}?view=release")
    button = page.get_by_role("button", name="Release ...")
    shown = button.evaluate("one => getComputedStyle(one).backgroundColor")
    button.hover()
    expect(button).to_have_css("background-color", shown)
