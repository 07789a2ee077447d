"""``kamon census`` as people use it: bad input, interruption, what was done before."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kamon.census.rows import BOARDS, POSITIONS, Parts
from kamon.census.run import Progress, locked
from kamon.cli import census, runs
from kamon.cli.app import app
from kamon.errors import FormatError, KamonError

KAMON = Path(sys.executable).with_name("kamon")
SHORT = ("--nodes", "1000", "--memory", "1", "--workers", "1")


def kamon(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["census", *map(str, arguments)])


def test_boards_are_solved_once(tmp_path: Path) -> None:
    folder = tmp_path / "census"
    first = kamon("boards", folder, "--seeds", "3,5", *SHORT)
    assert first.exit_code == 0
    assert "2 boards to solve, 0 already done" in first.output
    assert "seed 3: not solved; 0 of 12 first moves settled" in first.output
    again = kamon("boards", folder, "--seeds", "3-5", *SHORT)
    assert "1 boards to solve, 2 already done" in again.output
    done = kamon("boards", folder, "--seeds", "3-5", *SHORT)
    assert done.output == (
        "0 boards to solve, 3 already done, 3 of them not solved (use --again to retry them)\n"
    )
    assert [row["seed"] for row in Parts(folder, BOARDS).rows()] == [3, 4, 5]
    published = kamon("publish", folder, tmp_path / "boards.parquet")
    assert "boards.parquet: 3 boards" in published.output
    twice = kamon("publish", folder, tmp_path / "boards.parquet")
    assert twice.exit_code == 2
    assert "already exists" in twice.output
    assert kamon("publish", folder, tmp_path / "boards.parquet", "--force").exit_code == 0
    assert (tmp_path / "SHA256SUMS").exists()


def test_positions_are_made_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The batches are there already, for to make one takes a while.
    parts = Parts(tmp_path / "positions", POSITIONS)
    parts.create()
    for number in (1, 2):
        parts.write(number, [])
    done = kamon("positions", parts.folder, "--count", "5001")
    assert done.output == "0 batches of 5,000 to make, 2 already done\n"
    monkeypatch.setattr(census, "run", lambda jobs, *_: numbers.extend(job.number for job in jobs))
    numbers: list[int] = []
    kamon("positions", parts.folder, "--count", "20000")
    assert numbers == [3, 4]
    published = kamon("publish", parts.folder, tmp_path / "all.parquet", "--sample", "10")
    assert "all.parquet: 0 positions" in published.output


@pytest.mark.parametrize(
    "seeds", ["", "a", "5-3", "-1", "1-2-3", f"{2**64}", "1-99999999", "1,,2", "1.5"]
)
def test_bad_seeds_are_quoted(seeds: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="is not a range of seeds: "):
        census.parse_seeds(seeds)
    result = kamon("boards", tmp_path, f"--seeds={seeds}")
    assert result.exit_code == 2
    assert "is not a range of seeds" in result.output


def test_seeds_are_read_as_written_and_once() -> None:
    assert census.parse_seeds("7") == (7,)
    assert census.parse_seeds("1-3, 9,2-4") == (1, 2, 3, 9, 4)


def test_bad_limits_are_refused(tmp_path: Path) -> None:
    result = kamon("boards", tmp_path, "--seeds", "1", "--time", "0")
    assert result.exit_code == 2
    assert "the time limit must be more than 0 seconds" in result.output


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = kamon("boards", tmp_path / "file" / "census", "--seeds", "1")
    assert result.exit_code == 2
    assert "cannot use" in result.output


def test_a_truncated_batch_does_not_count_as_done(tmp_path: Path) -> None:
    parts = Parts(tmp_path, POSITIONS)
    parts.create()
    parts.write(1, [])
    parts.path(1).write_bytes(parts.path(1).read_bytes()[:-50])
    result = kamon("positions", tmp_path, "--count", "5000")
    assert isinstance(result.exception, FormatError)
    assert "Delete it" in str(result.exception)


def test_a_truncated_part_is_named(tmp_path: Path) -> None:
    assert kamon("boards", tmp_path, "--seeds", "1", *SHORT).exit_code == 0
    path = Parts(tmp_path, BOARDS).path(1)
    path.write_bytes(path.read_bytes()[:-50])
    result = kamon("boards", tmp_path, "--seeds", "1-2", *SHORT)
    assert isinstance(result.exception, FormatError)
    assert "is damaged" in str(result.exception)
    assert "Delete it" in str(result.exception)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path):
        result = kamon("boards", tmp_path, "--seeds", "1", *SHORT)
    assert isinstance(result.exception, KamonError)
    assert "another run is using" in str(result.exception)


def test_a_sample_is_for_positions(tmp_path: Path) -> None:
    (tmp_path / "boards-000000000001.parquet").touch()
    result = kamon("publish", tmp_path, tmp_path / "out.parquet", "--sample", "5")
    assert "--sample is only for positions" in result.output


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    parts = Parts(tmp_path, POSITIONS)
    parts.write(1, [])
    result = kamon("publish", tmp_path, tmp_path / "nowhere" / "out.parquet")
    assert result.exit_code == 2
    assert "cannot write" in result.output


@pytest.mark.parametrize("package", ["joblib", "pyarrow"])
def test_a_missing_package_is_named_with_its_extra(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    result = kamon("boards", tmp_path, "--seeds", "1")
    assert f"this command needs {package}" in str(result.exception)
    assert "pip install 'kamon[census]'" in str(result.exception)


def test_the_progress_says_what_it_is_judged_by() -> None:
    progress = Progress(12, finished=4, running={7: 0.0, 8: 0.0})
    assert runs.how_far(progress, None) == "4 of 12 done, 2 in progress (Ctrl-C stops)"
    for seconds, told in ((90, "90 s"), (600, "10 min"), (10_800, "3 h")):
        assert f"about {told} left, estimated from 4" in runs.how_far(progress, seconds)


def test_a_terminal_shows_the_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "is_terminal", lambda: True)
    result = kamon("boards", tmp_path, "--seeds", "1", *SHORT)
    assert result.exit_code == 0
    assert "seed 1: not solved" in result.output


# --- Interruption ---


def started(folder: Path, *options: str) -> "subprocess.Popen[str]":
    command = [str(KAMON), "census", "boards", str(folder), "--seeds", "1-500", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def until(condition: Callable[[], bool]) -> None:
    over = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < over
        time.sleep(0.05)


def seeds_in(folder: Path) -> list[int]:
    return [row["seed"] for row in Parts(folder, BOARDS).rows()]


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(tmp_path: Path) -> None:
    with started(tmp_path, *SHORT) as process:
        until(lambda: len(Parts(tmp_path, BOARDS).paths()) > 1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"Stopped: {len(seeds_in(tmp_path))} saved" in said
    assert "Run the same command again to continue" in said


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    with started(tmp_path, *SHORT) as process:
        until(lambda: len(Parts(tmp_path, BOARDS).paths()) > 1)
        children = _children(process.pid)
        process.kill()
        process.communicate(timeout=60)
    # The workers end by themselves.
    until(lambda: not any(map(_is_alive, children)))
    before = seeds_in(tmp_path)
    last = max(before) + 1
    again = kamon("boards", tmp_path, "--seeds", f"1-{last}", *SHORT)
    assert again.exit_code == 0
    assert f"{last - len(before)} boards to solve, {len(before)} already done" in again.output
    assert seeds_in(tmp_path) == list(range(1, last + 1))


def _children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(each) for each in text.split()]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="ascii")
