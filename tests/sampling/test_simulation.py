"""Floating-point draws: their place and name say that they are for simulation."""

import re
from pathlib import Path

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.sampling.simulation import simulated_not_private


def test_draws_are_those_of_the_generator():
    law = ggdp.GeneralizedGaussian(order=3, scale=2.0)
    one, two = (simulated_not_private(law, (2, 3), generator=np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(one, two)
    assert one.dtype == np.float64


def users_of(pattern):
    """Modules of the package that mention a pattern; those of the paper simulate, and release nothing."""
    package = Path(ggdp.__file__).parent
    return {
        path.name
        for path in package.rglob("*.py")
        if "paper" not in path.relative_to(package).parts and re.search(pattern, path.read_text(encoding="utf-8"))
    }


def test_nothing_but_the_paper_uses_them():
    assert users_of(r"sampling\.simulation|simulated_not_private") == {"simulation.py"}


def test_no_private_path_adds_a_generator_of_numpy():
    # The page simulates tables, which no release is made of.
    assert users_of(r"np\.random") <= {"simulation.py", "monte_carlo.py", "simulated_table.py"}


def test_the_paper_releases_nothing():
    package = Path(ggdp.__file__).parent / "paper"
    for path in package.rglob("*.py"):
        assert not re.search(r"Mechanism\(|\.release\(", path.read_text(encoding="utf-8")), path.name


def test_only_the_law_on_the_reals_is_simulated():
    with pytest.raises(ArgumentError, match="law = "):
        simulated_not_private(ggdp.IntegerNoise(order=3, scale=2.0), 3, generator=np.random.default_rng(1))


@pytest.mark.parametrize("generator", [None, 3, np.random])
def test_a_generator_is_required(generator):
    with pytest.raises(ArgumentError, match="generator"):
        simulated_not_private(ggdp.GeneralizedGaussian(order=3, scale=2.0), 3, generator=generator)
