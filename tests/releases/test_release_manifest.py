""""""

import json

import jsonschema
import numpy as np
import pytest
from tests.manifest_schema import VALIDATOR

import ggdp
from ggdp.mechanisms import Mechanism
from ggdp.releases import clip, drop, manifest_schema, normalise, project, round_values

ONE, TWO = ggdp.Sensitivity.histogram(), ggdp.Sensitivity.histogram(neighbours="replace-one")


def release_of(goal=None, query=TWO, rng=None, values=(1000, 2000, 7), **how):
    how = {"order": 1, "support": "integer"} | how
    calibration = ggdp.calibrate(goal or ggdp.PureDP(1.0), query, **how)
    return Mechanism(calibration).release(list(values), rng=rng)


RELEASES = {
    "counts": release_of,
    "approximate": lambda: release_of(ggdp.ApproxDP(1.0, 1e-6), ONE, order=3),
    "probabilistic": lambda: release_of(ggdp.ProbabilisticDP(1.0, 1e-6), ONE, order=2),
    "real": lambda: release_of(ggdp.ApproxDP(1.0, 1e-6), ONE, order=1.5, support="real"),
    "seeded": lambda: release_of(rng=ggdp.SeededSource(seed=3)),
    "truncated": lambda: release_of(order=2, bounds=[(0, 3000)], bounding="truncated"),
    "inflated": lambda: release_of(
        order=2, bounds=[(0, 50)], bounding="boundary-inflated", support="real", query=ONE, values=(10, 20, 7)
    ),
    "clipped": lambda: clip(release_of(), 0),
    "rounded": lambda: round_values(clip(release_of(), 0.5, 1e4)),
    "normalised": lambda: normalise(release_of(), 3007),
    "projected": lambda: drop(project(release_of(), 3007), [0]),
    "chosen": lambda: drop(release_of(), [2]),
    "public": lambda: drop(release_of(), [2], chosen="publicly"),
    "empty": lambda: release_of(values=[]),
    "number": lambda: Mechanism(ggdp.calibrate(ggdp.PureDP(1.0), ONE, order=1)).release(4.5),
}


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(manifest_schema())


@pytest.mark.parametrize("name", RELEASES)
def test_every_manifest_follows_the_schema_and_is_json(name):
    release = RELEASES[name]()
    manifest = json.loads(json.dumps(release.manifest, allow_nan=False))
    VALIDATOR.validate(manifest)
    assert manifest["values"]["shape"] == list(release.values.shape)
    document = json.loads(release.to_json())
    assert document["manifest"] == manifest
    assert document["values"] == release.values.tolist()
    assert document["noisy"] == release.noisy.tolist()


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "ggdp-release-manifest/2"},
        {"guarantee": None},
        {"private": False},
        {"neighbours": "any"},
        {"rows": 1841},
        {"adjustments": [{"name": "redraw"}]},
        {"statement": ""},
    ],
    ids=str,
)
def test_the_schema_refuses_what_is_not_a_manifest(change):
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(release_of().manifest | change)


def test_a_manifest_says_what_was_asked_and_what_is_proved():
    release = release_of(ggdp.ApproxDP(1.0, 1e-6), ONE, order=3)
    manifest = release.manifest
    assert manifest["goal"] == {"notion": "approximate", "epsilon": 1.0, "delta": 1e-6, "neighbours": "add-remove"}
    assert manifest["guarantee"] == release.guarantee.to_dict()
    assert manifest["private"] is True
    assert (manifest["mechanism"]["order"], manifest["mechanism"]["scale"]) == (3.0, release.scale)
    assert manifest["error"]["half_width"] == release.interval().upper[0] - release.values[0]
    assert manifest["error"]["standard_error"] == release.standard_error()
    assert manifest["ggdp"] == ggdp.__version__
    ggdp.verify(manifest["mechanism"]["certificate"])
    real = RELEASES["number"]()
    lower, upper = real.interval()
    assert real.manifest["error"]["half_width"] == (upper - lower) / 2


def test_a_manifest_tells_of_every_adjustment():
    release = round_values(clip(release_of(), 0, 5000.5))
    assert release.manifest["adjustments"] == [{"name": "clip", "lower": 0, "upper": 5000.5}, {"name": "round_values"}]
    statement = release.manifest["statement"]
    assert "values were clipped to be at least 0 and at most 5000.5; values were rounded to whole numbers." in statement
    assert "1 of 3 cells were left out" in RELEASES["chosen"]().manifest["statement"]
    assert "values were scaled to add up to 3007" in RELEASES["normalised"]().manifest["statement"]
    assert "not negative and add up to 3007" in RELEASES["projected"]().manifest["statement"]


