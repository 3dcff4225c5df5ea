"""Deltas and losses in 50-digit arithmetic (mpmath), written from the definitions alone.

Nothing of `ggdp` is used here: this is the other route by which the library's numbers are checked.
"""

from __future__ import annotations

import math

import mpmath
from mpmath import mp, mpf

DIGITS = 50


def survival(p, z):
    """P(X > z) of the standard generalized Gaussian."""
    if z < 0:
        return 1 - survival(p, -z)
    return mpmath.gammainc(1 / p, z**p, mpmath.inf, regularized=True) / 2


def _rising_root(function, low, high):
    """Bisect, then polish by secant steps, the root of a rising function."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return mpmath.findroot(function, (low, high), solver="anderson", tol=mpf(10) ** (-2 * DIGITS + 10), verify=False)


def real_delta(notion, p, b, D, epsilon):
    """The delta of one coordinate moving by D on the reals."""
    with mp.workdps(DIGITS):
        p, d, epsilon = mpf(p), mpf(D) / mpf(b), mpf(epsilon)
        if p == 1:
            if d <= epsilon:
                return mpf(0)
            z = (epsilon - d) / 2
        else:
            high = mpf(1)
            while (high + d) ** p - high**p < epsilon:
                high *= 2
                if high > mpf(10) ** 9:
                    return mpf(0)
            z = _rising_root(lambda z: (z + d) ** p - abs(z) ** p - epsilon, -d / 2, high)
        upper = survival(p, z + d)
        return survival(p, z) - mpmath.exp(epsilon) * upper if notion == "approximate" else survival(p, z) + upper


def integer_weights(p, b, digits=DIGITS):
    """exp(-(k/b)^p) for k = 0, 1, ... until it is negligible even beside a delta of 1e-18."""
    p, b, weights = mpf(p), mpf(b), []
    least = mpf(10) ** -(digits + 10)
    while not weights or weights[-1] > least:
        weights.append(mpmath.exp(-((len(weights) / b) ** p)))
    return weights


def integer_tails(p, b):
    """T(k) = P(K >= k) as a function of any integer k."""
    with mp.workdps(DIGITS):
        weights = integer_weights(p, b)
        sums = [mpf(0)] * (len(weights) + 1)
        for k in range(len(weights) - 1, -1, -1):
            sums[k] = sums[k + 1] + weights[k]
        total = 2 * sums[1] + 1

    def tail(k):
        with mp.workdps(DIGITS):
            if k >= 1:
                return sums[min(k, len(weights))] / total
            return 1 - sums[min(1 - k, len(weights))] / total

    return tail


def integer_delta(notion, p, b, D, epsilon):
    """The delta of one coordinate moving by D on the integers, by the threshold k*."""
    with mp.workdps(DIGITS):
        p, b, epsilon = mpf(p), mpf(b), mpf(epsilon)
        tail = integer_tails(p, b)
        level = epsilon * b**p
        k = -(D // 2)
        while abs(k + D) ** p - abs(k) ** p <= level:
            k += 1
            if p == 1 and k > 0:
                return mpf(0)
        if notion == "approximate":
            return tail(k) - mpmath.exp(epsilon) * tail(k + D)
        return tail(k) + tail(k + D)


def boundary_inflated_loss(p, b, w, D, support="real"):
    """The pure loss of boundary-inflated noise: the ratio of the atoms."""
    with mp.workdps(DIGITS):
        if support == "integer":
            tail = integer_tails(p, b)
            return mpmath.log(tail(int(w - D)) / tail(int(w)))
        p, b, w, D = mpf(p), mpf(b), mpf(w), mpf(D)
        return mpmath.log(survival(p, (w - D) / b) / survival(p, w / b))


def truncated_loss_at(p, b, w, D, s):
    """The loss of moving from s to s + D at the output w, truncated noise on [0, w]."""
    with mp.workdps(DIGITS):
        p, b, w, D, s = mpf(p), mpf(b), mpf(w), mpf(D), mpf(s)

        def normaliser(t):
            return sum(mpmath.gammainc(1 / p, 0, (side / b) ** p) for side in (t, w - t))

        move = ((w - s) / b) ** p - (abs(w - s - D) / b) ** p
        return move + mpmath.log(normaliser(s) / normaliser(min(s + D, w)))


def truncated_loss(p, b, w, D):
    """The largest loss over s: a scan in floats finds where, 50 digits say how much."""
    import numpy as np
    from scipy.special import gammainc

    def losses(s):
        def normaliser(t):
            return gammainc(1 / p, (t / b) ** p) + gammainc(1 / p, (np.maximum(w - t, 0.0) / b) ** p)

        move = ((w - s) / b) ** p - (np.maximum(w - s - D, 0.0) / b) ** p
        return move + np.log(normaliser(s) / normaliser(s + D))

    low, high = 0.0, w - D
    for _ in range(2):
        s = np.linspace(low, high, 401)
        best = int(np.argmax(losses(s)))
        low, high = float(s[max(best - 2, 0)]), float(s[min(best + 2, 400)])
    # The vertex of the parabola through three 50-digit values is a maximum to the fourth power of their distance.
    middle, step = (low + high) / 2, (high - low) / 2
    left, centre, right = (truncated_loss_at(p, b, w, D, place) for place in (low, middle, high))
    bend = left - 2 * centre + right
    vertex = middle + step * (left - right) / bend / 2 if bend < 0 else middle
    inner = truncated_loss_at(p, b, w, D, min(max(vertex, low), high))
    return max(left, centre, right, inner, truncated_loss_at(p, b, w, D, 0), truncated_loss_at(p, b, w, D, w - D))


def integer_truncated_loss(p, b, w, D):
    """The largest loss over all integers s and outputs x, by enumeration of the definition."""
    with mp.workdps(DIGITS):
        f = [mpmath.exp(-((mpf(k) / mpf(b)) ** mpf(p))) for k in range(w + 1)]
        totals = [sum(f[abs(x - s)] for x in range(w + 1)) for s in range(w + 1)]
        worst = mpf("-inf")
        for s in range(w + 1):
            for moved in range(max(s - D, 0), min(s + D, w) + 1):
                for x in (0, w):
                    ratio = mpmath.log(f[abs(x - moved)] / totals[moved]) - mpmath.log(f[abs(x - s)] / totals[s])
                    worst = max(worst, ratio)
        return worst


def rounded_down(x: float) -> float:
    """A scale smaller by 1e-9, at which the target must be missed."""
    return math.nextafter(x * (1.0 - 1e-9), 0.0)
