"""Columns for lists of studies, the server's own memory, and the secrets from before signatures."""

import sqlalchemy as sa
from alembic import op

from kamon.errors import KamonError
from kamon.notation import format_line
from kamon.record import parse_record

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the tables and the columns, and fill them."""
    op.create_table(
        "server",
        sa.Column("name", sa.String(20), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "unsigned_holders",
        sa.Column("holder", sa.String(64), primary_key=True),
    )
    op.execute(
        "INSERT INTO unsigned_holders SELECT holder FROM holders UNION SELECT holder FROM studies"
    )
    with op.batch_alter_table("studies") as studies:
        studies.add_column(sa.Column("title", sa.String(200), nullable=False, server_default=""))
        studies.add_column(sa.Column("moves", sa.Integer, nullable=False, server_default="0"))
        studies.add_column(sa.Column("line", sa.Text, nullable=False, server_default=""))
    _fill_studies()


def _fill_studies() -> None:
    studies = sa.table(
        "studies",
        *(sa.column(name) for name in ("id", "record", "title", "moves", "line")),
    )
    connection = op.get_bind()
    for row in connection.execute(sa.select(studies.c.id, studies.c.record)).all():
        try:
            game = parse_record(row.record)
        except KamonError:
            # It can still be deleted, and its record downloaded.
            continue
        columns = {
            "title": game.tags.get("Event", "")[:200],
            "moves": len(game.main_line()),
            "line": format_line(game),
        }
        connection.execute(studies.update().where(studies.c.id == row.id).values(**columns))
