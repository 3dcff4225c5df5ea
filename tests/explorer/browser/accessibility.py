"""What axe-core finds wrong with a page."""

from axe_playwright_python.sync_playwright import Axe

__all__ = ["findings"]


def findings(page):
    """Return the serious findings on a page, of a context that was opened with `bypass_csp`: axe-core is injected."""
    found = Axe().run(page).response
    assert found["passes"], "axe-core did not run"
    return [
        (one["impact"], one["id"], node["target"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
