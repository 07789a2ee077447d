"""The days on which people have played."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_DAY = 86_400_000


def upgrade() -> None:
    """Make the table, and fill it with the days of the puzzles that people have tried."""
    table = op.create_table(
        "played_days",
        sa.Column("holder", sa.String(64), primary_key=True),
        sa.Column("day", sa.Integer, primary_key=True),
    )
    tries = sa.table(
        "puzzle_tries", sa.column("holder", sa.String(64)), sa.column("at", sa.BigInteger)
    )
    days = sa.select(tries.c.holder, sa.cast(tries.c.at // _DAY, sa.Integer)).distinct()
    op.execute(table.insert().from_select(["holder", "day"], days))
