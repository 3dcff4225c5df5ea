"""Certificates: what was proved of a scale, in a record that can be checked again without trusting the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint

from ggdp.calibration.bounds import BOUNDS
from ggdp.errors import CertificateError, SearchError

__all__ = ["Certificate", "certify", "verify"]

# How much smaller than the certified scale the one is that is proved to fail.
TIGHTNESS = (1e-9, 1e-6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was proved of exactly one scale.

    Attributes
    ----------
    bound : str
        Name of the bound, a key of `ggdp.calibration.bounds.BOUNDS`.
    statement : str
        What the bound says, in words.
    quantity : {"delta", "epsilon"}
        What is bounded.
    parameters : tuple of (name, value)
        All that the proof needs, the scale among it.
    proved : float
        The quantity is at most this, for exactly this scale.
    target : float
        What had to be reached; `proved` is not above it.
    tight : float, optional
        A scale smaller by this factor was proved to miss the target. None where the bound is not the exact quantity, or
        where the scale does not claim to be the least (the paper's formulas).
    arithmetic : str
        What the proof was computed with.
    precision : int
        Bits of precision.
    grid : float, optional
        Step of the grid of losses, in a convolution.
    truncation : float, optional
        Probability moved to an infinite loss.
    """

    bound: str
    statement: str
    quantity: str
    parameters: tuple[tuple[str, Any], ...]
    proved: float
    target: float
    tight: float | None
    arithmetic: str
    precision: int
    grid: float | None = None
    truncation: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, fit for JSON; `verify` takes it back."""
        return {
            "bound": self.bound,
            "statement": self.statement,
            "quantity": self.quantity,
            "parameters": {name: _plain(value) for name, value in self.parameters},
            "proved": self.proved,
            "target": self.target,
            "tight": self.tight,
            "arithmetic": self.arithmetic,
            "precision": self.precision,
            "grid": self.grid,
            "truncation": self.truncation,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Certificate:
        """Return the certificate that `to_dict` wrote."""
        try:
            parameters = tuple((name, _frozen(value)) for name, value in record["parameters"].items())
            numbers = {name: float(record[name]) for name in ("proved", "target")}
            if record["tight"] is not None:
                numbers["tight"] = float(record["tight"])
            return cls(**{**record, **numbers, "parameters": parameters, "bound": str(record["bound"])})
        except (AttributeError, KeyError, TypeError, ValueError) as broken:
            message = f"this record is not a certificate of ggdp: {broken}"
            raise CertificateError(message) from None


def _plain(value: object) -> object:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _frozen(value: object) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def certify(bound: str, scale: float, target: float, *, tight: bool, **parameters: Any) -> Certificate | None:  # noqa: ANN401
    """Return the certificate that `scale` reaches `target` by a bound, or None if it does not.

    Parameters
    ----------
    bound : str
        Name of the bound.
    scale : float
        The scale to prove, exactly this float.
    target : float
        The delta or epsilon to reach.
    tight : bool
        Whether to prove as well that a scale smaller by 1e-9 (or else 1e-6) misses the target.
    **parameters
        The bound's other parameters.
    """
    rule = BOUNDS[bound]
    enclosure = rule.enclose(scale=scale, **parameters)
    if not enclosure.upper <= target:
        return None
    proved = max(enclosure.upper, 0.0) * (1.0 + rule.room)
    if proved > target and not rule.exact:
        return None
    factor = None
    if tight and rule.exact:
        for slack in TIGHTNESS:
            if rule.enclose(scale=scale * (1.0 - slack), **parameters).lower > target:
                factor = 1.0 - slack
                break
    return Certificate(
        bound=bound,
        statement=rule.statement,
        quantity=rule.quantity,
        parameters=(("scale", scale), *parameters.items()),
        proved=min(proved, target),
        target=target,
        tight=factor,
        arithmetic=f"Arb ball arithmetic, python-flint {flint.__version__}",
        precision=enclosure.precision,
        grid=enclosure.grid,
        truncation=enclosure.truncation,
    )


def verify(certificate: Certificate | dict[str, Any]) -> None:
    """Prove a certificate's claim again from its record alone; nothing of the search is used.

    Parameters
    ----------
    certificate : Certificate or dict
        The record, also as `Certificate.to_dict` wrote it.

    Raises
    ------
    CertificateError
        If the claim cannot be proved.

    Examples
    --------
    >>> import ggdp
    >>> calibration = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=3)
    >>> ggdp.verify(calibration.certificate)
    >>> forged = calibration.certificate.to_dict()
    >>> forged["parameters"]["scale"] *= 0.99
    >>> ggdp.verify(forged)
    Traceback (most recent call last):
    ggdp.errors.CertificateError: the claim delta <= 1e-06 does not hold: only delta <= 1.16...e-06 can be proved
    """
    if isinstance(certificate, dict):
        certificate = Certificate.from_dict(certificate)
    if not isinstance(certificate, Certificate):
        message = f"a {type(certificate).__name__} is not a certificate of ggdp"
        raise CertificateError(message)
    rule = BOUNDS.get(certificate.bound)
    if rule is None or rule.quantity != certificate.quantity:
        message = f"no bound {certificate.bound!r} for the quantity {certificate.quantity!r} is known"
        raise CertificateError(message)
    if certificate.statement != rule.statement:
        message = f"the bound {rule.name!r} says {rule.statement!r}, not {certificate.statement!r}"
        raise CertificateError(message)
    if not certificate.proved <= certificate.target:
        message = f"it proves {certificate.quantity} <= {certificate.proved!r}, above its target {certificate.target!r}"
        raise CertificateError(message)
    parameters = dict(certificate.parameters)
    try:
        upper = rule.enclose(**parameters).upper
    except (ArithmeticError, LookupError, SearchError, TypeError, ValueError) as broken:
        message = f"its parameters are not those of the bound {rule.name!r}: {broken}"
        raise CertificateError(message) from None
    if not upper <= certificate.proved:
        message = (
            f"the claim {rule.quantity} <= {certificate.proved!r} does not hold: "
            f"only {rule.quantity} <= {upper!r} can be proved"
        )
        raise CertificateError(message)
    if certificate.tight is not None:
        parameters["scale"] *= certificate.tight
        if not rule.enclose(**parameters).lower > certificate.target:
            message = f"a scale smaller by the factor {certificate.tight!r} is not proved to miss the target"
            raise CertificateError(message)
