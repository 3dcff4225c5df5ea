"""The page: everything in it, nothing from elsewhere, and every text escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pyarrow as pa
import pytest

import ggdp

VOID = {"meta", "br", "circle", "line", "rect", "path"}


class Tags(HTMLParser):
    """Checks that tags are closed in their order, and collects attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.attributes, self.found = [], [], []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def text_of(page):
    """The words of a page, without tags."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).replace("&#39;", "'").split())


SETS = [
    ["smoking"],
    ["smoking", "wards"],
    ["smoking", "visits"],
    ["ages"],
    ["cut"],
    ["keys"],
    ["chosen"],
    ["replaced"],
]


@pytest.mark.parametrize("names", SETS)
@pytest.mark.parametrize("charged", [False, True])
def test_a_page_is_whole_and_loads_nothing(made, manifest, names, charged):
    paths = [manifest(name) for name in names]
    page = ggdp.report(paths, ledger=made / "people.ledger" if charged else None).to_html()
    tags = parsed(page)
    assert page.lstrip().startswith("<!doctype html>")
    assert not {"script", "img", "link", "iframe", "object"} & set(tags.found)
    assert not [value for name, value in tags.attributes if name == "href" and not value.startswith("#")]
    assert not [name for name, _ in tags.attributes if name == "src" or name.startswith("on")]
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert "Sign-off" in page
    # Nothing that was not filled in.
    assert "None" not in text_of(page)


def test_the_page_says_what_was_published(made, manifest):
    found = ggdp.report([manifest("smoking"), manifest("wards")], ledger=made / "people.ledger")
    said = text_of(found.to_html())
    assert "Counts of people by ward × smokes" in said
    assert "plain sum 1 1e-07 always, however the releases were chosen" in said
    assert "if the noise of each release was fixed without looking at results of the others" in said
    assert f"within ±{found.releases[0].half_width:g} of the counts without noise" in said
    assert "whether one of the people is in the data at all at most 2.7 % at most 23.2 % at most 73.2 %" in said
    assert "Whether one of the people is in the data at all: 50 % sure before, at most 73.2 % sure after." in said
    assert "1 in 10,000,000" in said
    assert "2 of 2 proved again for this page" in said
    assert found.budget.head.hash in said
    assert "Remaining epsilon = 2, delta = 9e-07" in said
    assert "charged on " in said
    assert "13 questions are not answered yet" in said
    for release in found.releases:
        assert release.digest in said
        assert release.statement in said


def test_a_bound_that_says_nothing_is_not_called_one(tmp_path):
    people = pa.table({"smokes": ["no", "yes"]})
    domain = {"smokes": ["no", "yes"]}
    ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(8.0), domain=domain, out=tmp_path / "loud.csv")
    said = text_of(ggdp.report(tmp_path / "loud.manifest.json").to_html())
    assert "50 % sure before, more than 99.9 % sure after" in said
    assert "at most more" not in said


def test_the_page_says_that_no_total_exists(manifest):
    said = text_of(ggdp.report([manifest("smoking"), manifest("visits")]).to_html())
    assert "No total exists. visits has unit 'person' where smoking has 'row'" in said
    assert "plain sum" not in said


def test_the_page_says_that_a_file_was_changed(published):
    (published / "smoking.csv").write_text("smokes,count\n")
    page = ggdp.report(published / "smoking.manifest.json").to_html()
    assert "The file smoking.csv is not the one that was released" in page
    assert "smoking.csv: CHANGED after the release" in page
    assert "digest checked" not in page


def test_every_text_is_escaped(tmp_path, answers):
    evil = "<script>alert(1)</script>&\"'"
    people = pa.table({evil: [evil, "plain", "plain"]})
    release = ggdp.release_table(
        people, by=evil, goal=ggdp.PureDP(1.0), domain={evil: [evil, "plain"]}, unit_name=f"{evil}s"
    )
    release.write(tmp_path / "evil.csv")
    quoted = "'''" + evil.replace("'", "") + "'''"
    text = f"""
[product]
name = {quoted}
description = {quoted}
[[curators]]
name = {quoted}
[answers]
unit = {quoted}
[signatures]
roles = [{quoted}]
"""
    page = ggdp.report(tmp_path / "evil.manifest.json", deployment=answers(text)).to_html()
    tags = parsed(page)
    assert "script" not in tags.found
    assert page.count("&lt;script&gt;") >= 8


def test_answers_keep_their_lines(manifest, answers):
    page = ggdp.report(manifest("smoking"), deployment=answers('[answers]\nunit = """first\nsecond"""\n')).to_html()
    assert "first\nsecond" in page


def test_who_signs_is_asked_for(manifest, answers):
    text = '[signatures]\nroles = ["Registrar general", "Ombudsman"]\n'
    said = text_of(ggdp.report(manifest("smoking"), deployment=answers(text)).to_html())
    assert "Registrar general Name, date Ombudsman Name, date" in said


def test_it_prints_on_any_paper(manifest):
    page = ggdp.report(manifest("smoking")).to_html()
    assert "@page" in page
    assert "size:" not in page.replace("font-size:", "")


def test_an_example_has_no_negative_count_without_noise(tmp_path):
    people = pa.table({"smokes": ["yes"]})
    release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(0.01), domain={"smokes": ["no", "yes"]})
    release.write(tmp_path / "few.csv")
    said = text_of(ggdp.report(tmp_path / "few.manifest.json").to_html())
    ((low, high),) = re.findall(r"is most likely (\S+) to (\S+) without the noise", said)
    assert not (low + high).count("−")


def test_intervals_say_whether_they_allow_for_what_is_left_out(manifest):
    left_out, allowed = (text_of(ggdp.report(manifest(name)).to_html()) for name in ("visits", "cut"))
    assert "What is left out is not in them" in left_out
    assert "They allow for what is left out of the counts" in allowed


def test_answers_are_text_in_the_page_whatever_they_hold(manifest, answers, tmp_path):
    hostile = "<script>alert(1)</script> </style> {{ 7 * 7 }} {% raw %} <img src=x onerror=alert(1)>"
    text = f"[answers]\nunit = '''{hostile}'''\n[signatures]\nroles = ['''{hostile}''']\n"
    out = tmp_path / "report.html"
    ggdp.report([manifest("smoking")], deployment=answers(text), out=out)
    page = out.read_text(encoding="utf-8")
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt; &lt;/style&gt; {{ 7 * 7 }} {% raw %} &lt;img src=x") >= 2
    assert "<script" not in page
    assert "<img" not in page
