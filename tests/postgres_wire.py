"""Between a server and PostgreSQL: counts the round trips, and can make each of them slow."""

import contextlib
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

_NAME: Final = ".s.PGSQL.5432"


class Wire:
    """All connections through one place."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.round_trips = 0
        self._lock = threading.Lock()

    def note_question(self) -> None:
        """Count a question that follows an answer, and let it take its time."""
        with self._lock:
            self.round_trips += 1
        time.sleep(self.delay)

    def join(self, client: socket.socket, server: socket.socket) -> None:
        """Carry what both say, in threads."""
        answered = threading.Event()
        answered.set()

        def ask() -> None:
            while data := _received(client):
                if answered.is_set():
                    answered.clear()
                    self.note_question()
                _send(server, data)
            _close(server)

        asking = threading.Thread(target=ask, daemon=True)

        def answer() -> None:
            while data := _received(server):
                answered.set()
                _send(client, data)
            _close(client)
            asking.join()
            client.close()
            server.close()

        asking.start()
        threading.Thread(target=answer, daemon=True).start()


def _received(end: socket.socket) -> bytes:
    with contextlib.suppress(OSError):
        return end.recv(1 << 16)
    return b""


def _send(end: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):
        end.sendall(data)


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def wired(url: str, delay: float = 0.0) -> Iterator[tuple[str, Wire]]:
    """Give an address that leads to a database through a wire, and the wire."""
    (host,) = parse_qs(urlsplit(url).query)["host"]
    wire = Wire(delay)
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        listener.bind(f"{folder}/{_NAME}")
        listener.listen(50)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(str(Path(host) / _NAME))
                    wire.join(client, server)

        threading.Thread(target=accept, daemon=True).start()
        yield url.replace(host, folder), wire
        listener.shutdown(socket.SHUT_RDWR)
