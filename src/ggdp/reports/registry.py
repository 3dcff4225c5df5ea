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

from ggdp._rounding import rounded_up_text
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date

    from ggdp.reports.deployment import Deployment
    from ggdp.reports.published import PublishedRelease
    from ggdp.reports.sign_off import Report


# Answers without which there is no entry: the key, and what to write.
_REQUIRED = {
    "product.name": "the name of what is published",
    "product.description": "what it is, in a sentence or two",
    "product.intended_use": "what it is meant to be used for",
    "product.region": "which region the data describe",
    "product.published": "the day of publication, such as 2026-03-31",
    "curators": "who publishes: [[curators]] with name and type (Government, Industry or Nonprofit)",
    "registry.authors": "who fills in the entry, as a list of names",
}
# Answers without which an entry is of a lower tier.
_TIER_TWO = ("registry.data_source",)
_TIER_THREE = ("answers.trust_model", "answers.preprocessing", "answers.parameters", "registry.number_of_units")


def registry_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of entries.

    Examples
    --------
    >>> registry_schema()["required"]
    ['url_slug', 'deployment']
    """
    schema: dict[str, Any] = json.loads(files("ggdp.reports").joinpath("registry.schema.json").read_text("utf-8"))
    return schema


def registry_entry(report: Report) -> dict[str, Any]:
    """Return the entry of a report.

    Raises
    ------
    ArgumentError
        If required answers are missing, all of which it names, or if the releases have no total.
    """
    deployment = report.deployment
    missing = [f"{key} ({what})" for key, what in _REQUIRED.items() if _answer(deployment, key) is None]
    missing += [
        f"curators.{key} (of each of them)"
        for key in ("name", "type")
        if any(key not in curator for curator in deployment.curators)
    ]
    if missing:
        raise ArgumentError("deployment", deployment.file, f"the registry needs these keys: {'; '.join(missing)}")
    if report.total.basic is None:
        raise ArgumentError(
            "registry",
            "an entry",
            "has one privacy loss, and these releases have no total; make one entry for each group of them: "
            f"{report.total.refusal}",
        )
    entry = {
        "url_slug": _slug(deployment),
        "deployment": {
            "basic": _basic(deployment),
            "dp_variant": _variant(report),
            "privacy_loss": _privacy_loss(report),
            "deployment_model": _model(report),
            "implementation": _implementation(report),
            "administrative": _administrative(deployment),
        },
    }
    _require_valid(entry)
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


def _slug(deployment: Deployment) -> str:
    """Return the last part of the entry's address: the product, its first curator, and the year."""
    product = deployment.product
    words = f"{product['name']} {deployment.curators[0]['name']} {product['published'].year}"
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


def _basic(deployment: Deployment) -> dict[str, Any]:
    product = deployment.product
    published: date = product["published"]
    found: dict[str, Any] = {
        "name": product["name"],
        "data_curators": [
            {"data_curator_name": curator["name"], "data_curator_type": curator["type"]}
            for curator in deployment.curators
        ],
        "description": product["description"],
        "intended_use": product["intended_use"],
        "data_product_type": "Summary statistics",
        "data_product_region": product["region"],
    }
    if "sector" in product:
        found["data_product_sector"] = product["sector"]
    return {**found, "publication_date": published.isoformat()}


def _variant(report: Report) -> dict[str, Any]:
    assert report.total.basic is not None
    unprotected = [f"{_public(release)}" for release in report.releases]
    stated = report.deployment.registry.get("unprotected_quantities")
    said = [*dict.fromkeys(unprotected), *([stated] if stated else [])]
    return {
        "variant_name": "Pure DP" if report.total.basic.delta == 0.0 else "Approximate DP",
        "data_domain": _listed(dict.fromkeys(_domain(release) for release in report.releases)),
        "unprotected_quantities": _listed(said),
    }


def _domain(release: PublishedRelease) -> str:
    """Return which data sets are eligible for protection."""
    request = release.request
    if request is None:
        return f"Data sets for which the stated sensitivity holds: {release.manifest['sensitivity']}."
    columns = ", ".join(f"{name} ({_column(column)})" for name, column in request["domain"].items())
    return f"All tables with the columns {columns}; other values are counted as declared, or not at all."


def _column(described: Mapping[str, Any]) -> str:
    if "levels" in described:
        return f"{len(described['levels']):,} public levels"
    if "edges" in described:
        return "public bins"
    if "range" in described:
        low, high = described["range"]
        return f"numbers, clamped to {low} to {high}"
    return "levels chosen privately"


def _public(release: PublishedRelease) -> str:
    """Return what is published without noise."""
    total = None if release.request is None else release.request["total"]
    if total is not None:
        return f"The total of {total:,}, which the publisher asserts to be public."
    return "Every published number has noise; levels, bins and ranges are those that the publisher declares public."


def _privacy_loss(report: Report) -> dict[str, Any]:
    basic, first = report.total.basic, report.releases[0]
    assert basic is not None
    parameters = {"epsilon": basic.epsilon, **({} if basic.delta == 0.0 else {"delta": basic.delta})}
    change = "replacing" if basic.neighbours == "replace-one" else "adding or removing"
    found: dict[str, Any] = {
        "privacy_unit": _level(first),
        "privacy_unit_details": f"Data sets are adjacent if one becomes the other by {change} {first.protected}"
        + (" with any other." if basic.neighbours == "replace-one" else "."),
    }
    if "number_of_units" in report.deployment.registry:
        found["number_of_privacy_units"] = report.deployment.registry["number_of_units"]
    details = [f"{release.name}: {release.part.guarantee}" for release in report.releases]
    if report.total.composed is not None:
        details.append(
            f"If the noise of every release was fixed without looking at results of the others, they keep "
            f"{report.total.composed} together (proved)."
        )
    return {**found, "privacy_parameters": parameters, "privacy_parameters_details": _listed(details)}


