"""Floating-point draws: their place and name say that they are for simulation."""

import re
from pathlib import Path

import numpy as np
import pytest

import ggdp
import ggdp_reproduction
from ggdp.errors import ArgumentError
from ggdp_reproduction.simulation import simulated_not_private


def test_draws_are_those_of_the_generator():
    law = ggdp.GeneralizedGaussian(order=3, scale=2.0)
    one, two = (simulated_not_private(law, (2, 3), generator=np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(one, two)
    assert one.dtype == np.float64


def users_of(pattern):
    """Modules of ggdp that mention a pattern; the reproduction simulates, and releases nothing."""
    package = Path(ggdp.__file__).parent
    return {path.name for path in package.rglob("*.py") if re.search(pattern, path.read_text(encoding="utf-8"))}


def test_nothing_but_the_reproduction_uses_them():
    assert users_of("simulated_not_private|import ggdp_reproduction|from ggdp_reproduction") == set()


def test_no_private_path_adds_a_generator_of_numpy():
    # The page simulates tables, which no release is made of.
    assert users_of(r"np\.random") <= {"simulated_table.py"}


def test_the_paper_releases_nothing_but_from_seeded_sources():
    """Such a release has no guarantee, and what it is of are zeros."""
    modules = sorted(Path(ggdp_reproduction.__file__).parent.rglob("*.py"))
    assert modules
    for path in modules:
        calls = re.findall(r"\.release\(.*", path.read_text(encoding="utf-8"))
        assert all(call.startswith(".release(zeros, rng=rng)") for call in calls), path.name


def test_only_the_law_on_the_reals_is_simulated():
    with pytest.raises(ArgumentError, match="law = "):
        simulated_not_private(ggdp.IntegerNoise(order=3, scale=2.0), 3, generator=np.random.default_rng(1))


@pytest.mark.parametrize("generator", [None, 3, np.random])
def test_a_generator_is_required(generator):
    with pytest.raises(ArgumentError, match="generator"):
        simulated_not_private(ggdp.GeneralizedGaussian(order=3, scale=2.0), 3, generator=generator)
