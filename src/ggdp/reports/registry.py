"""An entry for the public registry of differential privacy deployments, valid by its schema.

What the manifests determine is filled from them; the rest comes from ``deployment.toml``. An answer that the registry
requires and nobody gave is an error, never a placeholder: what is published there is read as true.

The registry is https://registry.opendp.org; its entries and its schema are the repository
opendp/deployments-registry-data. ``registry.schema.json`` beside this module says which version it follows.
"""

from __future__ import annotations

import json
import re
import unicodedata
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ggdp.accounting.composition import unit_of
from ggdp.errors import ArgumentError
from ggdp.reports.published import capitalize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ggdp.reports.deployment import Deployment
    from ggdp.reports.sign_off import Report


def registry_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of entries."""
    schema: dict[str, Any] = json.loads(files("ggdp.reports").joinpath("registry.schema.json").read_text("utf-8"))
    return schema


def registry_entry(report: Report) -> dict[str, Any]:
    """Return the entry of a report, or raise for all missing answers at once, and for releases without a total."""
    deployment = report.deployment
    required = {
        "product.name": "the name of what is published",
        "product.description": "what it is, in a sentence or two",
        "product.intended_use": "what it is meant to be used for",
        "product.region": "which region the data describe",
        "product.published": "the day of publication, such as 2026-03-31",
        "curators": "who publishes: [[curators]] with name and type (Government, Industry or Nonprofit)",
        "registry.authors": "who fills in the entry, as a list of names",
    }
    missing = [f"{key} ({what})" for key, what in required.items() if _answer(deployment, key) is None]
    unnamed = [key for key in ("name", "type") if any(key not in curator for curator in deployment.curators)]
    missing += [f"curators.{key} (of each of them)" for key in unnamed]
    if missing:
        raise ArgumentError("deployment", deployment.file, f"the registry needs these keys: {'; '.join(missing)}")
    if report.total.basic is None:
        what = "has one privacy loss, and these releases have no total; make one entry for each group of them: "
        raise ArgumentError("registry", "an entry", f"{what}{report.total.refusal}")
    product = deployment.product
    # The last part of the entry's address: the product, its first curator, and the year.
    words = f"{product['name']} {deployment.curators[0]['name']} {product['published'].year}"
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    evidence = {}
    for number, source in enumerate(deployment.sources, start=1):
        named = {key: source[key] for key in ("title", "url") if key in source}
        kind = source.get("type", "Other public source")
        evidence[f"source_{number}"] = {"evidence_source_type": kind, "misc": named}
    # How complete an entry is, as the registry counts: 1 is the least.
    third = ("answers.trust_model", "answers.preprocessing", "answers.parameters", "registry.number_of_units")
    tier = 2 if any(_answer(deployment, key) is None for key in third) else 3
    tier = 1 if _answer(deployment, "registry.data_source") is None else tier
    later = [deployment.registry.get("further_releases", ""), deployment.answers.get("other_releases", "")]
    if report.budget is not None:
        charged = f"All releases are charged to one budget, {report.budget.budget}, before data are read"
        later.append(f"{charged}; one that does not fit is refused.")
    sections = {
        "basic": {
            "name": product["name"],
            "data_curators": [
                {"data_curator_name": curator["name"], "data_curator_type": curator["type"]}
                for curator in deployment.curators
            ],
            "description": product["description"],
            "intended_use": product["intended_use"],
            "data_product_type": "Summary statistics",
            "data_product_region": product["region"],
            "data_product_sector": product.get("sector"),
            "publication_date": product["published"].isoformat(),
        },
        "dp_variant": _variant(report),
        "privacy_loss": _privacy_loss(report),
        "deployment_model": {
            "model_name": "Central",
            "model_name_details": "The curator holds the data and adds the noise before anything is published.",
            "actors": deployment.answers.get("trust_model"),
            "release_type": "Many releases" if len(report.releases) > 1 else "One release",
            "release_type_details": _list(later) if any(later) else None,
            "data_source_type": deployment.registry.get("data_source"),
            "access_type": "Non-interactive",
            "access_type_details": deployment.answers.get("query_model"),
        },
        "implementation": _implementation(report),
        "administrative": {
            "evidence_sources": evidence or None,
            "status": "Draft",
            "registry_authors": list(deployment.registry["authors"]),
            "tier": tier,
        },
    }
    for name, section in sections.items():
        sections[name] = {key: value for key, value in section.items() if value is not None}
    entry = {"url_slug": re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-"), "deployment": sections}
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(registry_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
    # What people answered was checked before.
    for wrong in validator.iter_errors(entry):
        where = ".".join(str(step) for step in wrong.absolute_path)
        raise ArgumentError("registry", where, f"is not valid by the registry's schema: {wrong.message}")
    return entry


def as_yaml(entry: Mapping[str, Any]) -> str:
    """Return an entry as YAML; texts of several lines stand in literal blocks, which the registry's checks ask for."""
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]  # no types are installed
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        # Readers of YAML 1.2 take 1e3 and 0o14 for numbers, which the writer, of YAML 1.1, would not quote.
        style = "|" if "\n" in value else "'" if value[:1] in {*"+-.0123456789"} else None
        # Other ends of lines, such as of Unicode, are lost unless they are escaped.
        style = style if value.replace("\n", "").isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    written: str = yaml.dump(dict(entry), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return written


def _answer(deployment: Deployment, key: str) -> object:
    """Return an answer by its dotted key, or None."""
    table, _, name = key.partition(".")
    given = getattr(deployment, table)
    return given.get(name) if name else given or None


# The sections of an entry; fields that are None are left out.


def _variant(report: Report) -> dict[str, Any]:
    assert report.total.basic is not None
    domains, unprotected = [], []
    for release in report.releases:
        request = release.request
        declared = "levels, bins and ranges are those that the publisher declares public"
        public = f"Every published number has noise; {declared}."
        if request is None:
            domain = f"Data sets for which the stated sensitivity holds: {release.manifest['sensitivity']}."
        else:
            columns = ", ".join(f"{name} ({_column(column)})" for name, column in request["domain"].items())
            domain = f"All tables with the columns {columns}; other values are counted as declared, or not at all."
            if request["total"] is not None:
                public = f"The total of {request['total']:,}, which the publisher asserts to be public."
        domains.append(domain)
        unprotected.append(public)
    stated = report.deployment.registry.get("unprotected_quantities")
    return {
        "variant_name": "Pure DP" if report.total.basic.delta == 0.0 else "Approximate DP",
        "data_domain": _list(dict.fromkeys(domains)),
        "unprotected_quantities": _list([*dict.fromkeys(unprotected), stated or ""]),
    }


def _column(described: Mapping[str, Any]) -> str:
    if "levels" in described:
        return f"{len(described['levels']):,} public levels"
    if "edges" in described:
        return "public bins"
    if "ranges" in described:
        return f"numbers, clamped to a public range for each level of {described['range_by']!r}"
    is_number = "range" in described
    return "numbers, clamped to {} to {}".format(*described["range"]) if is_number else "levels chosen privately"


def _privacy_loss(report: Report) -> dict[str, Any]:
    basic, first = report.total.basic, report.releases[0]
    assert basic is not None
    replaced = basic.neighbours == "replace-one"
    change, end = ("replacing", " with any other.") if replaced else ("adding or removing", ".")
    unit = first.manifest.get("table", {"unit": {"name": None, "column": "person"}})["unit"]
    level = f"{capitalize(unit_of(unit['column']))}-level"
    details = [f"{release.name}: {release.part.guarantee}" for release in report.releases]
    if report.total.composed is not None:
        fixed = "If the noise of every release was fixed without looking at results of the others"
        details.append(f"{fixed}, they keep {report.total.composed} together (proved).")
    return {
        "privacy_unit": f"One of the {unit['name']}" if unit["name"] and unit["column"] is None else level,
        "privacy_unit_details": f"Data sets are adjacent if one becomes the other by {change} {first.protected}{end}",
        "number_of_privacy_units": report.deployment.registry.get("number_of_units"),
        "privacy_parameters": {"epsilon": basic.epsilon, **({} if basic.delta == 0.0 else {"delta": basic.delta})},
        "privacy_parameters_details": _list(details),
    }


def _implementation(report: Report) -> dict[str, Any]:
    answers, releases = report.deployment.answers, report.releases
    versions = ", ".join(sorted({release.version for release in releases}))
    named = {"timing": "Timing", "randomness": "Machine", "security": "Security", "access_control": "Access control"}
    mechanisms = [
        *dict.fromkeys(f"{release.noise} ({release.mechanism['item']})" for release in releases),
        f"Implemented by ggdp {versions}; scales are proved in interval arithmetic, by certificates in the manifests.",
        "Floating point: noise is drawn exactly, on integers or on a public grid.",
        "Randomness: an AES-256 stream keyed by the operating system.",
        *(f"{what}: {answers[key]}" for key, what in named.items() if key in answers),
    ]
    steps = [(release.name, ", ".join(release.adjusted)) for release in releases if release.adjusted]
    adjusted = [f"{name}: {named} (named in the manifest)" for name, named in steps]
    utility = [f"{release.name}: {release.error_in_words.registry}" for release in releases]
    summed = "The sum of all epsilons and deltas, which holds for adaptively chosen releases."
    return {
        "preprocessing_and_hyperparameter_tuning": answers.get("preprocessing"),
        "mechanisms": _list(mechanisms),
        "composition": "One release." if len(releases) == 1 else summed,
        "post_processing": _list(adjusted) if adjusted else "None.",
        "justification": answers.get("parameters"),
        "utility": _list([*utility, answers.get("utility", "")]),
        "additional_information": _list(release.statement for release in releases),
    }


def _list(texts: Iterable[str]) -> str:
    """Return one text, or several as a list of Markdown, which the registry shows."""
    found = [text.strip() for text in texts if text.strip()]
    return found[0] if len(found) == 1 else "".join(f"- {text}\n" for text in found)
