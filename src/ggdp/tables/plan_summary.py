"""A plan in words: the rows that ``ggdp release --dry-run``, a prompt and a notebook show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.tables.statistics.margins import half_width_rows
from ggdp.tables.unit_descriptions import covered, number_of, protected_unit

if TYPE_CHECKING:
    from ggdp.tables.request import TableRequest
    from ggdp.tables.table_plan import TablePlan

TITLE = "no data read, no budget spent"
_REGIMES = {
    "declared": "declared: every cell is published, including empty ones",
    "sparse": "sparse: a declared domain, without the cells whose noisy counts are small",
    "open": "open: levels with few units are omitted",
    "mixed": "mixed: declared tables are complete, open tables omit levels with few units",
}


def summary_rows(plan: TablePlan) -> list[tuple[str, str]]:
    """Return what a plan says, a name and a text in each row."""
    request, mechanism, threshold = plan.request, plan.mechanism, plan.threshold
    unknown = "unknown: undeclared levels are chosen privately"
    rows = [
        *(("table", _table(request, table)) for table in range(len(request.by))),
        ("cells", unknown if request.cells is None else f"{request.cells:,}"),
        ("regime", _REGIMES[request.regime]),
        ("unit", protected_unit(request)),
        ("order", rounded_text(mechanism.order, 6)),
        ("scale", rounded_text(mechanism.scale, 6)),
        ("plus-minus", f"{plan.half_width:,} at 95 %, around each noisy count"),
        *(half_width_rows(plan) if plan.statistics is not None else ()),
        ("sensitivity", str(mechanism.sensitivity)),
        ("guarantee", str(plan.guarantee)),
        ("cost", _cost(plan)),
    ]
    if threshold is not None:
        said = f"cells with a noisy count of {threshold.value:,} or more are shown"
        if request.false_cells is not None:
            empty = request.false_cells
            said += f"; on average at most {rounded_up_text(empty)} of them {_are(empty)} empty"
        rows.append(("threshold", said))
    if plan.cut is not None and request.count_cut is not None:
        share = rounded_text(request.count_cut)
        rows.append(("units cut", f"counted too, plus-minus {plan.cut.half_width:,} at 95 %: {share} of epsilon"))
    return rows + [("would write", str(file)) for file in plan.files]


def as_text(plan: TablePlan) -> str:
    """Return a plan as lines of text."""
    rows = [*summary_rows(plan), *(("warning", warning) for warning in plan.request.warnings)]
    return "\n".join([f"TablePlan: {TITLE}", *(f"  {name}: {said}" for name, said in rows)])


def _are(number: float) -> str:
    return "is" if number == 1 else "are"


def _cost(plan: TablePlan) -> str:
    delta = f" and delta = {rounded_up_text(plan.guarantee.delta)}" if plan.guarantee.delta else ""
    return f"epsilon = {rounded_up_text(plan.guarantee.epsilon)}{delta} per run"


def _table(request: TableRequest, table: int) -> str:
    """Return what the plan says about one table."""
    size, most = request.sizes[table], request.most_cells[table]
    said = [" x ".join(request.by[table]) or "all rows", "open" if size is None else number_of(size, "cell")]
    if request.unit is not None:
        capped = "" if most == request.max_cells else f" (all there are; {request.max_cells:,} requested)"
        said.append(f"a unit is counted in at most {number_of(most, 'cell')}{capped}")
    covers = covered(request, table)
    return ", ".join(said) + ("" if covers is None else f"; intervals cover: {covers}")
