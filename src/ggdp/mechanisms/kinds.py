"""Names of the kinds of additive noise, and their sources in the literature.

Names and items follow from what was calibrated: the order, the goal, how the scale was found, and what keeps
the output in bounds. They are for readers: nothing is computed from them.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ggdp.calibration import Calibration

_PAPER = "Liu, arXiv 1602.06028 v5"


def kind_of(calibration: Calibration) -> tuple[str, str]:
    """Return the name of a calibration's mechanism and its source.

    Examples
    --------
    >>> import ggdp
    >>> one = ggdp.Sensitivity.histogram()
    >>> kind_of(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), one, order=2))
    ('analytic Gaussian', 'Balle and Wang, ICML 2018, Theorem 8')
    >>> kind_of(ggdp.calibrate(ggdp.ProbabilisticDP(0.5, 0.01), one, order=2, method="paper"))[1]
    'Liu, arXiv 1602.06028 v5, Lemma 10'
    """
    family = {1.0: "Laplace", 2.0: "Gaussian"}.get(calibration.order, "generalized Gaussian")
    if calibration.order == 2.0 and calibration.support == "integer" and calibration.bounding is None:
        family = "discrete Gaussian"
    if calibration.method == "exponential":
        equation = "explp0" if calibration.bounds is None else "explp1"
        return "Exponential mechanism, generalized Gaussian form", f"{_PAPER}, Eqn {equation} and Lemma 9"
    if calibration.bounding is not None:
        return f"{calibration.bounding} {family}", f"{_PAPER}, {_definition(calibration)}"
    bound, paper = calibration.certificate.bound.name, calibration.method == "paper"
    if bound == "laplace":
        return family, f"{_PAPER}, Claim 4"
    one_shift = bound in ("shift", "integer-shift")
    if calibration.goal.notion == "probabilistic":
        item = "Lemma 10" if calibration.order == 2.0 and one_shift else _corollary(calibration)
        return family, f"{_PAPER}, {item}" + ("" if paper else f" ({_sharpness(calibration)})")
    if calibration.order == 2.0 and paper:
        return "classic Gaussian", f"{_PAPER}, Eqn privacybook; Dwork and Roth 2014, Theorem 3.22"
    if calibration.order == 2.0 and one_shift:
        if bound == "integer-shift":
            return "discrete Gaussian", "Canonne, Kamath and Steinke, NeurIPS 2020 (the noise); least scale for aDP"
        return "analytic Gaussian", "Balle and Wang, ICML 2018, Theorem 8"
    if paper:
        return family, f"{_PAPER}, {_corollary(calibration)}; pDP implies aDP"
    return family, f"{_PAPER}, Section 2.3 (the noise); the scale for aDP is ours ({_sharpness(calibration)})"


def _definition(calibration: Calibration) -> str:
    if calibration.bounding == "truncated":
        return "Definition 5 (" + ("Eqns b1 and b2" if calibration.method == "paper" else _sharpness(calibration)) + ")"
    return "Definition 6 (" + ("scale of Eqn b2" if calibration.method == "paper" else _sharpness(calibration)) + ")"


def _corollary(calibration: Calibration) -> str:
    return "Corollary 8" if calibration.sensitivity.moving == 1 else "Corollary 7"


def _sharpness(calibration: Calibration) -> str:
    """Return how sharp the scale of a calibration is, in words."""
    if any(note.startswith("upper bound") for note in calibration.notes):
        return "an upper bound"
    return "least scale, to within 1e-4" if calibration.certificate.bound.name == "corner" else "least scale"
