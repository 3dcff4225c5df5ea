"""Lower bounds are of moves that the sensitivity allows: under a joint norm, and on the integers of whole ones."""

import dataclasses
import itertools

import pytest
from tests.flat import loss_of_bounded

import ggdp
from ggdp import PureDP, Sensitivity
from ggdp.errors import CertificateError
from ggdp.proofs.worst_case import WorstCase

JOINT = Sensitivity.box([1] * 10, norm=(1, 1))


@pytest.mark.parametrize("bounding", ["boundary-inflated", "truncated"])
def test_the_loss_on_bounds_is_not_said_to_be_that_of_a_corner_which_a_joint_norm_excludes(bounding):
    noise = ggdp.calibrate(PureDP(1), JOINT, order=2, bounds=(0, 10), bounding=bounding)
    # In one coordinate the whole move of 1, or half of it in each of two.
    splits = [
        loss_of_bounded(
            bounding=bounding, support="real", order=2, scale=noise.scale, coordinates=((10.0, 1 / k, k),), moving=k
        )
        for k in (1, 2, 10)
    ]
    lower, upper = noise.epsilon(0)
    assert splits[0].lower * (1 - 1e-12) <= lower <= max(split.upper for split in splits) < 0.11
    assert max(split.lower for split in splits) <= upper <= 1.0


def test_a_scale_that_ignores_a_joint_norm_is_called_an_upper_bound_and_not_the_least():
    noise = ggdp.calibrate(PureDP(1), JOINT, order=2, bounds=(0, 10), bounding="boundary-inflated")
    assert noise.certificate.tight is None
    assert "upper bound" in noise.notes[0]
    noise.verify()
    claimed = dataclasses.replace(noise.certificate, tight=1 - 1e-9)
    with pytest.raises(CertificateError):
        dataclasses.replace(noise, certificate=claimed).verify()


def test_a_joint_norm_that_excludes_nothing_leaves_the_least_scale_and_its_proof():
    how = {"order": 2, "bounds": (0, 10), "bounding": "truncated"}
    plain = ggdp.calibrate(PureDP(1), Sensitivity.box([1, 1]), **how)
    slack = ggdp.calibrate(PureDP(1), Sensitivity.box([1, 1], norm=(1, 5)), **how)
    assert slack.scale == plain.scale
    assert slack.certificate.tight == plain.certificate.tight == 1 - 1e-9
    assert slack.epsilon(0) == plain.epsilon(0)


def test_whole_moves_of_a_fractional_l_1_norm_need_no_more_than_its_whole_part():
    noise = ggdp.calibrate(PureDP(1), Sensitivity.box([3, 3], norm=(1, 1.5)), order=1, support="integer")
    assert noise.scale == 1.0
    assert noise.epsilon(0) == (1.0, 1.0)
    given = ggdp.guarantee_of(
        order=1, scale=1.5, sensitivity=Sensitivity.box([3, 3], norm=(1, 1.5)), support="integer", delta=0
    )
    assert 2 / 3 <= given.epsilon <= 2 / 3 * (1 + 1e-15)


def test_a_scale_from_a_norm_that_no_move_is_known_to_reach_is_called_an_upper_bound():
    for query, order, goal in (
        (Sensitivity.box([3, 3], norm=(2, 2.5)), 1, PureDP(1)),
        (Sensitivity.box([3, 0.1], norm=(1, 1.5)), 2, ggdp.ApproxDP(1, 1e-3)),
        (Sensitivity.box([1, 1], norm=(1, 1.5)), 2, ggdp.ApproxDP(1, 1e-3)),
    ):
        noise = ggdp.calibrate(goal, query, order=order)
        reached = WorstCase(sensitivity=query, order=order).is_reached(order)
        assert (noise.certificate.tight is None) == (not reached)
        assert any("upper bound" in note for note in noise.notes) == (not reached)
    assert not reached


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0])
@pytest.mark.parametrize(
    "query",
    [
        Sensitivity.box([3, 3], norm=(1, 1.5)),
        Sensitivity.box([3, 2], norm=(1, 4.5)),
        Sensitivity.box([3, 3], norm=(2, 2.5)),
        Sensitivity.box([2, 2], norm=(2, 9)),
        Sensitivity.norm(1, 2.5, dimension=2),
        Sensitivity.norm(2, 2.5, dimension=2),
        Sensitivity.cells(2, 2),
    ],
    ids=str,
)
def test_no_norm_is_said_to_be_attained_that_no_whole_move_has(query, p):
    allowed = [
        move
        for move in itertools.product(range(4), repeat=2)
        if query.kind == "norm"
        or all(step <= size for step, size in zip(move, [*query.sizes, *query.sizes], strict=False))
        if query.joint is None or sum(step ** query.joint[0] for step in move) <= query.joint[1] ** query.joint[0]
    ]
    largest = max(sum(step**p for step in move) ** (1 / p) for move in allowed)
    case = WorstCase(sensitivity=query, order=p, support="integer")
    assert case.reached_norm(p) <= largest * (1 + 1e-15)
    if p == 1.0:
        assert largest <= case.l1_norm <= query.lp(1)
