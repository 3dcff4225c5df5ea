"""What a view is, and what the views of one visitor share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from htmltools import Tag
    from shiny import reactive

    from ggdp.explorer.releasing import ReleaseDesk
    from ggdp.explorer.uploads import Source, Uploads
    from ggdp.explorer.workers import Worker

__all__ = ["Shared", "View"]


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
    file : Path, optional
        The FILE of the command.
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
    typed: reactive.Value[dict[str, Any]]
    desk: ReleaseDesk
    charged: reactive.Value[int]


@frozen(kw_only=True)
class View:
    """A view of the page.

    Attributes
    ----------
    key : str
        Its name in the address, and the id of its Shiny module.
    title : str
        Its name in the navigation.
    settings : type
        Its settings: an attrs class of fields of `ggdp.explorer.settings`.
    ui : callable
        ``@module.ui`` function of the settings that the address holds.
    server : callable
        ``@module.server`` function of `Shared`, which returns a function without arguments: the settings that the
        inputs hold now, or None while one of them is not valid. It is read reactively, for the address.
    """

    key: str
    title: str
    settings: type
    ui: Callable[[str, Any], Tag]
    server: Callable[[str, Shared], Callable[[], Any]]
