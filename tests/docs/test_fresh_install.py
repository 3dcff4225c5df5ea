"""The script that runs every example after the README's own install, on pages that are made up."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs import fresh_install
from tests.docs.fresh_install import Block, Page, blocks, commands, installs, page_files

PAGE = """# Title

```python
>>> 1 + 1
2
```

## One

```sh
make test    # everything
ggdp reproduce all --out there    # or with --quick
ggdp check a.csv \\
    --by b
```

It needs more (`pip install 'ggdp[spark]'`).

<!-- not run: it takes a cluster -->

```console
$ ggdp plan
what it prints
```

```{figure} picture.svg
pip install nothing
```

```toml
a = 1
```
"""


def test_the_blocks_of_a_page_are_found_in_the_order_they_run():
    assert [(block.line, block.language, block.left_out) for block in blocks(PAGE)] == [
        (3, "python", ""),
        (17, "sh", ""),
        (10, "sh", ""),
        (21, "console", "it takes a cluster"),
        (30, "toml", ""),
    ]


def test_lines_are_run_as_a_clone_can_run_them():
    _, install, shell, console, _ = blocks(PAGE)
    assert commands(install) == "pip install '.[spark]'\n"
    assert (
        commands(shell)
        == "\nggdp reproduce --quick all --out there    # or with --quick\nggdp check a.csv \\\n    --by b\n"
    )
    assert commands(console) == "ggdp plan\n"
    assert installs(blocks(PAGE)) == ["pip install '.[spark]'"]


@pytest.fixture
def page(tmp_path):
    """A page in the environment of the tests."""
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    python = environment / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    page = Page("page.md", tmp_path, environment)
    yield page
    page.close()


@pytest.mark.parametrize(
    ("language", "source", "said"),
    [
        ("python", ">>> 1 + 1\n3\n", 'File "page.md", line 8'),
        ("python", "x = 1\nraise ValueError(x)\n", 'File "page.md", line 9'),
        ("sh", "true\nfalse\ntrue\n", "exit code 1"),
        ("sh", "echo why >&2; exit 3\n", "exit code 3\nwhy"),
        ("toml", "a = [\n", "Invalid value"),
    ],
)
def test_a_block_that_fails_is_noticed_with_its_place(page, language, source, said):
    assert said in page.run(Block(7, language, source))


def test_the_python_of_a_page_is_one_session(page):
    assert page.run(Block(1, "python", ">>> x = 2\n")) == ""
    assert page.run(Block(4, "python", "x = x + 1\nprint(x)\n")) == ""
    assert page.run(Block(8, "python", ">>> x\n3\n")) == ""
    assert "NameError" in page.run(Block(9, "python", ">>> y\n3\n"))


def test_the_session_does_not_see_the_source_of_the_tests():
    asked = json.dumps(
        {"name": "page.md", "line": 1, "source": "import sys\nassert not any('tests' in p for p in sys.path)"}
    )
    script = Path(fresh_install.__file__)
    done = subprocess.run(
        [sys.executable, script, "--session"], input=asked, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == ""


def test_the_readme_installs_first_and_every_page_is_read():
    readme, *pages = page_files()
    assert installs(blocks(readme.read_text("utf-8")))[0] == "pip install '.[plots]'"
    assert {"tables.md", "reproduction.md", "index.md"} <= {page.name for page in pages}
