"""Views: what one is, its inputs, results computed in the background, and how they are shown.

Inputs are native controls, each with a label and a hint. A result is computed in another process whenever one of its
inputs changes; the newest request wins. It is shown as HTML tables and as pictures of `ggdp.plots` with a description
in words, and offered as files.
"""

from __future__ import annotations

import asyncio
import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import attrs
from attrs import frozen
from htmltools import HTML, Tag, TagChild, TagList, tags
from shiny import Inputs, Outputs, Session, module, reactive, render, ui
from shiny.module import resolve_id
from shiny.types import SilentException

from ggdp.errors import GgdpError
from ggdp.explorer.wording import in_explorer_words, message_of
from ggdp.plots.inline_svg import inline_svg, svg_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.explorer.releasing import Confirmations
    from ggdp.explorer.studies import OpenStudy
    from ggdp.explorer.uploads import Source, Uploads
    from ggdp.explorer.workers import Worker


_T = TypeVar("_T")
_S = TypeVar("_S")
# Called with the steps done and about how many there are.
Progress: TypeAlias = "Callable[[int, int], None]"
INTERNAL = (
    "Something went wrong here. The reason is not shown, since it might reveal data. Change a setting, or reload."
)


def quantity(settings: object, name: str, label: str, hint: str = "") -> Tag:
    """Return a number of the settings with a slider beside it, between the ends that its field has.

    The number is the value, the slider moves it. It stops at numbers of few digits; any number between the ends can be
    typed.
    """
    key, value = resolve_id(name), getattr(settings, name)
    ends = attrs.fields_dict(type(settings))[name].metadata  # type: ignore[arg-type]
    low, high, is_log = ends["low"], ends["high"], ends["scale"] == "log"
    share = math.log(value / low) / math.log(high / low) if is_log else (value - low) / (high - low)
    # Where the slider can stop.
    positions = int(high - low) if ends["whole"] and not is_log else 400
    number = tags.input(
        id=f"{key}-number",
        type="number",
        value=f"{value:.15g}",
        min=f"{low:g}",
        max=f"{high:g}",
        step="1" if ends["whole"] else "any",
        **({"aria-describedby": f"{key}-hint"} if hint else {}),
    )
    slider = tags.input(
        type="range",
        min="0",
        max=str(positions),
        value=str(round(positions * min(max(share, 0.0), 1.0))),
        **{"aria-label": f"{label}, slider", "aria-valuetext": f"{value:g}"},
    )
    return tags.div(
        tags.div(tags.label(label, for_=f"{key}-number"), number, class_="quantity-line"),
        slider,
        tags.p(hint, id=f"{key}-hint", class_="hint") if hint else None,
        id=key,
        class_="quantity",
        data_low=f"{low:g}",
        data_high=f"{high:g}",
        data_scale=ends["scale"],
        data_whole="yes" if ends["whole"] else "no",
    )


def choices(settings: object, name: str, label: str, among: Mapping[str, str]) -> Tag:
    """Return radio buttons for a few words, each value with what it is called in the explorer."""
    buttons = ui.input_radio_buttons(name, label, dict(among), selected=getattr(settings, name))
    return tags.div(buttons, class_="choices")


def text(settings: object, name: str, label: str, placeholder: str, hint: str = "", *, lines: bool = False) -> Tag:
    """Return a text, of one line or of several, with a hint that is read with it."""
    value = getattr(settings, name)
    if lines:
        control = ui.input_text_area(name, label, value, rows=2, placeholder=placeholder, autoresize=True)
    else:
        control = ui.input_text(name, label, value, placeholder=placeholder, autocomplete="off")
    key = f"{resolve_id(name)}-hint"
    for child in control.children:
        if isinstance(child, Tag) and child.name in ("input", "textarea"):
            child.attrs |= {"spellcheck": "false", **({"aria-describedby": key} if hint else {})}
    return tags.div(control, tags.p(hint, id=key, class_="hint") if hint else None, class_="typed")


def when(name: str, values: Sequence[str], *inputs: TagChild) -> Tag:
    """Return inputs that are shown only while another input, of `choices`, has one of the values."""
    return tags.div(*inputs, data_when=resolve_id(name), data_values=" ".join(values))


def group(title: str, *inputs: TagChild, opened: bool = True) -> Tag:
    """Return inputs under a title, which can be folded."""
    return tags.details(tags.summary(title), *inputs, class_="group", open="open" if opened else None)


def facts(rows: Sequence[tuple[str, str]], caption: str) -> Tag:
    """Return names with what is said of each."""
    body = [tags.tr(tags.th(name, scope="row"), tags.td(said)) for name, said in rows]
    return tags.div(tags.table(tags.caption(caption), tags.tbody(*body), class_="facts"), class_="wide", tabindex="0")


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, numbers_from: int = 1) -> Tag:
    """Return rows under a header; columns from `numbers_from` on are numbers."""
    classes = ["number" if column >= numbers_from else "" for column in range(len(header))]
    head = [tags.th(name, scope="col", class_=kind) for name, kind in zip(header, classes, strict=True)]
    body = [tags.tr(*(tags.td(cell, class_=kind) for cell, kind in zip(row, classes, strict=True))) for row in rows]
    table = tags.table(tags.caption(caption), tags.thead(tags.tr(*head)), tags.tbody(*body), class_="rows")
    return tags.div(table, class_="wide", tabindex="0", role="region", aria_label=caption)


