"""Hypothesis draws the same examples in every run, unless HYPOTHESIS_PROFILE=fresh asks for new ones.

Tests search for every calibration themselves: the cache of certificates is switched off.
"""

import os

from hypothesis import settings

os.environ["GGDP_CACHE"] = "off"
settings.register_profile("repeated", deadline=None, derandomize=True)
settings.register_profile("fresh", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeated"))
