"""Settings of the views: from inputs, and to and from the address."""

from urllib.parse import parse_qs

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.errors import ArgumentError
from ggdp.explorer.settings import from_address, query_string, value_text
from ggdp.explorer.views import VIEWS
from ggdp.explorer.views.noise_view import NoiseSettings


def parameters(query):
    return {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}


@given(
    st.builds(
        NoiseSettings,
        epsilon=st.floats(0.01, 20.0),
        delta=st.floats(1e-12, 0.5),
        notion=st.sampled_from(["pure", "approximate"]),
        max_cells=st.integers(1, 100),
    )
)
def test_an_address_brings_back_the_settings(settings):
    found = from_address(NoiseSettings, parameters(query_string("noise", settings)))
    assert found.notion == settings.notion
    assert found.max_cells == settings.max_cells
    assert found.epsilon == pytest.approx(settings.epsilon, rel=1e-14)


def test_defaults_are_not_in_the_address():
    assert query_string("noise", NoiseSettings()) == "view=noise"


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": "inf"}, {"epsilon": "-1"}, {"epsilon": ""}, {"notion": "none"}, {"max_cells": "1.5"}, {"x": "1"}],
)
def test_what_is_wrong_in_an_address_is_the_default(wrong):
    assert from_address(NoiseSettings, wrong | {"order": "3"}) == NoiseSettings(order=3.0)


@pytest.mark.parametrize("value", [None, "a", float("nan"), 0, 21, "1e400"])
def test_a_wrong_input_is_named(value):
    with pytest.raises(ArgumentError, match="epsilon"):
        NoiseSettings(epsilon=value)


def test_floats_are_typed_exactly_and_without_a_needless_point():
    assert [value_text(number) for number in (1.0, 1e-6, 0.1)] == ["1", "1e-06", "0.1"]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.key)
def test_every_view_has_defaults_and_a_name_of_its_own(view):
    made = view.settings()
    assert query_string(view.key, made) == f"view={view.key}"
    assert attrs.has(view.settings)
    assert [one.key for one in VIEWS].count(view.key) == 1
