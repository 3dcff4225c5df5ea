"""Whether a manifest agrees with itself: it is derived again, and compared field by field.

A manifest is a file that anybody can edit. Its certificates are proved again, without any search. Then, from its
request (of a table), or from its sensitivity and goal (of a mechanism), and from the noise that the certificates are
about, the manifest is written once more by the code that writes all of them, and what is stated must be what is written
now. So every field that follows from others is checked, and a change of one field that others depend on contradicts
these.

The page "The manifest" of the documentation says what is believed: the request as a whole, and a few results.
"""

from __future__ import annotations

import hashlib
import math
import re
import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from ggdp import _validate
from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.accounting.composition import calibrated_losses, guarantee_from
from ggdp.calibration.calibration import bounds_in_steps, calibration_from
from ggdp.calibration.grid_calibration import GRID_NOTE
from ggdp.errors import CertificateError, GgdpError
from ggdp.ledger import EntryReference
from ggdp.mechanisms.additive import kind_of
from ggdp.mechanisms.certified_noise import saturation_of
from ggdp.mechanisms.exponential_mechanism import SELECTION, UTILITY
from ggdp.noise.common_total_noise import CommonTotalNoise
from ggdp.privacy import Guarantee, PureDP, Sensitivity
from ggdp.privacy.grid import Grid
from ggdp.proofs.bound import EXACT
from ggdp.proofs.certificate import Certificate, require_proved
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.worst_case import Question
from ggdp.releases.adjustments import Adjustment, clip, fit_total, normalise, project, round_values
from ggdp.releases.error_law import ErrorLaw, VectorErrorLaw
from ggdp.releases.mechanism_record import NoiseRecord, SelectionRecord
from ggdp.releases.release import PLAIN, adjust, charged_to, make_release, manifest_of, manifest_schema
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.statistics_plan import GRID, StatisticsPlan, block_change, in_blocks
from ggdp.tables.table_manifest import table_manifest
from ggdp.tables.table_noise import CommonTotalMechanism, NoisePart, TableNoise, cells_of, groups_of
from ggdp.tables.table_noise import joint as joint_guarantee
from ggdp.tables.table_plan import plan_request

if TYPE_CHECKING:
    from ggdp.calibration import Calibration
    from ggdp.mechanisms import Mechanism
    from ggdp.releases import Release

Item = TypeVar("Item")

# Sensitivities in words have six digits, rounded up.
_SIX_DIGITS = 1e-5
# A box of more coordinates is not convolved.
_MOST_SHOWN = 10**6
# Axes that an array has at most.
_MOST_AXES = 64
_NUMBER, _WHOLE = r"[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-][0-9]+)?|inf", r"[0-9][0-9,]*"
_SENSITIVITY = re.compile(
    rf"(?:one coordinate moves by at most (?P<one>{_NUMBER})"
    rf"|at most (?P<cells>{_WHOLE}) coordinates move, each by at most (?P<each>{_NUMBER})"
    rf"|coordinates move by at most (?P<box>(?:{_NUMBER})(?:, (?:{_NUMBER}))*)"
    rf"(?:, \.\.\. \((?P<all>{_WHOLE}) in all\))?"
    rf"|(?P<norm>{_WHOLE}) coordinates move)"
    rf"(?:, together by at most (?P<bound>{_NUMBER}) in the l_(?P<order>{_NUMBER}) norm)?"
    r" \((?P<neighbours>add-remove|replace-one)\)"
)
_GROUPS = re.compile(
    rf"one unit is in at most (?P<most>{_WHOLE}) cells? of each group, adding at most (?P<d>{_NUMBER}); cells: "
    rf"(?P<groups>{_WHOLE} x {_WHOLE}(?: complete)?(?:, {_WHOLE} x {_WHOLE}(?: complete)?)*) "
    r"\((?P<neighbours>add-remove|replace-one)\)"
)
_RUN = re.compile(rf"({_WHOLE}) x ({_WHOLE})( complete)?")
# What is for readers alone: other versions of ggdp may say it in other words.
_WORDS = re.compile(
    r"statement|sensitivity|(table\.cut\.)?mechanism\.(parts\[\d+\]\.)?(name|item|notes.*|sensitivity)|table\.warnings.*"
    r"|table\.tables\[\d+\]\.(covers|tableSchema\.columns\[\d+\]\.dc:description)"
)
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,2}")
_TYPES = {"integer": np.int64, "number": np.float64, "label": np.str_}
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 120


class _ContradictionError(Exception):
    """What a manifest says twice, differently."""


