"""What a view is, what every view does alike, and what the views of one visitor share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from attrs import frozen
from htmltools import Tag, TagChild, tags
from shiny import module, reactive, render, ui
from shiny.types import SilentException

from ggdp.errors import GgdpError
from ggdp.explorer.background import Background
from ggdp.explorer.equivalents import Equivalents, shown_equivalents
from ggdp.explorer.settings import from_inputs
from ggdp.explorer.typed_table import in_words_of_the_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from shiny import Inputs, Outputs, Session

    from ggdp.explorer.releasing import ReleaseDesk
    from ggdp.explorer.uploads import Source, Uploads
    from ggdp.explorer.workers import Worker

__all__ = ["Download", "Shared", "View", "Visit", "csv_of", "svg_of"]

_S = TypeVar("_S")
_T = TypeVar("_T")


@frozen(kw_only=True)
class Shared:
    """What the views of one visitor share.

    Attributes
    ----------
    quick, long : Worker
        Processes to compute in: what takes up to a fifth of a second, and what takes longer.
    source : reactive value of Source, optional
        The table that the visitor looks at: the FILE of the command, or what was uploaded; None if there is none.
    uploads : Uploads
        Where files that a browser sends arrive.
    ledger : str, optional
        Address of the ledger, as given to the command.
    file, domain : Path, optional
        The FILE of the command, and its domain file.
    typed : reactive value of dict
        What was typed of a table in one of the views, by the names of its inputs.
    desk : ReleaseDesk
        Where releases are confirmed; one for all visitors.
    charged : reactive value of int
        How many releases this visitor has made.
    """

    quick: Worker
    long: Worker
    source: reactive.Value[Source | None]
    uploads: Uploads
    ledger: str | None
    file: Path | None
    domain: Path | None
    typed: reactive.Value[dict[str, Any]]
    desk: ReleaseDesk
    charged: reactive.Value[int]


@frozen
class Download:
    """A file that a view offers once there is something to put into it.

    Attributes
    ----------
    label : str
        What the link says.
    file : str or callable
        The name of the file.
    result : callable
        Read reactively: what the file is made of, or None while there is nothing.
    content : callable
        The bytes of the file, made of the result when they are asked for.
    """

    label: str
    file: str | Callable[[], str]
    result: Callable[[], Any]
    content: Callable[[Any], bytes]


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
    """A view of the page: its inputs, and what is shown of them.

    Attributes
    ----------
    key : str
        Its name in the address, and the id of its Shiny module.
    title : str
        Its name in the navigation.
    settings : type
        Its settings: an attrs class of fields of `ggdp.explorer.settings`.
    inputs : callable
        The inputs, for the settings that the address holds.
    serve : callable
        Computes and shows what a `Visit` asks for.
    notice, results : callable
        Places above the status, and below it; by default none, and ``results`` with ``downloads``.
    """

    key: str
    title: str
    settings: type
    inputs: Callable[[Any], list[TagChild]]
    serve: Callable[[Visit[Any]], None]
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
