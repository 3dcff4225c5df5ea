"""What went wrong in a database, in the words of whoever uses the ledger."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Literal, TypeAlias

from ggdp.errors import LedgerError

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError

Stage: TypeAlias = Literal["create", "read", "commit"]

# By the beginning of SQLite's name of the error.
_OF_SQLITE = {
    "SQLITE_BUSY": "is locked by another process, which did not finish in time; try again, or end that process",
    "SQLITE_LOCKED": "is locked by another process, which did not finish in time; try again, or end that process",
    "SQLITE_READONLY_DBMOVED": "was moved or replaced while it was to be written, and nothing was charged; put it back",
    "SQLITE_READONLY": "cannot be written: the file or its directory is read-only; change its permissions",
    "SQLITE_FULL": "cannot be written: the disk is full; free some space",
    "SQLITE_IOERR": "cannot be written or read: the disk failed, or is full",
    "SQLITE_CANTOPEN": "cannot be opened; check that the file and its directory can be read and written",
    "SQLITE_PERM": "cannot be opened; check its permissions",
    "SQLITE_NOTADB": "is not a ledger of ggdp: it is no SQLite file",
    "SQLITE_CORRUPT": "is damaged; put a backup back, and compare its head with one that was kept elsewhere",
}
# By the SQLSTATE.
_OF_POSTGRESQL = {
    "55P03": "is locked by another process, which did not finish in time; try again, or end that process",
    "53100": "cannot be written: the disk of the server is full",
    "25P03": "was not written: this process stood still for too long, and the server ended its transaction; try again",
    "25006": "cannot be written: its server is a standby, or default_transaction_read_only is on for this user; charge "
    "it on the primary server",
    "25P04": "cannot be used: the server ended the transaction by its transaction_timeout; raise it for the user",
    "57014": "cannot be used: the server canceled a statement, perhaps by its statement_timeout; raise it for the user",
    "42501": "cannot be used: the user has no permission for its tables",
    "42P07": "already has a ledger; use that ledger, or name another database",
}
# Classes of SQLSTATE for a connection that failed, or that the server ended.
_LOST = ("08", "57P")
# psycopg's errors without a state that are about a connection; the others are about what was to be written.
_OF_CONNECTIONS = ("OperationalError", "InterfaceError", "ConnectionTimeout")
_UNCERTAIN = (
    ". It is not known whether the last step was written: see `ggdp ledger show`. If an entry was charged, the charge "
    "stays; nothing was released"
)


def explained(name: str, failed: SQLAlchemyError | sqlite3.Error | UnicodeDecodeError, stage: Stage) -> LedgerError:
    """Return the error of a ledger for one of a database; no statement and no row is repeated."""
    if isinstance(failed, UnicodeDecodeError):
        return LedgerError(f"the ledger {name} {_OF_SQLITE['SQLITE_CORRUPT']}")
    cause = failed if isinstance(failed, sqlite3.Error) else getattr(failed, "orig", None)
    if isinstance(cause, sqlite3.Error):
        code = str(getattr(cause, "sqlite_errorname", ""))
        what = next((said for begin, said in _OF_SQLITE.items() if code.startswith(begin)), None)
        if what is None:
            what = f"cannot be used: SQLite says {code or type(cause).__name__}; it may not be a ledger of ggdp"
        # A lock, a full disk and a read-only file are noticed before anything is final.
        certain = stage != "commit" or not code.startswith("SQLITE_IOERR")
        return LedgerError(f"the ledger {name} {what}" + ("" if certain else _UNCERTAIN))
    state = getattr(cause, "sqlstate", None)
    if cause is None or (state is None and type(cause).__name__ not in _OF_CONNECTIONS):
        return LedgerError(f"the ledger {name} cannot be used: {type(cause or failed).__name__} in its database")
    if state is None or state.startswith(_LOST):
        what = (
            "cannot be reached, or the connection was lost; check that the server runs, and that it has this database "
            "and lets this user in"
        )
        return LedgerError(f"the ledger {name} {what}" + (_UNCERTAIN if stage == "commit" else ""))
    what = _OF_POSTGRESQL.get(state, f"cannot be used: the server reports SQLSTATE {state}")
    return LedgerError(f"the ledger {name} {what}")
