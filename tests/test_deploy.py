"""The files in deploy/ name what there is: options, files, ports, metrics. And they stay strict."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from kamon.cli.app import app
from kamon.web.metrics import Metrics

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
# A name and a version: where images come from is for the host to say.
IMAGE = re.compile(r"[a-z]+(:[\w.-]+)?")
METRIC = re.compile(r"\bkamon_[a-z_]+")
GAUGE = re.compile(r'\bgauge\(\s*"(\w+)"')
# What the suffixes of a histogram and of a counter add to its name.
SUFFIX = re.compile(r"_(bucket|sum|count|total|created)$")


def name_of(path: Path) -> str:
    return path.name


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def options() -> set[str]:
    command: Any = typer.main.get_command(app)
    return {
        name
        for each in command.commands["serve"].params
        for name in [*each.opts, *each.secondary_opts]
    }


def check(command: list[str]) -> None:
    """Fail unless ``kamon`` knows every option of a command line."""
    assert command[0] == "serve"
    used = {word.partition("=")[0] for word in command if word.startswith("--")}
    assert used
    assert used <= options()


def option(command: list[str], name: str) -> str:
    """Find the value of an option, written with a space or an equals sign."""
    joined = " ".join(command) + " "
    found = re.search(rf"--{name}[ =](\S+) ", joined)
    assert found, f"--{name} is missing in {joined}"
    return found[1]


# --- The image ------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    joined = re.sub(
        r"\\\n\s*", " ", re.sub(r"^#.*\n", "", text_of("Containerfile"), flags=re.MULTILINE)
    )
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines())]


def arguments(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def test_the_image_is_built_from_names_alone() -> None:
    assert all(IMAGE.fullmatch(each.split()[0]) for each in arguments("FROM"))


def test_the_image_has_a_python_that_is_tested() -> None:
    (version,) = {each.split()[0] for each in arguments("FROM")}
    tested = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f":: Python :: {version.removeprefix('python:').removesuffix('-slim')}" in tested


def test_the_image_does_not_run_as_root() -> None:
    assert arguments("USER") == ["kamon"]


def test_the_image_knows_whether_it_is_well() -> None:
    (check_up,) = arguments("HEALTHCHECK")
    (port,) = arguments("EXPOSE")
    command = json.loads(arguments("CMD")[0])
    assert option(command, "port") == port
    assert f"http://127.0.0.1:{port}/api/health" in check_up


def test_the_image_starts_a_server() -> None:
    check(json.loads(arguments("CMD")[0]))
    assert arguments("ENTRYPOINT") == ['["start"]']


def test_the_image_gets_files_that_there_are_and_that_are_not_ignored() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[0] == "*"
    let_in = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = [each.split() for each in arguments("COPY")]
    here = [
        source
        for words in copied
        if not words[0].startswith("--from")
        for source in words[:-1]
        if not source.startswith("--")
    ]
    assert len(here) > 5
    for source in here:
        assert (ROOT / source).exists()
        assert any(f"{source}/".startswith(f"{each}/") for each in let_in), source


def test_everything_in_the_image_is_locked() -> None:
    for each in arguments("RUN"):
        for install in re.findall(r"pip install ([^&]*)", each):
            assert "--require-hashes" in install or "--no-deps" in install


def test_the_container_starts_with_the_compiled_engine_in_a_cache_that_it_may_write(
    tmp_path: Path,
) -> None:
    (image := tmp_path / "image").mkdir()
    (image / "compiled").touch()
    image.chmod(0o555)
    script = tmp_path / "start.sh"
    script.write_text(text_of("start.sh").replace("/opt/kamon/cache", str(image)))
    kamon = tmp_path / "kamon"
    kamon.write_text('#!/bin/sh\ntouch "$XDG_CACHE_HOME/more"; ls "$XDG_CACHE_HOME"; echo "$@"\n')
    kamon.chmod(0o755)
    shell = shutil.which("sh")
    assert shell
    done = subprocess.run(
        [shell, script, "serve", "--host", "a b"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "tmp/cache")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n") == ["compiled", "more", "serve --host a b", ""]


# --- Compose --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(text_of("compose.yaml")))


def test_compose_has_postgres_two_servers_an_engine_and_a_proxy(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {"postgres", "server-1", "server-2", "engine", "proxy"}
    assert compose["services"]["server-1"] == compose["services"]["server-2"]
    assert all(IMAGE.fullmatch(each["image"]) for each in compose["services"].values())


def test_compose_gives_options_that_there_are(compose: dict[str, Any]) -> None:
    for name in ("server-1", "engine"):
        check(compose["services"][name]["command"])
    assert "--no-web" in compose["services"]["engine"]["command"]


def test_nothing_in_a_container_of_ours_can_be_changed(compose: dict[str, Any]) -> None:
    for name in ("server-1", "server-2", "engine"):
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["mem_limit"]
        assert service["ulimits"]["nofile"] >= 65536
        # Where the image keeps its caches.
        assert any(each.startswith("/tmp:") for each in service["tmpfs"])  # noqa: S108
    assert "XDG_CACHE_HOME=/tmp/" in arguments("ENV")[-1]


def test_the_proxy_of_compose_finds_the_servers_and_is_trusted(compose: dict[str, Any]) -> None:
    services = compose["services"]
    port = option(services["server-1"]["command"], "port")
    upstreams = re.findall(r"^ +server (\S+)", text_of("nginx-compose.conf"), re.MULTILINE)
    assert upstreams == [f"server-1:{port}", f"server-2:{port}"]
    (subnet,) = compose["networks"]["inside"]["ipam"]["config"]
    assert option(services["server-1"]["command"], "trusted-proxy") == subnet["subnet"]
    mounted = dict(each.split(":")[:2] for each in services["proxy"]["volumes"])
    assert mounted == {
        "./nginx-compose.conf": "/etc/nginx/conf.d/default.conf",
        # Where the first one includes them from.
        "./nginx": "/etc/nginx/kamon",
    }
    assert all((DEPLOY / each).exists() for each in mounted)
    (published,) = services["proxy"]["ports"]
    assert f"listen {published.partition(':')[2]} " in text_of("nginx-compose.conf")


def test_the_password_is_in_no_command_line_and_in_no_file(compose: dict[str, Any]) -> None:
    for name in ("server-1", "engine"):
        url = option(compose["services"][name]["command"], "database")
        assert url == "postgresql://kamon@postgres/kamon"
        assert compose["services"][name]["environment"]["PGPASSWORD"].startswith("${")
    assert compose["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${")


# --- systemd --------------------------------------------------------------------------------


def unit(path: Path) -> configparser.ConfigParser:
    read = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read_string(re.sub(r"\\\n\s*", "", path.read_text(encoding="utf-8")))
    return read


def sandbox(path: Path) -> dict[str, str]:
    """Return everything from the first option of the sandbox on."""
    options = list(unit(path)["Service"].items())
    first = [name for name, _ in options].index("NoNewPrivileges")
    return dict(options[first:])


def test_there_is_a_unit_for_one_server_for_several_and_for_a_worker() -> None:
    assert {path.name for path in UNITS} == {
        "kamon.service",
        "kamon@.service",
        "kamon-engine.service",
    }


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_a_unit_gives_options_that_there_are(path: Path) -> None:
    program, *rest = shlex.split(unit(path)["Service"]["ExecStart"])
    assert program == "/opt/kamon/bin/kamon"
    check(rest)
    assert ("--no-web" in rest) is (path.name == "kamon-engine.service")


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_a_unit_is_bounded(path: Path) -> None:
    service = unit(path)["Service"]
    assert service["User"] == "kamon"
    assert service["Restart"] == "always"
    assert {"LimitNOFILE", "MemoryHigh", "MemoryMax", "TasksMax"} <= set(service)
    # Longer than the five seconds in which a server leaves.
    assert int(service["TimeoutStopSec"]) > 5


def test_all_units_have_the_same_sandbox() -> None:
    first, *others = (sandbox(path) for path in UNITS)
    assert all(other == first for other in others)
    assert len(first) > 20
    assert first["CapabilityBoundingSet"] == ""
    assert first["ProtectSystem"] == "strict"
    assert "MemoryDenyWriteExecute" not in first


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_systemd_understands_a_unit(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name.replace("@", "@8041")
    text = path.read_text(encoding="utf-8").replace("/opt/kamon/bin/kamon", sys.executable)
    copy.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy],  # noqa: S607 - wherever it is
        capture_output=True,
        text=True,
        check=False,
    )
    about_ours = [line for line in done.stderr.splitlines() if copy.name in line]
    assert about_ours == []


@pytest.mark.parametrize("path", UNITS, ids=name_of)
def test_every_unit_logs_what_was_refused(path: Path) -> None:
    assert option(shlex.split(unit(path)["Service"]["ExecStart"]), "log-level") == "info"


# --- Numbers --------------------------------------------------------------------------------


def metrics() -> set[str]:
    """Name all metrics: those that exist from the start, and those that are read from parts."""
    always = {family.name for family in Metrics().registry.collect()}
    web = ROOT / "src/kamon/web"
    read = {
        f"kamon_{name}"
        for path in web.rglob("*.py")
        for name in GAUGE.findall(path.read_text(encoding="utf-8"))
    }
    return always | read


@pytest.mark.parametrize("name", ["grafana.json", "prometheus-alerts.yaml"])
def test_every_number_that_is_watched_exists(name: str) -> None:
    watched = {SUFFIX.sub("", each) for each in METRIC.findall(text_of(name))}
    assert len(watched) > 6
    assert watched <= metrics()


def test_every_number_is_on_the_dashboard() -> None:
    shown = {SUFFIX.sub("", each) for each in METRIC.findall(text_of("grafana.json"))}
    assert metrics() <= shown


def test_the_dashboard_is_well_made() -> None:
    panels = json.loads(text_of("grafana.json"))["panels"]
    ids = [panel["id"] for panel in panels]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for place in (panel["gridPos"] for panel in panels):
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken
        taken |= cells


def test_every_alert_says_what_is_wrong() -> None:
    (group,) = yaml.safe_load(text_of("prometheus-alerts.yaml"))["groups"]
    for rule in group["rules"]:
        assert {"alert", "expr", "for", "labels", "annotations"} == set(rule)
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
