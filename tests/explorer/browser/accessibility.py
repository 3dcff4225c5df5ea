"""What axe-core finds wrong with a page."""

from axe_playwright_python.sync_playwright import Axe

__all__ = ["findings"]

# Of the thousands of paths of a picture a screen reader sees the picture alone. Style sheets are not loaded again.
WHERE = {"exclude": [[".picture g"]]}
HOW = {"preload": False, "resultTypes": ["violations"]}


def findings(page, *rules):
    """Return the serious findings on a page, of some rules or of all."""
    found = Axe().run(page, WHERE, {**HOW, "runOnly": list(rules)} if rules else HOW).response
    assert found["passes"], "axe-core did not run"
    return [
        (one["impact"], one["id"], node["target"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
