"""Noise of any order and scale with a proof of what it keeps, for tests of what is drawn."""

import ggdp
from ggdp.accounting.noise_guarantees import calibration_of_law
from ggdp.mechanisms.certified_noise import CertifiedNoise
from ggdp.proofs.noise_law import NoiseLaw


def certified(order, scale):
    """Integer noise that is proved for one count: pure at order 1, with a delta of 0.001 at others."""
    law = NoiseLaw(order=order, scale=scale, support="integer")
    delta = 0.0 if order == 1 else 1e-3
    return CertifiedNoise(calibration_of_law(law, ggdp.Sensitivity.histogram(), delta=delta))
