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


def test_a_link_in_a_page_of_another_site_opens_the_view(browser, guarded):
    context = browser.new_context()
    # A page of another site, such as a mail that a colleague reads in a browser.
    links = "".join(
        f"<a href='{guarded.address}?view=attacker{secret}'>{name}</a> "
        for name, secret in (("with the token", f"&token={TOKEN}"), ("without it", ""))
    )
    context.route("http://mail.test/*", lambda route: route.fulfill(body=links, content_type="text/html"))
    page = context.new_page()
    for name in ("with the token", "without it"):
        page.goto("http://mail.test/")
        page.get_by_role("link", name=name).click()
        expect(page.locator("#attacker-results .headline strong")).to_be_visible()
        assert "token" not in page.url
    context.close()
