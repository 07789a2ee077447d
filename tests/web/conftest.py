"""What the tests of the server's parts share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kamon.web.database import Database
from kamon.web.writer import Writer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Run asynchronous tests in the event loop that the server uses."""
    return "asyncio"


@pytest.fixture
async def writer(tmp_path: Path) -> AsyncIterator[Writer]:
    """A writer to a new database."""
    database = Database(f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    database.open()
    made = Writer(database)
    yield made
    made.close()
    database.close()
