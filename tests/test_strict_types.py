"""Scripts of users who run mypy --strict have no errors of ours, and mistakes in them are found."""

import subprocess
import sys

import pytest

SCRIPT = """
import polars as pl

import ggdp

people = pl.DataFrame({"sex": ["f", "m"], "smokes": ["no", "yes"]})
domain = ggdp.Domain({"sex": ["f", "m"], "smokes": ["no", "yes"]})
release = ggdp.release_table(people, by=["sex", "smokes"], goal=1.0, domain=domain)
if release.guarantee is not None:
    spent: float = release.guarantee.epsilon + release.guarantee.delta
frame = release.to_pandas()
print(frame.head(), release["sex", "smokes"].to_pandas().shape, release.manifest["guarantee"])
plan = ggdp.plan_table("sex", epsilon=1.0, delta=1e-6, domain={"sex": ["f", "m"]})
again: float = plan.guarantee.epsilon
noise = ggdp.calibrate(epsilon=1.0, sensitivity=ggdp.Sensitivity.disjoint(1), order=1)
best: float = ggdp.plan(1.0, ggdp.Sensitivity.disjoint(1)).best.order
total: float = ggdp.compose([(noise, 3), ggdp.PureDP(1.0)]).guarantee(delta=1e-6).epsilon
ledger = ggdp.Ledger.create("people.ledger", 1.0)
"""
WRONG = """
import ggdp

ggdp.plan_table("sex", epsilon="1.0")
ggdp.calibrate("pure", ggdp.Sensitivity.disjoint(1), order=1)
"""


@pytest.mark.exhaustive
def test_mypy_strict_finds_no_error_but_those_of_the_user(tmp_path):
    for name, script, errors in (("right.py", SCRIPT, 0), ("wrong.py", WRONG, 2)):
        (tmp_path / name).write_text(script, encoding="utf-8")
        call = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir=cache", name]
        found = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
        said = [line for line in found.stdout.splitlines() if "error:" in line]
        assert len(said) == errors, found.stdout
        assert all(line.startswith(name) for line in said)
