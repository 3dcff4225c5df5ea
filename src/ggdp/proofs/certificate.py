"""Certificates: what was proved of a law of noise, in a record that is checked again without any search."""

from __future__ import annotations

import math
import re
import reprlib
import sys
from dataclasses import dataclass
from typing import Any

import flint

from ggdp.errors import CertificateError, GgdpError
from ggdp.proofs.bound import EXACT, Bound, Enclosure
from ggdp.proofs.noise_law import NoiseLaw, Norm
from ggdp.proofs.worst_case import BOUNDS

# How much smaller than the certified scale the one is that is proved to fail.
FACTORS = (1.0 - 1e-9, 1.0 - 1e-6)
ARITHMETIC = f"Arb ball arithmetic, python-flint {flint.__version__}"
_ARITHMETICS = re.compile(r"Arb ball arithmetic, python-flint ([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]{1,4})?")
_OLDEST_FLINT = (0, 8)
# A certificate from elsewhere cannot ask for more; no proof of ggdp needs so many.
_MOST_BITS = 1 << 14
# With fewer bits than a float has no proof is made.
_LEAST_BITS = 53
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80
_LAW = ("order", "scale", "support", "bounding")
# Fields of a record that are those of the certificate, and all of its fields.
_KEPT = ("proved", "target", "tight", "arithmetic", "precision")
_FIELDS = {"bound", "statement", "quantity", "parameters", *_KEPT}
# Certificates that were proved in this process; equal certificates make equal claims.
_PROVED: set[Certificate] = set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """What was proved of exactly one law of noise.

    Attributes
    ----------
    bound : Bound
        The bound with all of its parameters, the grid and windows of a convolution among them.
    law : NoiseLaw
        The noise, with its scale.
    proved : float
        The quantity of the bound (delta or epsilon) is at most this.
    target : float
        What had to be reached; `proved` is not above it.
    tight : float, optional
        A scale smaller by this factor was proved to miss the target. None where the bound is not the exact quantity, or
        where the scale does not claim to be the least (the paper's formulas).
    precision : int
        Bits of the arithmetic; 0 where rational numbers were compared exactly.
    arithmetic : str
        What the proof was computed with.
    """

    bound: Bound
    law: NoiseLaw
    proved: float
    target: float
    tight: float | None
    precision: int
    arithmetic: str = ARITHMETIC

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, fit for JSON; `verify` takes it back."""
        return {
            "bound": self.bound.name,
            "statement": self.bound.statement,
            "quantity": self.bound.quantity,
            "parameters": {**self.law.to_dict(), **self.bound.to_dict()},
            **{name: getattr(self, name) for name in _KEPT},
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Certificate:
        """Return the certificate that `to_dict` wrote; any other record is a `CertificateError`."""
        if not isinstance(record, dict) or set(record) != _FIELDS:
            found = sorted(map(str, record)) if isinstance(record, dict) else type(record).__name__
            raise CertificateError(
                f"this record is not a certificate of ggdp: its fields are {found}, not {sorted(_FIELDS)}"
            )
        kind = BOUNDS.get(record["bound"]) if isinstance(record["bound"], str) else None
        if kind is None:
            raise _wrong("bound", record["bound"], f"is not one of {', '.join(BOUNDS)}")
        for name in ("statement", "quantity"):
            if record[name] != getattr(kind, name):
                raise _wrong(name, record[name], f"the bound {kind.name!r} has {getattr(kind, name)!r}")
        parameters = record["parameters"]
        if not _is_plain(parameters) or not isinstance(parameters, dict):
            raise _wrong("parameters", parameters, "must be names with texts, numbers, or lists of them")
        try:
            # Only certificates of a norm name it.
            norm = Norm.from_dict(parameters["norm"]) if "norm" in parameters else None
            law = NoiseLaw(**{name: parameters[name] for name in _LAW}, norm=norm)
            bound = kind.from_dict({name: value for name, value in parameters.items() if name not in (*_LAW, "norm")})
        except (GgdpError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as broken:
            raise CertificateError(f"its parameters are not those of the bound {kind.name!r}: {broken}") from None
        return cls(bound=bound, law=law, **{name: record[name] for name in _KEPT})


def certify(
    bound: Bound, law: NoiseLaw, target: float, *, tight: bool, enclosure: Enclosure | None = None
) -> Certificate | None:
    """Return the certificate that a law reaches a target by a bound, whose `enclosure` may be known; None if not.

    If `tight`, it is proved as well, where it can be, that a scale smaller by 1e-9 (or else 1e-6) misses the target.
    """
    found = bound.enclose(law) if enclosure is None else enclosure
    proved = bound.value_to_state(found, target)
    if proved is None:
        return None
    factor, precision = None, found.precision
    for smaller in FACTORS if tight and bound.exact else ():
        missed = bound.enclose(law.with_scale(law.scale * smaller))
        if missed.lower > target:
            factor, precision = smaller, max(precision, missed.precision)
            break
    certificate = Certificate(bound=bound, law=law, proved=proved, target=target, tight=factor, precision=precision)
    _remember(certificate)
    return certificate


def require_proved(certificate: Certificate) -> None:
    """Check that a certificate was proved in this process, or prove it now."""
    try:
        # By all of its fields, in microseconds: one that was changed, or made by hand, is proved again.
        known = certificate in _PROVED
    except TypeError:
        # What cannot be hashed was not made by `certify`.
        known = False
    if known:
        # True is equal to 1.0, and no number of a certificate.
        _require_fields(certificate)
    else:
        verify(certificate)
        _remember(certificate)


def _remember(certificate: Certificate) -> None:
    if len(_PROVED) >= 1024:
        # All at once: whoever changes a record in place leaves a key behind that cannot be found and removed alone.
        _PROVED.clear()
    _PROVED.add(certificate)


def verify(certificate: Certificate | dict[str, Any]) -> None:
    """Prove the claim of a certificate again from its record alone, without any search.

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
        raise CertificateError(f"a {type(certificate).__name__} is not a certificate of ggdp")
    _require_fields(certificate)
    bound, law, bits = certificate.bound, certificate.law, certificate.precision
    found = _enclosure(bound, law, bits)
    if not found.upper <= certificate.proved:
        raise CertificateError(
            f"the claim {bound.quantity} <= {certificate.proved!r} does not hold: "
            f"only {bound.quantity} <= {found.upper!r} can be proved"
        )
    used = found.precision
    if certificate.tight is not None:
        if not bound.exact:
            # Its lower end is that of the bound, not of what is bounded.
            why = f"{bound.name!r} is an upper bound, which proves no scale too small"
            raise _wrong("tight", certificate.tight, why)
        missed = _enclosure(bound, law.with_scale(law.scale * certificate.tight), bits)
        if not missed.lower > certificate.target:
            raise CertificateError(
                f"a scale smaller by the factor {certificate.tight!r} is not proved to miss the target"
            )
        used = max(used, missed.precision)
    if used != bits:
        raise _wrong("precision", bits, f"the proof takes {used} bits")


