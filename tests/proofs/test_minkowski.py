"""The pure loss of noise of a norm, next to norms and changes by brute force."""

import dataclasses
import itertools
import math

import pytest

import ggdp
from ggdp.errors import ArgumentError, CertificateError, UnprovedError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.certificate import Certificate, certify
from ggdp.proofs.minkowski import MinkowskiLoss
from ggdp.proofs.noise_law import Norm
from ggdp.proofs.one_coordinate import LaplaceLoss
from ggdp.proofs.worst_case import BOUNDS, WorstCase, largest_change

FEW = [(2,), (3,), (2, 3), (1, 2), (2, 2, 2)]


def norm_by_search(kind, cells, complete, released):
    """The norm of a change of all released cells by its definition, the least of all (a, c); None where it has none."""
    groups, place = [], 0
    for k in cells:
        groups.append(released[place : place + k])
        place += k
    totals = {sum(group) for group, one in zip(groups, complete, strict=True) if one}
    if len(totals) > 1 or (kind == "replaced" and totals - {0}):
        return None
    free = [group[:-1] if one else group for group, one in zip(groups, complete, strict=True)]
    least_a = max(sum(max(x, 0) for x in group) for group in free)
    least_c = max(sum(max(-x, 0) for x in group) for group in free)
    if kind == "replaced":
        return max(least_a, least_c)
    far = range(least_a + least_c + sum(map(abs, totals)) + 1)
    pairs = ((a, c) for a in far for c in far if a >= least_a and c >= least_c)
    return min(a + c for a, c in pairs if not totals or a - c == next(iter(totals)))


def units(cells, complete, most, d):
    """Every way in which one unit may be counted: a tuple of all released cells."""
    ways = []
    for k, one in zip(cells, complete, strict=True):
        values = itertools.product((0, d) if one else range(d + 1), repeat=k)
        kept = (v for v in values if sum(x > 0 for x in v) <= most)
        ways.append([v for v in kept if not one or sum(v) == most * d])
    return [sum(way, ()) for way in itertools.product(*ways)]


def cases():
    for cells in FEW:
        for complete in itertools.product((False, True), repeat=len(cells)):
            for most, d in ((1, 1), (2, 1), (1, 2)):
                if all(not one or k >= most for k, one in zip(cells, complete, strict=True)):
                    yield cells, complete, most, d


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_largest_change_of_groups_is_that_of_all_neighbours(neighbours):
    kind, seen = {"add-remove": "added", "replace-one": "replaced"}[neighbours], 0
    for cells, complete, most, d in cases():
        every = units(cells, complete, most, d)
        changes = (
            every
            if kind == "added"
            else {tuple(x - y for x, y in zip(one, other, strict=True)) for one in every for other in every}
        )
        norms = [norm_by_search(kind, cells, complete, change) for change in changes]
        moving = max(sum(x != 0 for x in change) for change in changes)
        if moving == 0:
            with pytest.raises(ArgumentError, match="no count can change"):
                ggdp.Sensitivity.groups(cells, complete=complete, max_cells=most, d=d, neighbours=neighbours)
            continue
        query = ggdp.Sensitivity.groups(cells, complete=complete, max_cells=most, d=d, neighbours=neighbours)
        for p in (1.0, 2.0, math.inf):
            largest = max(
                max(map(abs, change)) if p == math.inf else sum(abs(x) ** p for x in change) ** (1 / p)
                for change in changes
            )
            assert largest * (1 - 1e-12) <= query.lp(p) <= largest * (1 + 1e-12)
        assert query.moving == moving
        free = tuple(k - one for k, one in zip(cells, complete, strict=True))
        if kind == "replaced" and not any(free):
            continue
        norm = Norm(kind=kind, groups=free, complete=complete)
        assert None not in norms
        assert largest_change(query, norm) == max(norms)
        seen += 1
    assert seen > 40


