"""The files of a run: the report, the claims, and every number as CSV.

==================  ======================================================================================
report.html         everything, for reading
claims.json         the claims with their verdicts
counts.csv          distances and divergences of sanitised counts, with the prior and the directions
svm.csv             accuracies of the classifier, one row a fit
facts.csv           what else the report says: sizes, cells, bins, the split, the prior, versions, seed, repeats
figure-....csv      the points of the figures
==================  ======================================================================================
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from ggdp_reproduction.experiments.adult_split import NOT_PRIVATE
from ggdp_reproduction.report.page import report_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ggdp_reproduction.results import Results, Row

__all__ = ["BACK", "FORTH", "WRITTEN", "documents"]

FORTH, BACK = "KL(original || sanitised)", "KL(sanitised || original)"
_FIGURES = (
    *("densities", "lower-bounds", "bounded", "exponential", "gaussian-bounds", "tail-ratio", "same-tail"),
    *("dispersion", "mildew-counts", "czech-counts", "adult-counts"),
)
# Every name that a run may write; a later run in the same directory removes those that it does not write itself.
WRITTEN = (
    *("report.html", "claims.json", "counts.csv", "svm.csv", "facts.csv"),
    *(f"figure-{key}.csv" for key in _FIGURES),
)


def documents(results: Results) -> dict[str, bytes]:
    """Return the files of a run by their names: the report, the claims, and all numbers.

    Parameters
    ----------
    results : Results
        A run.

    Examples
    --------
    >>> from ggdp_reproduction.results import Results
    >>> sorted(documents(Results(what="figures", quick=True, seed=0, repeats=2, svm_repeats=1)))
    ['claims.json', 'facts.csv', 'report.html']
    """
    tables: dict[str, list[Row]] = {}
    if results.counts:
        about = {"prior": results.prior, "kl_direction": FORTH, "kl_back_direction": BACK}
        tables["counts.csv"] = [row | about for run in results.counts.values() for row in run.rows]
    if results.svm is not None:
        tables["svm.csv"] = [*results.svm.rows, *results.svm.controls()]
    tables["facts.csv"] = [{"about": about, "fact": fact, "value": value} for about, fact, value in _facts(results)]
    tables |= {f"figure-{one.key}.csv": one.rows for one in results.drawings if one.rows}
    claims = json.dumps([claim.to_dict() for claim in results.claims], indent=2, ensure_ascii=False)
    names = ["claims.json", *tables]
    return {
        "report.html": report_html(results, names).encode(),
        "claims.json": f"{claims}\n".encode(),
        **{name: _as_csv(rows) for name, rows in tables.items()},
    }


def _facts(results: Results) -> Iterator[tuple[str, str, Any]]:
    """Yield what the report says beside the tables, as (about, fact, value)."""
    yield "run", "part", results.what
    yield "run", "quick", "yes" if results.quick else "no"
    yield "run", "seed", results.seed
    yield "run", "svm_repeats", results.svm_repeats
    yield "divergence", "prior", results.prior
    yield "divergence", "kl", FORTH
    yield "divergence", "kl_back", BACK
    for name, run in results.counts.items():
        yield name, "repeats", run.rows[0]["repeats"]
        yield name, "n", run.n
        yield name, "cells_sanitised", run.cells
        for fact in ("epsilon", "delta"):
            found = sorted({row[fact] for row in run.rows if row[fact] is not None})
            yield name, f"{fact}s", " ".join(f"{value:g}" for value in found)
    if results.adult or "adult" in results.counts:
        yield "adult", "private", f"no: {NOT_PRIVATE}"
    for fact, value in results.adult.items():
        yield "adult", fact, value
    if results.svm is not None:
        for fact in ("train", "test", "cells", "columns", "cost", "gamma", "original_accuracy", "support_accuracy"):
            yield "classifier", fact, getattr(results.svm, fact)
        yield "classifier", "private", f"no: {NOT_PRIVATE}"
    if results.bounds is not None:
        yield "lower bounds", "draws", results.bounds.draws
    for name, number in results.versions.items():
        yield "version", name, number


def _as_csv(rows: Iterable[Row]) -> bytes:
    """Return rows as CSV; floats so that they read back exactly, and nothing for None."""
    found = list(rows)
    names = list(dict.fromkeys(name for row in found for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    return text.getvalue().encode()
