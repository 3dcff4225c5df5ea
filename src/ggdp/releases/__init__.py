"""What is published: noisy values with the guarantee they carry."""

from ggdp.releases.adjustments import Adjustment, clip, drop, fit_total, normalise, project, round_values
from ggdp.releases.error_law import ErrorLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import NoiseRecord, SelectionRecord, Threshold
from ggdp.releases.release import Interval, Release, manifest_schema

__all__ = [
    "Adjustment",
    "ErrorLaw",
    "Interval",
    "NoiseRecord",
    "Release",
    "SelectionRecord",
    "Threshold",
    "VectorErrorLaw",
    "clip",
    "drop",
    "fit_total",
    "manifest_schema",
    "normalise",
    "project",
    "round_values",
]
