"""What axe-core finds wrong with a page."""

from axe_playwright_python.sync_playwright import Axe

__all__ = ["findings"]


def findings(page):
    """Return the serious findings on a page, as it is now."""
    # Without it, axe-core fetches style sheets that a browser does not.
    found = Axe().run(page, options={"preload": False}).response
    assert found["passes"], "axe-core did not run"
    return [
        (one["impact"], one["id"], node["target"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
