"""A manifest enters a composition with what its certificate proves, and not with less."""

import copy
import json

import pyarrow as pa
import pytest
from tests.cases import some

import ggdp
from ggdp.errors import ArgumentError

APPROX, PURE, PROBABILISTIC = ggdp.ApproxDP(0.5, 1e-5), ggdp.PureDP(0.5), ggdp.ProbabilisticDP(0.5, 1e-3)
BOX = ggdp.Sensitivity.box([1, 2])
JOINT = ggdp.Sensitivity.box([1, 1, 1], norm=(2, 1.2))
JOINT_L1 = ggdp.Sensitivity.box([2, 2, 2], norm=(1, 3))
ONE, CELLS = ggdp.Sensitivity.histogram(), ggdp.Sensitivity.cells(4, 1)
# (goal, sensitivity, order, support)
NOISE = {
    "laplace": (PURE, ONE, 1, "integer"),
    "laplace, cells": (PURE, CELLS, 1, "integer"),
    "laplace, approximate": (APPROX, CELLS, 1, "integer"),
    "laplace, box": (PURE, BOX, 1, "real"),
    "gaussian": (APPROX, ONE, 2, "integer"),
    "gaussian, large moves": (APPROX, ggdp.Sensitivity.disjoint(100), 2, "integer"),
    "gaussian, moves of ten": (APPROX, ggdp.Sensitivity.disjoint(10), 2, "integer"),
    "gaussian, cells": (APPROX, CELLS, 2, "integer"),
    "gaussian, box on the reals": (APPROX, BOX, 2, "real"),
    "gaussian, joint norm": (APPROX, JOINT, 2, "real"),
    "order 3, box": (APPROX, BOX, 3, "integer"),
    "order 3, joint norm": (APPROX, JOINT, 3, "real"),
    "order 1.5, joint l_1 norm": (APPROX, JOINT_L1, 1.5, "integer"),
    "order 2, joint l_1 norm": (APPROX, JOINT_L1, 2, "integer"),
    "order 3, l_1 norm": (APPROX, ggdp.Sensitivity.norm(1, 2, dimension=5), 3, "integer"),
    "order 2, l_2 norm": (APPROX, ggdp.Sensitivity.norm(2, 3, dimension=5), 2, "integer"),
    "probabilistic": (PROBABILISTIC, ONE, 3, "integer"),
    "probabilistic, box": (PROBABILISTIC, BOX, 3, "integer"),
    "probabilistic, joint l_1 norm": (PROBABILISTIC, JOINT_L1, 3, "integer"),
}


def manifest_of(name):
    goal, sensitivity, order, support = NOISE[name]
    noise = ggdp.calibrate(goal, sensitivity, order=order, support=support)
    query = len(sensitivity.sizes) if sensitivity.kind != "cells" else 4
    values = [3] * max(query, sensitivity.moving)
    return json.loads(json.dumps(ggdp.Mechanism(noise).release(values).manifest))


def refused(manifest, match):
    with pytest.raises(ArgumentError, match=match):
        ggdp.compose([manifest])


SLOW = ("probabilistic, joint l_1 norm", "probabilistic, box")


@pytest.mark.parametrize("name", some(NOISE, fast=lambda name: name not in SLOW))
def test_a_manifest_as_it_was_written_is_composed_and_one_with_smaller_losses_is_not(name):
    manifest = manifest_of(name)
    (part,) = ggdp.compose([manifest]).parts
    assert [one.to_dict() for one in part.losses] == manifest["losses"]
    forged = copy.deepcopy(manifest)
    first = forged["losses"][0]
    if first["kind"] == "response":
        first["epsilon"] *= 0.99
    elif first["count"] > 1:
        first["count"] = 1
    elif len(forged["losses"]) > 1:
        del forged["losses"][0]
    elif first["support"] == "integer" and first["size"] > 1:
        first["size"] -= 1
    else:
        first["scale"] *= 1.01
    refused(forged, "its losses are not those of its noise")


def test_a_move_that_is_divided_among_many_cells_is_refused():
    manifest = manifest_of("gaussian, moves of ten")
    (loss,) = manifest["losses"]
    manifest["losses"] = [{**loss, "size": 1.0, "count": 10}]
    refused(manifest, "its losses are not those of its noise")


def test_a_guarantee_below_the_proved_one_is_refused():
    for change in ({"epsilon": 0.4}, {"delta": 1e-9}):
        manifest = manifest_of("order 3, box")
        manifest["guarantee"] |= change
        refused(manifest, "its guarantee is below what its certificate proves")


def test_a_certificate_of_another_scale_or_of_nothing_is_refused():
    manifest = manifest_of("gaussian")
    smaller = copy.deepcopy(manifest)
    for place in (smaller["losses"][0], smaller["mechanism"]["certificate"]["parameters"]):
        place["scale"] /= 2
    refused(smaller, "its certificate does not hold")
    larger = copy.deepcopy(manifest)
    larger["losses"][0]["scale"] *= 2
    refused(larger, "its losses are not those of its noise")
    larger["mechanism"]["certificate"] = None
    refused(larger, "its losses are not its guarantee")
    manifest["mechanism"]["certificate"] = {"bound": "none"}
    refused(manifest, "its certificate does not hold")


def test_a_selection_enters_with_its_guarantee():
    choice = ggdp.ExponentialMechanism(PURE, sensitivity=1, candidates=["a", "b", "c"])
    manifest = json.loads(json.dumps(choice.release([1, 2, 3]).manifest))
    assert ggdp.compose([manifest]).parts[0].guarantee.epsilon == 0.5
    manifest["losses"][0]["epsilon"] = 0.1
    refused(manifest, "its losses are not its guarantee")


@pytest.mark.parametrize(
    "request_",
    [
        {"goal": PURE, "domain": {"sex": ["f", "m"]}},
        {"goal": APPROX, "domain": {"sex": ["f", "m"]}, "order": "auto"},
        {"goal": APPROX},
        {"goal": APPROX, "domain": {"sex": ["f", "m"]}, "unit": "id", "max_cells": 1, "count_cut": 0.1},
        {"goal": PURE, "domain": {"sex": ["f", "m"]}, "false_cells": 0.1},
    ],
)
def test_tables_are_composed_as_they_were_written(request_):
    people = pa.table({"sex": ["f", "m", "f"], "id": [1, 2, 3]})
    release = ggdp.release_table(people, by="sex", **request_)
    manifest = json.loads(json.dumps(release.manifest))
    assert ggdp.compose([manifest]).parts[0].losses == release.losses
    manifest["losses"][0]["scale"] *= 3
    refused(manifest, "its losses are not those of its noise")
