"""`rng` says where random bits come from; `source`, which is the data elsewhere, is its name for one more version."""

import inspect
import pkgutil
import warnings
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.mechanisms import QuantilePlan
from ggdp.noise import TruncatedIntegerNoise

COUNTS = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer"))
PLAN = ggdp.plan_table("a", 1.0, {"a": ["x", "y"]}, unit="row")
ROWS = pa.table({"a": ["x", "y", "x"], "n": [1, 2, 3]})
STUDY = ggdp.Study(request=PLAN.request)
EXPONENTIAL = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=10**5)
CALLS = {
    "IntegerNoise.sample": lambda **given: ggdp.IntegerNoise(order=2, scale=9.0).sample(40, **given).tolist(),
    "TruncatedIntegerNoise.around": lambda **given: (
        TruncatedIntegerNoise(order=2, scale=9.0, lower=0, upper=10**4).around([500] * 40, **given).tolist()
    ),
    "Mechanism.release": lambda **given: COUNTS.release([3] * 40, **given).values.tolist(),
    "ExponentialMechanism.release": lambda **given: [int(EXPONENTIAL.release(np.zeros(10**5), **given).values)],
    "TablePlan.run": lambda **given: PLAN.run(ROWS, **given).to_arrow()["count"].to_pylist(),
    "Study.run": lambda **given: STUDY.run(ROWS, **given).to_arrow()["count"].to_pylist(),
    "release_table": lambda **given: (
        ggdp.release_table(ROWS, "a", 1.0, {"a": ["x", "y"]}, unit="row", **given).to_arrow()["count"].to_pylist()
    ),
    "RangePlan.run": lambda **given: [ggdp.plan_range("n", 1.0, unit="row").run(ROWS, **given).lower],
    "private_range": lambda **given: [ggdp.private_range(ROWS, "n", 1.0, unit="row", **given).lower],
}


@pytest.mark.parametrize("name", CALLS)
def test_the_old_name_still_works_with_a_warning_that_names_the_new_one(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = CALLS[name](rng=ggdp.SeededSource(seed=1))
    with pytest.warns(DeprecationWarning, match="`source` is now called `rng`") as caught:
        old = CALLS[name](source=ggdp.SeededSource(seed=1))
    assert old == new
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", CALLS)
def test_both_names_are_refused(name):
    both = {"rng": ggdp.SeededSource(seed=1), "source": ggdp.SeededSource(seed=2)}
    with pytest.warns(DeprecationWarning, match="`rng`"), pytest.raises(ArgumentError, match="old name of `rng`"):
        CALLS[name](**both)


# The program itself, and what needs Spark or a browser.
LEFT_OUT = ("ggdp.__main__", "ggdp.sources.spark", "ggdp.explorer", "ggdp.cli", "ggdp.ledger.migrations")


def functions():
    """Yield the functions and methods of the library by name."""
    for found in pkgutil.walk_packages(ggdp.__path__, "ggdp."):
        if found.name.startswith(
            ("ggdp.__main__", "ggdp.sources.spark", "ggdp.explorer", "ggdp.cli", "ggdp.ledger.migrations")
        ):
            continue
        module = import_module(found.name)
        for value in vars(module).values():
            if inspect.isfunction(value):
                yield value.__qualname__, value
            elif inspect.isclass(value):
                yield from ((one.__qualname__, one) for one in vars(value).values() if inspect.isfunction(one))


def test_every_public_function_that_draws_has_both_names_and_one_signature():
    drawing = {name: one for name, one in functions() if "rng" in inspect.signature(one).parameters}
    public = {name for name, one in drawing.items() if hasattr(one, "__wrapped__")}
    assert public >= {*CALLS} - {"IntegerNoise.sample", "Study.run", "TruncatedIntegerNoise.around"} | {
        QuantilePlan.draw.__qualname__
    }
    for name, one in drawing.items():
        assert "source" not in inspect.signature(one).parameters, name


def test_no_function_takes_random_bits_by_another_name():
    for name, one in functions():
        for part in inspect.signature(one).parameters.values():
            assert part.name in ("rng", "bits") or "Source" not in str(part.annotation).replace("TableSource", ""), name
