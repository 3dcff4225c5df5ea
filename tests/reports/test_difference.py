"""What changed between two releases: intervals that cover as they say, from the published files alone."""

import json
from pathlib import Path

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.noise import IntegerGeneralizedGaussian
from ggdp.releases.comparisons import sum_half_width
from ggdp.releases.error_law import simultaneous_half_width

DOMAIN = {"ward": ["a", "b"]}
LAWS = [((1.0, 1.0), (1.0, 1.0)), ((2.0, 10.0), (2.0, 10.0)), ((1.0, 2.0), (3.0, 7.5)), ((1.0, 0.1), (1.5, 4.0))]


def released(file, goal=None, wards=("a", "b", "b"), **given):
    import pyarrow as pa

    frame = pa.table({"ward": list(wards), "age": [1] * len(wards)})
    given = {"by": "ward", "domain": DOMAIN} | given
    return ggdp.release_table(frame, goal=goal or ggdp.PureDP(1.0), out=file, **given)


def within(first, second, h):
    """Return P(|K - L| <= h), summed over the noise of the first."""
    k = np.arange(-300, 301)
    one, other = (IntegerGeneralizedGaussian(order=order, scale=scale) for order, scale in (first, second))
    return float(np.sum(one.pmf(k) * (other.cdf(k + h) - other.cdf(k - h - 1))))


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("first", "second"), LAWS)
def test_the_half_width_of_a_difference_is_the_least_that_covers(first, second, level):
    h = sum_half_width(((*first, 1), (*second, 1)), level)
    assert within(first, second, h) >= level
    assert within(first, second, h - 1) < level
    assert sum_half_width(((*second, 1), (*first, 1)), level) == h


@pytest.mark.parametrize(("law", "level"), [((1.0, 1e6), 0.95), ((2.0, 3.0), 1.0 - 1e-12)])
def test_where_the_law_is_not_computed_both_half_widths_are_added(law, level):
    h = sum_half_width(((*law, 1), (*law, 1)), level)
    assert h == 2 * simultaneous_half_width(*law, level, 2)


def test_a_difference_is_that_of_the_published_noisy_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = released("first.csv", ggdp.PureDP(0.5), nonnegative=True)
    second = released("second.parquet", ggdp.ApproxDP(2.0, 1e-6), order=2, wards="a")
    found = ggdp.difference("first.manifest.json", "second.manifest.json")
    assert found.column_names == ["ward", "difference", "lower", "upper"]
    change = second.tables[0].noisy_count - first.tables[0].noisy_count
    assert found["ward"].to_pylist() == ["a", "b"]
    assert found["difference"].to_pylist() == change.tolist()
    laws = (first.plan.mechanism.order, first.plan.mechanism.scale), (2.0, second.plan.mechanism.scale)
    half = sum_half_width(tuple((*law, 1) for law in laws), 0.95)
    assert found["upper"].to_pylist() == (change + half).tolist()
    assert found["lower"].to_pylist() == (change - half).tolist()


def test_what_is_not_comparable_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    released("first.csv")
    released("other.csv", domain={"ward": ["a", "c"]})
    released("open.csv", ggdp.ApproxDP(1.0, 1e-6), domain=None)
    domain = {**DOMAIN, "age": {"range": [0, 9]}}
    released("mean.csv", domain=domain, statistics=[ggdp.Mean("age")])
    Path("copy.manifest.json").write_bytes(Path("first.manifest.json").read_bytes())
    for second, said in (
        ("first", "is the same release"),
        ("copy", "is the same release"),
        ("other", "has other cells than first"),
        ("open", "leaves cells out of this table"),
        ("mean", "is of a release with statistics"),
    ):
        with pytest.raises(ArgumentError, match=said):
            ggdp.difference("first.manifest.json", f"{second}.manifest.json")
    released("second.csv")
    for wrong in (1, -1):
        with pytest.raises(ArgumentError, match="is no table of first"):
            ggdp.difference("first.manifest.json", "second.manifest.json", table=wrong)
    with pytest.raises(ArgumentError, match="must be above 0 and below 1"):
        ggdp.difference("first.manifest.json", "second.manifest.json", level=95)
    Path("second.csv").write_text(Path("second.csv").read_text() + "\n")
    with pytest.raises(ArgumentError, match="it is changed"):
        ggdp.difference("first.manifest.json", "second.manifest.json")
    manifest = json.loads(Path("first.manifest.json").read_text())
    manifest["mechanism"]["scale"] = 0.1
    Path("first.manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArgumentError):
        ggdp.difference("first.manifest.json", "first.manifest.json")
