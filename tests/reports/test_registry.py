"""Entries for the registry of deployments."""

from __future__ import annotations

import re

import jsonschema
import pyarrow as pa
import pytest
import yaml

import ggdp
from ggdp.errors import ArgumentError
from ggdp.reports.registry import as_yaml, registry_schema

from .conftest import ANSWERS

VALIDATOR = jsonschema.Draft202012Validator(
    registry_schema(), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
MORE = """
data_source = "Static"
number_of_units = 60

[answers]
trust_model = "The team is trusted."
preprocessing = "Nothing."
parameters = "The board chose."

[[sources]]
title = "Code book"
url = "https://example.org/book"
"""


def entry_of(paths, answers, text=ANSWERS):
    return ggdp.report(paths, deployment=answers(text)).registry_entry()


# Shapes of entries in the registry at the commit that the schema names, with placeholder texts.
def shape(*, source="misc", **parts):
    return {
        "url_slug": "a-b-2018",
        "deployment": {
            "basic": {
                "name": "A",
                "data_curators": [{"data_curator_name": "B", "data_curator_type": "Industry"}],
                "description": "C",
                "intended_use": "D",
                "data_product_type": "SQL queries",
                "data_product_region": "Global",
                "data_product_sector": "Technology",
                "publication_date": "2018-01-01",
            },
            **parts,
            "administrative": {
                "evidence_sources": {
                    "paper": {"evidence_source_type": "Other public source", source: {"title": "E", "volume": 11}},
                },
                "status": "Pending",
                "registry_authors": ["F"],
                "tier": 2,
            },
        },
    }


QUERIES = shape(
    dp_variant={"variant_name": "Approximate DP", "data_domain": "G", "unprotected_quantities": "H"},
    privacy_loss={"privacy_unit": "I", "privacy_parameters": {"epsilon": 0.01, "delta": "a formula of n"}},
    deployment_model={
        "model_name": "Central",
        "actors": "J",
        "release_type": "Many releases",
        "access_type": "Interactive",
    },
    implementation={"mechanisms": "K", "composition": "L", "post_processing": "M", "justification": "N"},
)
CONCENTRATED = shape(
    source="techreport",
    dp_variant={"variant_name": "Zero-concentrated DP"},
    privacy_loss={"privacy_unit": "I", "number_of_privacy_units": 8000, "privacy_parameters": {"rho": 0.5}},
    deployment_model={"model_name": "Central", "release_type": "One release", "data_source_type": "Static"},
)
BASIC = shape(source="article")


@pytest.mark.parametrize("entry", [QUERIES, CONCENTRATED, BASIC])
def test_the_schema_accepts_the_shapes_of_entries_in_the_registry(entry):
    assert list(VALIDATOR.iter_errors(entry)) == []


def without(entry, *path, **put):
    """A copy of an entry without what is at a path, and with something else there."""
    copy = yaml.safe_load(yaml.safe_dump(entry))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner.pop(path[-1], None)
    inner.update(put)
    return copy


@pytest.mark.parametrize(
    "entry",
    [
        without(BASIC, "url_slug"),
        without(BASIC, "deployment", "basic", "intended_use"),
        without(BASIC, "deployment", "basic", "publication_date", publication_date="1/1/2026"),
        without(BASIC, "deployment", "basic", "data_curators", data_curators=["B"]),
        without(BASIC, "deployment", "basic", "data_product_type", data_product_type="surprise"),
        without(BASIC, "deployment", "administrative", "tier", tier=0),
        without(BASIC, "deployment", "administrative", "status", status="Done"),
        without(BASIC, "deployment", "administrative", "registry_authors", registry_authors=[]),
        without(BASIC, "deployment", "administrative"),
        {**BASIC, "surprise": 1},
        # An older form, in which the status stood on top.
        {**BASIC, "status": "Draft", "tier": 3},
        without(QUERIES, "deployment", "privacy_loss", "privacy_unit", surprise="x"),
        without(BASIC, "deployment", "administrative", "evidence_sources", evidence_sources={"a": {"film": {}}}),
    ],
)
def test_the_schema_refuses_what_the_registry_refuses(entry):
    assert list(VALIDATOR.iter_errors(entry))


def test_an_entry_is_valid_and_filled_from_the_manifest(manifest, answers):
    found = entry_of(manifest("smoking"), answers)
    assert list(VALIDATOR.iter_errors(found)) == []
    deployment = found["deployment"]
    assert found["url_slug"] == "wards-smoking-hospital-of-medecine-2026"
    assert deployment["basic"]["publication_date"] == "2026-03-31"
    assert deployment["basic"]["data_product_type"] == "Summary statistics"
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert deployment["privacy_loss"]["privacy_unit"] == "One of the people"
    assert deployment["deployment_model"]["release_type"] == "One release"
    assert deployment["administrative"] == {"status": "Draft", "registry_authors": ["The hospital"], "tier": 1}
    assert "number_of_privacy_units" not in deployment["privacy_loss"]


@pytest.mark.parametrize("unit", [{"unit": "row"}, {"unit": "row", "unit_is_row": False, "max_cells": 1}])
def test_a_column_named_row_is_another_unit_than_each_row(tmp_path, answers, unit):
    frame = pa.table({"row": [1, 2, 2], "ward": ["births", "eyes", "eyes"]})
    domain = {"ward": ["births", "eyes"]}
    ggdp.release_table(frame, by="ward", goal=1.0, domain=domain, out=tmp_path / "wards.csv", **unit)
    found = entry_of([tmp_path / "wards.manifest.json"], answers)
    said = "Row-level" if len(unit) == 1 else "Column row-level"
    assert found["deployment"]["privacy_loss"]["privacy_unit"] == said


def test_several_releases_state_the_sum_that_always_holds(made, manifest, answers):
    paths = [manifest("smoking"), manifest("wards")]
    found = ggdp.report(paths, deployment=answers(ANSWERS + MORE), ledger=made / "people.ledger").registry_entry()
    deployment = found["deployment"]
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-7}
    assert deployment["deployment_model"]["release_type"] == "Many releases"
    assert "epsilon = 3, delta = 1e-06" in deployment["deployment_model"]["release_type_details"]
    assert deployment["implementation"]["post_processing"].startswith("wards: clip")
    assert deployment["administrative"]["tier"] == 3
    (source,) = deployment["administrative"]["evidence_sources"].values()
    assert source["misc"] == {"title": "Code book", "url": "https://example.org/book"}