def contradiction(manifest: Mapping[str, Any]) -> str | None:
    """Return how a manifest contradicts itself, such as 'mechanism.method is missing'; None if it does not."""
    try:
        return _difference(manifest, _derive(manifest), "", same_words=_is_this_version(manifest["ggdp"]))
    except _ContradictionError as found:
        return str(found)
    except GgdpError as refused:
        said = str(refused)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        said = "a field is missing or wrong"
    from jsonschema import Draft202012Validator

    for wrong in Draft202012Validator(manifest_schema()).iter_errors(manifest):
        return f"{'.'.join(str(step) for step in wrong.absolute_path) or 'it'} is missing or wrong"
    return said


def in_own_words(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest that does not contradict itself; one of an earlier version in the words of this one.

    Its own words are not compared with anything, so that nobody may read them as if they were.
    """
    return manifest if _is_this_version(manifest["ggdp"]) else {**_derive(manifest), "ggdp": manifest["ggdp"]}


def _derive(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return _table(manifest) if "table" in manifest else _mechanism(manifest)


def _is_this_version(stated: object) -> bool:
    """Return whether a manifest is of this version of ggdp, whose words are known; later ones are refused."""
    installed = version("ggdp")
    if stated == installed:
        return True
    if not isinstance(stated, str) or not _VERSION.fullmatch(stated):
        raise _ContradictionError("ggdp is not a version")
    mine, theirs = (tuple(map(int, text.split(".")[:3])) for text in (_VERSION.match(installed)[0], stated))  # type: ignore[index]
    if theirs >= mine:
        raise _ContradictionError(f"ggdp is {stated}, and this is {installed}: check it with that version")
    return False


class _Query(NamedTuple):
    """How far one person can move a query: in words, in the unit of the data, and in steps of the grid if it has one.

    That in the unit of the data is exact where a request gives it; of a mechanism it is one with the same steps.
    """

    words: str
    ideal: Sensitivity
    steps: Sensitivity


def _table(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a table as its request and its certificates make it."""
    table = manifest["table"]
    columns = [column for one in table["tables"] for column in one["tableSchema"]["columns"]]
    dates = {column["name"] for column in columns if column["datatype"] == "date"}
    request = TableRequest.from_dict(table["request"], dates)
    grid = GRID if request.statistics else None
    published = [("mechanism", manifest["mechanism"])]
    if "parts" in manifest["mechanism"]:
        several = enumerate(manifest["mechanism"]["parts"])
        published = [(f"mechanism.parts[{number}]", plain) for number, plain in several]
    if table["cut"] is not None:
        published.append(("table.cut.mechanism", table["cut"]["mechanism"]))
    noises: Iterator[tuple[str, Mapping[str, Any]]] = iter(published)

    def noise_for(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
        where, plain = next(noises, ("table.cut.mechanism", {}))
        certificate = _certificate(where, plain)
        if order is not None and certificate.law.order != order:
            raise _ContradictionError(f"{where}.order is {certificate.law.order!r}, but the request asks for {order!r}")
        if order is None and certificate.bound.quantity == "epsilon":
            # Laplace noise that is as good as the best is pure.
            goal = PureDP(goal.epsilon)
        query = _Query(str(sensitivity), sensitivity, (sensitivity if grid is None else grid.sensitivity(sensitivity)))
        return _noise(where, {**plain, "bounds": None, "query_bounds": None}, certificate, goal, query, grid)

    def parts_for(request: TableRequest, goal: Guarantee, split: StatisticsPlan | None) -> TableNoise:
        # Which tables share noise, and how epsilon was split, are public choices; what they add up to is checked.
        stated, parts = manifest["mechanism"].get("parts"), []
        for plain in stated or [manifest["mechanism"]]:
            of = tuple(_integer(one, at_least=1) - 1 for one in plain["tables"]) if stated else every
            share = _share(plain["certificate"], goal) if stated else goal
            if (encoding := plain.get("encoding")) is not None:
                total, difference = (_integer(encoding[name], at_least=1) for name in ("total", "difference"))
                base = noise_for(share, CommonTotalNoise.changes(total, difference, len(of)), None)
                parts.append(NoisePart(of, CommonTotalMechanism(base, groups_of(request, of), total, difference)))
                continue
            is_of_norm, blocks = plain.get("norm") is not None, split and in_blocks(request, split)
            if split is None or blocks is None:
                change = groups_of(request, of) if is_of_norm else cells_of(request, of)
            else:
                change = block_change(request, blocks, of[0]) if is_of_norm else split.sensitivity
            parts.append(NoisePart(of, noise_for(share, change, None)))
        if sorted(one for part in parts for one in part.tables) != list(every):
            raise _ContradictionError("mechanism.parts does not name each table once")
        together = joint_guarantee(part.mechanism.guarantee for part in parts)
        if together.epsilon > goal.epsilon or together.delta > goal.delta:
            raise _ContradictionError("mechanism.parts have more than the epsilon of the goal together, or its delta")
        return TableNoise(tuple(parts))

    every = tuple(range(len(request.by)))
    plan = plan_request(request, noise_for, parts_for)
    cut = () if plan.cut is None else plan.cut.counts([_integer(one["noisy_count"]) for one in table["cut"]["tables"]])
    release = replace(plan.described, entry=_entry(manifest))
    files = [_file(one) for one in table["tables"]]
    if len(files) != len(request.by):
        raise _ContradictionError(f"table.tables has {len(files)} tables, but the request has {len(request.by)}")
    names = [file["url"] for file in files if file["url"] is not None]
    if len(set(names)) < len(names):
        raise _ContradictionError("table.tables names one file twice")
    # Version 0.1.0 wrote the raw counts of every table, and did not call counts noisy where it described them.
    earlier = not any(column["name"] == "count" and "noisy" in column["dc:description"] for column in columns)
    make = partial(table_manifest, plan, release, files, cut, earlier=earlier)
    derived, shape = _with_error(manifest, make), _shape(manifest)
    sums = (1,) * len(request.by) if plan.statistics is None else plan.statistics.sums
    values = sum(math.inf if size is None else size * each for size, each in zip(request.sizes, sums, strict=True))
    if request.regime == "declared":
        derived["values"]["shape"] = [values]
    elif len(shape) == 1 and shape[0] <= values:
        derived["values"]["shape"] = shape
    return derived


def _share(certificate: Mapping[str, Any], goal: Guarantee) -> Guarantee:
    """Return what a part of several tables has of a goal, which is all of delta or none: `_noise` checks the proof."""
    if certificate["quantity"] == "epsilon":
        return PureDP(certificate["target"])
    return replace(goal, epsilon=certificate["parameters"]["epsilon"])


def _mechanism(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of a mechanism as its sensitivity, its goal and its certificate make it."""
    plain, goal = manifest["mechanism"], guarantee_from(manifest["goal"])
    shape, steps = _shape(manifest), manifest["adjustments"]
    size = next((_integer(step["of"], at_least=0) for step in steps if step["name"] == "drop"), math.prod(shape))
    record: NoiseRecord | SelectionRecord
    guarantee: Guarantee
    if plain["kind"] == "selection":
        said, candidates, excluded = manifest["sensitivity"], _integer(plain["candidates"]), _integer(plain["excluded"])
        if not isinstance(goal, PureDP) or goal.neighbours is None:
            raise _ContradictionError("goal is not pure DP under some neighbours, but that of a selection is")
        if not 0 <= excluded < candidates:
            raise _ContradictionError(f"mechanism.excluded is {excluded}, of {candidates} candidates")
        utility = re.fullmatch(rf"{UTILITY}(?P<size>{_NUMBER})(?P<side>, all to one side)?", said)
        if utility is None or (utility["side"] and goal.neighbours != "add-remove"):
            raise _ContradictionError(f"sensitivity is {said!r}, which is not that of a utility")
        _number(utility["size"])
        (name, item), guarantee, kind = SELECTION, goal, _TYPES[manifest["values"]["type"]]
        record = SelectionRecord(
            name=name,
            item=item,
            goal=goal,
            neighbours=goal.neighbours,
            sensitivity=said,
            candidates=candidates,
            excluded=excluded,
        )
        if size != 1 or (shape and not steps):
            raise _ContradictionError("values.shape is not that of one selected candidate")
    else:
        certificate = _certificate("mechanism", plain)
        grid = None if plain["step"] is None else Grid(step=plain["step"])
        dropped = any(step["name"] == "drop" for step in steps)
        refused: list[_ContradictionError] = []
        for query in _queries(manifest, certificate, grid):
            try:
                noise = _noise("mechanism", plain, certificate, goal, query, grid, dropped=dropped)
                break
            except _ContradictionError as wrong:
                refused.append(wrong)
        else:
            raise refused[0]
        record, guarantee, kind = noise.record, noise.guarantee, np.int64 if grid is None else np.float64
        count, norm = query.ideal.moving if query.ideal.has_fixed_dimension else size, certificate.law.norm
        if size != (count if norm is None else sum(norm.cells)):
            raise _ContradictionError(
                f"values.shape is of {size} values, but the sensitivity is of {count} coordinates"
            )
        bounds = record.law.bounds
        if bounds is not None and len(bounds) > 1 and not dropped and shape[-1:] != [len(bounds)]:
            raise _ContradictionError(f"mechanism.bounds has {len(bounds)} pairs, but values.shape is {shape}")
    release = make_release(np.ones(1, dtype=kind), record, guarantee)
    for place, step in enumerate(steps):
        release, size = _adjust(release, step, size, f"adjustments[{place}]")
    if size != math.prod(shape) or (any(step["name"] == "drop" for step in steps) and len(shape) != 1):
        raise _ContradictionError(f"values.shape is {shape}, but the adjustments leave {size} values")
    charged_to(release, _entry(manifest))
    derived = _with_error(manifest, partial(manifest_of, release, PLAIN))
    derived["values"]["shape"] = shape
    return derived


def _with_error(manifest: Mapping[str, Any], written: Any) -> dict[str, Any]:  # noqa: ANN401 - a function
    """Return what is written of a release, with the errors as they are stated if only their last digits differ."""
    derived: dict[str, Any] = written(None)
    stated, own = manifest["error"], derived["error"]
    if own is None or stated == own or set(stated) != set(own):
        return derived
    for name, value in own.items():
        # They are computed in floats, whose last digits another machine may round differently.
        if type(stated[name]) is bool or not math.isclose(stated[name], value, rel_tol=1e-9, abs_tol=0.0):
            return derived
    return cast("dict[str, Any]", written(dict(stated)))


def _certificate(where: str, plain: Mapping[str, Any]) -> Certificate:
    """Return the certificate of noise, proved again; the noise beside it must be what it is about."""
    if plain.get("certificate") is None:
        raise _ContradictionError(f"{where} has no certificate")
    try:
        certificate = Certificate.from_dict(dict(plain["certificate"]))
        require_proved(certificate)
    except CertificateError as wrong:
        raise _ContradictionError(f"the certificate of {where} does not hold: {wrong}") from None
    law, step = certificate.law, plain["step"]
    if law.norm is not None:
        # Real noise, whose sum with the values is rounded to the grid, or noise on the integers, which may be steps.
        if law.norm.kind == "lp" and step is None:
            raise _ContradictionError(f"{where}.step is missing, but the certificate is about noise on the reals")
        step = None if law.norm.kind == "lp" else step
    elif law.support != "integer":
        raise _ContradictionError(f"the certificate of {where} is about noise on the reals, which is never drawn")
    scale = law.scale if step is None else law.scale * Grid(step=step).step
    for name, proved in (("order", law.order), ("scale", scale), ("bounding", law.bounding)):
        if _difference(plain[name], proved, "", same_words=True) is not None:
            raise _ContradictionError(f"{where}.{name} is {plain[name]!r}, but the certificate is about {proved!r}")
    return certificate


def _noise(
    where: str,
    plain: Mapping[str, Any],
    certificate: Certificate,
    goal: Guarantee,
    query: _Query,
    grid: Grid | None,
    *,
    dropped: bool = False,
) -> Mechanism:
    """Return the noise that a certificate is about, if it is for the goal and the query: what plans need of one."""
    bounds = plain["bounds"] and tuple((float(low), float(high)) for low, high in plain["bounds"])
    law, indices, query_steps = certificate.law, bounds, query.steps
    if law.norm is not None:
        if bounds is not None or plain["method"] != "tight":
            raise _ContradictionError(f"{where} has bounds or a method that noise of a norm has not")
        # Its certificate is in the unit of the data, if it is about noise on the reals.
        grid = None if law.norm.kind == "lp" else grid
    if grid is not None and bounds is not None:
        is_whole = not query_steps.has_fixed_dimension or len(bounds) in (1, len(query_steps.sizes))
        indices = bounds_in_steps(grid, bounds, query_steps.sizes if is_whole else (1.0,))
        if not is_whole:
            # Of cells that are left of more, the least widths of the certificate that hold them.
            widths = sorted(width for width, _, _ in certificate.bound.known_bounds)
            indices = tuple(
                (low, low + next((one for one in widths if one >= high - low), high - low)) for low, high in indices
            )
    all_bounds = indices
    if dropped and bounds is not None and len(bounds) > 1:
        # As wide as those of all coordinates of the certificate, since some cells were dropped.
        all_bounds = tuple(_copies(((0.0, width), count) for width, _, count in certificate.bound.known_bounds))
    question = Question(
        goal=goal,
        sensitivity=query.steps,
        order=law.order,
        support=law.support,
        bounds=all_bounds,
        bounding=law.bounding,
        norm=law.norm,
    )
    try:
        steps = replace(calibration_from(question, certificate), method=plain["method"])
    except CertificateError:
        raise _ContradictionError(
            f"the certificate of {where} is not about this query and goal: {query.words}, {goal}"
        ) from None
    if steps.method != "tight" and certificate.tight is not None:
        raise _ContradictionError(f"{where}.method is {steps.method!r}, but the certificate claims the least scale")
    found = [one for one in question.acceptable() if one.bound == certificate.bound.claim]
    notes = [() if one.note is None else (one.note,) for one in found]
    if grid is not None and query.ideal.joint is not None and certificate.bound.ignores_joint:
        notes = [(*one, GRID_NOTE) for one in notes]
    # A scale of the paper has the note of the way by which it was proved.
    note = tuple(plain["notes"]) if tuple(plain["notes"]) in notes and steps.method != "tight" else notes[0]
    is_ideal = grid is not None and law.norm is None
    requested = list(_ideals(steps, query.ideal, grid)) if is_ideal and grid else [replace(steps, notes=note)]
    names = [kind_of(one) for one in requested]
    name, item = (plain["name"], plain["item"]) if (plain["name"], plain["item"]) in names else names[0]
    saturation = saturation_of(steps, grid)
    pairs = plain.get("query_bounds")
    record = NoiseRecord(
        name=name,
        item=item,
        goal=goal,
        neighbours=query.steps.neighbours,
        sensitivity=query.words,
        scale=law.scale * (1.0 if grid is None else grid.step),
        method=steps.method,
        certificate=certificate,
        law=ErrorLaw(
            order=law.order,
            scale=law.scale,
            step=None if grid is None else grid.step,
            bounding=law.bounding,
            index_bounds=None if indices is None else tuple((int(low), int(high)) for low, high in indices),
            bounds=bounds,
            clamp=saturation.clamp,
        )
        if law.norm is None
        else VectorErrorLaw(law=law, step=plain["step"] if grid is None else grid.step),
        query_bounds=None if pairs is None else tuple((float(low), float(high)) for low, high in pairs),
        notes=note,
        losses=calibrated_losses(steps),
    )
    shared = {name: getattr(record, name) for name in ("name", "scale", "law", "losses")}
    asked = {"guarantee": saturation.guarantee, "sensitivity": query.ideal, "order": law.order}
    return cast("Mechanism", SimpleNamespace(record=record, **asked, **shared))


def _ideals(steps: Calibration, ideal: Sensitivity, grid: Grid) -> Iterator[Calibration]:
    """Return the calibrations on the reals that noise on a grid may have been asked for by, for their names."""
    bounds = steps.bounds and tuple((low * grid.step, high * grid.step) for low, high in steps.bounds)
    law = NoiseLaw(order=steps.order, scale=steps.scale, support="real", bounding=steps.bounding)
    question = Question(
        goal=steps.goal, sensitivity=ideal, order=steps.order, support="real", bounds=bounds, bounding=steps.bounding
    )
    for one in question.acceptable():
        named = Certificate(bound=one.bound, law=law, proved=one.target, target=one.target, tight=None, precision=EXACT)
        notes = () if one.note is None else (one.note,)
        yield replace(calibration_from(question, named), method=steps.method, notes=notes)


def _queries(manifest: Mapping[str, Any], certificate: Certificate, grid: Grid | None) -> Iterator[_Query]:
    """Return the sensitivities that words describe: those that round to them, the likely one first.

    Words have six digits. Where these leave several sizes, they are those that the certificate names, or else the
    losses; a joint norm is one from which the number of the certificate follows. Which of them it is, if any, the
    certificate decides.
    """
    words, plain, norm = manifest["sensitivity"], manifest["mechanism"], certificate.law.norm
    if norm is not None and norm.kind in ("lp", "signed") and plain["query_bounds"] is None:
        # Of a box or a norm all numbers are in the certificate.
        relation: Any = "replace-one" if words.endswith("(replace-one)") else "add-remove"
        largest, values = certificate.bound.known_norms[0], sum(norm.cells)
        ideal = Sensitivity.box(norm.sizes or (largest,) * values, neighbours=relation)
        if ", together" in words and norm.order is not None:
            ideal = Sensitivity.norm(norm.order, largest, dimension=values, neighbours=relation)
        if str(ideal) != words:
            raise _ContradictionError(f"sensitivity is {words!r}, but the certificate makes it {str(ideal)!r}")
        yield _Query(words, ideal, ideal)
        return
    if (found := _GROUPS.fullmatch(words)) is not None:
        yield from _of_groups(words, found, certificate, grid)
        return
    found = _SENSITIVITY.fullmatch(words)
    if found is None:
        raise _ContradictionError(f"sensitivity is {_SHORT.repr(words)}, which is not how ggdp describes one")
    said, neighbours = found.groupdict(), cast("Any", found["neighbours"])
    if plain["query_bounds"] is not None:
        ideal = Sensitivity.from_bounds([(low, high) for low, high in plain["query_bounds"]], neighbours=neighbours)
        if str(ideal) != words:
            raise _ContradictionError(f"sensitivity is {words!r}, but mechanism.query_bounds make it {str(ideal)!r}")
        yield _Query(words, ideal, ideal if grid is None or norm is not None else grid.sensitivity(ideal))
        return
    kind: Any = "norm" if said["norm"] is not None else "box" if said["box"] is not None else "cells"
    shown = [_number(text) for text in (said["one"] or said["each"] or said["box"] or said["bound"]).split(", ")]
    count = said["cells"] or said["norm"] or said["all"]
    moving = len(shown) if count is None else int(count.replace(",", ""))
    unit = grid or Grid(step=1.0)
    # The whole sizes of coordinates that the certificate is about, then those of losses.
    known = [size for size, _ in certificate.bound.known_sizes]
    known += [part for norm in certificate.bound.known_norms for part in (norm / moving, norm)]
    known += [float(loss["size"]) for loss in manifest["losses"] if loss["kind"] == "noise"]
    step, sizes = Fraction(unit.step), []
    for size in shown:
        # How many steps it has, though it is shown with six digits, rounded up.
        low, high = (math.ceil(Fraction(size) * end / step) for end in (1 - Fraction(_SIX_DIGITS), 1))
        sizes.append(next((one for one in known if one.is_integer() and low <= one <= high), float(high)))
    if said["all"] is not None:
        sizes += _sizes_beyond(sizes, manifest, certificate, unit)
        if said["bound"] is not None and 0 < len(sizes) < moving:
            # Only the norm is proved: no other number names the rest, and the certificate decides.
            sizes += sizes[-1:] * (moving - len(sizes))
        if len(sizes) != moving:
            raise _ContradictionError(f"sensitivity is of {moving} coordinates, but the certificate and losses are not")
    real = tuple(size * unit.step for size in sizes)
    if said["bound"] is None:
        steps = Sensitivity(kind=kind, sizes=tuple(sizes), moving=moving, neighbours=neighbours)
        yield _Query(words, replace(steps, sizes=real), steps)
        return
    q, bound = _number(said["order"]), _number(said["bound"])
    real = (bound,) if kind == "norm" else real
    ideal = Sensitivity(kind=kind, sizes=real, moving=moving, joint=(q, bound), neighbours=neighbours)
    norms = [(q, bound * (1.0 - _SIX_DIGITS)), (q, bound)]
    if grid is not None:
        norms = [grid.sensitivity(Sensitivity.norm(*norm, dimension=moving)).joint or norm for norm in norms]
    least, most = (norm for _, norm in norms)

    def with_joint(joint: float) -> Sensitivity:
        alone = joint if grid is None else min(sizes[0], joint)
        return replace(ideal, sizes=(alone,) if kind == "norm" else tuple(sizes), joint=(q, joint))

    for joint in (most, *_joints(certificate, with_joint(most), most)):
        if least <= joint <= most:
            yield _Query(words, ideal, with_joint(joint))


def _of_groups(words: str, found: re.Match[str], certificate: Certificate, grid: Grid | None) -> Iterator[_Query]:
    """Return the sensitivities of counts in groups that words describe."""
    cells: list[int] = []
    complete: list[bool] = []
    for run in found["groups"].split(", "):
        count, k, one = cast("re.Match[str]", _RUN.fullmatch(run)).groups()
        many = int(count.replace(",", ""))
        if len(cells) + many > _MOST_SHOWN:
            raise _ContradictionError("sensitivity is of more groups than a release has")
        cells += [int(k.replace(",", ""))] * many
        complete += [one is not None] * many
    most, shown, neighbours = int(found["most"].replace(",", "")), _number(found["d"]), cast("Any", found["neighbours"])
    one_each = Sensitivity.groups(cells, most, complete=complete, neighbours=neighbours)
    # What one unit adds to a cell is shown with six digits; sizes and norms of the certificate name it exactly.
    moving, unit = one_each.moving, 1.0 if grid is None else grid.step
    known = [size for size, _ in certificate.bound.known_sizes]
    known += [norm / part for norm in certificate.bound.known_norms for part in (1.0, math.sqrt(moving), moving)]
    if certificate.law.norm is not None:
        known = [norm / one_each.largest_group for norm in certificate.bound.known_norms]
    for size in dict.fromkeys((shown, *(round(size * unit) for size in known))):
        ideal = replace(one_each, sizes=(max(size, 1),))
        if str(ideal) == words:
            yield _Query(words, ideal, ideal if grid is None else grid.sensitivity(ideal))


def _number(text: str) -> float:
    """Return a number that a text shows with at most six digits."""
    number = float(text.replace(",", ""))
    if rounded_up_text(number, 6) != text and rounded_text(number, 6) != text:
        raise _ContradictionError(f"sensitivity has the number {text!r}, which is not how ggdp writes one")
    return number


def _sizes_beyond(
    shown: Sequence[float], manifest: Mapping[str, Any], certificate: Certificate, unit: Grid
) -> list[float]:
    """Return the sizes of a box that words do not show, which are in the certificate or in the losses."""
    bound = certificate.bound
    if bound.known_bounds:
        left = _copies(((width, size), count) for width, size, count in bound.known_bounds)
        found: list[float] = []
        pairs = manifest["mechanism"]["bounds"]
        for low, high in pairs * len(left) if len(pairs) == 1 else pairs:
            first, last = unit.index([low, high]).tolist()
            known = [shown[len(found)]] if len(found) < len(shown) else [size for _, size in left]
            fits = next(((w, s) for w, s in left if w == max(last - first, s) and s in known), None)
            if fits is None:
                break
            left.remove(fits)
            found.append(fits[1])
        return found[len(shown) :]
    sizes = bound.known_sizes or [
        (float(loss["size"]), loss["count"]) for loss in manifest["losses"] if loss["kind"] == "noise"
    ]
    rest = Counter[float]()
    for size, count in sizes:
        rest[size] += min(count, _MOST_SHOWN)
    return sorted((rest - Counter(shown)).elements(), reverse=True)


def _joints(certificate: Certificate, query: Sensitivity, joint: float) -> Iterator[float]:
    """Return joint norms near that of a query from which the number of a certificate follows."""
    for proved in certificate.bound.known_norms:
        yield proved
        for order in (1.0, 2.0, certificate.law.order):
            near = joint * (proved / query.lp(order))
            yield near
            # The norm was rounded up, and on the integers down to a whole number.
            yield joint * ((proved + 0.5) / query.lp(order))
            above = below = near
            # The quotient is a few floats from the number that it was rounded from.
            for _ in range(8):
                above, below = math.nextafter(above, math.inf), math.nextafter(below, 0.0)
                yield above
                yield below


def _adjust(release: Release, step: Mapping[str, Any], size: int, where: str) -> tuple[Release, int]:
    """Return a release after a step, made of one value, and how many values of the real one are left."""
    given = dict(step)
    name = given.pop("name")
    if name == "drop":
        of, left = _integer(given["of"]), _integer(given["left"], at_least=0)
        _validate.choice(among=("by-values", "publicly"), chosen=given["chosen"])
        if of != size or left > of:
            raise _ContradictionError(f"{where} leaves {left} of {of} values, but there are {size}")
        done = Adjustment("drop", (("chosen", given["chosen"]), ("of", of), ("left", left)))
        return adjust(release, release.values, done, marginal=given["chosen"] == "publicly"), left
    if name == "fit_total":
        parts = _integer(given["parts"])
        if not 1 <= parts <= max(size, 1):
            raise _ContradictionError(f"{where}.parts is {parts}, of {size} values")
        fitted = fit_total(release, given["total"], nonnegative=given["nonnegative"], parts=[slice(0, 1)])
        last = Adjustment("fit_total", (*fitted.adjustments[-1].parameters[:-1], ("parts", parts)))
        return adjust(release, fitted.values, last), size
    ways: dict[str, Any] = {"clip": clip, "round_values": round_values, "normalise": normalise, "project": project}
    return ways[name](release, **given), size


def _entry(manifest: Mapping[str, Any]) -> EntryReference | None:
    if "ledger" not in manifest:
        return None
    plain = manifest["ledger"]
    identity = re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", plain["identity"])
    if identity is None or _integer(plain["entry"]) < 1:
        raise _ContradictionError("ledger is not an entry of a ledger")
    return EntryReference(identity=plain["identity"], entry=plain["entry"])


def _file(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says of a file: its name, its digest, and its parts if it is a directory."""
    url, digest = plain["url"], plain["sha256"]
    if (url is None) != (digest is None):
        raise _ContradictionError("table.tables has a file without a digest, or a digest without a file")
    if url is None:
        return {"url": None, "sha256": None}
    if not _is_name(url) or url in (".", ".."):
        raise _ContradictionError(
            f"table.tables names the file {_SHORT.repr(url)}, which is not in the directory of the manifest"
        )
    file = {"url": url, "sha256": digest}
    if "parts" in plain:
        parts = [{"url": one["url"], "sha256": one["sha256"]} for one in plain["parts"]]
        listing = "".join(f"{one['sha256']}  {one['url'].removeprefix(f'{url}/')}\n" for one in parts)
        if not all(_is_name(one["url"].removeprefix(f"{url}/")) for one in parts):
            raise _ContradictionError(f"table.tables has parts that are not in {url!r}")
        if hashlib.sha256(listing.encode()).hexdigest() != digest:
            raise _ContradictionError(f"the parts of {url!r} are not those that its sha256 is of")
        file["parts"] = parts
    for one in (file, *file.get("parts", ())):
        if not re.fullmatch(r"[0-9a-f]{64}", one["sha256"]):
            raise _ContradictionError(f"table.tables has the sha256 {one['sha256']!r}, which is none")
    return file


def _is_name(name: object) -> bool:
    """Return whether something is the name of a file, which can be printed in a line."""
    return (
        isinstance(name, str)
        and 0 < len(name.encode(errors="replace")) < 256
        and name.isprintable()
        and not {"/", "\\"} & set(name)
    )


def _integer(value: object, at_least: float = -math.inf) -> int:
    if type(value) is not int or value < at_least:
        raise TypeError
    return value


def _shape(manifest: Mapping[str, Any]) -> list[int]:
    """Return the shape of the released values, none larger than an array can be."""
    stated = manifest["values"]["shape"]
    shape = [_integer(size, at_least=0) for size in stated[: _MOST_AXES + 1]]
    if len(shape) > _MOST_AXES or math.prod(shape) >= 1 << 63:
        raise _ContradictionError("values.shape is larger than any array")
    return shape


def _copies(pairs: Iterable[tuple[Item, int]]) -> list[Item]:
    """Return each item repeated by its count; refuse more coordinates than a release can have."""
    counted = list(pairs)
    if sum(count for _, count in counted) > _MOST_SHOWN:
        raise _ContradictionError(f"it is about more than {_MOST_SHOWN:,} coordinates that are bounded one by one")
    return [item for item, count in counted for _ in range(count)]


def _difference(stated: Any, derived: Any, where: str, *, same_words: bool) -> str | None:  # noqa: ANN401 - JSON
    """Return the first field in which two manifests differ, in words, or None."""
    if where == "ggdp":
        return None
    if _WORDS.fullmatch(where) and not same_words and type(stated) is type(derived):
        return None
    if isinstance(derived, dict) and hasattr(stated, "items"):
        for name in [*derived, *(name for name in stated if name not in derived)]:
            path = f"{where}.{name}" if where else str(name)
            if name not in stated:
                return f"{path} is missing"
            if name not in derived:
                return f"{path} does not belong there"
            if found := _difference(stated[name], derived[name], path, same_words=same_words):
                return found
        return None
    if isinstance(derived, list | tuple) and isinstance(stated, list | tuple):
        if len(stated) != len(derived):
            return f"{where} has {len(stated)} items, but the rest of the manifest needs {len(derived)}"
        pairs = enumerate(zip(stated, derived, strict=True))
        items = (_difference(mine, own, f"{where}[{place}]", same_words=same_words) for place, (mine, own) in pairs)
        return next(filter(None, items), None)
    # Other programs may write 1.0 as 1.
    are_numbers = type(stated) in (int, float) and type(derived) in (int, float)
    if stated == derived and (are_numbers or type(stated) is type(derived)):
        return None
    return f"{where} is {_SHORT.repr(stated)}, but the rest of the manifest makes it {_SHORT.repr(derived)}"
