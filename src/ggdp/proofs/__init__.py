"""Proofs: every line here must be right for a guarantee to hold, and nothing else must.

The modules use flint and the standard library only; there is no search among them, no NumPy and no SciPy. A search
elsewhere proposes a scale and a layout; what is here proves the proposal or refuses it.
"""

from ggdp.proofs.noise_law import NoiseLaw

__all__ = ["NoiseLaw"]
