"""Results that are computed in another process whenever what they depend on changes; the newest wins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from htmltools import Tag, tags
from shiny import reactive

from ggdp.errors import GgdpError
from ggdp.explorer.typed_table import message_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from shiny import Session

    from ggdp.explorer.workers import Worker

__all__ = ["INTERNAL", "Background"]

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
