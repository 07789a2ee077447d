"""The first tables: games, their events, who holds a seat, and links that carry one elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "games",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("listed", sa.Boolean, nullable=False),
        sa.Column("flag", sa.BigInteger),
    )
    op.create_index("games_open", "games", ["status", "listed", "updated"])
    op.create_index("games_flag", "games", ["flag"])
    op.create_table(
        "events",
        sa.Column("game", sa.String(16), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("command", sa.String(64)),
        sa.UniqueConstraint("game", "command"),
        sa.ForeignKeyConstraint(["game"], ["games.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "holders",
        sa.Column("game", sa.String(16), primary_key=True),
        sa.Column("side", sa.String(5), primary_key=True),
        sa.Column("holder", sa.String(64), primary_key=True),
        sa.ForeignKeyConstraint(["game"], ["games.id"], ondelete="CASCADE"),
    )
    op.create_index("holders_holder", "holders", ["holder"])
    op.create_table(
        "handovers",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("game", sa.String(16), nullable=False),
        sa.Column("side", sa.String(5), nullable=False),
        sa.Column("expires", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["game"], ["games.id"], ondelete="CASCADE"),
    )
