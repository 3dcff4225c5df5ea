"""The first schema: one row that says what a ledger is, and the chain of its records."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "ggdp_ledger",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("format", sa.Integer, nullable=False),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("created", "epsilon", "delta", "neighbours", "unit", "accounting", "parameters", "analysts")
        ),
        sa.Column("head_number", sa.Integer, nullable=False),
        sa.Column("head_hash", sa.Text, nullable=False),
        sa.CheckConstraint("id = 1", name="ggdp_one_ledger"),
        sqlite_strict=True,
    )
    op.create_table(
        "ggdp_records",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("entry", sa.Integer),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("analyst", sa.Text),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("content", "totals", "previous", "hash")),
        sa.UniqueConstraint("kind", "entry", name="ggdp_one_of_a_kind"),
        sqlite_strict=True,
    )
