"""Ctrl-C while modules are loaded ends a command as it does later: in one line, without a traceback."""

import os
import subprocess
import sys

import pytest

# Python runs a module of this name when it starts. The signal arrives while the named module is being loaded.
INTERRUPTING = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_MODULE"]:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
"""
ENTRIES = {"script": ["-c", "import sys; from ggdp.cli import main; sys.exit(main())"], "module": ["-m", "ggdp"]}


def interrupted(tmp_path, entry, module, *arguments):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    environment = os.environ | {"PYTHONPATH": path, "INTERRUPTED_MODULE": module}
    return subprocess.run(
        [sys.executable, *ENTRIES[entry], *arguments], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("module", ["ggdp.cli.app", "typer", "ggdp.privacy", "flint"])
def test_an_interrupt_while_modules_are_loaded_is_one_line(tmp_path, entry, module):
    ended = interrupted(tmp_path, entry, module, "belief", "--epsilon", "1", "--prior", "0.1")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "error: interrupted\n")


def test_a_module_that_is_not_loaded_interrupts_nothing(tmp_path):
    ended = interrupted(tmp_path, "module", "duckdb", "--version")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_nothing_but_the_standard_library_is_loaded_before_an_interrupt_is_caught():
    code = "import ggdp.cli, sys; print(' '.join(name for name in sys.modules if name.startswith('ggdp')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert sorted(loaded) == ["ggdp", "ggdp.cli"]
