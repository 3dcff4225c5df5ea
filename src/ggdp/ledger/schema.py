"""The tables of a ledger, as the newest migration leaves them."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Integer, MetaData, Table, Text, UniqueConstraint

# The identifier of the newest migration (`ggdp.ledger.migrations`), and the table that Alembic keeps it in.
SCHEMA = "0001"
VERSIONS = "ggdp_ledger_version"
# What the header of an SQLite file says of its purpose: the letters "ggdp".
APPLICATION = int.from_bytes(b"ggdp", "big")

METADATA = MetaData()

# The terms of the ledger, and its head.
terms = Table(
    "ggdp_ledger",
    METADATA,
    # One ledger, one row.
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("identity", Text, nullable=False),
    Column("format", Integer, nullable=False),
    Column("created", Text, nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("neighbours", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("accounting", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("analysts", Text, nullable=False),
    Column("head_number", Integer, nullable=False),
    Column("head_hash", Text, nullable=False),
    CheckConstraint("id = 1", name="ggdp_one_ledger"),
    sqlite_strict=True,
)

records = Table(
    "ggdp_records",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("entry", Integer),
    Column("time", Text, nullable=False),
    Column("analyst", Text),
    Column("content", Text, nullable=False),
    Column("totals", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    # One charge of a number, and its files once.
    UniqueConstraint("kind", "entry", name="ggdp_one_of_a_kind"),
    sqlite_strict=True,
)

versions = Table(VERSIONS, MetaData(), Column("version_num", Text))
