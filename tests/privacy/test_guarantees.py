import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp import ApproxDP, GgdpError, ProbabilisticDP, PureDP

epsilons = st.floats(1e-4, 50.0)
deltas = st.floats(0.0, 0.999)
relations = st.sampled_from([None, "add-remove", "replace-one"])
promises = st.one_of(
    st.builds(PureDP, epsilons, relations),
    st.builds(ProbabilisticDP, epsilons, deltas, relations),
    st.builds(ApproxDP, epsilons, deltas, relations),
)


@given(promises)
def test_implication_is_reflexive(promise):
    assert promise.implies(promise)
    assert promise <= promise
    assert not promise < promise


@given(promises, promises, promises)
def test_implication_is_transitive(a, b, c):
    if a.implies(b) and b.implies(c) and a.neighbours is not None:
        assert a.implies(c)


@given(promises, promises)
def test_comparisons_follow_implication(a, b):
    assert (a >= b) == a.implies(b)
    assert (a > b) == (a.implies(b) and not b.implies(a))
    assert (a < b) == (b > a)


@given(epsilons, deltas, relations)
def test_pure_implies_probabilistic_implies_approximate(epsilon, delta, relation):
    pure = PureDP(epsilon, relation)
    probabilistic = ProbabilisticDP(epsilon, delta, relation)
    approximate = ApproxDP(epsilon, delta, relation)
    assert pure.implies(probabilistic)
    assert probabilistic.implies(approximate)
    assert pure.to_probabilistic().to_approximate() == ApproxDP(epsilon, 0.0, relation)
    assert probabilistic.to_approximate() == approximate


def test_the_reverse_implications_do_not_hold():
    assert not ApproxDP(1.0, 0.01).implies(ProbabilisticDP(1.0, 0.01))
    assert not ProbabilisticDP(1.0, 0.01).implies(PureDP(1.0))


def test_at_delta_zero_all_notions_are_one():
    assert ApproxDP(1.0, 0.0).implies(PureDP(1.0))
    assert ProbabilisticDP(1.0, 0.0).implies(PureDP(1.0))


def test_a_promise_for_one_relation_says_nothing_of_the_other():
    assert not PureDP(1.0, "add-remove").implies(PureDP(1.0, "replace-one"))
    assert not PureDP(1.0).implies(PureDP(1.0, "replace-one"))
    assert PureDP(1.0, "add-remove").implies(PureDP(1.0))


def test_only_probabilistic_dp_is_weakened_by_post_processing():
    assert PureDP(1.0, "add-remove").after_postprocessing() == PureDP(1.0, "add-remove")
    assert ApproxDP(1.0, 0.1).after_postprocessing() == ApproxDP(1.0, 0.1)
    assert ProbabilisticDP(1.0, 0.1, "replace-one").after_postprocessing() == ApproxDP(1.0, 0.1, "replace-one")
    assert ProbabilisticDP(1.0, 0.0).after_postprocessing() == PureDP(1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "1", None, True, 10**400])
def test_a_bad_epsilon_is_refused_by_name_and_value(epsilon):
    for notion in (PureDP, lambda e: ProbabilisticDP(e, 0.1), lambda e: ApproxDP(e, 0.1)):
        with pytest.raises(GgdpError, match="epsilon = ") as caught:
            notion(epsilon)
        assert isinstance(caught.value, ValueError)
        assert caught.value.value is epsilon


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 2.0, math.nan, math.inf, "0.1"])
def test_a_bad_delta_is_refused_by_name_and_value(delta):
    for notion in (ProbabilisticDP, ApproxDP):
        with pytest.raises(GgdpError, match="delta = "):
            notion(1.0, delta)


def test_an_unknown_relation_is_refused():
    with pytest.raises(GgdpError, match=r"neighbours = 'swap'.*'add-remove', 'replace-one'"):
        PureDP(1.0, "swap")


def test_promises_are_frozen_hashable_and_printable():
    promise = ApproxDP(1.0, 1e-6, "add-remove")
    with pytest.raises(AttributeError):
        promise.epsilon = 2.0
    assert len({promise, ApproxDP(1.0, 1e-6, "add-remove")}) == 1
    assert str(promise) == "(1, 1e-06)-aDP under add-remove neighbours"
    assert str(ProbabilisticDP(0.5, 0.05)) == "(0.5, 0.05)-pDP"
    assert promise.to_dict() == {
        "notion": "approximate",
        "epsilon": 1.0,
        "delta": 1e-6,
        "neighbours": "add-remove",
    }


def test_a_promise_is_not_ordered_with_a_number():
    with pytest.raises(TypeError):
        assert PureDP(1.0) < 2.0
