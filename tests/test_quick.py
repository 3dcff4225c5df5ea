from pathlib import Path

import pytest
from tests.quick import LAST, files_of_changes, files_of_subject, is_test

ROOT = Path(__file__).parents[1]
MODULES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "src/ggdp/ledger").glob("[a-z]*.py"))]


def test_a_subject_has_the_tests_and_examples_in_whose_path_it_is():
    ranks = files_of_subject("ledger")
    assert {file for file, rank in ranks.items() if rank == 0} >= {*MODULES, "tests/ledger/test_ledger.py"}
    assert ranks["tests/cli/test_ledger.py"] == 1
    assert not any("ledger" not in file for file in ranks)
    assert files_of_subject("no such subject") == {}


@pytest.mark.parametrize("module", MODULES)
def test_a_changed_module_has_its_examples_the_tests_that_name_it_and_those_of_its_package(module):
    ranks = files_of_changes([module])
    assert ranks[module] == 0
    assert {str(path.relative_to(ROOT)) for path in (ROOT / "tests/ledger").glob("test_*.py")} < ranks.keys()
    assert "tests/sabotage/test_sabotages.py" in ranks
    assert max(ranks.values()) < LAST
    name = f"tests/ledger/test_{Path(module).stem}.py"
    assert ranks.get(name, 1) == 1


def test_a_changed_test_comes_first_and_a_changed_helper_has_the_tests_beside_it():
    assert files_of_changes(["tests/cli/test_ledger.py"]) == {"tests/cli/test_ledger.py": 0}
    helped = files_of_changes(["tests/ledger/writers.py"])
    assert helped["tests/ledger/test_ledger.py"] == 2
    assert all(is_test(file) and file.startswith("tests/ledger/") for file in helped)
    assert any(file.startswith("tests/docs/") for file in files_of_changes(["README.md"]))
    assert files_of_changes(["LICENSE"]) == {}
