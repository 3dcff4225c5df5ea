"""Make generalized_gaussian.json: reference values of the laws on the reals and on bounds, in 50-digit arithmetic.

Run ``python tests/reference/generalized_gaussian.py`` (needs mpmath, takes about a minute). Nothing of ggdp is used.
Tail probabilities come from the incomplete gamma function and are checked against an integral; moments come from
integrals alone. Arguments are floats and are taken as exact.
"""

import json
from pathlib import Path

import mpmath as mp

mp.mp.dps = 50

ORDERS = (0.3, 1.0, 1.0001, 1.5, 2.0, 3.0, 8.0, 50.0, 1000.0)
POWERS = (1e-12, 0.1, 1.0, 7.0, 25.0, 45.0, 300.0, 685.0, 1e4, 1e9)
TAILS = (0.4, 0.05, 1e-6, 1e-18, 1e-100, 1e-300, 1e-307)
SCALE = 1.7
BOUNDED_ORDERS = (1.0, 1.5, 2.0, 3.0, 8.0)
# Width of the bounds over the scale: nearly uniform, in between, nearly unbounded.
WIDTHS = (0.001, 1.0, 5.0, 40.0)
PLACES = (0.0, 0.3, 0.5, 1.0)


def log_upper(a: mp.mpf, x: mp.mpf) -> mp.mpf:
    """Return log Gamma(a, x), x far out included."""
    return mp.log(mp.gammainc(a, x, mp.inf))


def log_upper_by_integral(a: mp.mpf, x: mp.mpf) -> mp.mpf:
    """Return log Gamma(a, x) as -x + log of the integral of e^-v (x + v)^(a - 1), v in logarithms near 0."""
    ends = [mp.mpf(0), x / 100, x, 10 * x, *(mp.mpf(10) ** k for k in range(-12, 3))]
    inner = sorted(end for end in ends if end <= 150)
    return -x + mp.log(mp.quad(lambda v: mp.exp(-v) * (x + v) ** (a - 1), [*inner, 200]))


def tail_rows() -> list[dict[str, float]]:
    rows = []
    for order in ORDERS:
        p = mp.mpf(order)
        for power in POWERS:
            point = float(SCALE * mp.mpf(power) ** (1 / p))
            x = (mp.mpf(point) / mp.mpf(SCALE)) ** p
            log_sf = log_upper(1 / p, x) - mp.log(2 * mp.gamma(1 / p))
            again = log_upper_by_integral(1 / p, x) - mp.log(2 * mp.gamma(1 / p))
            assert abs(log_sf - again) < mp.mpf(10) ** -20 * (1 + abs(log_sf)), (order, power, log_sf, again)
            rows.append(
                {
                    "order": order,
                    "scale": SCALE,
                    "x": point,
                    "sf": float(mp.exp(log_sf)),
                    "logsf": float(log_sf),
                    "logcdf": float(mp.log1p(-mp.exp(log_sf))),
                    "logpdf": float(-x - mp.log(2 * mp.mpf(SCALE) * mp.gamma(1 + 1 / p))),
                }
            )
    return rows


def quantile_rows() -> list[dict[str, float]]:
    rows = []
    for order in ORDERS:
        p = mp.mpf(order)
        for tail in TAILS:
            goal = mp.log(2 * mp.mpf(tail) * mp.gamma(1 / p))
            low, high = mp.mpf(-3000), mp.log(1000)
            while high - low > mp.mpf(10) ** -25:
                middle = (low + high) / 2
                if log_upper(1 / p, mp.exp(middle)) > goal:
                    low = middle
                else:
                    high = middle
            rows.append({"order": order, "scale": SCALE, "q": tail, "isf": float(SCALE * mp.exp(low / p))})
    return rows


def side(p: mp.mpf, t: mp.mpf, k: int) -> mp.mpf:
    """Return the integral of y^k exp(-y^p) over [0, t]."""
    ends = [mp.mpf(0), *(mp.mpf(e) for e in (0.25, 0.5, 1, 2, 4, 8, 16, 32) if e < t), t]
    return mp.quad(lambda y: y**k * mp.exp(-(y**p)), ends) if t else mp.mpf(0)


def moments(p: mp.mpf, low: mp.mpf, high: mp.mpf, atoms: list[mp.mpf], norm: mp.mpf) -> dict[str, float]:
    """Return the moments, in units of the scale, of a density over norm on [-low, high] with atoms at the ends."""
    above = [side(p, high, k) / norm + high**k * atoms[1] for k in (1, 2)]
    below = [side(p, low, k) / norm + low**k * atoms[0] for k in (1, 2)]
    bias, square = above[0] - below[0], above[1] + below[1]
    return {
        "bias": float(bias * SCALE),
        "variance": float((square - bias**2) * mp.mpf(SCALE) ** 2),
        "mean_squared_error": float(square * mp.mpf(SCALE) ** 2),
        "mean_abs_error": float((above[0] + below[0]) * SCALE),
    }


def bounded_rows() -> list[dict[str, object]]:
    rows = []
    for order in BOUNDED_ORDERS:
        p, b = mp.mpf(order), mp.mpf(SCALE)
        for width in WIDTHS:
            bounds = (-2.0, -2.0 + width * SCALE)
            for place in PLACES:
                location = bounds[0] + place * (bounds[1] - bounds[0]) if place < 1.0 else bounds[1]
                low, high = (mp.mpf(location) - bounds[0]) / b, (mp.mpf(bounds[1]) - location) / b
                norm = 2 * mp.gamma(1 + 1 / p)
                atoms = [mp.gammainc(1 / p, t**p, mp.inf) / (2 * mp.gamma(1 / p)) for t in (low, high)]
                mass = side(p, low, 0) + side(p, high, 0)
                rows.append(
                    {
                        "order": order,
                        "scale": SCALE,
                        "location": location,
                        "bounds": bounds,
                        "truncated": moments(p, low, high, [mp.mpf(0), mp.mpf(0)], mass),
                        "boundary_inflated": moments(p, low, high, atoms, norm),
                        "atoms": [float(atom) for atom in atoms],
                    }
                )
    return rows


if __name__ == "__main__":
    tables = {"tails": tail_rows(), "quantiles": quantile_rows(), "bounded": bounded_rows()}
    lines = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for name, rows in tables.items()
    )
    Path(__file__).with_suffix(".json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")
