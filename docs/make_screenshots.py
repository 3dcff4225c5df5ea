"""Make the screenshots of the page for the documentation: ``python docs/make_screenshots.py [NAME...]``.

It serves the page on this machine and photographs it with the system's Chromium, in an environment with all extras.
Everything that is shown is computed from public numbers and bundled or invented data.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

import ggdp

OUT = Path(__file__).parent / "_static" / "explorer"
EXAMPLE = Path(__file__).parent / "examples" / "visits.csv"
WARDS = ("births", "children", "emergency", "medicine", "surgery")
LEDGER = "patients.ledger"
NOISE = "view=noise&epsilon=0.5&delta=0.001&order=3"
ASKED = {"by": "ward", "levels": f"ward={','.join(WARDS)}", "unit": "patient", "epsilon": 0.4}
RELEASE = urlencode({"view": "release", **ASKED})
# Name, address, what is clicked, what must be in sight, width, colours.
SHOTS = [
    ("noise", NOISE, [], ".active #noise-orders figure", 1280, "light"),
    ("noise-narrow", NOISE, [], ".active #noise-laws figure", 390, "dark"),
    ("attacker", "view=attacker", [], ".active #attacker-results figure", 1280, "light"),
    ("table", "view=table", [], ".active #table-dots_figure figure", 1280, "dark"),
    ("budget", "view=budget&epsilon=0.2", [], ".active #budget-results figure", 1280, "light"),
    ("release", RELEASE, ["Release ..."], "dialog", 1280, "light"),
    (
        "released",
        RELEASE,
        ["Release ...", "Release and spend epsilon = 0.4"],
        ".active #release-results figure",
        1280,
        "dark",
    ),
]


def main(names: list[str]) -> None:
    """Make all screenshots, or those that are named."""
    OUT.mkdir(parents=True, exist_ok=True)
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("no Chromium on this machine: install the system's chromium package")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        # In a folder of their own, so that no path of this machine is in the pictures.
        shutil.copy(EXAMPLE, folder)
        charge(Path(folder))
        command = [sys.executable, "-m", "ggdp", "explore", EXAMPLE.name, "--no-browser", "--port", "0"]
        server = subprocess.Popen(
            [*command, "--ledger", LEDGER],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": folder},
        )
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[4]
            root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=browser_path, args=root)
            for name, query, clicks, sight, width, colours in SHOTS:
                if names and name not in names:
                    continue
                page = browser.new_page(viewport={"width": width, "height": 1100}, color_scheme=colours)
                photograph(page, f"{address}?{query}", clicks, sight, OUT / f"{name}.png")
            browser.close()
        finally:
            server.terminate()
            server.wait()


def charge(folder: Path) -> None:
    """Make a ledger with a few releases of the example."""
    ggdp.Ledger.create(folder / LEDGER, ggdp.PureDP(3.0), unit="patient")
    releases = ((0.5, "clinic"), (0.2, "clinic"), (0.4, "registry"), (0.3, "registry"))
    for place, (epsilon, analyst) in enumerate(releases):
        ggdp.release_table(
            EXAMPLE,
            by="ward",
            goal=ggdp.PureDP(epsilon),
            domain={"ward": WARDS},
            unit="patient",
            max_cells=1,
            ledger=str(folder / LEDGER),
            analyst=analyst,
            out=folder / f"wards-{place + 1}.csv",
        )


def photograph(page: Page, address: str, clicks: list[str], sight: str, file: Path) -> None:
    """Write a screenshot of a view once it shows what it computes."""
    page.set_default_timeout(30_000)
    page.goto(address)
    if clicks:
        # Before that, nothing answers to a click.
        page.locator("#release-chooser-words").wait_for()
    for name in clicks:
        page.get_by_role("button", name=name).click()
    page.locator(sight).first.wait_for()
    page.locator(".tab-pane.active .computing").first.wait_for(state="detached")
    page.evaluate("window.scrollTo(0, 0)")
    page.screenshot(path=file)
    page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
