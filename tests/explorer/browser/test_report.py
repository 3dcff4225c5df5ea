"""The page of `ggdp report`, in a real browser."""

import pyarrow as pa

import ggdp


def test_a_report_with_a_ledger_fits_a_phone(watched, tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(1.0), unit="people")
    people = pa.table({"smokes": ["no", "yes", "no"]})
    asked = {"by": "smokes", "goal": ggdp.PureDP(0.5), "domain": {"smokes": ["no", "yes"]}, "unit_name": "people"}
    ggdp.release_table(people, out=tmp_path / "smoking.csv", ledger=ledger, **asked)
    made = ggdp.report(tmp_path / "smoking.manifest.json", ledger=tmp_path / "people.ledger")
    page = watched(viewport={"width": 390, "height": 900})
    page.set_content(made.to_html())
    assert ledger.head.hash in page.inner_text("body")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
