"""Totals of Laplace and Gaussian noise are not above dp_accounting's, written by tests/reference/peer_values.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ggdp.accounting.totals import TotalLoss
from ggdp.proofs.losses import CoordinateLoss, CountedLoss
from ggdp.proofs.noise_law import NoiseLaw

THEIRS = json.loads((Path(__file__).parents[1] / "reference" / "peer_values.json").read_text(encoding="utf-8"))


def name(row):
    return ", ".join(f"{count} {kind}" for kind, _, count in row["parts"])


def total(row):
    losses = []
    for kind, scale, count in row["parts"]:
        order = 1.0 if kind.endswith("laplace") else 2.0
        support = "integer" if kind.startswith("integer") else "real"
        losses.append(CountedLoss(CoordinateLoss(NoiseLaw(order=order, scale=scale, support=support), 1.0), count))
    return TotalLoss.of(losses)


def excess(row):
    """Return by how much our upper bounds are above theirs, at most, as a share."""
    ours = total(row)
    return max(ours.delta(e)[1] / delta for e, delta in zip(row["epsilons"], row["deltas"], strict=True)) - 1.0


@pytest.mark.parametrize("row", THEIRS["compositions"], ids=name)
def test_the_upper_bound_is_not_above_their_pessimistic_delta(row):
    # What they compute has the errors of floats.
    assert excess(row) <= 1e-9


@pytest.mark.parametrize("row", THEIRS["compositions"], ids=name)
def test_the_lower_bound_is_below_their_pessimistic_delta_and_close_to_it(row):
    ours = total(row)
    for epsilon, delta in zip(row["epsilons"], row["deltas"], strict=True):
        lower, upper = ours.delta(epsilon)
        # They add 1e-15 to delta at every composition.
        assert lower <= delta <= 1.0002 * upper + 1e-14