def headline(number: str, said: str) -> Tag:
    """Return a number that stands out, above what it is."""
    return tags.div(tags.strong(number), tags.span(said), class_="headline")


def csv_file(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows under a header as a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def embed_figure(figure: Figure, key: str, title: str, description: str) -> tuple[Tag, bytes]:
    """Return a figure with its description for everybody, and as a file in the colors of print; keys are unique."""
    svg = inline_svg(figure, key, title, description)
    return tags.figure(HTML(svg), tags.figcaption(description), class_="figure"), svg_file(svg)


class Background(Generic[_T]):
    """The result of a function of a worker, for the arguments of now. Made in the server function of a view.

    It is computed while the view is open, in the long process unless `worker` names another. What was computed last
    stays until there is something newer, so that the view does not flicker. `arguments` is None if nothing is to be
    computed; an error that it raises is shown. Both are read reactively.
    """

    def __init__(
        self,
        visit: Visit[Any],
        function: Callable[..., _T],
        arguments: Callable[[], tuple[Any, ...] | None],
        worker: Callable[[], Worker] | None = None,
    ) -> None:
        self._function = function
        # The result of the last computation, None if there is none.
        self.result: reactive.Value[_T | None] = reactive.Value(None)
        self._error: reactive.Value[str | None] = reactive.Value(None)
        self._steps: reactive.Value[tuple[int, int] | None] = reactive.Value(None)
        self._task: asyncio.Task[None] | None = None
        # What the result is of.
        self._known: tuple[Any, ...] | None = None
        visit.session.on_ended(self._drop)

        @reactive.effect
        def _start() -> None:
            if not visit.is_open():
                # Nobody looks: others need the process.
                self._drop()
                return
            found, error = None, None
            try:
                found = arguments()
            except GgdpError as refused:
                error = message_of(refused)
            if found is not None and found == self._known:
                return
            self._drop()
            if found is None:
                self._finish(None, None, error)
                return
            self._steps.set((0, 0))
            self._task = asyncio.create_task(self._compute(worker() if worker else visit.shared.long, found))

    def status(self) -> Tag:
        """Return what is wrong, or that something is being computed; for a region that screen readers follow."""
        error, steps = self._error(), self._steps()
        if steps is not None:
            done, expected = steps
            share = {"value": str(done), "max": str(expected)} if expected else {}
            # Shown at once when some of it is done; before that, only if it takes longer than a moment.
            kind = "computing under-way" if done else "computing"
            return tags.div(tags.progress(aria_label="Computing", **share), tags.span("Computing ..."), class_=kind)
        return tags.div() if error is None else tags.p(error, class_="problem")

    async def _compute(self, worker: Worker, arguments: tuple[Any, ...]) -> None:
        result, error = None, None
        try:
            result = await worker.run(self._function, *arguments, progress=self._tell)
        except GgdpError as refused:
            error = message_of(refused)
        except asyncio.CancelledError:
            raise
        except Exception:  # its text might quote the data
            error = INTERNAL
        async with reactive.lock():
            self._finish(arguments, result, error)
            await reactive.flush()

    def _finish(self, arguments: tuple[Any, ...] | None, result: _T | None, error: str | None) -> None:
        self._known = arguments
        self._steps.set(None)
        self.result.set(result)
        self._error.set(error)

    def _tell(self, done: int, expected: int) -> None:
        async def tell() -> None:
            async with reactive.lock():
                if self._task is not None and not self._task.done():
                    self._steps.set((done, expected))
                    await reactive.flush()

        self._telling = asyncio.create_task(tell())

    def _drop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self._known = None


@frozen(kw_only=True)
class Shared:
    """What the views of one visitor share."""

    # Processes to compute in: what takes up to a fifth of a second, and what takes longer.
    quick: Worker
    long: Worker
    # The table that the visitor looks at: the FILE of the command, or what was uploaded; None if there is none.
    source: reactive.Value[Source | None]
    uploads: Uploads  # where files that a browser sends arrive
    study: reactive.Value[OpenStudy | None]  # the study that is open: that of the command, or an upload
    ledger: str | None  # address of the ledger, as given to the command or by its study
    domain: Path | None  # the domain file of the command
    typed: reactive.Value[dict[str, Any]]  # what was typed of a table in one of the views, by the names of its inputs
    confirmations: Confirmations  # of releases; one for all visitors
    charged: reactive.Value[int]  # how many releases this visitor has made


@frozen(kw_only=True)
class Results:
    """What a function of a worker found for a view: HTML by the places that show it, and files by their names."""

    html: Mapping[str, Tag | TagList]
    files: Mapping[str, bytes] = attrs.field(factory=dict)
    for_inputs: Any = None  # what an input of the view takes from them: a value, or values to choose from


class Visit(Generic[_S]):
    """A view that a visitor has open: its inputs, what is computed of them, and what every view shows of that."""

    def __init__(self, kind: type[_S], inputs: Inputs, session: Session, shared: Shared) -> None:
        self._kind, self.inputs, self.session, self.shared = kind, inputs, session, shared
        # What the inputs hold; None while one of them is not valid.
        self.settings: Callable[[], _S | None] = reactive.calc(self._find_settings)

    def is_open(self) -> bool:
        """Return whether the visitor looks at this view."""
        return bool(self.session.root_scope().input.view() == str(self.session.ns))

    def _find_settings(self) -> _S | None:
        try:
            return self.require_settings()
        except GgdpError:
            return None

    def require_settings(self) -> _S:
        """Return what the inputs hold, or raise an error in the words of the explorer."""
        with in_explorer_words():
            return self._kind(**{field.name: self.inputs[field.name]() for field in attrs.fields(self._kind)})  # type: ignore[arg-type]

    def quick_or_long(self) -> Worker:
        """Return the process for settings that are quick, or not."""
        return self.shared.quick if self.require_settings().is_quick else self.shared.long  # type: ignore[attr-defined]

    def show(self, name: str, content: Callable[[], TagChild]) -> None:
        """Show content, which is read reactively, at the place of a name."""

        def output() -> TagChild:
            return content()

        output.__name__ = name
        render.ui(output)

    def show_results(self, result: Callable[[], Any], *places: str) -> None:
        """Show the HTML of results at its places; nothing while there are none."""
        for place in places:
            self.show(place, lambda place=place: (found := result()) and found.html[place])  # type: ignore[misc]

    def show_code(self, code: Callable[[_S], tuple[str, str] | None]) -> None:
        """Show the command line and the Python code that do the same as valid settings, if there are any."""

        def content() -> Tag | None:
            found = self.settings()
            try:
                same = None if found is None else code(found)
            except GgdpError:
                return None
            if same is None:
                return None
            blocks = []
            for name, text in zip(("Command line", "Python"), same, strict=True):
                button = tags.button("Copy", type="button", class_="copy", aria_label=f"Copy: {name}")
                head = tags.div(tags.span(name, class_="code-name"), button, class_="code-head")
                blocks.append(tags.div(head, tags.pre(tags.code(text), tabindex="0", aria_label=name), class_="code"))
            title = tags.summary("Do the same without this page")
            return tags.details(title, *blocks, class_="code-blocks", open="open")

        self.show("code", content)

    def offer(self, links: Mapping[str, str], *results: Callable[[], Any], at: str = "downloads") -> None:
        """Offer files of results at a place: texts of links, and how the name of the one file of each ends."""

        def find(ending: str) -> tuple[str, bytes] | None:
            files = (file for result in results if (found := result()) is not None for file in found.files.items())
            fitting = [file for file in files if file[0].endswith(ending)]
            return fitting[0] if len(fitting) == 1 else None

        def serve(place: int, ending: str) -> None:
            def output() -> Iterator[bytes]:
                found = find(ending)
                if found is None:
                    raise SilentException
                yield found[1]

            output.__name__ = f"{at}{place}"
            render.download_link(filename=lambda: (find(ending) or ("",))[0])(output)

        for place, ending in enumerate(links.values()):
            serve(place, ending)

        def content() -> Tag | None:
            shown = [
                ui.download_link(f"{at}{place}", label)
                for place, (label, ending) in enumerate(links.items())
                if find(ending) is not None
            ]
            return tags.div(*shown, class_="downloads") if shown else None

        self.show(at, content)


@frozen
class View:
    """A view of the explorer: its inputs, and what is shown of them."""

    key: str  # its name in the address, and the id of its Shiny module
    title: str  # its name in the navigation
    settings: type  # its settings: an attrs class of fields of `ggdp.explorer.settings`
    inputs: Callable[[Any], list[TagChild]]  # the inputs, for the settings that the address holds
    serve: Callable[[Visit[Any]], None]  # computes and shows what a `Visit` asks for
    # Places above the status, and below it.
    notice: Callable[[], list[TagChild]] = list
    results: Callable[[], list[TagChild]] = lambda: [ui.output_ui("results"), ui.output_ui("downloads")]

    def ui(self, settings: object) -> Tag:
        """Return the view with settings: inputs at the left, or above on a narrow screen, and places for results."""

        @module.ui
        def view() -> Tag:
            status = tags.div(ui.output_ui("status"), role="status", aria_live="polite")
            results = [*self.notice(), status, *self.results(), ui.output_ui("code")]
            form = tags.form(*self.inputs(settings), class_="settings", aria_label="Settings")
            return tags.div(form, tags.div(*results, class_="results"), class_="view")

        return view(self.key)

    def server(self, shared: Shared) -> Callable[[], Any]:
        """Show the view to a visitor, and return a function that reads its settings reactively; None if not valid."""

        @module.server
        def serve(input: Inputs, _: Outputs, session: Session) -> Callable[[], Any]:  # noqa: A002 - as Shiny calls it
            visit: Visit[Any] = Visit(self.settings, input, session, shared)
            self.serve(visit)
            return visit.settings

        return serve(self.key)
