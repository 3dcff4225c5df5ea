"""What axe-core finds wrong with a page."""

from axe_playwright_python.sync_playwright import Axe

__all__ = ["findings"]

# Of the thousands of paths of a picture a screen reader sees the picture alone. Style sheets are not loaded again.
HOW = {"context": {"exclude": [[".picture g"]]}, "options": {"preload": False}}


def findings(page):
    """Return the serious findings on a page."""
    found = Axe().run(page, **HOW).response
    assert found["passes"], "axe-core did not run"
    return [
        (one["impact"], one["id"], node["target"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
