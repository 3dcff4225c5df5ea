"""An argument of a wrong type is refused by its name, with an error that is a TypeError too."""

import numpy as np
import pytest

import ggdp
from ggdp import PureDP, Sensitivity
from ggdp.errors import ArgumentError, ArgumentTypeError

ONE = Sensitivity.disjoint(1)
WHOLE = ggdp.IntegerGeneralizedGaussian(order=2, scale=3.0)
REAL = ggdp.GeneralizedGaussian(order=2, scale=3.0)
CHOICE = ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates=3)

WRONG = {
    "guarantee_of": (lambda: ggdp.guarantee_of(order=2, scale=1, sensitivity="x", delta=0.1), "sensitivity"),
    "plan": (lambda: ggdp.plan(PureDP(1), 5), "sensitivity"),
    "exponential goal": (lambda: ggdp.ExponentialMechanism("1.0", sensitivity=1, candidates=3), "goal"),
    "monotonic": (
        lambda: ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates=3, monotonic="yes"),
        "monotonic",
    ),
    "fractional candidates": (
        lambda: ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates=3.5),
        "candidates",
    ),
    "candidates in a text": (
        lambda: ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates="abc"),
        "candidates",
    ),
    "excluded": (lambda: ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates=3, excluded=5), "excluded"),
    "excluded numbers": (
        lambda: ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates=3, excluded=[0, 1, 0]),
        "excluded",
    ),
    "utilities in a text": (lambda: CHOICE.release("abc"), "utilities"),
    "no utilities": (lambda: CHOICE.release(None), "utilities"),
    "utilities that are texts": (lambda: CHOICE.release(["a", "b", "c"]), "utilities"),
    "integer logcdf": (lambda: WHOLE.logcdf("a"), "k"),
    "integer logcdf of None": (lambda: WHOLE.logcdf(None), "k"),
    "integer logsf": (lambda: WHOLE.logsf([1, "b"]), "k"),
    "integer logsf of uneven lists": (lambda: WHOLE.logsf([[1], [1, 2]]), "k"),
    "integer ppf": (lambda: WHOLE.ppf("a"), "q"),
    "integer isf": (lambda: WHOLE.isf("a"), "q"),
    "integer isf of None": (lambda: WHOLE.isf(None), "q"),
    "ppf": (lambda: REAL.ppf("a"), "q"),
    "ppf of None": (lambda: REAL.ppf(None), "q"),
    "isf": (lambda: REAL.isf([0.1, "a"]), "q"),
    "isf of uneven lists": (lambda: REAL.isf([[0.1], [0.1, 0.2]]), "q"),
    "logcdf": (lambda: REAL.logcdf("a"), "x"),
    "logsf": (lambda: REAL.logsf(None), "x"),
    "Grid.sensitivity": (lambda: ggdp.Grid(step=1.0).sensitivity(5), "sensitivity"),
    "Domain": (lambda: ggdp.Domain(5), "domain"),
    "Domain of a text": (lambda: ggdp.Domain("age"), "domain"),
    "Study.read": (lambda: ggdp.Study.read(3), "path"),
    "Study.like": (lambda: ggdp.Study.like(None), "path"),
    "names of a study": (
        lambda: ggdp.Study(request=ggdp.tables.TableRequest("a", 1.0, {"a": [1]}), names="a"),
        "names",
    ),
    "read_table": (lambda: ggdp.read_table(3), "manifests"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_type_is_an_argument_type_error_that_names_the_argument(case):
    call, name = WRONG[case]
    with pytest.raises(ArgumentTypeError) as caught:
        call()
    assert isinstance(caught.value, TypeError)
    assert caught.value.argument == name


def test_a_wrong_number_is_no_wrong_type():
    for call in (
        lambda: WHOLE.ppf(2.0),
        lambda: WHOLE.logcdf(1.5),
        lambda: REAL.ppf(-0.1),
        lambda: ggdp.ExponentialMechanism(PureDP(1), sensitivity=1, candidates=3, excluded=[True, False]),
        lambda: CHOICE.release([1.0, np.nan, 2.0]),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert not isinstance(caught.value, TypeError)
