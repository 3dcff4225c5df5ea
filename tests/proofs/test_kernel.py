"""The kernel stands alone: certificates are verified where no search can be imported."""

import json
import subprocess
import sys

import pytest
from tests.conformance.kinds import KINDS, VECTORS

# Everything but the kernel: searches, estimates, samplers, and the libraries of floats.
VERIFIER = """
import json, sys

PACKAGES = ("calibration", "planning", "noise", "mechanisms")
REMOVED = (*("ggdp." + package for package in PACKAGES), "attr", "attrs", "numpy", "scipy")

class Removed:
    def find_spec(self, name, path=None, target=None):
        if name in REMOVED or name.startswith(tuple(package + "." for package in REMOVED)):
            raise ImportError(f"{name} was removed")

sys.meta_path.insert(0, Removed())
import ggdp

for record in json.load(sys.stdin):
    ggdp.verify(record)
    record["parameters"]["scale"] *= 0.9
    try:
        ggdp.verify(record)
    except ggdp.GgdpError:
        continue
    raise SystemExit("a certificate of a smaller scale was verified")
assert not set(REMOVED) & set(sys.modules)
"""


def verified_alone(kinds):
    records = [kind.mechanism.certificate.to_dict() for kind in kinds]
    done = subprocess.run(
        [sys.executable, "-c", VERIFIER], input=json.dumps(records), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_certificates_are_verified_without_searches_and_without_numpy():
    verified_alone([kind for kind in (*KINDS, *VECTORS) if not kind.slow])


@pytest.mark.exhaustive
def test_slow_certificates_are_verified_without_searches_and_without_numpy():
    verified_alone([kind for kind in KINDS if kind.slow])
