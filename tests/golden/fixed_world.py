"""A process in which nothing changes from run to run but the code: the one place where randomness and time are fixed.

What is random or depends on the day, the machine or the versions of libraries is replaced before ggdp is imported:

==============  ======================================================================================================
os.urandom      bytes of a fixed stream, one stream for each number of bytes that is asked for: keys of noise (64
                bytes), identities of ledgers (16) and names of temporary files do not shift each other
datetime.now    one instant, also for records of ledgers
versions        of ggdp in manifests, and of python-flint in certificates
environment     width of the terminal, language, time zone, hashes of Python, cache of calibrations, and which
                instructions of the processor OpenBLAS and NumPy use
==============  ======================================================================================================

So nothing that ggdp writes is masked: releases of the command line, ledgers with their hashes and reports are compared
as they are. Only temporary directories are replaced in texts (`HERE`).
"""

import contextlib
import ctypes
import gc
import hashlib
import importlib.metadata
import os
import sys
import time
from datetime import UTC, datetime

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "GGDP_CACHE": "off",
    "COLUMNS": "80",
    "LINES": "40",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "LC_ALL": "C.UTF-8",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    # Instructions that every x86-64 processor with AVX2 has: OpenBLAS adds in another order on newer ones, and NumPy's
    # functions for AVX-512 (exp, log, power, ...) have other last digits than those of the C library.
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "MPLBACKEND": "agg",
}
# Would change what commands do or print.
UNWANTED = ("GGDP_TEMP_DIR", "GGDP_SIGN_PASSPHRASE", "FORCE_COLOR", "_TYPER_STANDARD_TRACEBACK", "PYTHONWARNINGS")
INSTANT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
VERSIONS = {"ggdp": "0.1.0"}
FLINT = "0.9.0"
HERE = "<here>"


def environment():
    """Return the environment of a process whose output is compared."""
    kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    return {**kept, **ENVIRONMENT}


def is_fixed():
    """Return whether this process was started in that environment."""
    return all(os.environ.get(name) == value for name, value in ENVIRONMENT.items())


def fix():
    """Fix randomness, time and versions in this process; nothing of ggdp may have been imported yet."""
    loaded = [name for name in sys.modules if name.partition(".")[0] == "ggdp"]
    assert not loaded, f"imported before the world was fixed: {loaded}"
    time.tzset()
    os.urandom = _Bytes()
    _fix_clock()
    _fix_versions()


def restart_randomness():
    """Begin all streams of `os.urandom` anew."""
    os.urandom.asked.clear()


class _Bytes:
    """In place of `os.urandom`."""

    def __init__(self):
        self.asked = {}

    def __call__(self, size):
        self.asked[size] = number = self.asked.get(size, 0) + 1
        return hashlib.shake_256(b"golden %d %d" % (size, number)).digest(size)


def _fix_clock():
    def now(_, tz=None):
        return INSTANT.replace(tzinfo=None) if tz is None else INSTANT.astimezone(tz)

    # The class itself is changed, since a subclass would be another type than that of dates in tables.
    (own,) = (found for found in gc.get_referents(datetime.__dict__) if isinstance(found, dict))
    own["now"] = classmethod(now)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))
    assert datetime.now(UTC) == INSTANT


def _fix_versions():
    installed = importlib.metadata.version
    importlib.metadata.version = lambda name: VERSIONS.get(name) or installed(name)
    with contextlib.suppress(ImportError):
        import flint

        flint.__version__ = FLINT
