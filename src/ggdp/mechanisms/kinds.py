"""What each kind of additive noise is called, and which item of the paper, or of whom, it is.

Names and items follow from what was calibrated: the order, what was asked for, how the scale was found, and what keeps
the output in bounds. They are for readers: nothing is computed from them.

References
----------
Liu, "Generalized Gaussian Mechanism for Differential Privacy", arXiv 1602.06028 v5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ggdp.calibration import Calibration

__all__ = ["kind_of"]

_PAPER = "Liu, arXiv 1602.06028 v5"


def kind_of(calibration: Calibration) -> tuple[str, str]:
    """Return the name of a calibration's mechanism and the item it is, in words.

    Examples
    --------
    >>> import ggdp
    >>> one = ggdp.Sensitivity.histogram()
    >>> kind_of(ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), one, order=2))
    ('analytic Gaussian', 'Balle and Wang, ICML 2018, Theorem 8')
    >>> kind_of(ggdp.calibrate(ggdp.ProbabilisticDP(0.5, 0.01), one, order=2, method="paper"))[1]
    'Liu, arXiv 1602.06028 v5, Lemma 10'
    """
    order, notion, method = calibration.order, calibration.goal.notion, calibration.method
    if method == "exponential":
        return "Exponential mechanism, generalized Gaussian form", f"{_PAPER}, Eqn explp1 and Lemma 9"
    family = {1.0: "Laplace", 2.0: "Gaussian"}.get(order, "generalized Gaussian")
    if calibration.bounding == "truncated":
        scale = "Eqns b1 and b2" if method == "paper" else "least scale"
        return f"truncated {family}", f"{_PAPER}, Definition 5 ({scale})"
    if calibration.bounding == "boundary-inflated":
        scale = "scale of Eqn b2" if method == "paper" else "least scale"
        return f"boundary-inflated {family}", f"{_PAPER}, Definition 6 ({scale})"
    if calibration.certificate.bound == "laplace":
        return family, f"{_PAPER}, Claim 4"
    if notion == "approximate":
        if order == 2.0:
            if method == "paper":
                return "classic Gaussian", f"{_PAPER}, Eqn privacybook; Dwork and Roth 2014, Theorem 3.22"
            return "analytic Gaussian", "Balle and Wang, ICML 2018, Theorem 8"
        if method == "paper":
            return family, f"{_PAPER}, {_corollary(calibration)}; pDP implies aDP"
        return family, f"{_PAPER}, Section 2.3 (the noise); the scale is the least for aDP"
    if order == 2.0:
        return family, f"{_PAPER}, Lemma 10" + ("" if method == "paper" else " (least scale)")
    return family, f"{_PAPER}, {_corollary(calibration)}" + ("" if method == "paper" else " (least scale)")


def _corollary(calibration: Calibration) -> str:
    return "Corollary 8" if calibration.sensitivity.moving == 1 else "Corollary 7"
