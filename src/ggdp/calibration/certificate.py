"""Certificates: what was proved of a scale, in a record that can be checked again without trusting the search."""

from __future__ import annotations

import math
import re
import sys
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import flint

from ggdp.calibration.bounds import BOUNDS
from ggdp.errors import CertificateError, SearchError

if TYPE_CHECKING:
    from ggdp.calibration.bounds import Bound
    from ggdp.loss.enclosed import Enclosed

__all__ = ["Certificate", "certify", "require_proved", "verify"]

# How much smaller than the certified scale the one is that is proved to fail.
TIGHTNESS = (1e-9, 1e-6)
FACTORS = tuple(1.0 - slack for slack in TIGHTNESS)
ARITHMETIC = f"Arb ball arithmetic, python-flint {flint.__version__}"
# Grid and truncation are chosen in floats, whose last digits another machine may round differently.
_SAME = 2.0**-20
_OLDEST_FLINT = (0, 8)
# Certificates that were proved in this process, the latest last; equal certificates make equal claims.
_PROVED: OrderedDict[Certificate, None] = OrderedDict()
_MOST_PROVED = 1024


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
        Bits of precision; 0 where exact rational numbers were compared.
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
            missing = [field.name for field in fields(cls) if field.name not in record]
            if missing:
                raise KeyError(*missing)
            parameters = tuple((name, _frozen(value)) for name, value in record["parameters"].items())
            return cls(**{**record, "parameters": parameters})
        except (AttributeError, KeyError, RecursionError, TypeError) as broken:
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
        for smaller in FACTORS:
            if rule.enclose(scale=scale * smaller, **parameters).lower > target:
                factor = smaller
                break
    certificate = Certificate(
        bound=bound,
        statement=rule.statement,
        quantity=rule.quantity,
        parameters=(("scale", scale), *parameters.items()),
        proved=min(proved, target),
        target=target,
        tight=factor,
        arithmetic=ARITHMETIC,
        precision=enclosure.precision,
        grid=enclosure.grid,
        truncation=enclosure.truncation,
    )
    _remember(certificate)
    return certificate


def require_proved(certificate: Certificate) -> None:
    """Check that a certificate was proved in this process, or prove it now.

    What `certify` returned is known by all of its fields, so that this takes microseconds for a calibration as
    `ggdp.calibrate` returned it. A certificate that was changed, or made by hand, is proved again.

    Raises
    ------
    CertificateError
        If the claim cannot be proved.
    """
    try:
        known = certificate in _PROVED
    except TypeError:
        # What cannot be hashed was not made by `certify`.
        known = False
    if not known:
        verify(certificate)
        _remember(certificate)


def _remember(certificate: Certificate) -> None:
    _PROVED[certificate] = None
    while len(_PROVED) > _MOST_PROVED:
        _PROVED.popitem(last=False)


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
    rule = _rule_of(certificate)
    parameters = dict(certificate.parameters)
    found = _enclosure(rule, parameters)
    if not found.upper <= certificate.proved:
        message = (
            f"the claim {rule.quantity} <= {certificate.proved!r} does not hold: "
            f"only {rule.quantity} <= {found.upper!r} can be proved"
        )
        raise CertificateError(message)
    _require_same(certificate, found)
    if certificate.tight is not None:
        if not rule.exact:
            # Its lower end is that of the bound, not of what is bounded.
            raise _wrong(certificate, "tight", f"{rule.name!r} is an upper bound, which proves no scale too small")
        parameters["scale"] *= certificate.tight
        if not _enclosure(rule, parameters).lower > certificate.target:
            message = f"a scale smaller by the factor {certificate.tight!r} is not proved to miss the target"
            raise CertificateError(message)


def _rule_of(certificate: Certificate) -> Bound:
    """Return the bound that a certificate names, once all of its fields are what a certificate can hold."""
    for name in ("bound", "statement", "quantity", "arithmetic"):
        if not isinstance(getattr(certificate, name), str):
            raise _wrong(certificate, name, "must be a text")
    rule = BOUNDS.get(certificate.bound)
    if rule is None or rule.quantity != certificate.quantity:
        message = f"no bound {certificate.bound!r} for the quantity {certificate.quantity!r} is known"
        raise CertificateError(message)
    if certificate.statement != rule.statement:
        message = f"the bound {rule.name!r} says {rule.statement!r}, not {certificate.statement!r}"
        raise CertificateError(message)
    _require_numbers(certificate)
    _require_parameters(certificate)
    _require_arithmetic(certificate)
    return rule


