"""``ggdp reproduce``: every figure and table of the paper, and a verdict on every claim, in one report."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ggdp.cli.output import AsJson, example, print_json, print_table, say
from ggdp.errors import ArgumentError
from ggdp_reproduction.files import write_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

# The words of `ggdp_reproduction.reproduction`, which is too heavy to load before it is needed.
PartName: TypeAlias = Literal["mildew", "czech", "adult", "figures", "all"]
REPORT = "report.html"
# What a run may write, looked for before an hour of work is done.
WRITTEN = (REPORT, "claims.json", "counts.csv", "svm.csv", "facts.csv", "figure-*.csv", "figure-*.svg")
# Finished fits of the classifier, until the run is finished too.
STATE = ".svm-fits.jsonl"


@app.command(epilog=example("ggdp reproduce all --out reproduction --quick"))
def reproduce(
    out: Annotated[Path, typer.Option(help="Directory to write to.")],
    what: Annotated[PartName, typer.Argument(help="Which part of the paper.")] = "all",
    quick: Annotated[
        bool, typer.Option("--quick", help="A small run, to check the installation: about a minute on two cores.")
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(help="Repeats of the counts; default: 20000 (adult: 500), or 20 in a quick run."),
    ] = None,
    svm_repeats: Annotated[
        int | None, typer.Option(help="Repeats of the classifier; default: 5, or 1 in a quick run.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes to use; default: all cores.")] = None,
    adult: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the adult data; by default taken from the cache or downloaded."),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Download nothing.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier report.")] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the paper, with a verdict on every claim.

    Its figures and experiments are simulations, not releases.
    """
    present = sorted(path.name for pattern in WRITTEN for path in out.glob(pattern))
    if present and not overwrite:
        raise ArgumentError(
            "out", str(out), f"{present[0]} already exists; pass --overwrite to replace it, or name another directory"
        )
    made = not out.exists()
    state = out / STATE
    try:
        from ggdp_reproduction import report, reproduction
        from ggdp_reproduction.adult_data import NOT_PRIVATE

        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as failed:
            raise _unwritable(out, failed) from None
        with _progress() as progress, _named(adult, out):
            results = reproduction.reproduce(
                what,
                quick=quick,
                repeats=repeats,
                svm_repeats=svm_repeats,
                seed=seed,
                workers=workers,
                adult_path=adult,
                download=not offline,
                state_file=state,
                progress=progress,
            )
        contents = {out / name: content for name, content in report.documents(results).items()}
        try:
            write_together(contents, overwrite=overwrite)
            # Numbers of an earlier run would be taken for those of this one.
            old = [path for path in (out / name for name in report.WRITTEN) if path not in contents and path.is_file()]
            for path in old:
                path.unlink()
        except OSError as failed:
            raise _unwritable(out, failed) from None
    except BaseException:
        if state.exists():
            say(f"note: finished fits are kept in {state}; run the same command again to continue from there", err=True)
        elif made and out.is_dir() and not any(out.iterdir()):
            out.rmdir()
        raise
    if what in ("adult", "all"):
        state.unlink(missing_ok=True)
    if old:
        say(f"note: removed files of an earlier run: {', '.join(path.name for path in old)}", err=True)
    verdicts = Counter(claim.verdict for claim in results.claims)
    files = [str(path) for path in contents]
    if as_json:
        print_json(
            {
                "claims": [claim.to_dict() for claim in results.claims],
                "verdicts": dict(verdicts),
                "files": files,
                "seed": results.seed,
                "versions": results.versions,
                "notes": results.notes,
            }
        )
        return
    print_table(
        f"{len(results.claims)} claims of the paper{', a quick run' if quick else ''}",
        [(verdict, number) for verdict, number in verdicts.most_common()],
        header=("verdict", "claims"),
    )
    for note in results.notes:
        # That something is not private is part of the answer, wherever it is sent.
        say(f"note: {note}", err=NOT_PRIVATE not in note)
    figures = sum(name.endswith(".svg") for name in files)
    beside = f"{len(files) - 1 - figures} files of numbers" + (f" and {figures} figures" if figures else "")
    say(f"Written: {out / REPORT}, with {beside} beside it")


def _unwritable(out: Path, failed: OSError) -> ArgumentError:
    why = failed.strerror or str(failed)
    return ArgumentError("out", str(out), f"cannot be written to ({why}); name another directory with --out")


@contextmanager
def _named(adult: Path | None, out: Path) -> Iterator[None]:
    """Make errors name the flag that they come from."""
    try:
        yield
    except ArgumentError as refused:
        if refused.argument == "adult_path":
            raise ArgumentError("--adult", str(adult), refused.expected) from None
        raise
    except BrokenPipeError:
        raise
    except OSError as failed:
        why = failed.strerror or str(failed)
        where = failed.filename or out / STATE
        reason = f"{where} cannot be written ({why}); free some space, or name another directory with --out"
        raise ArgumentError("out", str(out), reason) from None


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar for each stage on standard error, if that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda stage, done, total: None  # noqa: ARG005 - no terminal
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        tasks = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=total or None)
            bars.update(tasks[stage], completed=done, total=total or None)

        yield tell
