"""Servers that know of each other."""

import contextlib

import pytest

from kamon.web.cluster.members import Members
from kamon.web.database import Database
from kamon.web.writer import Writer

pytestmark = pytest.mark.anyio


async def test_an_engine_worker_is_no_server_with_a_page(postgres_url: str) -> None:
    with contextlib.ExitStack() as stack:
        database = Database(postgres_url)
        stack.callback(database.close)
        database.open()
        writer = Writer(database)
        stack.callback(writer.close)
        members = [Members(writer, lambda: 1_000, web=web) for web in (True, True, False)]
        for _ in range(2):
            for each in members:
                await each.beat(0)
        assert [each.on_the_web for each in members] == [2, 2, 2]
        await members[0].leave()
        for each in members[1:]:
            await each.beat(0)
        assert [each.on_the_web for each in members[1:]] == [1, 1]
