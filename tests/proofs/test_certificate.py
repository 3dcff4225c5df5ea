import dataclasses
import json
from functools import cache

import pytest

import ggdp
from ggdp.calibration.calibration import calibration_of
from ggdp.calibration.least_scale import least_proposal
from ggdp.errors import CertificateError
from ggdp.proofs import certificate as certificates
from ggdp.proofs.noise_law import Norm
from ggdp.proofs.worst_case import BOUNDS, Question

ONE = ggdp.Sensitivity.disjoint(1)
TWO = ggdp.Sensitivity.histogram("replace-one")

GROUPS = Question(
    goal=ggdp.PureDP(1),
    sensitivity=ggdp.Sensitivity.groups([2, 3]),
    order=1.0,
    support="integer",
    norm=Norm(kind="added", groups=(2, 3)),
)
CALIBRATIONS = {
    "laplace": lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=1),
    "minkowski": lambda: calibration_of(GROUPS, *least_proposal(GROUPS), method="tight"),
    "shift": lambda: ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ONE, order=3),
    "integer-shift": lambda: ggdp.calibrate(ggdp.ProbabilisticDP(1, 1e-3), ONE, order=1.5, support="integer"),
    "integer-gaussian": lambda: ggdp.calibrate(
        ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.norm(2, 1.5, dimension=9), order=2, support="integer"
    ),
    "corner": lambda: ggdp.calibrate(ggdp.ApproxDP(1, 0.05), TWO, order=3),
    # At order 2 on the integers it takes five times as long.
    "absolute-sum": lambda: ggdp.calibrate(ggdp.ProbabilisticDP(1, 0.05), TWO, order=3),
    "radial": lambda: ggdp.calibrate(ggdp.ApproxDP(1, 1e-6), ggdp.Sensitivity.norm(3, 1, dimension=10), order=3),
    "bounded-joint": lambda: ggdp.calibrate(
        ggdp.PureDP(1), ggdp.Sensitivity.box([1] * 10, norm=(1, 1)), order=1, bounds=[(0, 10)], bounding="truncated"
    ),
    "bounded": lambda: ggdp.calibrate(ggdp.PureDP(1), ONE, order=2, bounds=[(0, 10)], bounding="truncated"),
}


@cache
def calibrated(name):
    return CALIBRATIONS[name]()


def test_every_bound_has_a_case_here():
    assert set(CALIBRATIONS) == set(BOUNDS)


@pytest.fixture(scope="module", params=CALIBRATIONS)
def calibration(request):
    found = calibrated(request.param)
    assert found.certificate.bound.name == request.param
    return found


def test_a_certificate_is_checked_again_from_its_json_alone(calibration):
    record = json.loads(json.dumps(calibration.certificate.to_dict()))
    ggdp.verify(record)
    assert ggdp.Certificate.from_dict(record) == calibration.certificate


def test_a_certificate_of_a_smaller_scale_is_refused(calibration):
    record = calibration.certificate.to_dict()
    record["parameters"]["scale"] *= 0.99
    with pytest.raises(CertificateError, match="does not hold"):
        ggdp.verify(record)


def test_a_certificate_of_a_stronger_claim_is_refused(calibration):
    record = calibration.certificate.to_dict() | {"proved": calibration.certificate.proved * 0.99}
    with pytest.raises(CertificateError, match="does not hold"):
        ggdp.verify(record)


def test_a_claim_above_its_target_is_refused(calibration):
    record = calibration.certificate.to_dict() | {"target": calibration.certificate.proved * 0.99}
    with pytest.raises(CertificateError, match="above its target"):
        ggdp.verify(record)


def test_a_calibration_refuses_the_certificate_of_another(calibration):
    other = calibrated("laplace" if calibration.certificate.bound.name != "laplace" else "shift")
    with pytest.raises(CertificateError, match="not about this calibration"):
        dataclasses.replace(calibration, certificate=other.certificate).verify()
    with pytest.raises(CertificateError, match="not about this calibration"):
        dataclasses.replace(calibration, scale=calibration.scale * 0.5).verify()


