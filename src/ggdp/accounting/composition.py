"""What several releases of the same people keep together: parts of one kind, each with losses that dominate it.

==========================================  =====================================================================
one coordinate, a box, at most m cells      the largest change of all of them: a loss for every coordinate
order 2 on the reals                        one coordinate that changes by the l_2 norm: the law is rotation invariant
an l_1 norm                                 one coordinate that changes by the norm
another norm, noise kept in bounds          randomized response with the proved epsilon and delta
==========================================  =====================================================================

Claim. Each is at least as hard to hide as the query, for every epsilon: the claims of `ggdp.proofs.worst_case` are
about all trade-off functions at once.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from attrs import field, frozen

from ggdp import _validate
from ggdp._files import MOST_JSON, parsed_json, read_file
from ggdp._rounding import number_of, rounded_text, rounded_up, rounded_up_text
from ggdp.accounting.totals import TotalLoss
from ggdp.calibration import Calibration
from ggdp.errors import ArgumentError, ArgumentTypeError, UnattainableError
from ggdp.privacy import ApproxDP, Guarantee, Neighbours, ProbabilisticDP, PureDP
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.worst_case import WorstCase
from ggdp.signatures import Signature, checked_signature, read_signers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# `ggdp.releases.release` writes it, which is above this package.
SCHEMA = "ggdp-release-manifest/1"
# Beyond this no composition keeps anything.
MOST_TIMES = 10**9


@runtime_checkable
class Composable(Protocol):
    """A mechanism or release that knows the losses which dominate it."""

    @property
    def guarantee(self) -> Guarantee | None:
        """What it keeps; None where its source was seeded."""

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that together dominate it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a composition.

    Attributes
    ----------
    name : str
        How messages call it.
    losses : tuple of CountedLoss
        Losses that together dominate it.
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        Its own guarantee, with its neighbours.
    unit : str, optional
        Whom it protects, in words; None where that is not said.
    count : int
        How often it is run.
    signature : Signature, optional
        The signature of its manifest, where it has one.
    """

    name: str
    losses: tuple[CountedLoss, ...]
    guarantee: Guarantee
    unit: str | None
    count: int
    signature: Signature | None = None


def parts_of(given: Iterable[Any], signers: frozenset[bytes] | None = None) -> tuple[Part, ...]:
    """Return the parts of a composition, all of the same neighbours and unit, each with a guarantee.

    Where signers are given (`ggdp.signatures.read_signers`), every manifest must be signed by one of them.
    """
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise ArgumentTypeError("parts", type(given).__name__, "must be a list of parts")
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int):
        raise ArgumentError("parts", "a pair (part, count)", "must be a list of parts; put the pair into a list")
    parts = tuple(_part(one, number, signers) for number, one in enumerate(given, start=1))
    if not parts:
        raise ArgumentError("parts", [], "must not be empty")
    for what in ("neighbours", "unit"):
        said = [(part, part.unit if what == "unit" else part.guarantee.neighbours) for part in parts]
        known = [(part.name, value) for part, value in said if value is not None]
        for name, mine in known[1:]:
            first, theirs = known[0]
            if mine != theirs:
                expected = (
                    f"has {what} {mine!r} where {first} has {theirs!r}: their losses are not about the same people and "
                    "cannot be added"
                )
                raise ArgumentError("parts", name, expected)
    return parts


def unit_of(column: str | None) -> str:
    """Return what stands for a column of units, or for each row (None); a column named "row" gets words of its own."""
    return "row" if column is None else f"column {column}" if re.fullmatch("(column )*row", column) else column


def calibrated_losses(calibration: Calibration) -> tuple[CountedLoss, ...]:
    """Return losses that together dominate the noise of a calibration; on a grid in its steps."""
    return losses_of(calibration.law, calibration.question, calibration.guarantee)


