"""The API page lists every public name."""

from pathlib import Path

import pytest

import ggdp
from ggdp import calibration, datasets, errors, mechanisms, noise, planning, plots, releases, reports
from ggdp_reproduction import comparisons, figures

API = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
LISTED = {line.strip().rpartition(".")[2] for line in API.splitlines() if line.startswith("   ")}


MODULES = [
    ggdp,
    calibration,
    comparisons,
    datasets,
    figures,
    mechanisms,
    noise,
    planning,
    plots,
    releases,
    reports,
]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_on_the_page(module):
    assert set(module.__all__) - {"__version__"} <= LISTED


def test_every_error_is_on_the_page():
    raised = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.GgdpError)]
    assert len(raised) > 10
    assert {one.__name__ for one in raised} <= LISTED
