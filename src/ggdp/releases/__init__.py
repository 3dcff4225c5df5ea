"""What is published: noisy values with the guarantee they carry."""

from ggdp.releases.adjustment_steps import Adjustment
from ggdp.releases.adjustments import clip, drop, redraw, round_values
from ggdp.releases.error_law import ErrorLaw
from ggdp.releases.manifest import manifest_schema
from ggdp.releases.mechanism_record import NoiseRecord, SelectionRecord
from ggdp.releases.release import Interval, Release
from ggdp.releases.threshold import Threshold
from ggdp.releases.totals import fit_total, normalise, project

__all__ = [
    "Adjustment",
    "ErrorLaw",
    "Interval",
    "NoiseRecord",
    "Release",
    "SelectionRecord",
    "Threshold",
    "clip",
    "drop",
    "fit_total",
    "manifest_schema",
    "normalise",
    "project",
    "redraw",
    "round_values",
]
