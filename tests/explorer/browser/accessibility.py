"""What axe-core finds wrong with a page."""

from axe_playwright_python.sync_playwright import Axe

# Style sheets are not loaded again.
HOW = {"preload": False, "resultTypes": ["violations"]}
# Of the thousands of paths of a picture a screen reader sees the picture alone; axe-core would walk through them all.
ASIDE = """() => {
  window.drawings = [...document.querySelectorAll(".picture > g")].map((one) => [one, one.parentNode]);
  for (const [one] of window.drawings) one.remove();
}"""
BACK = "() => { for (const [one, picture] of window.drawings) picture.append(one); }"


def findings(page, *rules):
    """Return the serious findings on a page, of some rules or of all."""
    page.evaluate(ASIDE)
    found = Axe().run(page, options={**HOW, "runOnly": list(rules)} if rules else HOW).response
    page.evaluate(BACK)
    assert found["passes"], "axe-core did not run"
    return [
        (one["impact"], one["id"], node["target"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
