"""Migrations of the schema, by Alembic.

Opening a ledger never changes its schema: one of an older schema is refused with the call that migrates it, and one of
a newer schema with the advice to update ggdp. So no process changes tables under another one that is in use.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ggdp.ledger.schema import VERSIONS

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCRIPTS = Path(__file__).parent / "migrations"
_ALEMBIC = threading.Lock()


def migrate(connection: Connection, scripts: Path = SCRIPTS) -> None:
    """Bring the tables of a connection to the newest schema, inside its transaction."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    directory = ScriptDirectory(str(scripts))

    def steps(revision: Any, _: object) -> Any:  # noqa: ANN401 - Alembic is loosely typed here
        return directory._upgrade_revs("heads", revision)

    # Alembic has one environment in a process, whatever thread enters it.
    with _ALEMBIC, EnvironmentContext(Config(), directory, fn=steps, destination_rev="heads") as environment:
        environment.configure(connection=connection, version_table=VERSIONS, transactional_ddl=True)
        environment.run_migrations()


def known_versions(scripts: Path = SCRIPTS) -> tuple[str, ...]:
    """Return the versions of the schema that this ggdp knows, the oldest first."""
    from alembic.script import ScriptDirectory

    return tuple(script.revision for script in ScriptDirectory(str(scripts)).walk_revisions())[::-1]
