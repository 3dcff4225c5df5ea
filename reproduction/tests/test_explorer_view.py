"""The view of the paper: figures with the claims that they bear on, and what is downloaded."""

import csv
import io
import re
import shlex
import zipfile

import pytest

from ggdp_reproduction import explorer_view
from ggdp_reproduction.explorer_view import VIEW, paper_equivalents, paper_results, shown_run
from ggdp_reproduction.figures import plot_densities
from ggdp_reproduction.figures.drawings import drawing
from ggdp_reproduction.results import Claim, Results


@pytest.fixture(scope="module")
def run():
    picture = drawing("densities", plot_densities(), title="Densities", caption="Two panels.", place="Fig. 1")
    claims = [
        Claim(key="a", place="Section 2", claim="one <", verdict="holds", measured="1", figure="densities"),
        Claim(key="b", place="Section 2", claim="two", verdict="does not hold", measured="2"),
        Claim(key="c", place="Section 3", claim="three", verdict="not measured", measured="not run"),
    ]
    return Results(
        what="figures", quick=True, seed=0, repeats=2, svm_repeats=1, drawings=[picture], claims=claims, notes=["quick"]
    )


def test_claims_stand_with_their_figures_and_none_is_lost(run):
    found = shown_run(run)
    tally = re.findall(r"<li><strong>(\d+)</strong> (.*)</li>", found.html)
    assert tally == [("1", "hold"), ("1", "do not hold"), ("1", "were not measured in this run")]
    figure, others = found.html.partition('<section class="of-paper">')[2].split("</section>")
    assert "Section 2: one &lt;</p>" in figure
    assert "1 more claims" in others
    assert "Section 2: two</p>" in others
    assert '<p class="hint">quick</p>' in found.html
    rows = list(csv.DictReader(io.StringIO(found.files["claims.csv"].decode())))
    assert [(row["key"], row["verdict"]) for row in rows] == [(claim.key, claim.verdict) for claim in run.claims]


def test_names_inside_pictures_are_those_of_the_view(run):
    svg = shown_run(run).html
    assert 'id="densities-' not in svg
    assert 'aria-labelledby="paper-densities-name paper-densities-words"' in svg
    assert svg.count('id="paper-densities-name"') == 1


def test_all_figures_are_in_one_file(run):
    with zipfile.ZipFile(io.BytesIO(shown_run(run).files["figures.zip"])) as archive:
        assert archive.namelist() == ["densities.svg"]
        assert archive.read("densities.svg").startswith(b"<?xml")


def test_every_file_that_is_offered_is_there(run):
    assert set(VIEW.files.values()) == set(shown_run(run).files)


def test_a_part_is_run_once_and_progress_never_falls(run, monkeypatch):
    runs, told = [], []

    def reproduce(part, *, quick, workers, progress):
        runs.append((part, quick, workers))
        for stage, total in (("figures", 2), ("claims", 4)):
            for step in range(total + 1):
                progress(stage, step, total)
        return run

    monkeypatch.setattr("ggdp_reproduction.reproduction.reproduce", reproduce)
    monkeypatch.setattr(explorer_view, "_finished", {})
    first = paper_results("czech", lambda *steps: told.append(steps))
    assert paper_results("czech", lambda *steps: told.append(steps)) is first
    assert runs == [("czech", True, 1)]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= expected for done, expected in told)


@pytest.mark.parametrize("part", VIEW.choices)
def test_what_is_copied_runs_the_same_part(part, monkeypatch):
    command, python = paper_equivalents(part)
    assert shlex.split(command)[:3] == ["ggdp", "reproduce", part]
    seen = []

    def reproduce(*arguments, **options):
        seen.append((arguments, options))
        return Results(what=part, quick=True, seed=0, repeats=2, svm_repeats=1)

    monkeypatch.setattr("ggdp_reproduction.reproduction.reproduce", reproduce)
    exec(python, {})
    assert seen == [((part,), {"quick": True})]
