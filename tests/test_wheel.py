"""The built wheel, installed where the source is not: what people get, works."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import web_server
from kamon import __version__
from kamon.i18n import LANGUAGES
from tools import release
from web_server import TLS, Server, serving

ROOT = Path(__file__).parents[1]
LATE = (ROOT / "tests/data/ply20.txt").read_text(encoding="utf-8").splitlines()[0]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (built,) = release.build(ROOT, tmp_path_factory.mktemp("dist"), ["wheel"])
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment that has our dependencies, but not our source.

    The dependencies are those that the tests use. A path in a .pth file is not searched for
    further .pth files, so the editable installation of the source stays out.
    """
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=os.name != "nt")
    names = {"base": str(folder), "platbase": str(folder)}
    programs = Path(sysconfig.get_path("scripts", "venv", names))
    there = Path(sysconfig.get_path("purelib", "venv", names))
    (there / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = programs / Path(sys.executable).name
    command = [
        *(sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"),
        *("--python", str(python), "install", "--no-deps", "--no-index", str(wheel)),
    ]
    subprocess.run(command, check=True)
    return programs


@pytest.fixture(autouse=True)
def _somewhere_else(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run in an empty folder, with nothing that leads back to the source."""
    monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    # The compiled kernel of an installation that is thrown away is not worth keeping.
    cache = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def run(programs: Path, *arguments: str, given: str = "") -> str:
    command = [str(programs / "kamon"), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def server(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(web_server, "KAMON", programs / "kamon")
    with serving(tmp_path) as started:
        yield started


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    release.check_wheel(ROOT, wheel)


def test_the_same_source_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    (again,) = release.build(ROOT, tmp_path / "dist", ["wheel"])
    assert again.read_bytes() == wheel.read_bytes()


def test_it_is_the_installed_package_that_runs(programs: Path) -> None:
    assert run(programs, "--version") == f"kamon {__version__}\n"
    command = [str(programs / "python"), "-c", "import kamon; print(kamon.__file__)"]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert Path(there).is_relative_to(programs.parent)


def test_it_solves_a_late_position_with_the_weights_of_the_network(programs: Path) -> None:
    line, _, value = LATE.partition(" ; ")
    answer = json.loads(run(programs, "solve", "--value-only", given=line))
    assert answer["value"] == value


def test_it_serves_the_page_in_every_language(server: Server) -> None:
    with httpx.Client(base_url=server.address, verify=TLS, trust_env=False) as client:
        assert client.get("/api/health").json()["version"] == __version__
        page = client.get("/")
        assert "<title>" in page.text
        static = page.text.partition('href="')[2].partition("/icon.svg")[0]
        assert static.startswith("/static/")
        for path in ("home.css", "js/home.js", "vendor/lit-html.js", "artwork.js", "icon.svg"):
            assert client.get(f"{static}/{path}").status_code == 200, path
        words = {language: client.get(f"{static}/words/{language}.js") for language in LANGUAGES}
        assert all(answer.status_code == 200 for answer in words.values())
        assert all(len(answer.text) > 5000 for name, answer in words.items() if name != "en")
    # Made by the migrations, which are in the wheel as well.
    assert server.database.exists()
