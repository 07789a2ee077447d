"""What all tests share, in ``tests`` and in ``e2e``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator["Postgres"]:
    """One PostgreSQL server for all tests of a process, none of which may end it."""
    # Most tests need no database server, nor the time to import one.
    from postgres import running_postgres  # noqa: PLC0415

    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: "Postgres") -> str:
    """Make a new, empty PostgreSQL database, and return its address."""
    return postgres.new_database()
