"""Hypothesis draws the same examples in every run, unless HYPOTHESIS_PROFILE=fresh asks for new ones."""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))
