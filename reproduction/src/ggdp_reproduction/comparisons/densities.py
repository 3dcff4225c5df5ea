"""Densities of the generalized Gaussian family, all of the same scale or all of the same variance.

=======  ============================================================
p        order
b        scale: the variance is b^2 Gamma(3/p) / Gamma(1/p)
=======  ============================================================

At the same scale the law becomes less spread as p rises, towards the uniform law on [-b, b]. At the same variance the
Laplace law puts the most probability near 0 and the most far out.

References
----------
Liu, arXiv 1602.06028 v5, Section 2.3 and Fig. 1 (scale sqrt 2 on its left, variance 1 on its right).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ggdp import GeneralizedGaussian
from ggdp_reproduction.checks import Floats, frozen, orders_of, positive, reals

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DensityFamily", "densities_at_scale", "densities_at_variance", "paper_densities"]

Shared: TypeAlias = Literal["scale", "variance"]

PAPER_ORDERS = (1.0, 2.0, 3.0, 5.0, 10.0)
POINTS = 801
REACH = 4.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DensityFamily:
    """Densities of several orders over the same points.

    Attributes
    ----------
    orders, scales : ndarray
        Order and scale of each law.
    x : ndarray
        The points, one-dimensional.
    densities : ndarray
        One row an order, one column a point.
    shared : {"scale", "variance"}
        What the laws share.
    value : float
        How large that is.
    """

    orders: Floats
    scales: Floats
    x: Floats
    densities: Floats
    shared: Shared
    value: float


def densities_at_scale(orders: ArrayLike, x: ArrayLike, scale: float = 1.0) -> DensityFamily:
    """Return the densities of several orders at the same scale, around 0.

    Parameters
    ----------
    orders : array_like
        Orders from 1 to 1e6.
    x : array_like
        Points, in units of the query.
    scale : float, default 1
        The scale b of all of them.

    Examples
    --------
    >>> densities_at_scale([1, 2], 0.0).densities.round(6)
    array([[0.5    ],
           [0.56419]])
    """
    return _family(orders, x, "scale", positive(scale=scale))


def densities_at_variance(orders: ArrayLike, x: ArrayLike, variance: float = 1.0) -> DensityFamily:
    """Return the densities of several orders at the same variance, around 0.

    Parameters
    ----------
    orders : array_like
        Orders from 1 to 1e6.
    x : array_like
        Points, in units of the query.
    variance : float, default 1
        The variance of all of them.

    Examples
    --------
    >>> densities_at_variance([1, 2], 0.0).densities.round(6)
    array([[0.707107],
           [0.398942]])
    """
    return _family(orders, x, "variance", positive(variance=variance))


def paper_densities() -> tuple[DensityFamily, DensityFamily]:
    """Return the two families of the paper's Fig. 1, at orders 1, 2, 3, 5 and 10.

    Examples
    --------
    >>> [(family.shared, round(family.value, 3)) for family in paper_densities()]
    [('scale', 1.414), ('variance', 1.0)]
    """
    x = np.linspace(-REACH, REACH, POINTS)
    return densities_at_scale(PAPER_ORDERS, x, math.sqrt(2.0)), densities_at_variance(PAPER_ORDERS, x, 1.0)


def _family(orders: ArrayLike, x: ArrayLike, shared: Shared, value: float) -> DensityFamily:
    checked, points = orders_of(orders=orders), np.atleast_1d(reals(x=x)).ravel()
    laws = [_law(float(p), shared, value) for p in checked]
    densities = np.array([law.pdf(points) for law in laws], dtype=np.float64)
    return DensityFamily(
        orders=frozen(checked),
        scales=frozen([law.scale for law in laws]),
        x=frozen(points),
        densities=frozen(densities.reshape(checked.size, points.size)),
        shared=shared,
        value=value,
    )


def _law(p: float, shared: Shared, value: float) -> GeneralizedGaussian:
    """Return the law of an order that has the shared scale or variance."""
    if shared == "scale":
        return GeneralizedGaussian(order=p, scale=value)
    return GeneralizedGaussian(order=p, scale=math.sqrt(value) / GeneralizedGaussian(order=p, scale=1.0).std)
