"""The commands on tables: ``ggdp release``, ``check`` and ``range``.

What a release prints is a function of the request and of the released values, on both streams and in every error.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggdp._rounding import number_of
from ggdp.cli import flags
from ggdp.cli.output import print_json, print_table, printable, say, working
from ggdp.errors import ArgumentError, BudgetExceededError, GgdpError, PrivacyWarning, in_words_of
from ggdp.signatures import signature_file, signing_key
from ggdp.tables.request import CheckArguments, RangeArguments, TableRequest

if TYPE_CHECKING:
    from ggdp.tables import Table, TablePlan
    from ggdp.tables.source_check import ColumnCheck, TextCheck, UnitCheck

# Typer brings its own copy of click in some versions and uses the installed one in others: use what it exports.
UsageError: Any = typer.BadParameter.__base__

REGIMES = {
    "declared": "a release would publish every cell, including empty ones",
    "sparse": "too many cells to publish them all: a release needs --false-cells and omits small noisy counts",
    "open": "a column has no declared levels: a release needs --delta and omits levels with few units",
    "mixed": "declared tables would be complete; open tables need --delta and omit levels with few units",
}
SHOWN_ROWS = 20
SHOWN_LEVELS = 10
_rows = partial(number_of, noun="row")


def _study_of(
    context: typer.Context, source: str, data: str | None, given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return what is counted, and what is given: where a study or a manifest is named, it is part of that."""
    like = given.get("like")
    is_study = source.lower().endswith(".toml")
    if data is not None and not is_study:
        raise typer.BadParameter("is for a study: ggdp release STUDY.toml --source FILE", param_hint="'--source'")
    if like is not None and is_study:
        raise typer.BadParameter("SOURCE is a study; name its data, or leave --like out", param_hint="'--like'")
    typed = {name for name in given if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"}
    given = {**given, "typed": typed, "names": None}
    if not is_study and like is None:
        return source, given
    from ggdp.tables.study import Study

    try:
        study = Study.like(source if like is None else like)
    except ArgumentError as refused:
        if refused.argument != "path":
            raise
        raise ArgumentError("--like" if is_study is False else "SOURCE", refused.value, refused.expected) from None
    rest: dict[str, Any] = {"ledger": study.ledger, "analyst": study.analyst, "engine": study.engine}
    if is_study:
        given["study"] = source
        source, rest["out"] = data or study.source or "", None if study.output is None else Path(study.output)
        if not source:
            raise typer.BadParameter("the study has no source; name its data", param_hint="'--source'")
    given |= {name: value for name, value in rest.items() if name in given and name not in typed}
    return source, {**given, "base": study.request, "names": None if "by" in typed else study.names}


@flags.takes_flags(flags.RELEASE)
def release(
    context: typer.Context,
    source: flags.SourceOrStudy,
    data: flags.SourceOfStudy = None,
    **given: Any,  # noqa: ANN401 - flags
) -> None:
    """Publish counts and statistics under differential privacy.

    A table is counted by public columns. --dry-run plans it without reading a row. A study is a file that says all of
    it; flags override what it says.
    """
    source, given = _study_of(context, source, data, given)
    if given["epsilon"] is None and "base" not in given:
        missing = UsageError("Missing option '--epsilon'.")
        missing.option_name = "--epsilon"
        raise missing
    if given["out"] is None and not given["dry_run"]:
        raise typer.BadParameter("give a file to write to, or --dry-run", param_hint="'--out'")
    with flags.named_as_flags(given):
        # Before all that takes time, and before anything is charged.
        sign = given["sign"]
        ask = partial(typer.prompt, "Passphrase of the key", hide_input=True, err=True)
        key = None if sign is None else signing_key(sign, ask if sys.stdin.isatty() else None)
        from ggdp.tables.table_plan import plan_request, summary_rows

        request = TableRequest(**flags.arguments_of(given, TableRequest))
        for column in request.domain:
            if column.lookup is not None:
                column.lookup.table  # noqa: B018 - raises if it is not that of the manifest
        names = request.table_names if "base" in given and given["names"] is None else given["names"]
        run = {name: given[name] for name in ("engine", "out", "plot", "wide")}
        with working("choosing the noise"):
            plan = plan_request(request, **run | {"engine": given["engine"] or "duckdb", "names": names})
        if given["save_study"] is not None:
            from ggdp.tables.study import Study

            # Before the release, so that it fails before anything is charged.
            of_runs = {name: given[name] for name in ("ledger", "analyst", "engine")}
            study = Study(request=plan.request, names=plan.names or (), source=source, **of_runs)
            with flags.renaming(path="save_study"):
                study.write(given["save_study"], overwrite=given["overwrite"])
        if given["dry_run"]:
            _print_plan(plan, plan.to_dict(), summary_rows(plan), given)
            return
        with _releasing(plan.files) as replaced:
            released = plan.run(source, sign=key, once=given["once"], **{name: given[name] for name in _OF_RUNS})
            if (entry := getattr(released, "entry", None)) is not None:
                replaced.clear()
    # What is refused prints its error alone.
    print_warnings([*plan.warnings, *getattr(released, "notes", ())])
    described = plan.files[len(plan.request.by)]
    manifest = getattr(released, "written_manifest", None) or released.manifest
    written = [str(file) for file in (*plan.files, *([] if key is None else [signature_file(described)]))]
    if given["json"]:
        print_json({"files": written, "manifest": manifest})
        return
    if entry is not None:
        say(f"Published before, as entry {entry.number} of the ledger: nothing was drawn or charged again.")
    for table, file in zip(getattr(released, "tables", ()) if entry is None else (), plan.files, strict=False):
        (_print_rows if plan.wide is None else _print_wide)(table, file, str(released.guarantee))
    say(manifest["statement"])
    say(f"{'Written' if entry is None else 'Files'}: {', '.join(written)}")


@flags.takes_flags(flags.CHECK)
def check(context: typer.Context, source: flags.SourceOrStudy, data: flags.SourceOfStudy = None, **given: Any) -> None:  # noqa: ANN401 - flags
    """Compare a source with its domain before a release. NOT PRIVATE: the output must not be published."""
    source, given = _study_of(context, source, data, given)
    with flags.named_as_flags(given):
        asked = flags.arguments_of(given, CheckArguments)
        from ggdp.tables.source_check import NOTICE, check_table

        with working("counting"):
            found = check_table(source, **asked)
    if given["json"]:
        print_json(found.to_dict())
        return
    say(NOTICE)
    for alarm in found.alarms:
        say(f"WARNING: {alarm}{'' if alarm.endswith('?') else '.'}")
    if given["draft_domain"] is not None:
        say(f"Written: {given['draft_domain']}, a draft that is NOT PRIVATE: correct it by the code book.")
    if found.seen:
        header = ("column", "reads as", "missing", "different values", "forms (d: digit, a: letter), or value labels")
        shown = []
        for seen in found.seen:
            few = [f"{code}: {printable(text)}" for code, text in seen.labels[:SHOWN_LEVELS]]
            few += ["..."] if len(seen.labels) > len(few) else []
            different = "not counted" if seen.distinct is None else f"{seen.distinct:,}"
            share = f"{seen.nulls / seen.rows:.1%}" if seen.rows else ""
            shown.append((seen.name, seen.reads_as, share, different, ", ".join(few) or _forms(seen.forms)))
        print_table(_rows(found.rows), shown, header=header)
    if not (found.columns or found.ranges):
        _print_text(found.text)
        return
    say(f"{_rows(found.rows)}; {REGIMES[found.regime]}")
    # Statistics of all rows have one cell, and no row is outside of it.
    if found.marginals:
        print_table(
            "",
            [
                (
                    " x ".join(table.by),
                    "not known" if table.cells is None else f"{table.cells:,}",
                    f"{table.filled:,}",
                    f"{found.rows - table.rows:,}",
                    f"{table.impossible_rows:,}",
                )
                for table in found.marginals
            ],
            header=("table", "cells", "with rows in them", "rows not counted", "of these in impossible cells"),
        )
    _print_text(found.text)
    for column in found.columns:
        _print_column(column)
    for measured in found.ranges:
        ends = (("below", measured.totals_below), ("above", measured.totals_above))
        rows = [
            ("nulls", _rows(measured.nulls)),
            ("not a number", _rows(measured.not_numbers)),
            *([("these look like (d: digit, a: letter)", _forms(measured.forms))] if measured.forms else []),
            ("below the range, clamped", _rows(measured.below)),
            ("above the range, clamped", _rows(measured.above)),
            *(
                (f"sums of a unit in a cell {end} the range, clamped", f"{number:,}")
                for end, number in ends
                if number is not None
            ),
            *(("advice", advice) for advice in measured.advice),
        ]
        of = "" if measured.level is None else f", {measured.level}"
        print_table(f"column {printable(measured.name + of)} ({measured.range})", rows)
    if found.units is not None:
        _print_units(found.units)


@flags.takes_flags(flags.RANGE)
def private_range(
    source: flags.Source,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="A column of numbers.")],
    **given: Any,  # noqa: ANN401 - flags
) -> None:
    """Find a range to clamp a column to, privately.

    The range is on a doubling scale. Finding it spends the budget.
    """
    with flags.named_as_flags(given, by="COLUMN"):
        from ggdp.tables.clamping_range import plan_range

        asked = flags.arguments_of(given, RangeArguments)
        with working("choosing the noise"), warnings.catch_warnings():
            # They are printed below.
            warnings.simplefilter("ignore", PrivacyWarning)
            plan = plan_range(column, **asked | {"engine": asked["engine"] or "duckdb"})
        if given["dry_run"]:
            _print_plan(plan.histogram, plan.to_dict(), plan.summary_rows(), given)
            return
        with _releasing([] if given["out"] is None else [given["out"]]):
            found = plan.run(source, **{name: given[name] for name in _OF_RUNS})
    print_warnings(plan.histogram.warnings)
    if given["json"]:
        print_json(found.to_dict())
        return
    if found.flag is not None:
        ends = f"lower  {found.lower!r}\nupper  {found.upper!r}\n" if found.by is None else ""
        say(ends + printable(found.flag))
    say(printable(found.statement))
    say(f"It is {found.guarantee}.")


