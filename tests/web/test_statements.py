"""Statements that are compiled once, and rows that are written only where there is none."""

from pathlib import Path

import pytest
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from kamon.web.database import Database, server
from kamon.web.statements import Prepared, insert_new

REMEMBER = Prepared(insert(server))
CHANGE = Prepared(
    update(server).where(server.c.name == bindparam("of")).values(value=bindparam("value"))
)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = Database(f"sqlite:///{tmp_path}/kamon.sqlite")
    found.migrate()
    return found


def test_rows_are_written_whatever_the_order_of_their_values(database: Database) -> None:
    with database.writing() as connection:
        REMEMBER.execute(connection, [{"value": "1", "name": "a"}, {"name": "b", "value": "2"}])
        CHANGE.execute(connection, [{"value": "3", "of": "b"}])
        assert connection.execute(select(server.c.name, server.c.value)).all() == [
            ("a", "1"),
            ("b", "3"),
        ]


def test_a_contradiction_is_told_as_with_any_other_statement(database: Database) -> None:
    row = {"name": "a", "value": "1"}
    with pytest.raises(IntegrityError), database.writing() as connection:
        REMEMBER.execute(connection, [row, row])
    with database.reading() as connection:
        assert connection.execute(select(server.c.name)).all() == []


def test_a_row_is_inserted_only_where_there_is_none(database: Database) -> None:
    with database.writing() as connection:
        assert insert_new(connection, server, {"name": "a", "value": "1"})
        assert not insert_new(connection, server, {"name": "a", "value": "2"})
        assert connection.execute(select(server.c.value)).scalars().all() == ["1"]
