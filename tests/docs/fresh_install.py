"""Run every example of the README and the pages after the README's own install.

``python tests/docs/fresh_install.py DIR [PAGE...]``, with pages such as docs/reference/tables.md if not all are to
run. DIR is made anew, with a copy of the clone for each page, and a virtual environment for each page that installs
something itself; the other pages share one. In each, the README's first ``pip install`` comes first. Then the blocks
of a page run in order, in its copy of the clone:

=====================  =====================================================================================
sh, console            with `bash -e`; in `console` blocks, the lines after ``$``
python                 as doctests, or as a script where there is no prompt; the blocks of a page are one session
toml                   is parsed
`pip install ...`      in a sentence is run before the first block of its section
=====================  =====================================================================================

A block below a line ``<!-- not run: why -->`` is left out, and so is the line ``make test``; a reproduction is run with
`--quick`. The first failure of each block is shown with its place, and the exit code is 1.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import traceback
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
FENCE = re.compile(r"^(`{3,})\s*(\S*)")
INSTALL = re.compile(r"(?:python -m )?pip install [^`\n#]+")
IN_A_SENTENCE = re.compile(rf"`({INSTALL.pattern})`")
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
# How a line of a page that takes long, or names the package index, is run from a clone.
REWRITTEN = (
    (re.compile(r"^make test\b.*$"), ""),
    # The README has another way to the same demo, for those without make.
    (re.compile(r"^(make demo)\b.*$"), r"\1 && rm -r demo-output"),
    (re.compile(r"^(ggdp reproduce\b)(?![^#]*--quick)"), r"\1 --quick"),
    (re.compile(r"(pip install .*)\bggdp\["), r"\1.["),
)


@dataclass(frozen=True)
class Block:
    """One example: the line it begins at, its language, what is run, and why it is not where it is not."""

    line: int
    language: str
    source: str
    left_out: str = ""


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page in the order in which they are run."""
    found: list[Block] = []
    lines = text.splitlines()
    section, place, why = 0, 0, ""
    while place < len(lines):
        line = lines[place]
        if fence := FENCE.match(line):
            end = next((k for k in range(place + 1, len(lines)) if lines[k].rstrip() == fence[1]), len(lines))
            if fence[2] in ("sh", "console", "python", "toml"):
                found.append(Block(place + 1, fence[2], "\n".join(lines[place + 1 : end]) + "\n", why))
            place, why = end + 1, ""
            continue
        if line.startswith("#"):
            section = len(found)
        for command in IN_A_SENTENCE.findall(line):
            found.insert(section, Block(place + 1, "sh", command + "\n"))
        if line.strip():
            why = mark[1] if (mark := NOT_RUN.match(line)) else ""
        place += 1
    return found


def commands(block: Block) -> str:
    """Return the script of a shell block."""
    lines = block.source.splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for pattern, instead in REWRITTEN:
        lines = [pattern.sub(instead, line) for line in lines]
    return "\n".join(lines) + "\n"


def installs(found: list[Block]) -> list[str]:
    """Return the lines of a page that install something."""
    shell = [commands(block) for block in found if block.language in ("sh", "console") and not block.left_out]
    return [line.strip() for script in shell for line in INSTALL.findall(script)]


class Page:
    """The examples of a page, run one after the other in an environment."""

    def __init__(self, name: str, clone: Path, environment: Path) -> None:
        self.name, self.clone = name, clone
        tools = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PIP_CONSTRAINT"))}
        self.variables = {**kept, "PATH": tools, "VIRTUAL_ENV": str(environment)}
        self.python = environment / "bin" / "python"
        self.session: subprocess.Popen[str] | None = None

    def run(self, block: Block) -> str:
        """Run a block and return what went wrong, or nothing."""
        if block.language == "toml":
            try:
                tomllib.loads(block.source)
            except tomllib.TOMLDecodeError as wrong:
                return str(wrong)
            return ""
        return self._in_python(block) if block.language == "python" else self.in_shell(commands(block))

    def in_shell(self, script: str) -> str:
        done = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=self.clone,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        return f"exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}" if done.returncode else ""

    def _in_python(self, block: Block) -> str:
        if self.session is None:
            self.session = subprocess.Popen(
                [self.python, Path(__file__).resolve(), "--session"],
                cwd=self.clone,
                env=self.variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self.session.stdin is not None
        assert self.session.stdout is not None
        self.session.stdin.write(json.dumps({"name": self.name, "line": block.line, "source": block.source}) + "\n")
        self.session.stdin.flush()
        answer = self.session.stdout.readline()
        return str(json.loads(answer)) if answer else "the Python session ended"

    def close(self) -> None:
        if self.session is not None:
            self.session.communicate()


def session() -> None:
    """Run blocks of Python that come in on standard input, and answer each with what went wrong."""
    answers, names = sys.stdout, {"__name__": "__main__"}
    sys.path.pop(0)  # the directory of this file
    for line in sys.stdin:
        asked = json.loads(line)
        importlib.invalidate_caches()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            wrong = _failure(asked["source"], names, asked["name"], asked["line"])
        answers.write(json.dumps(wrong and wrong + printed.getvalue()) + "\n")
        answers.flush()


def _failure(source: str, names: dict[str, object], page: str, line: int) -> str:
    if ">>>" not in source:
        try:
            exec(compile("\n" * line + source, page, "exec"), names)
        except Exception:
            return traceback.format_exc()
        return ""
    test = doctest.DocTestParser().get_doctest(source, names, page, page, line)
    messages: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS | doctest.REPORT_ONLY_FIRST_FAILURE).run(
        test, out=messages.append, clear_globs=False
    )
    names.update(test.globs)
    return "".join(messages)


def copied(clone: Path) -> Path:
    """Return a copy of the files of this repository, without what is built from them."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clone / name)
    return clone


def check(directory: Path, only: tuple[str, ...] = ()) -> int:
    """Run the examples and return how many failed."""
    shutil.rmtree(directory, ignore_errors=True)
    pages = {page.relative_to(ROOT).as_posix(): blocks(page.read_text("utf-8")) for page in page_files()}
    first = installs(pages["README.md"])[0]
    failed, made = 0, set()
    for name, found in pages.items():
        if not found or (only and name not in only):
            continue
        own = [line for line in installs(found) if line != first]
        place = re.sub(r"\W+", "-", name)
        environment = directory / "environments" / (place if own else "shared")
        page = Page(name, copied(directory / "clones" / place), environment)
        if environment not in made:
            made.add(environment)
            venv.create(environment, with_pip=True)
            print(f"{name}: a fresh environment, {first}", flush=True)
            if wrong := page.in_shell(first):
                print(wrong)
                return failed + 1
        for block in found:
            wrong = "" if block.left_out else page.run(block)
            failed += bool(wrong)
            said = f"not run: {block.left_out}" if block.left_out else "FAILED" if wrong else "ok"
            print(f"{name}:{block.line}: {block.language}: {said}", flush=True)
            if wrong:
                print("    " + wrong.strip().replace("\n", "\n    "), flush=True)
        page.close()
    return failed


def page_files() -> list[Path]:
    """Return the README and the pages of the documentation."""
    built = (ROOT / "docs" / "_build", ROOT / "docs" / "reference" / "api")
    pages = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not any(page.is_relative_to(b) for b in built)]
    return [ROOT / "README.md", *pages]


def main() -> None:
    if sys.argv[1:] == ["--session"]:
        session()
        return
    directory, *only = sys.argv[1:]
    failed = check(Path(directory).resolve(), tuple(only))
    print(f"{failed} examples failed" if failed else "every example runs after the README's own install")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
