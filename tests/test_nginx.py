"""The site in deploy/, run by a real nginx: what it passes on, keeps and refuses."""

import http.server
import json
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.nginx import Nginx, command, running_nginx, write_main, write_site
from kamon.web.errors import too_many
from kamon.web.security import HSTS

SITES = ["nginx.conf", "nginx-compose.conf"]
# nginx then believes us about addresses, as a visitor with IPv6 cannot come over the loopback.
ADDRESSES = "set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;"
PATIENCE = 20.0


@dataclass
class Upstream:
    """A server that answers with the headers it was sent, and remembers what it was asked."""

    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    headers: dict[str, str] = field(default_factory=dict)


@contextmanager
def upstream() -> Iterator[Upstream]:
    seen = Upstream()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.asked[self.path] += 1
            body = json.dumps(dict(self.headers.items())).encode()
            self.send_response(200)
            for name, value in {**seen.headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        seen.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield seen
        server.shutdown()
        thread.join()


class Site:
    """A site, the server behind it, and clients of both."""

    def __init__(self, nginx: Nginx, behind: Upstream) -> None:
        self.nginx = nginx
        self.behind = behind
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE
        self.plain = self._client("http", nginx.port, trusting)
        self.tls = self._client("https", nginx.tls_port, trusting)

    @staticmethod
    def _client(scheme: str, port: int, trusting: ssl.SSLContext) -> httpx.Client:
        address = f"{scheme}://127.0.0.1:{port}"
        return httpx.Client(base_url=address, verify=trusting, timeout=PATIENCE)

    def told(self, path: str, **headers: str) -> dict[str, Any]:
        """Return the headers that the server behind nginx was sent."""
        return dict(self.plain.get(path, headers=headers).json())

    def until_refused(self, path: str, address: str = "192.0.2.1") -> tuple[int, httpx.Response]:
        """Ask until the answer is a refusal; return how often it was not."""
        for count in range(1_000):
            answer = self.plain.get(path, headers={"X-Test-Address": address})
            if answer.status_code != 200:
                return count, answer
        raise AssertionError(f"{path} is never refused")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with upstream() as behind, running_nginx(tmp_path, [behind.port], more=ADDRESSES) as nginx:
        running = Site(nginx, behind)
        yield running
        running.plain.close()
        running.tls.close()


@pytest.mark.parametrize("name", SITES)
def test_nginx_understands_its_file(name: str, tmp_path: Path) -> None:
    write_site(tmp_path, [8037], name)
    write_main(tmp_path)
    done = subprocess.run(
        command(tmp_path, "-t"), capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr


def test_both_sites_have_the_same_limits(tmp_path: Path) -> None:
    (folder := tmp_path / "nginx").mkdir()
    with upstream() as behind, running_nginx(folder, [behind.port], SITES[1], ADDRESSES) as nginx:
        running = Site(nginx, behind)
        count, _ = running.until_refused("/")
        assert 30 < count < 60
        running.plain.close()


# --- What is passed on ------------------------------------------------------------------------


def test_the_server_is_told_who_asks_and_how(site: Site) -> None:
    told = site.told("/", **{"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "gopher"})
    assert told["X-Forwarded-For"] == "127.0.0.1"
    assert told["X-Forwarded-Proto"] == "http"
    assert told["Host"] == f"127.0.0.1:{site.nginx.port}"
    assert told["Connection"] == "close"
    assert site.tls.get("/").json()["X-Forwarded-Proto"] == "https"


def test_only_the_path_of_the_websocket_can_become_one(site: Site) -> None:
    wish = {"Connection": "Upgrade", "Upgrade": "websocket"}
    told = site.told("/ws", **wish)
    assert (told["Connection"], told["Upgrade"]) == ("upgrade", "websocket")
    told = site.told("/api/games", **wish)
    assert told["Connection"] == "close"
    assert "Upgrade" not in told


def test_a_visitor_without_tls_is_sent_to_the_site_with_it(site: Site) -> None:
    answer = httpx.get(f"http://127.0.0.1:{site.nginx.redirect_port}/game/x?y", timeout=PATIENCE)
    assert answer.status_code == 301
    assert answer.headers["Location"] == "https://kamon.example/game/x?y"


def test_browsers_are_told_once_to_come_by_tls_alone(site: Site) -> None:
    assert site.tls.get("/").headers.get_list("Strict-Transport-Security") == [HSTS]
    site.behind.headers["Strict-Transport-Security"] = HSTS
    assert site.tls.get("/").headers.get_list("Strict-Transport-Security") == [HSTS]
    site.behind.headers.clear()
    assert "Strict-Transport-Security" not in site.plain.get("/").headers
    refused = next(answer for answer in iter(lambda: site.tls.get("/"), None) if answer.is_error)
    assert refused.headers.get_list("Strict-Transport-Security") == [HSTS]


def test_files_that_never_change_are_asked_for_once_in_each_encoding(site: Site) -> None:
    site.behind.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    site.behind.headers["Vary"] = "Accept-Encoding"
    for encoding in ("gzip, br", "zstd, gzip;q=0.5", "identity", "br"):
        for _ in range(3):
            told = site.told("/static/1/kamon.css", **{"Accept-Encoding": encoding})
            assert told.get("Accept-Encoding") == ("gzip" if "gzip" in encoding else None)
    assert site.behind.asked["/static/1/kamon.css"] == 2


def test_files_that_may_change_are_asked_for_each_time(site: Site) -> None:
    site.behind.headers["Cache-Control"] = "no-cache"
    for _ in range(3):
        site.told("/static/icon.svg")
    assert site.behind.asked["/static/icon.svg"] == 3


# --- What is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "least"), [("/", 30), ("/api/games", 100), ("/static/x", 400), ("/ws", 40)]
)
def test_a_visitor_may_ask_for_much_in_a_burst_and_then_less(
    site: Site, path: str, least: int
) -> None:
    count, answer = site.until_refused(path)
    assert least < count < least * 2
    assert answer.status_code == 429
    assert answer.headers["Connection"] == "close"
    assert answer.headers["Retry-After"] == "2"
    assert answer.headers["Cache-Control"] == "no-store"
    # Another visitor is served.
    assert site.told(path, **{"X-Test-Address": "192.0.2.2"})


def test_programs_are_refused_in_the_servers_own_words(site: Site) -> None:
    _, answer = site.until_refused("/api/games")
    assert answer.headers["Content-Type"] == "application/json"
    expected = too_many("", 2).answer()
    assert answer.json() == {name: expected[name] for name in answer.json()}
    assert answer.json().keys() == expected.keys() - {"detail"}


def test_people_are_refused_with_a_page_that_tries_again(site: Site) -> None:
    _, answer = site.until_refused("/")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert '<meta http-equiv="refresh" content="3">' in answer.text
    assert answer.text.isascii()


def test_an_ipv6_network_counts_as_one_visitor(site: Site) -> None:
    for number in range(200):
        # With every byte in it, also those that mean something to regular expressions.
        address = f"2001:db8:a0a:d{number:x}:{number:x}0a:0:5c:{number:x}"
        assert site.told("/", **{"X-Test-Address": address})
    statuses = [
        site.plain.get("/", headers={"X-Test-Address": f"2001:db8:a0a:2::{number:x}"}).status_code
        for number in range(60)
    ]
    assert statuses.count(200) < 50
    assert site.told("/", **{"X-Test-Address": "2001:db8:a0a:3::1"})


def test_what_is_too_long_is_refused_before_the_server_hears_of_it(site: Site) -> None:
    assert site.plain.post("/api/studies", content=b"x" * 140_000).status_code == 413
    assert site.plain.get("/" + "x" * 9_000).status_code == 414
    assert not site.behind.asked
