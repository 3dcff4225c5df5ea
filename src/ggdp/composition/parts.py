"""What can be composed, as one kind of record: losses that dominate it, and its guarantee, neighbours and unit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ggdp import _validate
from ggdp._files import MOST_JSON, parsed_json, read_file
from ggdp.calibration import Calibration
from ggdp.calibration.grid import GridCalibration
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP
from ggdp.proofs.dominating_losses import dominating_losses
from ggdp.proofs.total_loss import CountedLoss, ResponseLoss
from ggdp.signatures import checked_signature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.signatures import Signature

_KINDS = (
    "must be a release, mechanism, calibration or guarantee, a manifest (a path or what json.load returns), or a pair "
    "(part, count)"
)
# `ggdp.releases.release_manifest` writes it, which is above this package.
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

    @property
    def neighbours(self) -> Neighbours | None:
        """The relation of neighbours; None where the guarantee does not say."""
        return self.guarantee.neighbours


def parts_of(given: Iterable[Any], signers: frozenset[bytes] | None = None) -> tuple[Part, ...]:
    """Return the parts of a composition, all of the same neighbours and unit.

    Where signers are given (`ggdp.signatures.read_signers`), every manifest must be signed by one of them.

    Raises
    ------
    ArgumentError
        If a part has no guarantee, or neighbours or a unit that another part does not have; or if the signature of a
        manifest is wrong.
    """
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise ArgumentTypeError("parts", type(given).__name__, "must be a list of parts")
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int):
        raise ArgumentError("parts", "a pair (part, count)", "must be a list of parts; put the pair into a list")
    parts = tuple(_part(one, number, signers) for number, one in enumerate(given, start=1))
    if not parts:
        raise ArgumentError("parts", [], "must not be empty")
    for what in ("neighbours", "unit"):
        said = [part for part in parts if getattr(part, what) is not None]
        for part in said[1:]:
            mine, first = getattr(part, what), getattr(said[0], what)
            if mine != first:
                raise ArgumentError(
                    "parts",
                    part.name,
                    f"has {what} {mine!r} where {said[0].name} has {first!r}: their losses are not about the same "
                    "people and cannot be added",
                )
    return parts


def calibrated_losses(calibration: Calibration | GridCalibration) -> tuple[CountedLoss, ...]:
    """Return the losses that dominate the noise of a calibration; on a grid in its steps."""
    steps = calibration.steps if isinstance(calibration, GridCalibration) else calibration
    return dominating_losses(steps.law, steps.sensitivity, calibration.guarantee)


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
    name = f"part {number}"
    if isinstance(one, Calibration | GridCalibration):
        one.require_proof()
        guarantee = one.guarantee
        return Part(name=name, losses=calibrated_losses(one), guarantee=guarantee, unit=None, count=count)
    if isinstance(one, PureDP | ProbabilisticDP | ApproxDP):
        losses = (CountedLoss(ResponseLoss(one.epsilon, one.delta), 1),)
        return Part(name=name, losses=losses, guarantee=one, unit=None, count=count)
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
    if isinstance(one, Composable):
        if one.guarantee is None:
            raise ArgumentError("parts", name, "has no guarantee: its noise came from a seeded source")
        unit = getattr(one, "protected_unit", None)
        return Part(name=name, losses=one.losses, guarantee=one.guarantee, unit=unit, count=count)
    raise ArgumentTypeError("parts", type(one).__name__, _KINDS)


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
        unit=None if table is None else table["unit"]["column"] or "row",
        count=count,
    )