@pytest.mark.parametrize("kind", ["added", "replaced"])
@pytest.mark.parametrize(
    ("cells", "complete"), [((2, 2), (True, True)), ((2, 1), (True, False)), ((1, 2), (False, False))]
)
def test_norms_by_definition_are_norms_and_the_loss_is_reached_at_zero(kind, cells, complete):
    points = list(itertools.product(range(-2, 3), repeat=sum(cells)))
    norms = {x: value for x in points if (value := norm_by_search(kind, cells, complete, x)) is not None}
    assert len(norms) > 20
    for x, y in itertools.product(norms, repeat=2):
        added = tuple(a + b for a, b in zip(x, y, strict=True))
        assert norm_by_search(kind, cells, complete, added) <= norms[x] + norms[y]
    assert all(value > 0 for x, value in norms.items() if any(x))


BOX, BALL = ggdp.Sensitivity.box([1.0, 2.0, 4.0]), ggdp.Sensitivity.norm(3, 2.5, dimension=3)


@pytest.mark.parametrize(
    ("query", "norm", "largest"),
    [
        (BOX, {"kind": "signed", "groups": (1, 1, 1)}, 4.0),
        (ggdp.Sensitivity.box([2.0, 2.0]), {"kind": "signed", "groups": (1, 1)}, 2.0),
        (BOX, {"kind": "lp", "groups": (3,), "order": math.inf}, 4.0),
        (BOX, {"kind": "lp", "groups": (3,), "order": math.inf, "sizes": (1.0, 2.0, 4.0)}, 1.0),
        (BOX, {"kind": "lp", "groups": (3,), "order": 1.0, "sizes": (2.0, 2.0, 2.0)}, 3.5),
        (BOX, {"kind": "lp", "groups": (3,), "order": 2.0}, BOX.lp(2)),
        (BALL, {"kind": "lp", "groups": (3,), "order": 3.0}, 2.5),
        (BALL, {"kind": "lp", "groups": (3,), "order": 1.5}, BALL.lp(1.5)),
        (ggdp.Sensitivity.box([1.0, 1.0], norm=(1, 1)), {"kind": "lp", "groups": (2,), "order": 1.0}, 1.0),
    ],
)
def test_the_largest_change_of_a_box_or_a_norm(query, norm, largest):
    assert largest_change(query, Norm(**norm)) == largest


@pytest.mark.parametrize(
    ("query", "norm"),
    [
        (ggdp.Sensitivity.cells(3, 1), {"kind": "signed", "groups": (1, 1, 1)}),
        (BOX, {"kind": "signed", "groups": (1, 1)}),
        (BOX, {"kind": "signed", "groups": (3,)}),
        (BOX, {"kind": "added", "groups": (1, 1, 1)}),
        (BOX, {"kind": "lp", "groups": (2,), "order": 2.0}),
        (BALL, {"kind": "lp", "groups": (3,), "order": 3.0, "sizes": (1.0, 1.0, 1.0)}),
        (ggdp.Sensitivity.groups([2, 2]), {"kind": "replaced", "groups": (2, 2)}),
        (ggdp.Sensitivity.groups([2, 2]), {"kind": "signed", "groups": (2, 2)}),
        (ggdp.Sensitivity.groups([2, 2]), {"kind": "added", "groups": (2, 3)}),
        (ggdp.Sensitivity.groups([2, 2]), {"kind": "added", "groups": (1, 2), "complete": (True, False)}),
        (ggdp.Sensitivity.groups([3, 2], complete=[True, True]), {"kind": "added", "groups": (3, 2)}),
        (ggdp.Sensitivity.groups([2, 2], neighbours="replace-one"), {"kind": "added", "groups": (2, 2)}),
    ],
)
def test_nothing_is_proved_of_a_norm_that_is_not_of_the_query(query, norm):
    with pytest.raises(UnprovedError, match="no bound is known"):
        largest_change(query, Norm(**norm))


