"""``kamon copy``, as a host gives the command."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update
from typer.testing import CliRunner, Result

from filled_database import fill
from kamon.cli import app as program
from kamon.cli import copy as command
from kamon.cli.engine import INTERRUPTED
from kamon.web import copying
from kamon.web.database import Database, studies
from web_server import KAMON


def kamon(*arguments: str) -> Result:
    result = CliRunner().invoke(program.app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def source(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'source.sqlite'}"
    with closing(Database(url)) as database:
        database.open()
        fill(database, 5)
    return url


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'target.sqlite'}"


def test_it_tells_what_was_copied(source: str, postgres_url: str) -> None:
    result = kamon("copy", source, postgres_url)
    assert (result.exit_code, result.stderr) == (0, "")
    head, *rows, end = result.stdout.splitlines()
    assert head.split() == ["table", "rows", "checksum"]
    counts = {name: int(number) for name, number, _ in map(str.split, rows)}
    assert (counts["games"], counts["studies"], counts["server"]) == (5, 5, 2)
    assert f"{sum(counts.values())} rows, equal in both databases" in end


def test_what_had_to_be_left_out_is_told(source: str, postgres_url: str) -> None:
    with closing(Database(source)) as database, database.writing() as connection:
        connection.execute(update(studies).values(record="\0"))
    result = kamon("copy", source, postgres_url)
    assert (result.exit_code, result.stderr.partition(":")[0]) == (
        0,
        "NUL characters were left out of 5 rows",
    )


def test_ctrl_c_leaves_what_the_same_command_goes_on_with(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(copying.Copy, "_compare", interrupt)
        result = kamon("copy", source, target)
    assert result.exit_code == INTERRUPTED
    assert "run the same command again" in result.stderr
    served = subprocess.run(
        [KAMON, "serve", "--port", "0", "--database", target],
        check=False,
        capture_output=True,
        text=True,
    )
    assert served.returncode == 2
    assert "unfinished copy" in served.stderr
    result = kamon("copy", source, target)
    assert (result.exit_code, result.stderr) == (0, "continuing an interrupted copy\n")


def test_people_at_a_terminal_see_how_far_it_is(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "is_terminal", lambda: True)
    assert kamon("copy", source, target).exit_code == 0


@pytest.mark.parametrize("wrong", ["kamon.sqlite", "oracle://me@here/kamon", "sqlite://"])
def test_a_wrong_address_is_told_with_its_place(source: str, wrong: str) -> None:
    for place, arguments in (("SOURCE", (wrong, source)), ("TARGET", (source, wrong))):
        result = kamon("copy", *arguments)
        assert result.exit_code == 2
        assert place in result.stderr
        assert "expected an address such as" in result.stderr


def test_a_server_that_cannot_be_reached_is_told_without_its_password(source: str) -> None:
    result = kamon("copy", source, "postgresql://me:hush@127.0.0.1:1/kamon")
    assert result.exit_code == 2
    assert "127.0.0.1:1" in result.stderr
    assert "cannot be opened" in result.stderr
    assert "hush" not in result.stderr


def test_a_driver_that_is_not_installed_is_told(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    result = kamon("copy", source, "postgresql://me@localhost/kamon")
    assert result.exit_code == 2
    assert "kamon[postgres]" in result.stderr


def test_a_target_that_is_not_empty_is_told_and_left_alone(source: str, target: str) -> None:
    assert kamon("copy", source, target).exit_code == 0
    result = kamon("copy", source, target)
    assert result.exit_code == 2
    assert "is not empty" in result.stderr
    assert "copy into a new database" in result.stderr
