"""Two ways to write rows that SQLAlchemy does not have: quickly, and only where there is none."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import UpdateBase


class Prepared:
    """A statement that is compiled once, for what is written again and again.

    SQLAlchemy looks anew at a statement and at each of its rows. For a commit of a few moves that
    is more work than the database has with it. Here the values go to the driver as they are.
    """

    def __init__(self, statement: UpdateBase) -> None:
        self._statement = statement
        self._compiled: dict[str, SQLCompiler] = {}

    def execute(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write some rows, which name all values that the statement asks for."""
        compiled = self._for(connection)
        names = compiled.positiontup
        given: Any = rows if names is None else [tuple(row[name] for name in names) for row in rows]
        connection.exec_driver_sql(compiled.string, given)

    def _for(self, connection: Connection) -> SQLCompiler:
        dialect = connection.dialect
        found = self._compiled.get(dialect.name)
        if found is None:
            compiled = self._statement.compile(dialect=dialect)
            assert isinstance(compiled, SQLCompiler)  # noqa: S101 - no other kind writes rows
            found = self._compiled[dialect.name] = compiled
        return found


def insert_missing(connection: Connection, table: Table) -> Insert:
    """Return a statement that inserts only rows that are missing; another server may be first."""
    # Both dialects have the clause, and each has a class of its own for it.
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table).on_conflict_do_nothing()
    return postgresql.insert(table).on_conflict_do_nothing()


def insert_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless there is one like it, and return whether it was inserted."""
    statement = insert_missing(connection, table)
    counted = statement.values(row).execution_options(preserve_rowcount=True)
    return connection.execute(counted).rowcount == 1
