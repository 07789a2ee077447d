"""The board of the day, and the games on it."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "board_days",
        sa.Column("date", sa.String(10), primary_key=True),
        sa.Column("seed", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "day_games",
        sa.Column(
            "game", sa.String(16), sa.ForeignKey("games.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("date", sa.String(10), nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("side", sa.String(5), nullable=False),
        sa.Column("won", sa.Boolean),
        sa.Column("moves", sa.Integer),
    )
    op.create_index("day_games_date", "day_games", ["date"])