@pytest.mark.parametrize(
    ("made", "argument"),
    [
        ({"kind": "odd", "groups": (1,)}, "kind"),
        ({"kind": "added", "groups": ()}, "groups"),
        ({"kind": "added", "groups": (0, 1)}, "groups"),
        ({"kind": "added", "groups": (0, 1), "complete": (False, True)}, "groups"),
        ({"kind": "replaced", "groups": (0,), "complete": (True,)}, "groups"),
        ({"kind": "added", "groups": (1, 1.5)}, "groups"),
        ({"kind": "added", "groups": (1, 1), "complete": (True,)}, "complete"),
        ({"kind": "signed", "groups": (1, 1), "complete": (True, True)}, "complete"),
        ({"kind": "added", "groups": (1, 1), "order": 2.0}, "order"),
        ({"kind": "added", "groups": (1, 1), "sizes": (1.0, 1.0)}, "sizes"),
        ({"kind": "lp", "groups": (2,)}, "order"),
        ({"kind": "lp", "groups": (2,), "order": 0.5}, "order"),
        ({"kind": "lp", "groups": (1, 1), "order": 2.0}, "groups"),
        ({"kind": "lp", "groups": (2,), "order": 2.0, "sizes": (1.0,)}, "sizes"),
        ({"kind": "lp", "groups": (2,), "order": 2.0, "sizes": (1.0, 0.0)}, "sizes"),
    ],
)
def test_a_norm_cannot_contradict_itself(made, argument):
    with pytest.raises(ArgumentError) as refused:
        Norm(**made)
    assert refused.value.argument == argument


ADDED = Norm(kind="added", groups=(2, 1), complete=(False, True))


@pytest.mark.parametrize("change", [{"order": 2.0}, {"support": "real"}, {"bounding": "truncated"}, {"norm": "added"}])
def test_a_law_of_a_norm_has_one_order_and_support_and_no_bounds(change):
    with pytest.raises(ArgumentError):
        NoiseLaw(**{"order": 1.0, "scale": 2.0, "support": "integer", "norm": ADDED} | change)
    with pytest.raises(ArgumentError):
        NoiseLaw(order=1.0, scale=2.0, support="integer", norm=Norm(kind="lp", groups=(2,), order=2.0))


def test_no_other_bound_is_about_noise_of_a_norm_and_this_one_about_no_other_noise():
    law = NoiseLaw(order=1.0, scale=2.0, support="integer", norm=ADDED)
    assert MinkowskiLoss(sensitivity=3.0).enclose(law).upper == 1.5
    with pytest.raises(ArgumentError, match="norm"):
        LaplaceLoss(sensitivity=1.0).enclose(law)
    with pytest.raises(ArgumentError, match="norm"):
        MinkowskiLoss(sensitivity=1.0).enclose(dataclasses.replace(law, norm=None))
    query = ggdp.Sensitivity.groups([2, 2], complete=[False, True])
    for notion in ("pure", "approximate", "probabilistic"):
        of_norm = WorstCase(sensitivity=query, order=1.0, support="integer", norm=ADDED)
        assert {type(one.bound) for one in of_norm.applicable(notion, 1.0)} == {MinkowskiLoss}
        without = dataclasses.replace(of_norm, norm=None).applicable(notion, 1.0)
        assert MinkowskiLoss not in {type(one.bound) for one in without}
    assert of_norm.dominating == of_norm.dominating_at_every_order == ()
    assert of_norm.composed_change is None


@pytest.mark.parametrize("name", sorted(set(BOUNDS) - {"minkowski"}))
def test_a_certificate_of_another_bound_has_no_norm(name):
    from tests.proofs.test_forged_certificates import record_of

    record = record_of(name)
    assert "norm" not in record["parameters"]
    for norm in (None, ADDED.to_dict(), {"kind": "lp", "groups": [1], "order": 1.0}):
        with pytest.raises(CertificateError):
            ggdp.verify(record | {"parameters": record["parameters"] | {"norm": norm}})


@pytest.mark.parametrize(
    "norm",
    [ADDED, Norm(kind="lp", groups=(3,), order=math.inf, sizes=(1.0, 2.0, 3.0)), Norm(kind="signed", groups=(1, 4))],
)
def test_certificates_hold_the_norm_and_a_smaller_scale_fails(norm):
    law = NoiseLaw(order=1.0, scale=4.0, support="real" if norm.kind == "lp" else "integer", norm=norm)
    made = certify(MinkowskiLoss(sensitivity=2.0), law, 0.5, tight=True)
    assert made.tight == 1.0 - 1e-9
    assert Norm.from_dict(made.to_dict()["parameters"]["norm"]) == norm
    assert Certificate.from_dict(made.to_dict()) == made
    ggdp.verify(made)