def test_a_tier_is_as_high_as_what_is_filled(manifest, answers):
    text = ANSWERS + 'data_source = "Dynamic"\n'
    assert entry_of(manifest("smoking"), answers, text)["deployment"]["administrative"]["tier"] == 2


@pytest.mark.parametrize("name", ["smoking", "wards", "visits", "ages", "cut", "keys", "chosen", "replaced"])
def test_every_kind_of_release_has_a_valid_entry(manifest, answers, name):
    assert list(VALIDATOR.iter_errors(entry_of(manifest(name), answers, ANSWERS + MORE))) == []


def test_the_model_is_that_of_a_curator(manifest, answers):
    for name in ("smoking", "chosen"):
        found = entry_of([manifest(name)], answers)
        assert found["deployment"]["deployment_model"]["model_name"] == "Central"


def test_all_missing_answers_are_named_at_once(manifest, answers):
    with pytest.raises(ArgumentError) as refused:
        entry_of(manifest("smoking"), answers, '[[curators]]\nname = "us"\n')
    said = str(refused.value)
    assert refused.value.argument == "deployment"
    keys = ["product.name", "product.description", "product.intended_use", "product.region", "product.published"]
    for key in [*keys, "registry.authors", "curators.type"]:
        assert f"{key} (" in said
    with pytest.raises(ArgumentError, match=r"curators \(who publishes"):
        ggdp.report(manifest("smoking")).registry_entry()


def test_missing_answers_name_the_file_that_lacks_them(manifest, answers, tmp_path):
    assert ggdp.report(manifest("smoking")).deployment.file is None
    file = answers("[product]\nname = 'Smoking'\n").rename(tmp_path / "mine.toml")
    for given in (None, file):
        with pytest.raises(ArgumentError, match="the registry needs these keys") as refused:
            ggdp.report(manifest("smoking"), deployment=given).registry_entry()
        assert refused.value.value == (None if given is None else str(file))


def test_releases_without_a_total_have_no_entry(manifest, answers):
    with pytest.raises(ArgumentError, match="make one entry for each group of them"):
        entry_of([manifest("smoking"), manifest("visits")], answers)


def test_yaml_reads_back_as_it_was_and_keeps_lines(manifest, answers):
    found = entry_of([manifest("smoking"), manifest("wards")], answers, ANSWERS + MORE)
    text = as_yaml(found)
    assert yaml.safe_load(text) == found
    # Dates in quotes, or a reader would take them for another type; no folded texts, which lose lines.
    assert "publication_date: '2026-03-31'" in text
    assert not re.search(r": >", text)
    assert "mechanisms: |\n" in text


def test_yaml_keeps_what_looks_like_something_else():
    odd = {"a": "no", "b": "12", "c": "- x\n- y: z\n", "d": "é # not a comment", "e": " two\nlines ", "f": "tab\there"}
    assert yaml.safe_load(as_yaml(odd)) == odd


@pytest.mark.parametrize(
    "text",
    [
        *("yes", "null", "~", "1e3", "0o14", "0x1f", ".5e3", "+1", "1.", "2026-03-31", "12:30:45", ".nan", "-", "- a"),
        *(
            "a: b",
            "# c",
            "'",
            '"',
            "*a",
            "&a",
            "!!python/object:os.system",
            "{a: 1}",
            "[1]",
            "---",
            "a\n---\nb",
            "a\n...\n",
        ),
        *("  x\ny", "x \ny", "a\tb", "a\x85b", "a\u2028b\nc", "{{ 7 * 7 }}", "<script>", "<<", "=", "", "\n", "#a\nb"),
    ],
)
def test_a_text_stays_a_text_in_yaml(text):
    import re

    import yaml

    from ggdp.reports.registry import as_yaml

    written = as_yaml({"a": text, "b": [text]})
    assert yaml.safe_load(written) == {"a": text, "b": [text]}
    # Numbers of YAML 1.2, which the reader here does not know.
    number = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+"
    assert not re.fullmatch(number, as_yaml({"a": text}).removeprefix("a: ").rstrip("\n"))
