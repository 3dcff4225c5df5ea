"""One browser and one server for all tests: the system's Chromium, driven by Playwright, and `ggdp explore`.

A page of the fixture `page` must not write an error to the console, and must not ask for anything from elsewhere.
"""

import os
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Milliseconds; long enough for a machine with other work.
PATIENCE = 60_000
TOKEN = "a-token-of-enough-characters"
expect.set_options(timeout=PATIENCE)


def chromium():
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Served:
    """A running `ggdp explore`."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "ggdp", "explore", "--no-browser", "--port", "0", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "http://" not in line:
            self.process.kill()
            raise AssertionError(f"not started: {line}{self.process.communicate()[1]}")
        self.address = line.split()[4]
        if "--token" in arguments:
            # How it is given.
            self.process.stdout.readline()

    def stop(self):
        """Stop it as Ctrl-C does, and return all that it wrote after its address."""
        self.process.send_signal(2)
        try:
            return "".join(self.process.communicate(timeout=20))
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    server = Served()
    yield server
    written = server.stop()
    assert written == "", "the server wrote something"


@pytest.fixture(scope="session")
def guarded(tmp_path_factory):
    """A second server, with a token, a table, and a ledger that tests replace."""
    folder = tmp_path_factory.mktemp("guarded")
    people = folder / "people.csv"
    people.write_text("ward\n" + "births\n" * 300 + "eyes\n" * 200)
    server = Served(str(people), "--ledger", str(folder / "people.ledger"), "--token", TOKEN)
    server.folder = folder
    yield server
    assert server.stop() == "", "the server wrote something"


@pytest.fixture(scope="session")
def browser():
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine: install the system's chromium package")
    with sync_playwright() as playwright:
        # As root, Chromium's sandbox does not start.
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        launched = playwright.chromium.launch(executable_path=path, args=root)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def shared(browser):
    """A context that most pages are opened in: what it has loaded once is not loaded again."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


@pytest.fixture
def watched(browser, shared):
    """A function that opens pages, in a context of their own with options; what they did is checked afterwards."""
    opened, wrong = [], []

    def new_page(**options):
        context = browser.new_context(**options) if options else shared
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        opened.append(context if options else page)
        page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda one: wrong.append(str(one)))
        page.on("request", lambda one: None if is_local(one.url) else wrong.append(one.url))
        page.on("websocket", lambda one: None if is_local(one.url) else wrong.append(one.url))
        return page

    yield new_page
    for one in opened:
        one.close()
    assert wrong == []


def is_local(url):
    return url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:http://127.0.0.1:"))


@pytest.fixture
def page(watched):
    return watched()
