import importlib
import pkgutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import ggdp

HEAVY = (
    "numpy",
    "scipy",
    "flint",
    "matplotlib",
    "typer",
    "rich",
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "pyspark",
    "sqlalchemy",
    "alembic",
)
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(ggdp.__path__, "ggdp.") if "__main__" not in module.name
)


def test_importing_the_package_loads_no_heavy_library():
    code = "import ggdp, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(HEAVY) & set(loaded)


def test_calibrating_loads_neither_scipy_stats_nor_matplotlib():
    code = (
        "import ggdp, sys; ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.disjoint(1), order=3).std;"
        "print(' '.join(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scipy.stats", "matplotlib"} & set(loaded)


@pytest.mark.parametrize("name", ["ggdp", *MODULES])
def test_every_public_name_is_there(name):
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", []):
        assert hasattr(module, public), f"{name}.{public}"


def test_no_two_modules_have_the_same_name():
    names = Counter(file.stem for file in Path(ggdp.__path__[0]).rglob("*.py") if file.stem != "__init__")
    assert not {name for name, count in names.items() if count > 1}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'laplace'"):
        ggdp.laplace  # noqa: B018


def test_dir_lists_the_public_names():
    assert dir(ggdp) == sorted(ggdp.__all__)
