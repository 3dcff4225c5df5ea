"""Ball arithmetic: Arb balls [mid +- rad] that hold the exact value, and conversion of their ends to floats.

A float or an integer becomes an exact ball, ``arb(x)``, at any precision. The precision of all other operations is set
by the caller; a lower precision makes balls wider, never wrong. Code that computes with balls starts with

    with BALLS, working_precision(bits):

in one statement and in this order. Both context managers are written in C, so that Python runs no bytecode of its own
between the lock and the block that frees it: an interrupt arrives before, inside or after, and can neither leave the
lock held nor the precision changed. A context manager written in Python (a class, `contextlib.contextmanager`) can be
interrupted at the end of its ``__enter__`` and at the start of its ``__exit__``, and would leave both.
"""

from __future__ import annotations

import math
import os
import threading
from fractions import Fraction

from flint import arb, ctx, fmpq

# The precision of flint is one number for the whole process: without a lock one thread would set it for another.
BALLS = threading.RLock()
working_precision = ctx.workprec


def _free_in_child() -> None:
    """Free the lock in a forked child, where the thread that held it does not exist."""
    if not BALLS._is_owned():  # type: ignore[attr-defined]
        BALLS._at_fork_reinit()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_in_child)


def upper_float(x: arb) -> float:
    """Return a float that is not below any point of the ball, at most an ulp or so above its upper end."""
    return -lower_float(-x)


def lower_float(x: arb) -> float:
    """Return a float that is not above any point of the ball, at most an ulp or so below its lower end."""
    if not x.is_finite():
        return -math.inf
    end = x.lower()
    nearest = float(end)
    while not arb(nearest) <= end:
        nearest = math.nextafter(nearest, -math.inf)
    return nearest


def ball_of(x: Fraction) -> arb:
    """Enclose a fraction, as narrowly as the precision allows."""
    return arb(fmpq(x.numerator, x.denominator))


def hull(low: arb, high: arb) -> arb:
    """Return a ball that holds both balls and all between them."""
    return low.union(high)


def power(x: arb, p: arb) -> arb:
    """Enclose x^p, which rises with x, for an exponent p > 0 and an x that is known not to be below 0."""
    if x > 0:
        return x**p
    # Points of the ball below 0 are taken as 0.
    high = x.upper()
    if high <= 0:
        return arb(0)
    return hull(arb(0), high**p)