def _level(release: PublishedRelease) -> str:
    """Return the granularity of protection."""
    table = release.manifest.get("table")
    if table is None:
        return "Person-level"
    name, column = table["unit"]["name"], table["unit"]["column"]
    if column is None and name is not None:
        return f"One of the {name}"
    word = column or "row"
    return f"{word[0].upper()}{word[1:]}-level"


def _model(report: Report) -> dict[str, Any]:
    deployment = report.deployment
    many = len(report.releases) > 1
    found: dict[str, Any] = {
        "model_name": "Central",
        "model_name_details": "The curator holds the data and adds the noise before anything is published.",
    }
    if "trust_model" in deployment.answers:
        found["actors"] = deployment.answers["trust_model"]
    found["release_type"] = "Many releases" if many else "One release"
    later = [deployment.registry["further_releases"]] if "further_releases" in deployment.registry else []
    later += [deployment.answers["other_releases"]] if "other_releases" in deployment.answers else []
    if report.budget is not None:
        later.append(
            f"All releases are charged to one budget, {report.budget.budget}, before data are read; one that does not "
            "fit is refused."
        )
    if later:
        found["release_type_details"] = _listed(later)
    if "data_source" in deployment.registry:
        found["data_source_type"] = deployment.registry["data_source"]
    found["access_type"] = "Non-interactive"
    if "query_model" in deployment.answers:
        found["access_type_details"] = deployment.answers["query_model"]
    return found


def _implementation(report: Report) -> dict[str, Any]:
    answers = report.deployment.answers
    found: dict[str, Any] = {}
    if "preprocessing" in answers:
        found["preprocessing_and_hyperparameter_tuning"] = answers["preprocessing"]
    found["mechanisms"] = _listed(_mechanisms(report))
    found["composition"] = (
        "One release."
        if len(report.releases) == 1
        else "The sum of all epsilons and deltas, which holds for adaptively chosen releases."
    )
    adjusted = [
        f"{release.name}: {', '.join(release.adjusted)} (named in the manifest)"
        for release in report.releases
        if release.adjusted
    ]
    found["post_processing"] = _listed(adjusted) if adjusted else "None."
    if "parameters" in answers:
        found["justification"] = answers["parameters"]
    found["utility"] = _listed(_utility(report))
    found["additional_information"] = _listed(release.statement for release in report.releases)
    return found


def _mechanisms(report: Report) -> Iterator[str]:
    yield from dict.fromkeys(f"{release.noise} ({release.mechanism['item']})" for release in report.releases)
    versions = ", ".join(sorted({release.version for release in report.releases}))
    yield f"Implemented by ggdp {versions}; scales are proved in interval arithmetic, by certificates in the manifests."
    yield "Floating point: noise is drawn exactly, on integers or on a public grid."
    yield "Randomness: an AES-256 stream keyed by the operating system."
    for key, what in (("timing", "Timing"), ("randomness", "Machine"), ("security", "Security")):
        if key in report.deployment.answers:
            yield f"{what}: {report.deployment.answers[key]}"
    if "access_control" in report.deployment.answers:
        yield f"Access control: {report.deployment.answers['access_control']}"


def _utility(report: Report) -> Iterator[str]:
    for release in report.releases:
        if release.half_width is not None:
            half = rounded_up_text(release.half_width, 6)
            values = "values before adjustments" if release.adjusted else "values"
            yield f"{release.name}: 95 % of the {values} are within {half} of those without noise."
        elif release.is_selection:
            yield f"{release.name}: one candidate was drawn at random, better ones with a larger probability."
        else:
            yield f"{release.name}: every number is published with a 95 % interval."
    if "utility" in report.deployment.answers:
        yield report.deployment.answers["utility"]


def _administrative(deployment: Deployment) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if deployment.sources:
        found["evidence_sources"] = {
            f"source_{number}": {
                "evidence_source_type": source.get("type", "Other public source"),
                "misc": {key: source[key] for key in ("title", "url") if key in source},
            }
            for number, source in enumerate(deployment.sources, start=1)
        }
    return {
        **found,
        "status": "Draft",
        "registry_authors": list(deployment.registry["authors"]),
        "tier": _tier(deployment),
    }


def _tier(deployment: Deployment) -> int:
    """Return how complete an entry is, as the registry counts: 1 is the least."""
    if any(_answer(deployment, key) is None for key in _TIER_TWO):
        return 1
    return 2 if any(_answer(deployment, key) is None for key in _TIER_THREE) else 3


def _listed(texts: object) -> str:
    """Return one text, or several as a list of Markdown, which the registry shows."""
    found = [text.strip() for text in texts if text.strip()]  # type: ignore[attr-defined]
    if len(found) == 1:
        return str(found[0])
    return "\n".join(f"- {text}" for text in found) + "\n"


def _require_valid(entry: Mapping[str, Any]) -> None:
    """Raise if an entry is not valid; what people answered was checked before."""
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(registry_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
    for wrong in validator.iter_errors(entry):
        where = ".".join(str(step) for step in wrong.absolute_path)
        raise ArgumentError("registry", where, f"is not valid by the registry's schema: {wrong.message}")
