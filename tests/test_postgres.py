"""The PostgreSQL server that other tests use."""

import psycopg

from postgres import Postgres, running_postgres


def _note(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS notes (text text)")
        connection.execute("INSERT INTO notes VALUES ('here')")
        return [row[0] for row in connection.execute("SELECT text FROM notes")]


def test_every_test_has_a_database_of_its_own(postgres: Postgres, postgres_url: str) -> None:
    other = postgres.new_database()
    assert _note(postgres_url) == ["here"]
    assert _note(other) == ["here"]


def test_it_keeps_what_was_committed_when_it_is_ended_and_when_it_crashes() -> None:
    with running_postgres() as server:
        url = server.new_database()
        _note(url)
        server.stop()
        server.start()
        _note(url)
        server.crash()
        server.start()
        assert _note(url) == ["here"] * 3
    assert not server.folder.exists()
