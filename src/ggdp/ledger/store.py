"""Where a ledger is stored: one SQLite file, or the database of a PostgreSQL server.

===============  ====================================================================================================
SQLite           rollback journal that stays as a file (``PERSIST``), ``synchronous=EXTRA``; a charge begins with
                 ``BEGIN IMMEDIATE``, which one writer at a time has
PostgreSQL       the one row of the ledger is locked (``FOR UPDATE``), ``synchronous_commit = on``; a server with
                 ``fsync`` off is refused
===============  ====================================================================================================

A charge is one transaction: when `writing` has returned, it is on disk, and if it raises, nothing is.

Why no write-ahead log. In that mode the last charges are in a second file until they are merged: who copies the one
file that is called the ledger would have a copy that has forgotten them, and still verifies. With a rollback journal
the file is complete between charges, and a copy made during a charge does not verify. A journal that stays, with its
header erased and synced, is the fastest: no file is created and deleted for each charge, so the directory needs no
sync (`benchmarks/results/ledger.md`). No power failure can bring back the state before a charge.

Connections are opened for each transaction and closed after it: none is carried into a forked process.

Opening a ledger never changes its schema: an older one is refused with the call that migrates it (by Alembic), a newer
one with the advice to update ggdp. So no process changes tables under another one that is in use.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import CheckConstraint, Column, Integer, MetaData, Table, Text, UniqueConstraint
from sqlalchemy.pool import NullPool, StaticPool

from ggdp._files import write_together
from ggdp.errors import ArgumentError, ArgumentTypeError, LedgerError, MissingExtraError, TamperingError, install_hint
from ggdp.ledger.chain import Head, LedgerTerms, Record
from ggdp.ledger.charging import canonical, parse, unit_in

# The identifier of the newest migration (`ggdp.ledger.migrations`), and the table that Alembic keeps it in.
SCHEMA = "0001"
VERSIONS = "ggdp_ledger_version"
# What the header of an SQLite file says of its purpose: the letters "ggdp".
APPLICATION = int.from_bytes(b"ggdp", "big")

METADATA = MetaData()

_TYPES = {"int": Integer, "int | None": Integer, "str": Text, "str | None": Text}


def _columns(record: type) -> list[Column[Any]]:
    """Return a column for each field of a record."""
    types = {part.name: str(part.type) for part in fields(record)}
    return [Column(name, _TYPES[kind], nullable="None" in kind) for name, kind in types.items()]


# The tables as the newest migration leaves them. One row has the terms of the ledger, and its head.
terms = Table(
    "ggdp_ledger",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    *_columns(LedgerTerms),
    Column("head_number", Integer, nullable=False),
    Column("head_hash", Text, nullable=False),
    CheckConstraint("id = 1", name="ggdp_one_ledger"),
    sqlite_strict=True,
)
records = Table(
    "ggdp_records",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_columns(Record)[1:],
    # One charge of a number, and its files once.
    UniqueConstraint("kind", "entry", name="ggdp_one_of_a_kind"),
    sqlite_strict=True,
)
versions = Table(VERSIONS, MetaData(), Column("version_num", Text))


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
_UNCERTAIN = (
    ". It is not known whether the last step was written: see `ggdp ledger show`. If an entry was charged, the charge "
    "stays; nothing was released"
)


def explain(name: str, failed: Exception, stage: Stage) -> LedgerError:
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
    # psycopg's errors without a state that are about a connection; the others are about what was to be written.
    lost = type(cause).__name__ in ("OperationalError", "InterfaceError", "ConnectionTimeout")
    if cause is None or (state is None and not lost):
        return LedgerError(f"the ledger {name} cannot be used: {type(cause or failed).__name__} in its database")
    # Classes of a connection that failed, or that the server ended.
    if state is None or state.startswith(("08", "57P")):
        what = (
            "cannot be reached, or the connection was lost; check that the server runs, and that it has this database "
            "and lets this user in"
        )
        return LedgerError(f"the ledger {name} {what}" + (_UNCERTAIN if stage == "commit" else ""))
    what = _OF_POSTGRESQL.get(state, f"cannot be used: the server reports SQLSTATE {state}")
    return LedgerError(f"the ledger {name} {what}")


SCRIPTS = Path(__file__).parent / "migrations"
_ALEMBIC = threading.Lock()


def migrate(connection: sa.Connection) -> None:
    """Bring the tables of a connection to the newest schema, inside its transaction."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    directory = ScriptDirectory(str(SCRIPTS))

    def steps(revision: Any, _: object) -> Any:  # noqa: ANN401 - Alembic is loosely typed here
        return directory._upgrade_revs("heads", revision)

    # Alembic has one environment in a process, whatever thread enters it.
    with _ALEMBIC, EnvironmentContext(Config(), directory, fn=steps, destination_rev="heads") as environment:
        environment.configure(connection=connection, version_table=VERSIONS, transactional_ddl=True)
        environment.run_migrations()


