"""What a host does with a server: back it up and restore it, move it, and look after its games."""

import contextlib
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postgres import PROGRAMS, Postgres
from web_server import CHAIN, CHAIN_SEED, KAMON, PATIENCE, Client, Server, serving, until


def run(*words: str | Path) -> str:
    """Give a command that must succeed, as a host would."""
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Regulars:
    """People who play game after game, and remember what was acknowledged."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.acknowledged: dict[str, int] = {}
        self._ended = threading.Event()

    def _play(self) -> None:
        while not self._ended.is_set():
            game = self.client.new(against="self", seed=CHAIN_SEED)
            for cell in CHAIN:
                if self._ended.wait(0.01):
                    return
                self.acknowledged[game] = self.client.do(game, "move", cell=cell)["number"]

    @contextlib.contextmanager
    def playing(self) -> Iterator[None]:
        """Play while a block runs, and have something to show before it begins."""
        thread = threading.Thread(target=self._play)
        thread.start()
        try:
            until(lambda: len(self.acknowledged) > 2, "the third game")
            yield
        finally:
            self._ended.set()
            thread.join()

    def check(self, restored: Client, before: dict[str, int]) -> None:
        """Check that a server has what was acknowledged before, and nothing that was not."""
        assert len(before) > 2
        for game, number in before.items():
            events = restored.events(game)
            assert len(events) >= number
            assert events == self.client.events(game)[: len(events)]


def on(url: str) -> tuple[str, ...]:
    return (*Server.OPTIONS, "--database", url)


# --- Back-ups -----------------------------------------------------------------------------------


def test_a_sqlite_file_is_backed_up_while_people_play_and_restored(tmp_path: Path) -> None:
    backup, elsewhere = tmp_path / "backup.sqlite", tmp_path / "restored"
    elsewhere.mkdir()
    with serving(tmp_path) as server, Client(server) as ann:
        regulars = Regulars(ann)
        with regulars.playing():
            before = dict(regulars.acknowledged)
            url = f"sqlite:///{server.database}"
            run(KAMON, "serve", "--database", url, "--copy-to", backup)
        shutil.copy(backup, elsewhere / server.database.name)
        with serving(elsewhere) as restored, Client(restored, ann.secret) as again:
            regulars.check(again, before)
            again.move(again.new(against="self"))


def test_a_postgresql_database_is_backed_up_while_people_play_and_restored(
    tmp_path: Path, postgres: Postgres, postgres_url: str
) -> None:
    backup, elsewhere = tmp_path / "kamon.dump", tmp_path / "restored"
    elsewhere.mkdir()
    with serving(tmp_path, *on(postgres_url)) as server, Client(server) as ann:
        regulars = Regulars(ann)
        with regulars.playing():
            before = dict(regulars.acknowledged)
            run(PROGRAMS / "pg_dump", "--format=custom", f"--file={backup}", postgres_url)
        new = postgres.new_database()
        run(PROGRAMS / "pg_restore", "--exit-on-error", f"--dbname={new}", backup)
        with serving(elsewhere, *on(new)) as restored, Client(restored, ann.secret) as again:
            regulars.check(again, before)
            again.move(again.new(against="self"))


# --- Moving -------------------------------------------------------------------------------------


def test_a_host_moves_to_postgresql_and_back_and_everybody_plays_on(
    tmp_path: Path, postgres_url: str
) -> None:
    file = f"sqlite:///{tmp_path / 'kamon.sqlite'}"
    back = f"sqlite:///{tmp_path / 'back.sqlite'}"
    with serving(tmp_path) as server, Client(server) as ann:
        secret, game = ann.secret, ann.new(against="self", seed=CHAIN_SEED, control="300+5")
        ann.move(game, CHAIN[0])
        refused = subprocess.run(
            [KAMON, "copy", file, postgres_url], check=False, capture_output=True, text=True
        )
        assert refused.returncode == 2
        assert "another server is using" in refused.stderr
    for cell, source, target in (
        (CHAIN[1], file, postgres_url),
        (CHAIN[2], postgres_url, back),
    ):
        # A server that has ended is not counted among the running ones any more.
        assert "the same on both sides" in run(KAMON, "copy", source, target)
        with serving(tmp_path, *on(target)) as server, Client(server, secret) as ann:
            ann.move(game, cell)
    assert [event["cell"] for event in moves(tmp_path, back, secret, game)] == list(CHAIN[:3])


def moves(folder: Path, url: str, secret: str, game: str) -> list[dict[str, Any]]:
    with serving(folder, *on(url)) as server, Client(server, secret) as ann:
        return [event for event in ann.events(game) if event["kind"] == "moved"]


def test_a_database_with_running_servers_is_not_copied(tmp_path: Path, postgres_url: str) -> None:
    target = f"sqlite:///{tmp_path / 'target.sqlite'}"
    with serving(tmp_path, *on(postgres_url)):
        time.sleep(2)
        refused = subprocess.run(
            [KAMON, "copy", postgres_url, target], check=False, capture_output=True, text=True
        )
    assert refused.returncode == 2
    assert "stop them first" in refused.stderr


# --- Looking after games ------------------------------------------------------------------------


def test_pages_see_at_once_what_a_host_changes(tmp_path: Path, postgres_url: str) -> None:
    with (
        serving(tmp_path, *on(postgres_url)) as server,
        Client(server) as ann,
        ann.socket() as page,
    ):
        game = ann.new(against="friend", name="Rude")
        page.send(json.dumps({"type": "watch", "game": game, "after": 0}))

        def seen() -> dict[str, Any]:
            """Wait for the next change, and return the view of it."""
            while True:
                message: dict[str, Any] = json.loads(page.recv(timeout=PATIENCE))
                if message["type"] == "room" and message["events"]:
                    return dict(message["view"])

        side = seen()["you"][0]
        admin = (KAMON, "admin", "--database", postgres_url)
        listed = run(*admin, "games")
        assert game in listed
        assert "Rude" in listed
        run(*admin, "rename", game, side)
        assert seen()["seats"][side] == {"kind": "person", "name": "", "level": 0}
        run(*admin, "close", game)
        assert seen()["status"] == "aborted"
        assert "1 servers" in run(*admin, "visitors")
    with serving(tmp_path, *on(postgres_url)) as server, Client(server) as eve:
        assert "Rude" not in json.dumps(eve.show(game))


@pytest.mark.parametrize("words", [["close"], ["rename"]])
def test_a_host_stops_the_server_before_changing_a_sqlite_file(
    tmp_path: Path, words: list[str]
) -> None:
    admin: list[str | Path] = [KAMON, "admin"]
    admin += ["--database", f"sqlite:///{tmp_path / 'kamon.sqlite'}"]
    with serving(tmp_path) as server, Client(server) as ann:
        game = ann.new(against="self", name="Rude")
        arguments = [*admin, *words, game, *(["black"] if words == ["rename"] else [])]
        refused = subprocess.run(arguments, check=False, capture_output=True, text=True)
        assert refused.returncode == 2
        assert "stop it first" in refused.stderr
        assert game in run(*admin, "games")
    run(*arguments)
    with serving(tmp_path) as server, Client(server) as ann:
        kinds = [event["kind"] for event in ann.events(game)]
    assert kinds == ["created", "aborted" if words == ["close"] else "renamed"]
