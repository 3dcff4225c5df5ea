"""The true loss of the Exponential mechanism, beside 50-digit values and the paper's two claims."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from tests.reference.fifty_digits import truncated_loss

from ggdp.errors import UnattainableError
from ggdp_reproduction.comparisons import exponential_losses


def exact_normaliser_loss(p, b, w, D):
    """The largest log Z(s') / Z(s) over |s - s'| <= D, by a scan of the definition."""
    with mp.workdps(30):

        def log_normaliser(s):
            sides = ((mpf(side) / mpf(b)) ** mpf(p) for side in (s, w - s))
            return float(mpmath.log(sum(mpmath.gammainc(1 / mpf(p), 0, side) for side in sides)))

        values = np.array([log_normaliser(s) for s in np.linspace(0.0, w, 201)])
    reach = round(200 * D / w)
    return max(float(np.max(values[shift:] - values[: 201 - shift])) for shift in range(1, reach + 1))


def test_the_losses_of_the_theory():
    found = exponential_losses([1, 2, 3], 1.0, bounds=(0.0, 10.0))
    assert list(found.loss.round(3)) == [0.831, 0.345, 0.394]
    assert list(found.utility_sensitivity) == [1.0, 19.0, 271.0]
    assert list(found.below_nominal) == [True, True, True]
    assert list(found.below_half) == [False, True, True]


@pytest.mark.parametrize("order", [1.0, 1.3, 2.0, 5.0])
@pytest.mark.parametrize(("width", "size", "epsilon"), [(10.0, 1.0, 1.0), (3.0, 2.5, 0.4), (1.0, 1.0, 2.0)])
def test_the_loss_is_that_of_the_definition_and_its_parts_bound_it(order, width, size, epsilon):
    found = exponential_losses([order], epsilon, size, (0.0, width))
    loss = float(found.loss[0])
    exact = float(truncated_loss(order, float(found.scale[0]), width, size))
    assert exact <= loss <= exact * (1 + 1e-6)
    assert found.weight_loss[0] == pytest.approx(epsilon / 2, rel=1e-12)
    assert found.normaliser_loss[0] == pytest.approx(
        exact_normaliser_loss(order, found.scale[0], width, size), rel=1e-3
    )
    assert loss <= found.weight_loss[0] + found.normaliser_loss[0] + 1e-12
    assert found.normaliser_loss[0] < epsilon / 2
    assert found.below_nominal[0]


def test_with_a_constant_normaliser_the_loss_is_half_of_epsilon():
    found = exponential_losses([1], 1.0)
    assert found.bounds is None
    assert found.weight_loss[0] == 0.5
    assert 0.5 <= found.loss[0] <= 0.5 * (1 + 1e-11)
    assert found.normaliser_loss[0] == 0.0
    assert found.scale[0] == 2.0


def test_without_bounds_an_order_above_one_is_refused():
    with pytest.raises(UnattainableError, match="needs bounds"):
        exponential_losses([1, 2], 1.0)


def test_the_lemma_adds_noise_for_nothing_and_changes_with_a_shift_of_the_bounds():
    exact, lemma = (exponential_losses([2, 3], 1.0, bounds=(0.0, 10.0), utility=kind) for kind in ("exact", "lemma"))
    assert list(lemma.utility_sensitivity) == [20.0, 1141.0]
    assert np.all(lemma.scale > exact.scale)
    assert np.all(lemma.loss < exact.loss)
    assert np.all(lemma.weight_loss < 0.5)
    moved = {kind: exponential_losses([3], 1.0, bounds=(100.0, 110.0), utility=kind) for kind in ("exact", "lemma")}
    assert moved["exact"].loss[0] == exact.loss[1]
    assert moved["lemma"].loss[0] < 0.02 < lemma.loss[1]


def test_the_units_of_the_query_do_not_matter():
    one, other = (exponential_losses([1.5, 4], 0.8, unit, (0.0, 7.0 * unit)) for unit in (1.0, 1024.0))
    assert other.loss == pytest.approx(one.loss, rel=1e-9)
    assert other.scale == pytest.approx(1024.0 * one.scale, rel=1e-12)
    assert math.isclose(other.sensitivity, 1024.0)