def losses_of(law: NoiseLaw, case: WorstCase, known: Guarantee) -> tuple[CountedLoss, ...]:
    """Return losses that together dominate noise in its worst case; those of a guarantee where no more is known."""
    change = case.composed_change
    if change is None:
        return (CountedLoss(ResponseLoss(known.epsilon, known.delta), 1),)
    sizes = change.sizes
    if law.support == "integer":
        # Only whole numbers change.
        sizes = tuple((float(math.floor(size)), count) for size, count in sizes if size >= 1.0)
    return tuple(CountedLoss(CoordinateLoss(law, size), count) for size, count in sizes)


def guarantee_from(plain: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee that its `to_dict` described."""
    if plain["notion"] == "pure":
        return PureDP(plain["epsilon"], plain["neighbours"])
    kinds: dict[str, type[ProbabilisticDP | ApproxDP]] = {"probabilistic": ProbabilisticDP, "approximate": ApproxDP}
    return kinds[plain["notion"]](plain["epsilon"], plain["delta"], plain["neighbours"])


def _part(one: Any, number: int, signers: frozenset[bytes] | None) -> Part:  # noqa: ANN401 - every kind of part
    count = 1
    if isinstance(one, tuple) and len(one) == 2:
        one, times = one
        count = _validate.integer(count=times, at_least=1, at_most=MOST_TIMES)
    name, unit = f"part {number}", None
    if isinstance(one, str | os.PathLike):
        content = read_file(one, argument="parts", most=MOST_JSON)
        manifest = parsed_json(content, os.fspath(one), argument="parts")
        # The signature is of the very bytes that are parsed.
        signature = checked_signature(one, content, signers)
        return replace(part_of_manifest(manifest, os.fspath(one), count), signature=signature)
    if isinstance(one, Mapping):
        if signers is not None:
            raise ArgumentError("parts", name, "is a manifest without its file; with `signer`, name the file")
        return part_of_manifest(one, name, count)
    if isinstance(one, Calibration):
        one.require_proof()
        losses, guarantee = calibrated_losses(one), one.guarantee
    elif isinstance(one, PureDP | ProbabilisticDP | ApproxDP):
        losses, guarantee = (CountedLoss(ResponseLoss(one.epsilon, one.delta), 1),), one
    elif isinstance(one, Composable):
        if one.guarantee is None:
            raise ArgumentError("parts", name, "has no guarantee: its noise came from a seeded source")
        losses, guarantee, unit = one.losses, one.guarantee, getattr(one, "protected_unit", None)
        name = getattr(one, "described", name)
    else:
        expected = (
            "must be a release, mechanism, calibration, noise or guarantee, a manifest (a path or what json.load "
            "returns), or a pair (part, count)"
        )
        raise ArgumentTypeError("parts", type(one).__name__, expected)
    return Part(name=name, losses=losses, guarantee=guarantee, unit=unit, count=count)


def manifest_in(document: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the manifest in a document: itself, or the one in what ``ggdp range --out`` wrote."""
    inner = document.get("manifest") if isinstance(document, Mapping) and "schema" not in document else None
    return inner if isinstance(inner, Mapping) else document


def part_of_manifest(manifest: object, name: str, count: int = 1) -> Part:
    """Return the part that a manifest describes."""
    manifest = manifest_in(manifest)
    if not isinstance(manifest, Mapping) or manifest.get("schema") != SCHEMA:
        raise ArgumentError("parts", name, "is not a manifest of ggdp")
    if "losses" not in manifest:
        raise ArgumentError("parts", name, "is a manifest of an earlier version, without its losses; release it again")
    if manifest.get("guarantee") is None:
        raise ArgumentError("parts", name, "has no guarantee: its noise came from a seeded source")
    # What wrote it knows what must be in it.
    from ggdp.tables.manifest_checks import contradiction

    contradicted = contradiction(manifest)
    if contradicted is not None:
        raise ArgumentError("parts", name, f"contradicts itself: {contradicted}")
    table = manifest.get("table")
    return Part(
        name=name,
        losses=tuple(CountedLoss.from_dict(one) for one in manifest["losses"]),
        guarantee=guarantee_from(manifest["guarantee"]),
        unit=None if table is None else unit_of(table["unit"]["column"]),
        count=count,
    )


@frozen(repr=False)
class Composition:
    """The total of several releases of the same people. Made by `ggdp.compose`.

    Attributes
    ----------
    parts : tuple of Part
        The parts, each with its guarantee and how often it is run.
    total : TotalLoss
        The sum of their losses.

    Notes
    -----
    Claim: the total holds where the noise (order, scale, how many cells move) of every part was fixed without looking
    at results of other parts; the queries may be chosen adaptively (`ggdp.proofs.losses`). Where noise was chosen
    after seeing results, use `basic`, which holds always, or a ledger.
    """

    parts: tuple[Part, ...]
    total: TotalLoss = field(init=False, eq=False)

    @total.default
    def _added(self) -> TotalLoss:
        return TotalLoss.of(
            CountedLoss(counted.loss, counted.count * part.count) for part in self.parts for counted in part.losses
        )

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation of neighbours of all parts; None where none says."""
        stated = (part.guarantee.neighbours for part in self.parts)
        return next((neighbours for neighbours in stated if neighbours is not None), None)

    @property
    def unit(self) -> str | None:
        """Whom the parts protect; None where none says."""
        return next((part.unit for part in self.parts if part.unit is not None), None)

    @property
    def basic(self) -> PureDP | ApproxDP:
        """The plain sum of all epsilons and deltas, which holds however the parts were chosen. Rounding: up."""
        epsilon = sum((part.count * Fraction(part.guarantee.epsilon) for part in self.parts), Fraction(0))
        delta = sum((part.count * Fraction(part.guarantee.delta) for part in self.parts), Fraction(0))
        total = rounded_up(epsilon, of="epsilon")
        if delta == 0:
            return PureDP(total, self.neighbours)
        return ApproxDP(total, min(rounded_up(delta, of="delta"), math.nextafter(1.0, 0.0)), self.neighbours)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two proved floats with the delta of the total at an epsilon between them.

        It is that of the losses which dominate the parts: a part of which only the guarantee is known counts as the
        worst mechanism that has it.

        Parameters
        ----------
        epsilon : float
            At least 0.

        Examples
        --------
        >>> import ggdp
        >>> noise = ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.histogram(), order=3, support="integer")
        >>> lower, upper = ggdp.compose([(noise, 10)]).delta(2.0)
        >>> print(f"{upper:.3g}", upper / lower < 1.0001)
        1.49e-14 True
        """
        if _validate.finite(epsilon=epsilon) < 0.0:
            raise ArgumentError("epsilon", epsilon, "must be at least 0")
        lower, upper = self.total.delta(float(epsilon))
        basic = self.basic
        upper = min(upper, basic.delta) if basic.epsilon <= epsilon else upper
        return min(lower, upper), upper

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return two proved floats with the least epsilon of the total for a delta between them.

        Parameters
        ----------
        delta : float
            In [0, 1). With 0 the epsilon is that of pure DP, infinite unless all parts are pure.

        Examples
        --------
        >>> import ggdp
        >>> lower, upper = ggdp.compose([(ggdp.PureDP(0.1), 100)]).epsilon(1e-6)
        >>> print(f"{upper:.4f}")
        4.7746
        """
        slack = _validate.probability(delta=delta)
        lower, upper = self.total.epsilon(slack)
        basic = self.basic
        upper = min(upper, basic.epsilon) if basic.delta <= slack else upper
        return min(lower, upper), upper

    def guarantee(self, *, delta: float = 0.0) -> PureDP | ApproxDP:
        """Return what is proved of the total: approximate DP for a delta, or pure DP.

        Parameters
        ----------
        delta : float, default 0
            The delta of the total. With 0 all parts must be pure.

        Raises
        ------
        UnattainableError
            If delta is 0 and a part is not pure.

        Examples
        --------
        >>> import ggdp
        >>> print(ggdp.compose([(ggdp.PureDP(0.25), 4)]).guarantee())
        1-DP
        """
        epsilon = self.epsilon(delta)[1]
        if math.isinf(epsilon):
            infinite = self.total.infinite[1]
            why = (
                f"the loss is infinite with a probability of up to {rounded_up_text(infinite)}; name a larger delta"
                if infinite > 0.0
                else "not all parts are pure; name a delta above 0"
            )
            raise UnattainableError(f"no epsilon keeps delta = {delta!r}: {why}")
        if delta == 0.0:
            return PureDP(max(epsilon, math.ulp(0.0)), self.neighbours)
        return ApproxDP(max(epsilon, math.ulp(0.0)), delta, self.neighbours)

    def plot(self) -> Figure:
        """Draw delta against epsilon: both bounds of the total, the plain sum, and each part alone."""
        from ggdp.plots.budget_figures import plot_composition

        return plot_composition(self)

    def to_dict(self, *, epsilon: float | None = None, delta: float | None = None) -> dict[str, Any]:
        """Return the total at an epsilon or for a delta as plain values, ready for JSON."""
        if (epsilon is None) == (delta is None):
            raise ArgumentError("delta", delta, "give either `epsilon` or `delta`")
        if epsilon is None:
            assert delta is not None
            asked = "epsilon"
            lower, epsilon = self.epsilon(delta)
        else:
            asked = "delta"
            lower, delta = self.delta(epsilon)
        return {
            "epsilon": None if math.isinf(epsilon) else epsilon,
            "delta": delta,
            "asked": asked,
            "lower": None if math.isinf(lower) else lower,
            "basic": self.basic.to_dict(),
            "neighbours": self.neighbours,
            "unit": self.unit,
            "parts": [
                {
                    "name": part.name,
                    "count": part.count,
                    "guarantee": part.guarantee.to_dict(),
                    "losses": [counted.to_dict() for counted in part.losses],
                    "signature": None if part.signature is None else part.signature.to_dict(),
                }
                for part in self.parts
            ],
        }

    def __repr__(self) -> str:
        releases = number_of(sum(part.count for part in self.parts), "release")
        losses = number_of(len(self.total.losses), "distinct loss", "distinct losses")
        lines = [f"Composition of {releases}, {losses}", f"  plain sum: {self.basic}"]
        for slack in (1e-6, 1e-9):
            upper = self.epsilon(slack)[1]
            if math.isfinite(upper):
                lines.append(f"  epsilon {rounded_text(upper)} at delta {rounded_text(slack)}")
        return "\n".join(lines)


def compose(parts: Iterable[Any], *, signer: str | os.PathLike[str] | None = None) -> Composition:
    """Return the total of several releases of the same people, with bounds that are proved from both sides.

    Parameters
    ----------
    parts : iterable
        Each a `Release`, `TableRelease`, `TablePlan`, `Mechanism`, `ExponentialMechanism`, `Calibration`, `Noise`, a
        guarantee, a manifest (its path, or what `json.load` returns), or a pair (part, count).
    signer : path, optional
        A file of public keys (OpenSSH or PEM). Every manifest must then be a file that one of them has signed.

    Returns
    -------
    Composition
        With ``delta(epsilon)``, ``epsilon(delta)``, ``guarantee(delta=...)`` and ``plot()``.

    Raises
    ------
    ArgumentError
        If a part has no guarantee (its source was seeded), or other neighbours or another unit than the rest. Parts
        that do not say what their unit is, such as calibrations, go with any. Or if the signature next to a manifest
        does not fit it. Manifests are believed: without `signer`, a manifest from elsewhere is as good as its source.

    Notes
    -----
    The total holds where the noise of every part was fixed without looking at results of other parts; the queries may
    be chosen adaptively. A part enters by its noise where that is known, else by its guarantee. Probabilistic DP
    enters by its noise too; the total is approximate DP. Claims and proofs: `ggdp.proofs.loss_distribution` and
    `ggdp.proofs.losses`.

    Examples
    --------
    >>> import ggdp
    >>> monthly = ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram(), order=1, support="integer")
    >>> yearly = ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.cells(3, 1), order=2, support="integer")
    >>> total = ggdp.compose([(monthly, 12), yearly])
    >>> print(total.guarantee(delta=1e-6))
    (1.39, 1e-06)-aDP under add-remove neighbours
    >>> print(total.basic)
    (1.71, 1e-07)-aDP under add-remove neighbours
    """
    return Composition(parts_of(parts, None if signer is None else read_signers(signer)))
