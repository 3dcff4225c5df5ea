"""From a goal to a certified scale."""

from ggdp.calibration.calibration import Calibration
from ggdp.calibration.grid_calibration import on_grid
from ggdp.calibration.least_scale import calibrate
from ggdp.calibration.paper import classic_gaussian, disjoint_scale, exponential_calibration, utility_sensitivity
from ggdp.calibration.scale_for_bounds import truncated_scale
from ggdp.proofs.certificate import Certificate, verify

__all__ = [
    "Calibration",
    "Certificate",
    "calibrate",
    "classic_gaussian",
    "disjoint_scale",
    "exponential_calibration",
    "on_grid",
    "truncated_scale",
    "utility_sensitivity",
    "verify",
]
