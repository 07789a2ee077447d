"""What several servers on one database must know of each other."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns and the tables; a server of the version before can go on meanwhile."""
    op.add_column("games", sa.Column("client", sa.String(16)))
    op.create_table(
        "servers",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("alive", sa.BigInteger, nullable=False),
        sa.Column("people", sa.Integer, nullable=False),
        sa.Column("web", sa.Boolean, nullable=False),
    )
    op.create_table(
        "presence",
        sa.Column("game", sa.String(16), _of_game(), primary_key=True),
        sa.Column("server", sa.String(16), primary_key=True),
        sa.Column("changed", sa.BigInteger, nullable=False),
        sa.Column("watchers", sa.Integer, nullable=False),
        sa.Column("black", sa.Boolean, nullable=False),
        sa.Column("white", sa.Boolean, nullable=False),
        sa.Column("black_left", sa.BigInteger),
        sa.Column("white_left", sa.BigInteger),
    )
    op.create_table(
        "thoughts",
        sa.Column("game", sa.String(16), _of_game(), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("client", sa.String(16), nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("server", sa.String(16)),
        sa.Column("leased_until", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "spending",
        sa.Column("server", sa.String(16), primary_key=True),
        sa.Column("client", sa.String(16), primary_key=True),
        sa.Column("what", sa.String(20), primary_key=True),
        sa.Column("round", sa.BigInteger, nullable=False),
        sa.Column("amount", sa.Float, nullable=False),
    )


def _of_game() -> sa.ForeignKey:
    return sa.ForeignKey("games.id", ondelete="CASCADE")
