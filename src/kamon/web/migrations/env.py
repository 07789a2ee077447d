"""Alembic's way in: the database hands over its connection."""

from alembic import context

from kamon.web.database import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
