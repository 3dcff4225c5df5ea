"""Views that other packages add to the explorer."""

from importlib.metadata import EntryPoint

from ggdp.explorer import added_views
from ggdp.explorer.added_views import AddedResults, AddedView
from ggdp.explorer.settings import from_address


def results(chosen, progress):
    progress(1, 1)
    return AddedResults(html=f"<p>{chosen}</p>", files={"a.csv": b"1"})


COLOURS = AddedView(
    key="colours",
    title="Colours",
    setting="colour",
    label="Colour",
    choices={"red": "Red", "blue": "Blue"},
    about="Two colours.",
    files={"All (CSV)": "a.csv"},
    results=results,
    equivalents=lambda colour: (f"paint {colour}", f"paint({colour!r})"),
)


def test_the_view_of_an_entry_point_has_its_choice_with_the_first_word_chosen(monkeypatch):
    entry = EntryPoint("colours", f"{__name__}:COLOURS", "ggdp.views")
    monkeypatch.setattr(EntryPoint, "load", lambda _: COLOURS)
    monkeypatch.setattr(added_views, "entry_points", lambda group: [entry] if group == "ggdp.views" else [])
    (view,) = added_views.added_views()
    assert (view.key, view.title) == ("colours", "Colours")
    assert from_address(view.settings, {}).colour == "red"
    assert from_address(view.settings, {"colour": "blue"}).colour == "blue"
    assert from_address(view.settings, {"colour": "green"}).colour == "red"
    shown = str(view.ui(from_address(view.settings, {"colour": "blue"})))
    assert "Two colours." in shown
    assert 'value="blue" checked' in shown
