"""Install ggdp next to each library that people use with it: ``python tests/neighbours_installed.py DIR [NAME...]``.

One new virtual environment in DIR for each library, or for those whose names follow. In each, pip installs ggdp and the
library in one call, so that it must find versions that fit both. Then a process imports both, makes a release with
ggdp, and runs a small example of the library. The exit code is 1 if one fails.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What every environment runs.
RELEASE = """
import ggdp, pyarrow
people = pyarrow.table({"smokes": ["no", "yes", "no"]})
release = ggdp.release_table(people, by="smokes", goal=1.0, domain={"smokes": ["no", "yes"]}, unit="row")
assert release.to_arrow()["smokes"].to_pylist() == ["no", "yes"]
assert release.guarantee == ggdp.PureDP(1.0, "add-remove")
one = ggdp.Sensitivity.disjoint(1)
"""

PANDAS = """
import pandas as pd
assert pd.__version__.startswith("{}.")
people = pd.DataFrame({{"smokes": ["no", "yes", None], "age": [30, 40, 50]}})
smokes = {{"smokes": ["no", "yes"], "age": {{"range": [0, 100]}}}}
mean = [ggdp.Mean("age")]
means = ggdp.release_table(people, by="smokes", goal=1.0, domain=smokes, statistics=mean, unit="row").to_pandas()
assert list(means["smokes"]) == ["no", "yes"] and "mean_age" in means
"""

# What pip installs, and an example of it that ggdp is compared with. Tumult Analytics 0.21 is missing: it requires
# Tumult Core 0.19, and so pyarrow 18, with whose views of text DuckDB 2.0 crashes on some files.
NEIGHBOURS = {
    "dp-accounting": """
import dp_accounting
from dp_accounting import pld
accountant = pld.PLDAccountant()
accountant.compose(dp_accounting.LaplaceDpEvent(3), 40)
accountant.compose(dp_accounting.GaussianDpEvent(5))
laplace, gaussian = ggdp.Noise(order=1, scale=3, sensitivity=one), ggdp.Noise(order=2, std=5, sensitivity=one)
lower, upper = ggdp.compose([(laplace, 40), gaussian]).delta(10)
# Its grid of losses rounds towards privacy.
assert lower <= accountant.get_delta(10) <= 1.001 * upper
""",
    "opendp": """
import opendp.prelude as dp
dp.enable_features("contrib")
count = dp.t.make_count(dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()) >> dp.m.then_laplace(1.0)
assert isinstance(count([1, 2, 3]), int)
noise = ggdp.calibrate(1.0, one, order=1, support="integer")
assert abs(count.map(1) - 1.0) < 1e-9 and abs(noise.scale - 1.0) < 1e-9
""",
    # diffprivlib 0.6.6 by itself cannot be imported with a newer scikit-learn.
    "diffprivlib scikit-learn<1.8": """
from diffprivlib.mechanisms import Laplace
laplace = Laplace(epsilon=1.0, sensitivity=1.0)
assert isinstance(laplace.randomise(3.0), float)
assert laplace.variance(3.0) == 2.0 * ggdp.calibrate(1.0, one, order=1).scale ** 2
""",
    "tmlt.core>=0.20": """
from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise
noise = ggdp.calibrate(1.0, one, order=1, support="integer")
geometric = AddGeometricNoise(alpha=1)
assert isinstance(geometric(3), int)
assert float(geometric.privacy_function(1).to_float(round_up=True)) == noise.guarantee.epsilon and noise.scale == 1.0
""",
    "pandas<3": PANDAS.format(2),
    "pandas>=3": PANDAS.format(3),
}


def main() -> None:
    folder, failed = Path(sys.argv[1]), []
    for number, (name, example) in enumerate(NEIGHBOURS.items()):
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        place = folder / str(number)
        venv.create(place, with_pip=True, clear=True)
        python = place / "bin" / "python"
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT), *name.split()]
        installed = subprocess.run(pip).returncode == 0
        # Elsewhere, so that ggdp is the installed one.
        works = installed and subprocess.run([python, "-c", RELEASE + example], cwd=place).returncode == 0
        print(
            f"{name}: {'works' if works else 'fails when it is used' if installed else 'cannot be installed'}",
            flush=True,
        )
        failed += [] if works else [name]
    sys.exit(f"error: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