def _require_fields(certificate: Certificate) -> None:
    """Refuse fields that no proof has."""
    bound = certificate.bound
    if type(bound) is not BOUNDS.get(getattr(bound, "name", "")) or type(certificate.law) is not NoiseLaw:
        raise CertificateError("its bound and its law are not those of ggdp")
    most = 1.0 if bound.quantity == "delta" else math.inf
    for name in ("target", "proved"):
        value = getattr(certificate, name)
        # Compared exactly: an integer may be beyond all floats.
        if type(value) not in (int, float) or not (0.0 <= value < most and value <= sys.float_info.max):
            raise _wrong(name, value, "must be a number of at least 0" + (" and below 1" if most == 1.0 else ""))
    if not certificate.proved <= certificate.target:
        raise CertificateError(
            f"it proves {bound.quantity} <= {certificate.proved!r}, above its target {certificate.target!r}"
        )
    if certificate.tight is not None and not (type(certificate.tight) is float and certificate.tight in FACTORS):
        raise _wrong("tight", certificate.tight, f"must be None or one of {FACTORS}")
    bits = certificate.precision
    if type(bits) is not int or not (bits == EXACT or _LEAST_BITS <= bits <= _MOST_BITS):
        raise _wrong("precision", bits, f"must be {EXACT} or a number of bits from {_LEAST_BITS} to {_MOST_BITS}")
    arithmetic = certificate.arithmetic
    found = _ARITHMETICS.fullmatch(arithmetic) if isinstance(arithmetic, str) else None
    installed = tuple(int(part) for part in flint.__version__.split(".")[:2])
    if found is None or not _OLDEST_FLINT <= (int(found[1]), int(found[2])) <= installed:
        raise _wrong("arithmetic", arithmetic, f"is not known here, where it is {ARITHMETIC!r}")


def _enclosure(bound: Bound, law: NoiseLaw, bits: int) -> Enclosure:
    """Enclose the quantity of a bound, for parameters that may be anything."""
    try:
        # Twice, as a scale that is a little smaller may need a few bits more.
        if bits > 2 * max(bound.precisions(law)):
            raise _wrong("precision", bits, "no proof by this bound needs so many bits")
        return bound.at_precision(law, bits)
    except (GgdpError, ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as broken:
        raise CertificateError(f"its parameters are not those of the bound {bound.name!r}: {broken}") from None


def _is_plain(value: object, depth: int = 5) -> bool:
    """Return whether a value is made of texts, numbers, and lists and records of them, as deep as a layout."""
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(name, str) and _is_plain(item, depth - 1) for name, item in value.items())
    if isinstance(value, list | tuple):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value)
    return value is None or type(value) in (str, bool, int, float)


def _wrong(name: str, value: object, why: str) -> CertificateError:
    return CertificateError(f"{name} = {_SHORT.repr(value)}: {why}")
