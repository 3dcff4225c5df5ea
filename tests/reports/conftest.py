"""Releases to report on, made once."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import ggdp

PEOPLE = pa.table(
    {
        "person": [f"P{number % 40}" for number in range(60)],
        "ward": ["births", "eyes", "surgery"] * 20,
        "smokes": ["no", "yes", "no", "no"] * 15,
        "age": [20 + number for number in range(60)],
    }
)
DOMAIN = {"ward": ["births", "eyes", "surgery"], "smokes": ["no", "yes"]}


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A directory with a ledger and releases by their names; tests do not change it."""
    folder = tmp_path_factory.mktemp("published")
    budget = ggdp.ApproxDP(3.0, 1e-6)
    ledger = ggdp.Ledger.create(folder / "people.ledger", budget, unit="people")

    def release(name, *, charge=True, **asked):
        asked = {"by": "smokes", "goal": ggdp.PureDP(0.5), "domain": DOMAIN, "unit_name": "people", **asked}
        charged = {"ledger": ledger, "analyst": "ana"} if charge else {}
        ggdp.release_table(PEOPLE, out=folder / name, **charged, **asked)

    release("smoking.csv")
    gaussian = ggdp.ApproxDP(0.5, 1e-7)
    release("wards.csv", by=["ward", "smokes"], goal=gaussian, order=2, nonnegative=True)
    release("elsewhere.csv", charge=False)
    release("visits.csv", by="ward", unit="person", max_cells=2, charge=False)
    statistics = {"statistics": [ggdp.Mean("age"), ggdp.Quantile("age", [0.5])]}
    ranges = ggdp.Domain({**DOMAIN, "age": ggdp.Column(name="age", range=(0, 100), step=1)})
    release("ages.parquet", goal=ggdp.PureDP(1.0), domain=ranges, charge=False, **statistics)
    release("cut.csv", by="ward", unit="person", max_cells=1, count_cut=0.2, charge=False)
    release("keys.csv", by="ward", goal=ggdp.ApproxDP(1.0, 1e-6), domain=None, charge=False)
    release("replaced.csv", neighbours="replace-one", charge=False)
    chosen = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), candidates=["a", "b"], sensitivity=1).release([3, 5])
    (folder / "chosen.manifest.json").write_text(json.dumps(chosen.manifest))
    return folder


@pytest.fixture
def published(made, tmp_path):
    """A copy of the releases that a test may change."""
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


@pytest.fixture
def manifest(made):
    """The path of the manifest of a release, by its name."""
    return lambda name: made / f"{name}.manifest.json"


ANSWERS = """
[product]
name = "Wards & smoking"
description = "Counts of people by ward."
intended_use = "Planning."
region = "Everywhere"
published = 2026-03-31

[[curators]]
name = "Hospital of Médecine"
type = "Nonprofit"

[registry]
authors = ["The hospital"]
"""


@pytest.fixture
def answers(tmp_path):
    """Write a file of answers, and return its path."""

    def written(text=ANSWERS):
        file = tmp_path / "deployment.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return written
