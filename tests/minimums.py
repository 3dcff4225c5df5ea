"""Run the tests with the oldest versions that pyproject.toml allows: ``python tests/minimums.py FOLDER``.

The lower ends of the dependency ranges are read from pyproject.toml and pinned, in an environment of their own. The
tools that run the tests are the current ones.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lowest(requirement: str) -> str:
    """Return ``name==lowest`` for ``name>=lowest,<highest``."""
    found = re.fullmatch(r"([A-Za-z0-9_.-]+(?:\[[a-z]+\])?)>=([0-9.]+)(,.*)?", requirement)
    if found is None:
        sys.exit(f"error: pyproject.toml has {requirement!r}, which has no lower end")
    return f"{found[1]}=={found[2]}"


def main() -> None:
    folder = Path(sys.argv[1])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = list(dict.fromkeys(sum(extras.values(), project["project"]["dependencies"])))
    needed = project["dependency-groups"]["test"]
    pins = [lowest(requirement) for requirement in wanted + [x for x in needed if re.match("pandas|polars", x)]]
    tools = [tool for tool in needed if re.match("hypothesis|ibis|mpmath|pixeltable|pytest", tool)]
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    projects = ["--editable", str(ROOT), "--editable", str(ROOT / "reproduction")]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *pins, *tools, *projects], check=True)
    print("testing with " + ", ".join(pins))
    done = subprocess.run(
        [python, "-m", "pytest", "-n", "2", "-m", "not exhaustive", "--ignore", "tests/docs"], cwd=ROOT
    )
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
