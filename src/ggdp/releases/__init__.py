"""What is published: noisy values with the guarantee they carry."""

from ggdp.releases.adjustments import clip, drop, redraw, round_values
from ggdp.releases.facts import MechanismFacts, SelectionFacts
from ggdp.releases.law import NoiseLaw
from ggdp.releases.manifest import manifest_schema
from ggdp.releases.release import Interval, Release
from ggdp.releases.steps import Adjustment
from ggdp.releases.threshold import Threshold
from ggdp.releases.totals import fit_total, normalise, project

__all__ = [
    "Adjustment",
    "Interval",
    "MechanismFacts",
    "NoiseLaw",
    "Release",
    "SelectionFacts",
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
