"""The budget holds: all shares sum to at most 1e-9, and nothing is compared without one."""

import ast
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from tests.statistical import budget

FOLDER = Path(__file__).parent
# These test the helpers themselves, on scripted draws: nothing in them is left to chance.
OF_HELPERS = {"test_budget", "test_fit", "test_laws"}
REPRODUCTION = FOLDER.parents[1] / "reproduction" / "tests"
MODULES = [
    *sorted(path for path in FOLDER.glob("test_*.py") if path.stem not in OF_HELPERS),
    REPRODUCTION / "test_simulated_law.py",
]


def granted():
    """The comparisons that the parametrisations of all tests are allowed, by name."""
    total = Counter()
    for path in MODULES:
        spec = spec_from_file_location(f"declared_{path.stem}", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        for test in (value for key, value in vars(module).items() if key.startswith("test_")):
            for mark in (mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"):
                allowances = [item for param in mark.args[1] for item in getattr(param, "values", ())]
                for allowance in (item for item in allowances if isinstance(item, budget.Allowance)):
                    total[allowance.name] += allowance.comparisons
    return total


def test_all_shares_together_are_at_most_one_in_a_billion():
    assert budget.TOTAL == 1e-9
    spent = sum(comparisons * budget.share() for comparisons in granted().values())
    assert 0.99 * budget.TOTAL < spent <= budget.TOTAL


def test_every_declared_comparison_is_granted_once_and_no_other():
    assert granted() == Counter(budget.COMPARISONS)


def test_no_statistical_test_takes_its_level_from_elsewhere():
    """Levels reach `examined` and `compared` only through the assertions of fit, which ask an allowance."""
    for path in [*FOLDER.parent.rglob("*.py"), *REPRODUCTION.rglob("*.py")]:
        if path.parent == FOLDER and path.stem in {*OF_HELPERS, "fit"}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests.statistical"):
                assert path.parent == FOLDER or path in MODULES, f"{path} compares draws outside of the budget"
                assert not {alias.name for alias in node.names} & {"examined", "compared", "fit"}, path


def test_a_test_without_a_share_is_refused():
    with pytest.raises(ValueError, match="has no share of the false-alarm budget"):
        budget.Allowance("a test nobody declared", 1)
    with pytest.raises(ValueError, match="makes 2 comparisons, but"):
        budget.compares("a test nobody declared", [1, 2], each=1, fast=10)


def test_another_number_of_comparisons_than_declared_is_refused():
    made = budget.COMPARISONS["binomial"]
    with pytest.raises(ValueError, match=f"makes {made + 1} comparisons"):
        budget.compares("binomial", range(made + 1), each=1, fast=10)


def test_an_allowance_gives_its_comparisons_and_no_more():
    allowance = budget.Allowance("binomial", 2)
    assert allowance.level() == allowance.level() == budget.share()
    with pytest.raises(ValueError, match="more comparisons than it declared"):
        allowance.level()
