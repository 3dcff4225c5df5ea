"""Nothing that hangs on a release holds the true values, and nothing it says tells them."""

import gc
import json
import types

import numpy as np
import pytest
from tests.conformance.kinds import KINDS, VECTORS, each
from tests.conformance.test_shapes import true_values

from ggdp.errors import GgdpError
from ggdp.releases import clip

CELLS = 400
PROGRAM = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def reachable(thing):
    """Everything that hangs on an object, without the program itself; arrays also by the memory they are views of."""
    seen, left = {}, [thing]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, PROGRAM):
            continue
        seen[id(one)] = one
        left += gc.get_referents(one)
        if isinstance(one, np.ndarray):
            left.append(one.base)
    return list(seen.values())


def holds(array, values):
    """Whether the values stand anywhere in an array, in their order."""
    flat = array.reshape(-1)
    if flat.dtype.kind not in "iuf" or flat.size < values.size:
        return False
    return bool((np.lib.stride_tricks.sliding_window_view(flat, values.size) == values).all(axis=1).any())


@pytest.mark.parametrize("kind", each([kind for kind in KINDS if kind.coordinates is None]))
def test_nothing_that_hangs_on_a_release_holds_the_true_values(kind):
    values = true_values(kind, CELLS)
    release = kind.mechanism.release(values)
    for one in (release, clip(release, lower=0)):
        arrays = [thing for thing in reachable(one) if isinstance(thing, np.ndarray)]
        assert any(array.size == CELLS for array in arrays)
        for array in arrays:
            assert not np.shares_memory(array, values)
            assert not holds(array, values)


def test_what_hangs_on_a_release_is_searched_to_its_end():
    values = np.arange(5) * 7
    hidden = np.concatenate([np.zeros(5, dtype=np.int64), values])[:5].view()
    found = [thing for thing in reachable([{"view": hidden}]) if isinstance(thing, np.ndarray)]
    assert any(holds(array, values) for array in found)
    assert not holds(np.arange(50), values)


@pytest.mark.parametrize("kind", each([*KINDS, *VECTORS]))
def test_manifests_do_not_depend_on_the_true_values(kind):
    values = true_values(kind, kind.coordinates or 7)
    one, other = (kind.mechanism.release(x).manifest for x in (values, values * 0))
    assert json.dumps(one) == json.dumps(other)


@pytest.mark.parametrize("kind", each([*KINDS, *VECTORS]))
@pytest.mark.parametrize("wrong", [["87654321"], [87654321.5, float("nan")], [None, 87654321], [[87654321], [1, 2]]])
def test_refusals_do_not_tell_a_value(kind, wrong):
    with pytest.raises(GgdpError) as caught:
        kind.mechanism.release(wrong)
    error = caught.value
    while error is not None:
        assert "87654321" not in f"{error} {error!r} {error.args} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or error.__context__
