"""Make the screenshots of the page for the documentation: ``python docs/make_screenshots.py``.

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

from playwright.sync_api import Page, sync_playwright

OUT = Path(__file__).parent / "_static" / "explorer"
EXAMPLE = Path(__file__).parent / "examples" / "visits.csv"
# Name, address, what must be in sight, width, colours.
SHOTS = [
    ("noise", "view=noise&epsilon=0.5&delta=0.001&order=3", "#noise-orders figure", 1280, "light"),
    ("noise-narrow", "view=noise&epsilon=0.5&delta=0.001&order=3", "#noise-laws figure", 390, "dark"),
    ("attacker", "view=attacker", "#attacker-results figure", 1280, "light"),
    ("table", "view=table", "figure", 1280, "dark"),
]


def main() -> None:
    """Make all screenshots."""
    OUT.mkdir(parents=True, exist_ok=True)
    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        sys.exit("no Chromium on this machine: install the system's chromium package")
    command = [sys.executable, "-m", "ggdp", "explore", str(EXAMPLE), "--no-browser", "--port", "0"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder})
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[4]
            root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=browser_path, args=root)
            for name, query, sight, width, colours in SHOTS:
                page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=colours)
                photograph(page, f"{address}?{query}", sight, OUT / f"{name}.png")
            browser.close()
        finally:
            server.terminate()
            server.wait()


def photograph(page: Page, address: str, sight: str, file: Path) -> None:
    """Write a screenshot of a view once it shows what it computes."""
    page.set_default_timeout(120_000)
    page.goto(address)
    page.locator(f".tab-pane.active {sight}").first.wait_for()
    page.locator(".tab-pane.active .computing").first.wait_for(state="detached")
    page.screenshot(
        path=file, clip={"x": 0, "y": 0, "width": page.viewport_size["width"], "height": 1100}, full_page=True
    )
    page.close()


if __name__ == "__main__":
    main()
