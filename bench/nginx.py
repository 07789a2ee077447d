"""A real nginx on this machine with the shipped site, for the benchmark of attacks and for tests.

Only what must be different here is replaced: the addresses to listen on, the certificate, the
folder of the cache, and the servers behind it. Each replacement must be found in the file.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.clusters import free_port

DEPLOY: Final = Path(__file__).parents[1] / "deploy"
PATIENCE: Final = 20.0
NO_NGINX: Final = "there is no nginx: install the Debian package `nginx`"
_FOLDERS: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True)
class Nginx:
    """A running nginx. The site with TLS can also be reached without it, for cheap clients."""

    folder: Path
    port: int
    tls_port: int
    redirect_port: int
    pid: int = 0

    @property
    def pids(self) -> list[int]:
        """The process itself, and its workers."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii")
        return [self.pid, *map(int, children.split())]

    @property
    def log(self) -> str:
        """The lines that are errors."""
        return (self.folder / "error.log").read_text(encoding="utf-8")


def write_site(folder: Path, servers: Sequence[int], name: str = "nginx.conf") -> Nginx:
    """Write a shipped site as it runs here, in front of servers on these ports."""
    folder.chmod(0o755)
    shutil.copytree(DEPLOY / "nginx", folder / "kamon")
    text = (DEPLOY / name).read_text(encoding="utf-8")
    ports = [free_port() for _ in range(3)]
    if name == "nginx.conf":
        plain, tls, redirect = ports
        make_certificate(folder)
        text = _replaced(text, "/etc/letsencrypt/live/kamon.example", str(folder), 2)
        text = _replaced(text, "listen 80;", f"listen 127.0.0.1:{redirect};")
        text = _replaced(text, "listen [::]:80;", "")
        text = _replaced(
            text,
            "listen 443 ssl http2 backlog=4096;",
            f"listen 127.0.0.1:{tls} ssl http2 backlog=4096;\n"
            f"    listen 127.0.0.1:{plain} backlog=4096;",
        )
        text = _replaced(text, "listen [::]:443 ssl http2 backlog=4096;", "")
        shipped = ["127.0.0.1:8041", "127.0.0.1:8042"]
    else:
        text = _replaced(text, "listen 8080 ", f"listen 127.0.0.1:{ports[0]} ")
        shipped = ["server-1:8037", "server-2:8037"]
    lines = [f"    server {each} max_fails=1 fail_timeout=2s;\n" for each in shipped]
    ours = [f"    server 127.0.0.1:{port} max_fails=1 fail_timeout=2s;\n" for port in servers]
    text = _replaced(text, "".join(lines), "".join(ours))
    (folder / "site.conf").write_text(text, encoding="utf-8")
    limits = folder / "kamon" / "limits.conf"
    kept = limits.read_text(encoding="utf-8")
    limits.write_text(_replaced(kept, "/var/cache/nginx-kamon", str(folder / "cache")))
    return Nginx(folder, ports[0], ports[1], ports[2])


def write_main(folder: Path, more: str = "") -> None:
    """Write what stands in /etc/nginx/nginx.conf, with the lines that the site asks for there."""
    asked = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").partition("\ninclude")[0]
    lines = re.findall(r"^#   (.*)$", asked, re.MULTILINE)
    folders = (f"{each}_temp_path {folder}/{each};" for each in _FOLDERS)
    (folder / "nginx.conf").write_text(
        "\n".join(
            [
                # Workers of another user could not read a test's folder.
                "user root;" if os.geteuid() == 0 else "",
                "daemon off;",
                "worker_processes auto;",
                f"pid {folder}/pid;",
                *lines,
                "http {",
                f"access_log {folder}/access.log;",
                *folders,
                more,
                "include site.conf;",
                "}",
            ]
        ),
        encoding="utf-8",
    )


def command(folder: Path, *options: str) -> list[str]:
    """Return how nginx is called."""
    # Where Debian puts it, which only root has on the PATH.
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        raise SystemExit(NO_NGINX)
    return [
        *(program, "-p", str(folder), "-c", str(folder / "nginx.conf")),
        *("-e", str(folder / "error.log"), *options),
    ]


@contextlib.contextmanager
def running_nginx(
    folder: Path, servers: Sequence[int], name: str = "nginx.conf", more: str = ""
) -> Iterator[Nginx]:
    """Run nginx with a shipped site; ``more`` is for the part of the file above the site."""
    site = write_site(folder, servers, name)
    write_main(folder, more)
    with subprocess.Popen(command(folder)) as process:
        running = replace(site, pid=process.pid)
        try:
            _wait_for(running, process)
            yield running
        finally:
            process.terminate()


def _wait_for(nginx: Nginx, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit and process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", nginx.port), PATIENCE).close()
            return
        time.sleep(0.02)
    raise SystemExit(f"nginx does not start: {nginx.log}")


def make_certificate(folder: Path) -> None:
    """Make a certificate that nobody has signed, under the names that Let's Encrypt uses."""
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=kamon.example"),
            *("-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"),
        ],
        capture_output=True,
        check=True,
    )


def _replaced(text: str, old: str, new: str, count: int = 1) -> str:
    """Replace what must be there exactly so often."""
    if text.count(old) != count:
        raise SystemExit(f"the site has {old!r} {text.count(old)} times, not {count}")
    return text.replace(old, new)
