"""A calibration that was changed by hand gives no sampler and no mechanism."""

import copy
import dataclasses

import pytest

import ggdp
from ggdp import PureDP, Sensitivity
from ggdp.errors import CertificateError


def changed(noise, **fields):
    """A calibration that was changed behind the back of its checks."""
    copied = copy.copy(noise)
    for name, value in fields.items():
        object.__setattr__(copied, name, value)
    return copied


def test_a_changed_scale_gives_no_sampler():
    noise = ggdp.calibrate(PureDP(1), Sensitivity.disjoint(1), order=1, support="integer")
    assert noise.noise().sample(5).shape == (5,)
    with pytest.raises(CertificateError):
        dataclasses.replace(noise, scale=1e-3)
    with pytest.raises(CertificateError):
        changed(noise, scale=1e-3).noise()


def test_a_changed_scale_gives_no_bounded_sampler():
    how = {"support": "integer", "bounds": (0, 10), "bounding": "truncated"}
    noise = ggdp.calibrate(PureDP(1), Sensitivity.disjoint(1), order=2, **how)
    assert noise.bounded_noise().around([3]).shape == (1,)
    for change in ({"scale": 1e-3}, {"bounds": ((0.0, 1000.0),)}):
        with pytest.raises(CertificateError):
            dataclasses.replace(noise, **change)
        with pytest.raises(CertificateError):
            changed(noise, **change).bounded_noise()


@pytest.mark.parametrize("method", ["nonsense", None, 3, ["tight"]])
@pytest.mark.parametrize("support", ["real", "integer"])
def test_a_mechanism_refuses_a_method_that_is_none(method, support):
    noise = ggdp.calibrate(PureDP(1), Sensitivity.disjoint(1), order=1, support=support)
    with pytest.raises(CertificateError, match="method"):
        dataclasses.replace(noise, method=method)
    with pytest.raises(CertificateError, match="method"):
        ggdp.Mechanism(changed(noise, method=method))
