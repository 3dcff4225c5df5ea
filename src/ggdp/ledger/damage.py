"""What a database has that no ledger has: damaged pages, triggers, views, rules, policies, tables that a crash empties.

The chain of records covers what is stored. These decide what is stored later, or whether it lasts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from ggdp.ledger.schema import records, terms, versions

if TYPE_CHECKING:
    from sqlalchemy import Connection

_TABLES = (terms.name, records.name, versions.name)
# What is true of a table that another one was made of behind the back of the ledger, by what it is called.
_ON_SERVER = sa.text("""
    SELECT relname, CASE
        WHEN relkind <> 'r' THEN 'is no plain table'
        WHEN relpersistence <> 'p' THEN 'is not logged: a crash of the server would empty it'
        WHEN relrowsecurity THEN 'has row-level security, which hides rows'
        WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = class.oid AND NOT tgisinternal) THEN 'has a trigger'
        WHEN EXISTS (SELECT FROM pg_rewrite WHERE ev_class = class.oid) THEN 'has a rule'
    END AS found
    FROM pg_class AS class WHERE oid = ANY (SELECT to_regclass(name) FROM unnest(CAST(:names AS text[])) AS name)
    ORDER BY relname
""")


def file_damage(connection: Connection) -> str | None:
    """Return what an SQLite file has that no ledger has; None if it is sound."""
    found = connection.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    if found != ["ok"]:
        return "the file is damaged"
    kinds = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')")
    added = kinds.scalars().all()
    return f"the file has a trigger or a view, {added[0]!r}, which no ledger has" if added else None


def server_damage(connection: Connection) -> str | None:
    """Return what the tables on a PostgreSQL server have that no ledger has; None if they are sound."""
    for table, found in connection.execute(_ON_SERVER, {"names": list(_TABLES)}):
        if found is not None:
            return f"the table {table!r} {found}; no ledger is like that"
    return None