def _require_numbers(certificate: Certificate) -> None:
    """Refuse numbers that no proof gives."""
    most = 1.0 if certificate.quantity == "delta" else math.inf
    for name in ("target", "proved"):
        value = getattr(certificate, name)
        if not _is_number(value) or not 0.0 <= value < most:
            raise _wrong(certificate, name, "must be a number from 0 on" + (" and below 1" if most == 1.0 else ""))
    if not certificate.proved <= certificate.target:
        message = f"it proves {certificate.quantity} <= {certificate.proved!r}, above its target {certificate.target!r}"
        raise CertificateError(message)
    if certificate.tight is not None and not (type(certificate.tight) is float and certificate.tight in FACTORS):
        raise _wrong(certificate, "tight", f"must be None or one of {FACTORS}")
    if type(certificate.precision) is not int or certificate.precision < 0:
        raise _wrong(certificate, "precision", "must be a number of bits")
    for name in ("grid", "truncation"):
        value = getattr(certificate, name)
        if value is not None and not (_is_number(value) and value >= 0.0):
            raise _wrong(certificate, name, "must be None or a number from 0 on")


def _require_parameters(certificate: Certificate) -> None:
    """Refuse parameters that are not names with plain values; what each may be is its bound's to say."""
    pairs = certificate.parameters
    if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise _wrong(certificate, "parameters", "must be pairs of a name and a value")
    names = [name for name, _ in pairs]
    if not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise _wrong(certificate, "parameters", "must have a name each, and each name once")
    if not all(_is_plain(value) for _, value in pairs):
        raise _wrong(certificate, "parameters", "must be texts, numbers, or tuples of tuples of numbers")


def _require_arithmetic(certificate: Certificate) -> None:
    """Refuse a certificate of another arithmetic than Arb's, by a version of python-flint that ggdp works with."""
    found = re.fullmatch(
        r"Arb ball arithmetic, python-flint ([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?", certificate.arithmetic
    )
    installed = tuple(int(part) for part in flint.__version__.split(".")[:2])
    if found is None or not _OLDEST_FLINT <= (int(found[1]), int(found[2])) <= installed:
        raise _wrong(certificate, "arithmetic", f"is not known here, where it is {ARITHMETIC!r}")


def _require_same(certificate: Certificate, found: Enclosed) -> None:
    """Refuse a certificate whose account of the proof is not that of the proof that was just made."""
    if certificate.precision != found.precision:
        raise _wrong(certificate, "precision", f"the proof takes {found.precision} bits")
    for name, value in (("grid", found.grid), ("truncation", found.truncation)):
        stated = getattr(certificate, name)
        same = stated is value if stated is None or value is None else math.isclose(stated, value, rel_tol=_SAME)
        if not same:
            raise _wrong(certificate, name, f"the proof has {value!r}")


def _enclosure(rule: Bound, parameters: dict[str, Any]) -> Enclosed:
    """Enclose the quantity of a bound, for parameters that may be anything."""
    try:
        return rule.enclose(**parameters)
    except (ArithmeticError, LookupError, MemoryError, SearchError, TypeError, ValueError) as broken:
        message = f"its parameters are not those of the bound {rule.name!r}: {broken}"
        raise CertificateError(message) from None


def _is_number(value: object) -> bool:
    # Compared exactly: an integer may be beyond all floats.
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def _is_plain(value: object, depth: int = 2) -> bool:
    if isinstance(value, tuple):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value)
    return value is None or type(value) in (str, int, float)


def _wrong(certificate: Certificate, name: str, why: str) -> CertificateError:
    shown = repr(getattr(certificate, name))
    return CertificateError(f"{name} = {shown if len(shown) < 160 else shown[:80] + '...'}: {why}")
