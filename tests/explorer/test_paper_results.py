"""The view of the paper: figures with the claims that they bear on, and what is downloaded."""

import csv
import io
import shlex
import zipfile

import pytest

from ggdp.explorer import paper_results
from ggdp.explorer.paper_results import PARTS, PaperSettings, paper_equivalents, shown_run
from ggdp.paper.figures import plot_densities
from ggdp.paper.figures.drawings import drawing
from ggdp.paper.results import Claim, Results


@pytest.fixture(scope="module")
def run():
    picture = drawing("densities", plot_densities(), title="Densities", caption="Two panels.", place="Fig. 1")
    claims = [
        Claim(key="a", place="Section 2", claim="one", verdict="holds", measured="1", figure="densities"),
        Claim(key="b", place="Section 2", claim="two", verdict="does not hold", measured="2"),
        Claim(key="c", place="Section 3", claim="three", verdict="not measured", measured="not run"),
    ]
    return Results(
        what="figures", quick=True, seed=0, repeats=2, svm_repeats=1, drawings=[picture], claims=claims, notes=["quick"]
    )


def test_claims_stand_with_their_figures_and_none_is_lost(run):
    found = shown_run(run)
    assert found.tally == ((1, "hold"), (1, "do not hold"), (1, "were not measured in this run"))
    (figure,) = found.figures
    assert [claim.key for claim in figure.claims] == ["a"]
    assert [claim.key for claim in found.others] == ["b"]
    assert found.notes == ("quick",)
    rows = list(csv.DictReader(io.StringIO(found.csv.decode())))
    assert [(row["key"], row["verdict"]) for row in rows] == [(claim.key, claim.verdict) for claim in run.claims]


def test_names_inside_pictures_are_those_of_the_view(run):
    svg = shown_run(run).figures[0].picture.svg
    assert 'id="densities-' not in svg
    assert 'aria-labelledby="paper-densities-name paper-densities-words"' in svg
    assert svg.count('id="paper-densities-name"') == 1


def test_all_figures_are_in_one_file(run):
    with zipfile.ZipFile(io.BytesIO(shown_run(run).pictures)) as archive:
        assert archive.namelist() == ["densities.svg"]
        assert archive.read("densities.svg").startswith(b"<?xml")


def test_a_part_is_run_once_and_progress_never_falls(run, monkeypatch):
    runs, told = [], []

    def reproduce(part, *, quick, workers, progress):
        runs.append((part, quick, workers))
        for stage, total in (("figures", 2), ("claims", 4)):
            for step in range(total + 1):
                progress(stage, step, total)
        return run

    monkeypatch.setattr("ggdp.paper.reproduction.reproduce", reproduce)
    monkeypatch.setattr(paper_results, "_finished", {})
    settings = PaperSettings(part="czech")
    first = paper_results.paper_results(settings, lambda *steps: told.append(steps))
    assert paper_results.paper_results(settings, lambda *steps: told.append(steps)) is first
    assert runs == [("czech", True, 1)]
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert all(done <= expected for done, expected in told)


@pytest.mark.parametrize("part", PARTS)
def test_what_is_copied_runs_the_same_part(part, monkeypatch):
    copied = paper_equivalents(PaperSettings(part=part))
    assert shlex.split(copied.command)[:3] == ["ggdp", "reproduce", part]
    seen = []

    def reproduce(*arguments, **options):
        seen.append((arguments, options))
        return Results(what=part, quick=True, seed=0, repeats=2, svm_repeats=1)

    monkeypatch.setattr("ggdp.paper.reproduction.reproduce", reproduce)
    exec(copied.python, {})
    assert seen == [((part,), {"quick": True})]
