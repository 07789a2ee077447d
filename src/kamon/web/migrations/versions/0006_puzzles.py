"""Puzzles: their ratings, who has tried them, and one for each day."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the tables; a server of the version before can go on meanwhile."""
    op.create_table(
        "puzzles",
        sa.Column("id", sa.String(8), primary_key=True),
        sa.Column("text", sa.Text),
        sa.Column("canonical", sa.String(100), unique=True),
        sa.Column("pattern", sa.String(64), unique=True),
        *_rating(),
        sa.Column("tries", sa.Integer, nullable=False),
    )
    op.create_table(
        "puzzle_players",
        sa.Column("holder", sa.String(64), primary_key=True),
        *_rating(),
        sa.Column("streak", sa.Integer, nullable=False),
        sa.Column("best_streak", sa.Integer, nullable=False),
        sa.Column("run_started", sa.BigInteger),
        sa.Column("run_score", sa.Integer, nullable=False),
        sa.Column("run_misses", sa.Integer, nullable=False),
        sa.Column("run_puzzle", sa.String(8)),
        sa.Column("best_run", sa.Integer, nullable=False),
    )
    op.create_table(
        "puzzle_tries",
        sa.Column("holder", sa.String(64), primary_key=True),
        sa.Column("puzzle", sa.String(8), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("solved", sa.Boolean, nullable=False),
    )
    op.create_table(
        "puzzle_days",
        sa.Column("date", sa.String(10), primary_key=True),
        sa.Column("puzzle", sa.String(8), nullable=False),
    )


def _rating() -> list[sa.Column[float]]:
    names = ("rating", "deviation", "volatility")
    return [sa.Column(name, sa.Float, nullable=False) for name in names]
