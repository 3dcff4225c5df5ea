"""Ledgers and requests for tests."""

import sqlite3
from contextlib import closing
from fractions import Fraction

import ggdp
from ggdp._rounding import rounded_up
from ggdp.accounting.composition import calibrated_losses
from ggdp.ledger import Balance, ChargeRequest
from ggdp.proofs import NoiseLaw
from ggdp.proofs.losses import CoordinateLoss, CountedLoss

NEIGHBOURS = "add-remove"


def pure(epsilon, **other):
    """Return a request of which only a pure guarantee is known."""
    return ChargeRequest(guarantee=ggdp.PureDP(epsilon, NEIGHBOURS), **other)


def laplace(scale, sensitivity=1, **other):
    """Return a request for a count with Laplace noise of a scale."""
    law = NoiseLaw(order=1, scale=scale, support="integer")
    losses = (CountedLoss(CoordinateLoss(law, sensitivity), 1),)
    epsilon = rounded_up(Fraction(sensitivity) / Fraction(scale), of="epsilon")
    return ChargeRequest(guarantee=ggdp.PureDP(epsilon, NEIGHBOURS), losses=losses, **other)


def calibrated(goal, order, **query):
    """Return the request of a mechanism for a histogram."""
    sensitivity = ggdp.Sensitivity.histogram(**query)
    return ggdp.calibrate(goal, sensitivity, order=order, support="integer")


def asked(calibration, **other):
    """Return the request of a release with the noise of a calibration."""
    return ChargeRequest(guarantee=calibration.guarantee, losses=calibrated_losses(calibration), **other)


def edit(path, statement, *values):
    """Change the file of a ledger behind its back."""
    with closing(sqlite3.connect(path)) as connection:
        changed = connection.execute(statement, values).rowcount
        connection.commit()
    return changed


def query(path, statement):
    """Return rows of the file of a ledger."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def balance(epsilon, delta=0):
    """Return an exact balance, of numbers as they are typed."""
    return Balance(epsilon=Fraction(str(epsilon)), delta=Fraction(str(delta)))
