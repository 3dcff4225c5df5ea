"""What the messages of errors say to do."""

import re
import tomllib
from pathlib import Path

import pytest

from ggdp.errors import install_hint

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_hint_for_an_extra_works_from_the_index_and_from_a_clone(extra):
    assert install_hint(extra) == f"pip install 'ggdp[{extra}]' (in a clone: pip install '.[{extra}]')"


def test_every_hint_is_made_in_one_place_and_names_an_extra_that_there_is():
    asked = []
    for file in sorted((ROOT / "src").rglob("*.py")):
        text = file.read_text("utf-8")
        asked += re.findall(r"install_hint\(['\"](\w+)['\"]\)", text)
        assert file.name == "errors.py" or not re.search(r"pip install ['\"]?(ggdp|\.)\[", text), file
    assert set(asked) == set(EXTRAS)