FORGERIES = {
    "laplace": [{"scale": -1.0}, {"sensitivity": -1.0}],
    "minkowski": [{"scale": -1.0}, {"sensitivity": -1.0}, {"order": 2.0}, {"norm": None}, {"support": "real"}],
    "shift": [{"order": 0.5}, {"sensitivity": -1e9}, {"notion": "pure"}, {"scale": 0.0}, {"epsilon": float("nan")}],
    "integer-shift": [{"order": 0.5}, {"sensitivity": 0}, {"sensitivity": 0.5}, {"notion": "pure"}],
    "corner": [{"corner": []}, {"corner": [[5, 1], [1, -5]]}, {"order": 0.5}, {"support": "odd"}, {"scale": -1.0}],
    "absolute-sum": [{"joint": -1.0}, {"corner": [[1, 0]]}, {"order": 0.5}, {"epsilon": -1.0}],
    "radial": [{"order": 0.5}, {"order": 1.0}, {"dimension": 1e-300}, {"sensitivity": 0.0}],
    "bounded": [{"moving": 0}, {"coordinates": [[10.0, 1.0, 0]]}, {"bounding": "x"}, {"coordinates": [[1.0, 2.0, 1]]}],
    "bounded-joint": [{"joint": -1.0}, {"moving": 0}, {"order": 0.5}, {"coordinates": [[-10.0, 1.0, 1]]}],
}


@pytest.mark.parametrize(("name", "change"), [(name, change) for name in FORGERIES for change in FORGERIES[name]])
def test_a_record_with_parameters_that_no_noise_has_is_refused(name, change):
    record = calibrated(name).certificate.to_dict()
    record["parameters"] |= change
    with pytest.raises(CertificateError, match="parameters are not those"):
        ggdp.verify(record)


def test_a_record_with_words_of_its_own_is_refused(calibration):
    with pytest.raises(CertificateError, match=r"^statement = "):
        ggdp.verify(calibration.certificate.to_dict() | {"statement": "pure DP for everyone"})


def test_a_calibration_refuses_a_guarantee_that_its_certificate_does_not_prove(calibration):
    with pytest.raises(CertificateError, match="does not prove"):
        dataclasses.replace(calibration, guarantee=ggdp.PureDP(1e-9, "replace-one")).verify()


@pytest.mark.parametrize("name", ["laplace", "shift", "integer-shift", "bounded"])
def test_exact_bounds_prove_that_a_smaller_scale_fails(name):
    certificate = CALIBRATIONS[name]().certificate
    assert certificate.tight == 1 - 1e-9
    with pytest.raises(CertificateError, match="not proved to miss"):
        # A larger target is reached too, but also by the smaller scale.
        ggdp.verify(dataclasses.replace(certificate, target=0.9 if certificate.bound.quantity == "delta" else 9.0))


@pytest.mark.parametrize(
    "record",
    [{}, {"bound": "shift"}, {"parameters": 3}],
)
def test_a_record_that_is_no_certificate_is_refused(record):
    with pytest.raises(CertificateError, match="not a certificate"):
        ggdp.verify(record)


def test_an_unknown_bound_or_foreign_parameters_are_refused():
    record = CALIBRATIONS["shift"]().certificate.to_dict()
    with pytest.raises(CertificateError, match=r"^bound = 'magic'"):
        ggdp.verify(record | {"bound": "magic"})
    with pytest.raises(CertificateError, match="parameters are not those"):
        ggdp.verify(record | {"parameters": {"scale": 1.0, "colour": "red"}})


def test_a_record_that_was_changed_in_place_stops_no_later_proof(monkeypatch):
    monkeypatch.setattr(certificates, "_PROVED", set())
    changed = ggdp.calibrate(ggdp.PureDP(0.5), ONE, order=1).certificate
    object.__setattr__(changed, "law", changed.law.with_scale(1.0))
    for i in range(1100):
        ggdp.calibrate(ggdp.PureDP(1 + i / 1024), ONE, order=1)
    assert len(certificates._PROVED) < 1024
    with pytest.raises(CertificateError):
        certificates.require_proved(changed)