_OF_RUNS = ("temp_dir", "overwrite", "ledger", "analyst")


@contextmanager
def _releasing(files: Iterable[Path]) -> Iterator[list[Path]]:
    """Run a release, and say afterwards if it replaced files of an earlier one.

    Errors that are not ours, which might quote data, are replaced by one without a reason; notes are kept.
    """
    replaced = [file for file in files if file.exists()]
    try:
        with working("counting"):
            yield replaced
    except (GgdpError, MemoryError):
        raise
    except Exception as failed:
        message = "the release failed, and nothing was published. The reason is not shown, since it might reveal data"
        error = GgdpError(message)
        for note in getattr(failed, "__notes__", ()):
            error.add_note(note)
        raise error from None
    if replaced:
        print_warnings(["an earlier output is replaced; each run spends the privacy budget again"])


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error."""
    for warning in warnings:
        say(f"warning: {in_words_of(warning, flags.mention_flag)}", err=True)


def _print_plan(
    plan: TablePlan, document: dict[str, Any], rows: Sequence[tuple[str, str]], given: Mapping[str, Any]
) -> None:
    """Print what a plan says, and whether it fits in what remains of a ledger, if one is given."""
    fit: dict[str, Any] = {}
    if given["ledger"] is not None:
        from ggdp.ledger import Ledger

        fit = {"fits": True}
        try:
            Ledger(given["ledger"]).require_fit(plan, given["analyst"])
        except BudgetExceededError as refused:
            fit = {"fits": False, "refusal": str(refused)}
    print_warnings(plan.warnings)
    if given["json"]:
        print_json(document | fit)
        return
    from ggdp.tables.table_plan import TITLE

    print_table(f"dry run: {TITLE}", rows)
    if fit:
        refusal = fit.get("refusal", "")
        say("It fits in what remains of the ledger." if fit["fits"] else f"{refusal[0].upper()}{refusal[1:]}.")


def _print_rows(table: Table, file: Path, guarantee: str) -> None:
    from ggdp.tables.statistics.released_statistics import shown_estimate

    first = table.to_arrow().slice(0, SHOWN_ROWS).to_pylist()
    cells = [tuple(printable(row[name]) for name in table.by) for row in first]
    estimates = {"count": [(f"{row['count']:,}", f"{row['lower']:,} to {row['upper']:,}") for row in first]}
    for statistic in table.statistics:
        estimates[statistic.name] = [shown_estimate(row, statistic.name, table.digits) for row in first]
    covers = "" if table.covers is None else f"; the intervals cover: {table.covers}"
    say(printable(f"{' x '.join(table.by) or 'all rows'}, {guarantee}{covers}"))
    # More than one statistic beside the counts is too wide for a terminal: each has a table of its own.
    for names in [list(estimates)] if len(estimates) <= 2 else [[name] for name in estimates]:
        header = [*table.by, *(text for name in names for text in (name, "95% interval"))]
        columns = zip(*(estimates[name] for name in names), strict=True)
        rows = [(*cell, *chain.from_iterable(shown)) for cell, shown in zip(cells, columns, strict=True)]
        print_table("", rows, header=tuple(map(printable, header)))
    if len(table) > SHOWN_ROWS:
        say(f"({number_of(len(table) - SHOWN_ROWS, 'more row')} in {file})")
    if not first:
        say("(no cell has a noisy count at or above the threshold)")


def _print_wide(table: Table, file: Path, guarantee: str) -> None:
    """Print the counts and statistics of a table without their intervals, in wide form."""
    from ggdp.tables.output_files import wide_form
    from ggdp.tables.statistics.released_statistics import shown_estimate

    shown = wide_form(table)
    names = [name for name in shown.column_names if not name.startswith(("lower ", "upper ", "noisy_count "))]
    ends = tuple(f"{one.name}_{end} " for one in table.statistics for end in ("lower", "upper"))
    names = [name for name in names if not name.startswith(ends)] if ends else names

    def text(row: Mapping[str, Any], name: str) -> str:
        for one in table.statistics if row[name] is not None else ():
            if (level := name.removeprefix(one.name)).startswith(" "):
                long = {f"{one.name}{end}": row[f"{one.name}{end}{level}"] for end in ("", "_lower", "_upper")}
                return shown_estimate(long, one.name, table.digits)[0]
        is_count = name.startswith("count ") and row[name] is not None
        return f"{row[name]:,}" if is_count else "" if row[name] is None else printable(row[name])

    rows = [tuple(text(row, name) for name in names) for row in shown.to_pylist()]
    say(printable(f"{' x '.join(table.by)}, {guarantee}; the intervals are in {file}"))
    print_table("", rows[:SHOWN_ROWS], header=tuple(names))
    if len(rows) > SHOWN_ROWS:
        say(f"({len(rows) - SHOWN_ROWS:,} more in {file})")


def _print_text(text: TextCheck | None) -> None:
    if text is None:
        return
    rows = [("records", f"{text.records:,}"), (f"text that is not valid {text.encoding}", _rows(text.invalid))]
    if text.not_objects is None:
        rows.append(("with more fields than the header", _rows(text.surplus)))
        rows.append(("line ends inside records, blank lines", f"{text.further_lines:,}"))
    else:
        rows.append(("not JSON objects", _rows(text.not_objects)))
    rows.append(("with line ends inside", _rows(text.with_line_ends)))
    print_table("file", [*rows, *(("advice", advice) for advice in text.advice)])


def _forms(forms: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{form!r} ({_rows(rows)})" for form, rows in forms)


def _print_column(column: ColumnCheck) -> None:
    rows: list[tuple[str, str]] = [("nulls", _rows(column.nulls))]
    if column.declared == "open":
        rows.append(("different values", f"{column.distinct_unmatched:,}"))
    else:
        listed = column.unmatched and column.distinct_unmatched is not None
        different = f", {column.distinct_unmatched:,} different" if listed else ""
        rows.append(("match nothing", _rows(column.unmatched) + different))
    if column.declared == "bins" and column.unmatched:
        rows.append(("not a number or date", _rows(column.unparsable)))
        rows.append(("outside the edges", _rows(column.unmatched - column.unparsable)))
        if column.forms:
            rows.append(("no number or date: these look like (d: digit, a: letter)", _forms(column.forms)))
    if column.most_frequent:
        said = ", ".join(f"{printable(value)!r} ({count:,})" for value, count in column.most_frequent)
        rows.append(("most frequent of these", said))
    if column.unseen:
        more = f" and {len(column.unseen) - SHOWN_LEVELS:,} more" if len(column.unseen) > SHOWN_LEVELS else ""
        shown = ", ".join(printable(level) for level in column.unseen[:SHOWN_LEVELS])
        rows.append(("declared, never seen", f"{shown}{more} (fine: keep them)"))
    rows += [("advice", advice) for advice in column.advice]
    print_table(f"column {printable(column.name)} ({column.declared})", rows)


def _print_units(units: UnitCheck) -> None:
    nowhere = f"{_rows(units.null_rows)} without a unit, not counted"
    say(f"{units.units:,} different values of {printable(units.column)}; {nowhere}")
    for table in units.tables:
        by = printable(" x ".join(table["by"])) or "the whole table"
        say(f"cells of a unit in {by}, quantiles: {_quantiles(table['quantiles'])}")
        say(f"rows of a unit in a cell, quantiles: {_quantiles(table['row_quantiles'])}")
        rows = [
            (f"{most:,}", f"{kept:.2%}", f"{units_cut:,}", f"{cut:,.1f}", f"{error:,}")
            for most, kept, cut, units_cut, error in (choice.values() for choice in table["choices"])
        ]
        goal = f"epsilon = {units.epsilon:g}" + (f" and delta = {units.delta:g}" if units.delta else "")
        say(f"what each --max-cells would cut, and its noise (for this request, at {goal}):")
        header = ("--max-cells", "pairs of unit and cell kept", "units cut", "cut from a cell, on average")
        print_table("", rows, header=(*header, "plus-minus at 95%"))
        say(
            f"Not private, since it comes from the data: --max-cells {table['recommended']:,} minimizes "
            "plus-minus plus the number cut from a cell. The value you choose will be published: base it on what you "
            "know of such data."
        )


def _quantiles(found: dict[str, int]) -> str:
    return ", ".join(f"{float(q):.0%}: {number:,}" for q, number in found.items())