def known_versions() -> tuple[str, ...]:
    """Return the versions of the schema that this ggdp knows, the oldest first."""
    from alembic.script import ScriptDirectory

    return tuple(script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions())[::-1]


# Seconds that a writer waits for others.
PATIENCE = 60
# A listener for new connections raises SQLite's own; where a damaged file has bytes that are no text, its message or a
# column cannot be decoded.
_FAILURES = (sa.exc.SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a ledger inside a transaction."""

    connection: sa.Connection

    def terms(self) -> tuple[LedgerTerms, Head]:
        """Return the terms of the ledger, and its head."""
        found = self.connection.execute(sa.select(terms)).all()
        if len(found) != 1:
            raise TamperingError(
                f"what the ledger says of itself, such as its budget, is there {len(found)} times and not once"
            )
        row = found[0]._mapping
        fixed = LedgerTerms(**{part.name: row[part.name] for part in fields(LedgerTerms)})
        return fixed, Head(row["head_number"], row["head_hash"])

    def find(self, **columns: object) -> Record | None:
        """Return the record with these columns: its number, or its kind and entry."""
        row = self.connection.execute(sa.select(records).filter_by(**columns)).one_or_none()
        return None if row is None else Record(**row._mapping)

    def charged_once(self, key: str) -> Record | None:
        """Return the record of the charge that was made with a key."""
        pair = canonical({"once": key})[1:-1]
        holds = records.c.content.contains(pair, autoescape=True)
        for row in self.connection.execute(sa.select(records).where(records.c.kind == "charge", holds)):
            # What is asked for may hold the same text somewhere else.
            if parse((found := Record(**row._mapping)).content).get("once") == key:
                return found
        return None

    def unit(self, protects: str | None) -> str | None:
        """Return what the releases protect, by the first record with this in its totals."""
        if protects != "row":
            return protects
        ends = records.c.totals.endswith(canonical({"protects": protects})[1:])
        first = sa.select(records.c.content).where(ends).order_by(records.c.number).limit(1)
        try:
            return unit_in(parse(self.connection.execute(first).scalar_one()))
        except (AttributeError, KeyError, TypeError):
            raise TamperingError("the first record of a release that protects each row was changed") from None

    def __iter__(self) -> Iterator[Record]:
        """Yield all records by their numbers."""
        for row in self.connection.execute(sa.select(records).order_by(records.c.number)):
            yield Record(**row._mapping)

    def append(self, record: Record) -> None:
        """Add a record, make it the head, and read both back: a trigger or a rule may have swallowed them."""
        self.connection.execute(records.insert().values(**asdict(record)))
        self.connection.execute(terms.update().values(head_number=record.number, head_hash=record.hash))
        _, head = self.terms()
        if head != Head(record.number, record.hash) or self.find(number=record.number) != record:
            raise TamperingError(
                f"the database did not store record {record.number} as it was written, so nothing was charged; look "
                "for triggers and rules, which no ledger has"
            )


class Store:
    """A place for one ledger: an SQLite file, or the database of a server."""

    def __init__(self, url: str | os.PathLike[str]) -> None:
        if not isinstance(url, str | os.PathLike) or not isinstance(os.fspath(url), str):
            raise ArgumentTypeError("url", type(url).__name__, "must be the path of a file, or postgresql://...")
        text = os.fspath(url)
        scheme, separator, _ = text.partition("://")
        if separator and scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise ArgumentError("url", scheme + "://...", "must be the path of a file, or postgresql://...")
        if not text or "\0" in text:
            raise ArgumentError("url", text, "must be the path of a file, or postgresql://...")
        self.path = None if separator else Path(text)
        self.name = text if self.path else _without_password(_server(text))
        self._strange = f"{self.name} is not a ledger of ggdp"
        self._engine = _file_engine(self.path) if self.path else _server_engine(text)

    def reading(self) -> AbstractContextManager[Rows]:
        """Open a transaction that sees one state of the ledger."""
        return self._transaction(writes=False)

    @contextmanager
    def writing(self) -> Iterator[Rows]:
        """Open the one transaction that writes; when the block has ended, it is on disk."""
        with self._transaction(writes=True) as rows:
            if self.path is None:
                connection = rows.connection
                if connection.execute(sa.text("SHOW fsync")).scalar() != "on":
                    raise LedgerError(
                        f"the ledger {self.name} cannot be charged: its server has fsync off, so that a power failure "
                        "could undo a charge; turn it on"
                    )
                connection.execute(sa.text("SET LOCAL synchronous_commit = on"))
                connection.execute(sa.text(f"SET LOCAL lock_timeout = '{PATIENCE}s'"))
                # It would end the wait for the lock early, or that of a commit for its standby, which then counts.
                connection.execute(sa.text("SET LOCAL statement_timeout = 0"))
                # A writer whose computer has stopped or is out of reach gives the lock back.
                connection.execute(sa.text(f"SET LOCAL idle_in_transaction_session_timeout = '{PATIENCE}s'"))
                connection.execute(sa.select(terms.c.id).with_for_update())
            yield rows

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Rows]:
        stage: Stage = "read"
        try:
            self._require_file()
            place = _place(self.path)
            with self._engine.connect() as connection:
                connection = connection.execution_options(ggdp_writes=writes)
                with connection.begin() as transaction:
                    self._require_schema(connection)
                    yield Rows(connection)
                    stage = "commit" if writes else stage
                    transaction.commit()
                # While the connection is open, no other file can have the number of this one.
                if writes and _place(self.path) != place:
                    raise TamperingError(
                        f"the file of the ledger {self.name} was replaced while it was written: the file that has its "
                        "name now lacks the last step; find out who replaced it, and put the newest copy back"
                    )
        except _FAILURES as failed:
            raise explain(self.name, failed, stage) from None

    def create(self, fixed: LedgerTerms) -> None:
        """Make a ledger where there is none; it is complete, or not there."""
        try:
            if self.path is not None:
                _write_file(self.path, fixed)
                return
            with self._engine.begin() as connection:
                # One at a time: of two who make a ledger in one database, the second finds the first one's.
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(APPLICATION)))
                if sa.inspect(connection).has_table(terms.name):
                    raise LedgerError(f"{self.name} already has a ledger; use that ledger, or name another database")
                _fill(connection, fixed)
        except _FAILURES as failed:
            raise explain(self.name, failed, "create") from None

    def upgrade(self) -> None:
        """Migrate a ledger of an older schema to the newest one."""
        try:
            self._require_file()
            with self._engine.connect().execution_options(ggdp_writes=True) as connection, connection.begin():
                self._require_schema(connection, older=True)
                migrate(connection)
        except _FAILURES as failed:
            raise explain(self.name, failed, "commit") from None

    def require_sound(self) -> None:
        """Raise for what no ledger has, such as a trigger: it decides what is stored later, or whether that lasts."""
        with self.reading() as rows:
            if self.path is None:
                names = [terms.name, records.name, versions.name]
                for table, found in rows.connection.execute(_ON_SERVER, {"names": names}):
                    if found is not None:
                        raise TamperingError(f"the table {table!r} {found}; no ledger is like that")
                return
            if rows.connection.exec_driver_sql("PRAGMA integrity_check").scalars().all() != ["ok"]:
                raise TamperingError("the file is damaged")
            added = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
            name = rows.connection.exec_driver_sql(added).scalars().first()
            if name is not None:
                raise TamperingError(f"the file has a trigger or a view, {name!r}, which no ledger has")

    def _require_file(self) -> None:
        if self.path is None:
            return
        try:
            if not self.path.exists():
                raise LedgerError(
                    f"{self.name}: there is no such file; check the path, or make it with `ggdp ledger init`"
                )
            if not self.path.is_file():
                raise LedgerError(f"{self.name} is not a file, so it is no ledger")
            if _application(self.path) != APPLICATION:
                raise LedgerError(self._strange)
        except OSError as failed:
            raise LedgerError(f"{self.name} cannot be opened ({failed.strerror})") from None

    def _require_schema(self, connection: sa.Connection, *, older: bool = False) -> None:
        """Raise unless this is a ledger of the newest schema, or with `older` of one that can be migrated."""
        if self.path is None and not sa.inspect(connection).has_table(versions.name):
            raise LedgerError(f"{self.name} has no ledger; make one with `ggdp ledger init`")
        found = connection.execute(sa.select(versions.c.version_num)).scalars().all()
        if found == [SCHEMA]:
            return
        if len(found) != 1:
            raise TamperingError(f"{self._strange}: it names {len(found)} versions of its schema")
        if found[0] not in known_versions():
            raise LedgerError(
                f"{self.name} has the schema {found[0]!r}, which this ggdp does not know; install a newer ggdp"
            )
        if not older:
            raise LedgerError(f"{self.name} has the older schema {found[0]!r}; migrate it with `ggdp ledger upgrade`")


def _fill(connection: sa.Connection, fixed: LedgerTerms) -> None:
    migrate(connection)
    connection.execute(terms.insert().values(id=1, **asdict(fixed), head_number=0, head_hash=fixed.genesis))


def _write_file(path: Path, fixed: LedgerTerms) -> None:
    """Write a new SQLite file that is complete from its first moment on."""
    memory = sqlite3.connect(":memory:", isolation_level=None)
    try:
        engine = sa.create_engine("sqlite://", creator=lambda: memory, poolclass=StaticPool)
        with engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION}")
            _fill(connection, fixed)
            connection.commit()
        content = memory.serialize()
    finally:
        memory.close()
    try:
        write_together({path: content}, overwrite=False)
        # The name of the new file is made durable, where directories can be synced.
        if os.name == "posix":
            descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except FileExistsError:
        raise LedgerError(f"{path} already exists; use that ledger, or name another file") from None
    except OSError as failed:
        raise LedgerError(f"{path} cannot be written ({failed.strerror}); name another file") from None


def _place(path: Path | None) -> tuple[int, int] | None:
    """Return which file a path names now, by its numbers; None on a server, or if it names none."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _address(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def _application(path: Path) -> int:
    """Return the application id in the header of an SQLite file, which nothing is written to, nor made beside.

    An ordinary connection would change the journal of a database that is not ours. The header is read by SQLite and not
    by `open`: when a process closes a file, it gives up all its locks on that file, and SQLite waits with closing it.
    """
    with closing(sqlite3.connect(_address(path, "mode=ro&immutable=1"), uri=True)) as connection:
        # While another process makes the file longer, its header is ahead of its length: that is no damage.
        connection.execute("PRAGMA writable_schema = ON")
        (found,) = connection.execute("PRAGMA application_id").fetchone()
    return int(found)


def _file_engine(path: Path) -> sa.Engine:
    # Not created where it is missing; read only where it cannot be written.
    opened = partial(sqlite3.connect, _address(path, "mode=rw"), uri=True, timeout=PATIENCE, isolation_level=None)
    engine = sa.create_engine("sqlite://", creator=opened, poolclass=NullPool)

    @sa.event.listens_for(engine, "connect")
    def durable(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA journal_mode = PERSIST")
        connection.execute("PRAGMA synchronous = EXTRA")

    @sa.event.listens_for(engine, "begin")
    def locked(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("ggdp_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _server(text: str) -> sa.URL:
    try:
        return sa.make_url(text).set(drivername="postgresql+psycopg")
    except (sa.exc.ArgumentError, ValueError):
        raise ArgumentError("url", "postgresql://...", "must be postgresql://USER@HOST:PORT/DATABASE") from None


def _without_password(server: sa.URL) -> str:
    """Return a URL as it is typed, without passwords; they may be among its options too."""
    secret = [option for option in server.query if "pass" in option]
    return server.set(drivername="postgresql").difference_update_query(secret).render_as_string(hide_password=True)


def _server_engine(text: str) -> sa.Engine:
    try:
        import psycopg  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtraError(f"a ledger on a PostgreSQL server needs psycopg: {install_hint('postgres')}") from None
    # A prepared statement outlives its transaction: behind a pooler, another client would meet it.
    options = {"connect_timeout": PATIENCE, "prepare_threshold": None}
    engine = sa.create_engine(_server(text), poolclass=NullPool, connect_args=options)

    @sa.event.listens_for(engine, "begin")
    def isolated(connection: sa.Connection) -> None:
        # Whatever the server's default is. A reader sees one state; a writer that has waited for the lock sees what the
        # one before it has written.
        writes = connection.get_execution_options().get("ggdp_writes", True)
        level = "READ COMMITTED" if writes else "REPEATABLE READ, READ ONLY"
        connection.exec_driver_sql(f"SET TRANSACTION ISOLATION LEVEL {level}")

    return engine
