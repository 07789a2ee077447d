"""What a host does with a server: back it up and restore it, move it, and look after its games."""

import contextlib
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from postgres import PROGRAMS, Postgres
from web_server import CHAIN, CHAIN_SEED, KAMON, PATIENCE, Client, Server, serving, until


def run(*words: str | Path) -> str:
    """Give a command that must succeed, as a host would."""
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(*words: str | Path) -> str:
    """Give a command that must be refused, and return why."""
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    return done.stderr


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
        assert "stop it first" in refusal(KAMON, "copy", file, postgres_url)
    assert "equal in both databases" in run(KAMON, "copy", file, postgres_url)
    with serving(tmp_path, *on(postgres_url)) as server, Client(server, secret) as ann:
        ann.move(game, CHAIN[1])
        assert "stop them first" in refusal(KAMON, "copy", postgres_url, back)
    # A server that has ended does not count as running any more.
    assert "equal in both databases" in run(KAMON, "copy", postgres_url, back)
    with serving(tmp_path, *on(back)) as server, Client(server, secret) as ann:
        ann.move(game, CHAIN[2])
        moves = [event["cell"] for event in ann.events(game) if event["kind"] == "moved"]
    assert moves == list(CHAIN[:3])


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


def test_a_host_stops_the_server_before_changing_a_sqlite_file(tmp_path: Path) -> None:
    admin = (KAMON, "admin", "--database", f"sqlite:///{tmp_path / 'kamon.sqlite'}")
    with serving(tmp_path) as server, Client(server) as ann:
        game = ann.new(against="self", name="Rude")
        for words in (["close", game], ["rename", game, "black"]):
            assert "stop it first" in refusal(*admin, *words)
        assert game in run(*admin, "games")
    run(*admin, "rename", game, "black")
    run(*admin, "close", game)
    with serving(tmp_path) as server, Client(server) as ann:
        shown = ann.show(game)
    assert [event["kind"] for event in shown["events"]] == ["created", "renamed", "aborted"]
    assert shown["view"]["seats"]["black"]["name"] == ""
