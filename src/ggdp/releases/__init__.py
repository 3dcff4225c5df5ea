"""What is published: noisy values with the guarantee they carry."""

from ggdp.releases.release import MechanismFacts, Release

__all__ = ["MechanismFacts", "Release"]
