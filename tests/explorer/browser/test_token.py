"""A page that other machines reach, in a real browser: the token is given once, and kept in a cookie."""

from playwright.sync_api import expect
from tests.explorer.browser.conftest import TOKEN


def test_a_token_is_needed_once_and_leaves_the_address(browser, guarded):
    context = browser.new_context()
    page = context.new_page()
    refused = page.goto(guarded.address)
    assert refused.status == 401
    assert "token" in refused.text()
    assert page.goto(f"{guarded.address}?token=wrong").status == 401
    page.goto(f"{guarded.address}?view=attacker&token={TOKEN}")
    expect(page.locator("#attacker-results .headline strong")).to_be_visible()
    assert "token" not in page.url
    # From then on the cookie is enough, and no script can read it.
    page.goto(guarded.address)
    expect(page.locator("#noise-summary .headline strong")).to_be_visible()
    assert TOKEN not in page.evaluate("document.cookie")
    context.close()
