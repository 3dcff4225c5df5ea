"""Views: what one is, what all of them share, their inputs, and results computed in the background.

Inputs are native controls, each with a label and a hint. A result is computed in another process whenever one of its
inputs changes; the newest request wins.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs
from attrs import frozen
from htmltools import Tag, TagChild, tags
from shiny import module, reactive, render, ui
from shiny.module import resolve_id
from shiny.types import SilentException

from ggdp.errors import GgdpError
from ggdp.explorer.equivalents import Equivalents, shown_equivalents
from ggdp.explorer.settings import from_inputs
from ggdp.explorer.typed_table import in_words_of_the_page, message_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from shiny import Inputs, Outputs, Session

    from ggdp.explorer.releasing import ReleaseDesk
    from ggdp.explorer.uploads import Source, Uploads
    from ggdp.explorer.workers import Worker


_T = TypeVar("_T")
INTERNAL = (
    "Something went wrong here. The reason is not shown, since it might reveal data. Change a setting, or reload."
)


class Background(Generic[_T]):
    """The result of a function of a worker, for the arguments of now. Made in the server function of a view.

    It is computed while the view is open. What was computed last stays until there is something newer, so that the page
    does not flicker.

    Parameters
    ----------
    worker : callable
        Read reactively, if there is something to compute: where.
    function : callable
        What is computed; it takes `progress`.
    arguments : callable
        Read reactively: the arguments, or None if nothing is to be computed. An error that it raises is shown.
    session : Session
        Where the page is; what is computed is dropped when it ends.
    """

    def __init__(
        self,
        worker: Callable[[], Worker],
        function: Callable[..., _T],
        arguments: Callable[[], tuple[Any, ...] | None],
        session: Session,
    ) -> None:
        self._function = function
        self._result: reactive.Value[_T | None] = reactive.Value(None)
        self._error: reactive.Value[str | None] = reactive.Value(None)
        self._steps: reactive.Value[tuple[int, int] | None] = reactive.Value(None)
        self._task: asyncio.Task[None] | None = None
        # What the result is of.
        self._known: tuple[Any, ...] | None = None
        session.on_ended(self._drop)

        @reactive.effect
        def _started() -> None:
            if session.root_scope().input.view() != str(session.ns):
                # Nobody looks: others need the process.
                self._drop()
                return
            try:
                found = arguments()
            except GgdpError as refused:
                self._drop()
                self._finish(None, None, message_of(refused))
                return
            if found is not None and found == self._known:
                return
            self._drop()
            if found is None:
                self._finish(None, None, None)
                return
            self._steps.set((0, 0))
            self._task = asyncio.create_task(self._compute(worker(), found))

    def result(self) -> _T | None:
        """Return what was computed last; None if there is nothing."""
        return self._result()

    def status(self) -> Tag:
        """Return what is wrong, or that something is being computed; for a region that screen readers follow."""
        error, steps = self._error(), self._steps()
        if steps is not None:
            done, expected = steps
            share = {"value": str(done), "max": str(expected)} if expected else {}
            # Shown at once when some of it is done; before that, only if it takes longer than a moment.
            return tags.div(
                tags.progress(aria_label="Computing", **share),
                tags.span("Computing ..."),
                class_="computing under-way" if done else "computing",
            )
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
        self._result.set(result)
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


_POSITIONS = 400


def quantity(settings: object, name: str, label: str, hint: str = "") -> Tag:
    """Return a number of the settings with a slider beside it, between the ends that its field has.

    The number is the value, the slider moves it. It stops at numbers of few digits; any number between the ends can be
    typed.
    """
    key, value = resolve_id(name), getattr(settings, name)
    ends = attrs.fields_dict(type(settings))[name].metadata  # type: ignore[arg-type]
    low, high, is_log = ends["low"], ends["high"], ends["scale"] == "log"
    share = math.log(value / low) / math.log(high / low) if is_log else (value - low) / (high - low)
    positions = int(high - low) if ends["whole"] and not is_log else _POSITIONS
    hinted = {"aria-describedby": f"{key}-hint"} if hint else {}
    return tags.div(
        tags.div(
            tags.label(label, for_=f"{key}-number"),
            tags.input(
                id=f"{key}-number",
                type="number",
                value=f"{value:.15g}",
                min=f"{low:g}",
                max=f"{high:g}",
                step="1" if ends["whole"] else "any",
                **hinted,
            ),
            class_="quantity-line",
        ),
        tags.input(
            type="range",
            min="0",
            max=str(positions),
            value=str(round(positions * min(max(share, 0.0), 1.0))),
            **{"aria-label": f"{label}, slider", "aria-valuetext": f"{value:g}"},
        ),
        tags.p(hint, id=f"{key}-hint", class_="hint") if hint else None,
        id=key,
        class_="quantity",
        data_low=f"{low:g}",
        data_high=f"{high:g}",
        data_scale=ends["scale"],
        data_whole="yes" if ends["whole"] else "no",
    )


def choices(settings: object, name: str, label: str, among: Mapping[str, str]) -> Tag:
    """Return radio buttons for a few words, each value with what it is called on the page."""
    return tags.div(
        ui.input_radio_buttons(name, label, dict(among), selected=getattr(settings, name)), class_="choices"
    )


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


_S = TypeVar("_S")


@frozen(kw_only=True)
class Shared:
    """What the views of one visitor share."""

    # Processes to compute in: what takes up to a fifth of a second, and what takes longer.
    quick: Worker
    long: Worker
    # The table that the visitor looks at: the FILE of the command, or what was uploaded; None if there is none.
    source: reactive.Value[Source | None]
    uploads: Uploads  # where files that a browser sends arrive
    ledger: str | None  # address of the ledger, as given to the command
    # The FILE of the command, and its domain file.
    file: Path | None
    domain: Path | None
    typed: reactive.Value[dict[str, Any]]  # what was typed of a table in one of the views, by the names of its inputs
    desk: ReleaseDesk  # where releases are confirmed; one for all visitors
    charged: reactive.Value[int]  # how many releases this visitor has made


@frozen
class Download:
    """A file that a view offers once there is something to put into it."""

    label: str  # what the link says
    file: str | Callable[[], str]  # the name of the file
    result: Callable[[], Any]  # read reactively: what the file is made of, or None while there is nothing
    content: Callable[[Any], bytes]  # the bytes of the file, made of the result when they are asked for


def csv_of(result: Any) -> bytes:  # noqa: ANN401 - of any view
    """Return the table of a result, as a file."""
    content: bytes = result.csv
    return content


def svg_of(result: Any) -> bytes:  # noqa: ANN401
    """Return the figure of a result, as a file."""
    content: bytes = result.picture.file()
    return content


class Visit(Generic[_S]):
    """A view that a visitor has open: its inputs, what is computed of them, and what every view shows of that.

    Attributes
    ----------
    inputs, session : Inputs, Session
        The inputs of the view, and the visitor's session.
    shared : Shared
        What the views of the visitor share.
    """

    def __init__(self, kind: type[_S], inputs: Inputs, session: Session, shared: Shared) -> None:
        self._kind, self.inputs, self.session, self.shared = kind, inputs, session, shared
        self._valid = reactive.calc(self._found)

    def settings(self) -> _S | None:
        """Return what the inputs hold; None while one of them is not valid."""
        return self._valid()

    def checked(self) -> _S:
        """Return what the inputs hold, or raise an error in the words of the page."""
        with in_words_of_the_page():
            return from_inputs(self._kind, self.inputs)

    def computed(
        self,
        function: Callable[..., _T],
        arguments: Callable[[], tuple[Any, ...] | None],
        worker: Callable[[], Worker] | None = None,
    ) -> Background[_T]:
        """Return the result of a function for the arguments of now; computed in the long process, if not in another."""
        return Background(worker or (lambda: self.shared.long), function, arguments, self.session)

    def quick_or_long(self) -> Worker:
        """Return the process for settings that are quick, or not."""
        return self.shared.quick if self.checked().is_quick else self.shared.long  # type: ignore[attr-defined]

    def show(self, name: str, result: Callable[[], _T | None], drawn: Callable[[_T], TagChild]) -> None:
        """Show a result at the place of a name, as `drawn` draws it; nothing while there is none."""
        _shown(name, lambda: None if (found := result()) is None else drawn(found))

    def show_status(self, status: Callable[[], TagChild]) -> None:
        """Show what is wrong or going on, above the results."""
        _shown("status", status)

    def show_equivalents(self, equivalents: Callable[[_S], Equivalents | None]) -> None:
        """Show the command and the code that do the same as valid settings, if there are any."""

        def content() -> Tag | None:
            found = self.settings()
            try:
                same = None if found is None else equivalents(found)
            except GgdpError:
                return None
            return None if same is None else shown_equivalents(same)

        _shown("equivalents", content)

    def offer(self, *downloads: Download) -> None:
        """Offer files, each from when there is something to put into it."""
        for place, each in enumerate(downloads):
            _served(f"file{place}", each)

        def content() -> Tag | None:
            links = [
                ui.download_link(f"file{place}", each.label)
                for place, each in enumerate(downloads)
                if each.result() is not None
            ]
            return tags.div(*links, class_="downloads") if links else None

        _shown("downloads", content)

    def _found(self) -> _S | None:
        try:
            return from_inputs(self._kind, self.inputs)
        except GgdpError:
            return None


def _results() -> list[TagChild]:
    return [ui.output_ui("results"), ui.output_ui("downloads")]


@frozen(kw_only=True)
class View:
    """A view of the page: its inputs, and what is shown of them."""

    key: str  # its name in the address, and the id of its Shiny module
    title: str  # its name in the navigation
    settings: type  # its settings: an attrs class of fields of `ggdp.explorer.settings`
    inputs: Callable[[Any], list[TagChild]]  # the inputs, for the settings that the address holds
    serve: Callable[[Visit[Any]], None]  # computes and shows what a `Visit` asks for
    # Places above the status, and below it; by default none, and ``results`` with ``downloads``.
    notice: Callable[[], list[TagChild]] = list
    results: Callable[[], list[TagChild]] = _results

    def ui(self, settings: object) -> Tag:
        """Return the view with settings: inputs at the left, or above on a narrow screen, and places for results."""

        @module.ui
        def made() -> Tag:
            results = [
                *self.notice(),
                tags.div(ui.output_ui("status"), role="status", aria_live="polite"),
                *self.results(),
                ui.output_ui("equivalents"),
            ]
            form = tags.form(*self.inputs(settings), class_="settings", aria_label="Settings")
            return tags.div(form, tags.div(*results, class_="results"), class_="view")

        return made(self.key)

    def server(self, shared: Shared) -> Callable[[], Any]:
        """Show the view to a visitor, and return a function that reads its settings reactively; None if not valid."""

        @module.server
        def served(input: Inputs, _: Outputs, session: Session) -> Callable[[], Any]:  # noqa: A002 - as Shiny calls it
            visit: Visit[Any] = Visit(self.settings, input, session, shared)
            self.serve(visit)
            return visit.settings

        return served(self.key)


def _shown(name: str, content: Callable[[], TagChild]) -> None:
    """Show content at the place of a name."""

    def output() -> TagChild:
        return content()

    output.__name__ = name
    render.ui(output)


def _served(name: str, download: Download) -> None:
    """Serve a file under a name."""

    def output() -> Iterator[bytes]:
        found = download.result()
        if found is None:
            raise SilentException
        yield download.content(found)

    output.__name__ = name
    render.download_link(filename=download.file)(output)