@pytest.mark.parametrize(
    ("name", "negative"),
    [
        ("counts", True),
        ("rounded", False),
        ("clipped", False),
        ("normalised", True),
        ("projected", False),
        ("truncated", False),
        ("chosen", True),
    ],
)
def test_a_statement_says_that_values_may_be_negative_where_they_may(name, negative):
    assert ("values may be negative" in RELEASES[name]().manifest["statement"]) is negative


@pytest.mark.exhaustive
def test_notes_on_the_scale_are_in_the_manifest():
    release = release_of(ggdp.ProbabilisticDP(5.0, 0.2), TWO, order=3)
    assert release.manifest["mechanism"]["notes"] == list(release.mechanism.notes)
    assert release.mechanism.notes[0].startswith("upper bound")


def test_bounds_of_the_query_are_in_the_manifest():
    noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.from_bounds([(0, 10)]), order=1)
    manifest = Mechanism(noise).release([5.0]).manifest
    assert manifest["mechanism"]["query_bounds"] == [[0.0, 10.0]]
    assert "clamped to the bounds" in manifest["statement"]
    VALIDATOR.validate(manifest)


def test_a_selection_counts_the_candidates_that_were_not_excluded():
    mechanism = ggdp.ExponentialMechanism(
        ggdp.PureDP(1.0), sensitivity=1, candidates=["a", "b", "c"], excluded=[True, False, False]
    )
    manifest = mechanism.release([1, 2, 3]).manifest
    VALIDATOR.validate(manifest)
    assert (manifest["mechanism"]["candidates"], manifest["mechanism"]["excluded"]) == (3, 1)
    assert "One of 2 candidates was drawn" in manifest["statement"]
    assert manifest["error"] is None
    assert manifest["values"]["type"] == "label"


def test_infinite_values_have_no_json():
    noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1e300), order=1)
    with pytest.raises(ggdp.GgdpError, match="JSON has no infinite numbers; clip the release first"):
        Mechanism(noise).release([float("inf")]).to_json()


def test_a_statement_says_who_is_protected_how_much_and_how_far_off_values_are():
    statement = release_of(ggdp.PureDP(1.0), ONE).manifest["statement"]
    assert "1-DP under add-remove neighbours" in statement
    assert "adding or removing one person's records" in statement
    assert "a factor of at most e^1 = 2.72" in statement
    assert "95% of the values are within 3" in statement
    assert "may be negative" in statement
    assert "replacing one person's records" in release_of().manifest["statement"]
    approximate = release_of(ggdp.ApproxDP(1.0, 1e-6), ONE, order=2)
    assert "plus at most 1e-06" in approximate.manifest["statement"]
    probabilistic = release_of(ggdp.ProbabilisticDP(1.0, 1e-6), ONE, order=2)
    assert "except with a probability of at most" in probabilistic.manifest["statement"]


def test_a_statement_is_about_what_it_says_it_is_about():
    assert "95% of the raw noisy values" in clip(release_of(), 0).manifest["statement"]
    chosen = drop(release_of(ggdp.PureDP(1.0), ONE, values=[0] * 1000), np.arange(999))
    assert "with a probability of 95% all raw noisy values are within 10 of" in chosen.manifest["statement"]
    assert chosen.manifest["error"]["half_width"] == chosen.interval().upper[0] - chosen.noisy[0]
    assert "of the true ones, clamped to the bounds." in RELEASES["truncated"]().manifest["statement"]
    probabilistic = RELEASES["probabilistic"]().manifest
    assert "clamped to at most 4.61e+18 in absolute value" in probabilistic["statement"]
    assert probabilistic["mechanism"]["clamp"] == 2**62


def test_a_release_that_is_not_private_says_so_first():
    manifest = RELEASES["seeded"]().manifest
    assert manifest["private"] is False
    assert manifest["guarantee"] is None
    assert manifest["statement"].startswith("These values are NOT private")


def test_no_true_value_is_in_a_manifest():
    # Noise of this scale never gives these numbers back, nor do they occur by chance.
    true = np.array([736512948127, 918273645546])
    goal = ggdp.ApproxDP(1.0, 1e-6)
    mechanism = Mechanism(ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(10_000_000), order=2, support="integer"))
    release = mechanism.release(true)
    for text in (repr(release), release.to_json(), json.dumps(release.manifest), repr(clip(release, 0)), str(release)):
        assert not any(str(value) in text for value in true)
