"""At orders 1 and 2 our values are dp_accounting's, which were written by tests/reference/peer_values.py."""

import json
from pathlib import Path

import pytest
from tests.flat import delta_of_shift

import ggdp

THEIRS = json.loads((Path(__file__).parents[1] / "reference" / "peer_values.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", THEIRS["gaussian"])
def test_the_gaussian_standard_deviation_is_theirs(row):
    goal = ggdp.ApproxDP(row["epsilon"], row["delta"])
    ours = ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(1), order=2).std
    # Their search stops at a relative 1e-7 or so, on either side of the least value.
    assert ours == pytest.approx(row["std"], rel=2e-7)


@pytest.mark.parametrize("row", THEIRS["laplace"])
def test_the_laplace_delta_is_theirs(row):
    ours = delta_of_shift(notion="approximate", order=1.0, scale=row["scale"], sensitivity=1.0, epsilon=row["epsilon"])
    assert ours.upper == pytest.approx(row["delta"], rel=1e-12, abs=1e-15)
