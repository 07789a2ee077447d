"""The engine at the command line."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from numba.core import config as numba_config
from typer.testing import CliRunner, Result

from kamon import (
    Layout,
    Position,
    format_cell,
    format_layout,
    format_record,
    legal_cells,
    parse_line,
    parse_record,
)
from kamon.cli import engine as shared
from kamon.cli import solve as solve_module
from kamon.cli.app import app
from kamon.engine import kernel
from kamon.engine.kernel import compile as compile_module
from kamon.engine.top_tree import Standing

DATA = Path(__file__).parent / "data"
LINES = (DATA / "ply20.txt").read_text().splitlines()


def kamon(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin)


def game_record(number: int) -> str:
    game = parse_line((DATA / "games.txt").read_text().splitlines()[number])
    assert game is not None
    return format_record(game)


def test_solve_answers_each_line_with_value_moves_and_a_line_of_play() -> None:
    result = kamon("solve", "--memory", "16", stdin="\n".join(LINES[:6]))
    assert result.exit_code == 0
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["value"] for answer in answers] == [
        line.partition(";")[2].strip() for line in LINES[:6]
    ]
    for answer in answers:
        assert answer["best"]
        assert answer["pv"][0] in answer["best"]
        assert answer["distance"] is None
        assert answer["nodes"] > 0
        assert "reason" not in answer


def test_solve_counts_the_distance_when_asked() -> None:
    answer = json.loads(kamon("solve", "--distance", "--memory", "16", stdin=LINES[0]).stdout)
    assert answer["distance"] % 2 == (answer["value"] == "win")


def test_solve_finds_no_more_than_the_value_takes_when_asked() -> None:
    answer = json.loads(kamon("solve", "--value-only", "--memory", "16", stdin=LINES[0]).stdout)
    assert answer["value"] is not None
    assert answer["pv"] == []
    whole = json.loads(kamon("solve", "--memory", "16", stdin=LINES[0]).stdout)
    assert answer["best"]
    assert set(answer["best"]) <= set(whole["best"])


def test_a_limit_that_ends_the_work_is_named() -> None:
    line = (DATA / "ply08.txt").read_text().splitlines()[0]
    answer = json.loads(kamon("solve", "--nodes", "50", "--memory", "16", stdin=line).stdout)
    assert (answer["value"], answer["reason"]) == (None, "nodes")


def test_a_bad_line_is_told_in_its_place() -> None:
    result = kamon("solve", "--memory", "16", stdin=f"rubbish\n{LINES[0]}\n")
    assert result.exit_code == 1
    bad, good = map(json.loads, result.stdout.splitlines())
    assert bad["line"] == 1
    assert good["value"] is not None


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("solve", ["--time", "0"], "more than 0 seconds"),
        ("solve", ["--nodes", "-3"], "the node limit must be 1 to"),
        ("solve", ["--nodes", "9" * 30], "the node limit must be 1 to"),
        ("analyse", ["--nodes", "9" * 30], "the node limit must be 1 to"),
        ("solve", ["--memory", "9" * 20], "at most 16,777,216 MiB"),
        ("solve", ["--threads", "0"], "the number of threads must be 1 to 64"),
        ("solve", ["--memory", "9999999"], "does not fit into the memory"),
        ("analyse", ["--time", "-1"], "more than 0 seconds"),
        ("analyse", ["--memory", "9999999"], "does not fit into the memory"),
    ],
)
def test_limits_that_make_no_sense_are_wrong_usage(
    command: str, options: list[str], message: str
) -> None:
    result = kamon(command, *options, stdin=LINES[0] if command == "solve" else game_record(1))
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_analyse_writes_a_record_with_the_review_in_it() -> None:
    result = kamon("analyse", "--nodes", "5000", "--memory", "16", stdin=game_record(1))
    assert result.exit_code == 0
    game = parse_record(result.stdout)
    assert "with best play" in game.main_line()[-1].comment


def test_analyse_writes_json_when_asked_and_goes_on_after_a_bad_record() -> None:
    text = f'[Layout "nonsense"]\n\n*\n\n{game_record(0)}'
    result = kamon("analyse", "--json", "--nodes", "2000", "--memory", "16", stdin=text)
    assert result.exit_code == 1
    assert "not a layout" in result.stderr
    assert len(json.loads(result.stdout)["turns"]) == 25


def test_somebody_who_watches_sees_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("solve", "analyse"):
        monkeypatch.setattr(f"kamon.cli.{module}.is_terminal", lambda: True)
    assert kamon("solve", "--memory", "16", stdin=LINES[1]).exit_code == 0
    result = kamon("analyse", "--nodes", "500", "--memory", "16", stdin=game_record(0))
    assert re.search(r"\d+ of 26 positions", result.stderr)


def test_the_first_use_says_that_it_compiles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel, "needs_compiling", lambda: True)
    shared.prepare.cache_clear()
    shared.prepare()
    assert "seconds, once)" in capsys.readouterr().err
    shared.prepare()
    assert not capsys.readouterr().err
    monkeypatch.setattr(kernel, "CACHED", False)
    shared.prepare.cache_clear()
    shared.prepare()
    assert "every time, because the cache folder is not writable" in capsys.readouterr().err


def test_what_is_compiled_once_is_not_compiled_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compile_module, "CACHED", True)
    monkeypatch.setattr(compile_module, "CACHE_FOLDER", tmp_path)
    assert kernel.needs_compiling()
    for told in (True, False):
        shared.prepare.cache_clear()
        shared.prepare()
        assert ("Compiling" in capsys.readouterr().err) is told


def test_another_processor_has_another_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    before = compile_module._fingerprint()
    monkeypatch.setattr(numba_config, "CPU_NAME", "generic")
    other = compile_module._fingerprint()
    monkeypatch.setattr(numba_config, "CPU_FEATURES", "+sse2")
    assert len({before, other, compile_module._fingerprint()}) == 3


def test_another_python_and_another_source_have_another_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sources = Path(compile_module.__file__).parent
    for source in sources.glob("*.py"):
        (tmp_path / source.name).write_bytes(source.read_bytes())
    before = compile_module._fingerprint()
    monkeypatch.setattr(compile_module, "__file__", str(tmp_path / "compile.py"))
    assert compile_module._fingerprint() == before
    (tmp_path / "endings.py").write_text("# changed")
    changed = compile_module._fingerprint()
    monkeypatch.setattr("sys.version", "3.99")
    assert len({before, changed, compile_module._fingerprint()}) == 3


def test_the_first_interruption_asks_to_stop_and_the_second_ends_the_program(
    request: pytest.FixtureRequest,
) -> None:
    # As in a program of its own; an event loop of another test may have left its own handler.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    with shared.stopped_by_hand() as stopped:
        assert not stopped()
        signal.raise_signal(signal.SIGINT)
        assert stopped()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_signal_that_comes_while_the_handlers_are_set_up_is_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    install, is_first = signal.signal, iter([True])

    def install_and_raise(number: int, handler: Any) -> Any:  # noqa: ANN401 - as the real one
        replaced = install(number, handler)
        if next(is_first, False):
            signal.raise_signal(number)
        return replaced

    monkeypatch.setattr(signal, "signal", install_and_raise)
    with shared.stopped_by_hand() as stopped:
        assert stopped()
    assert {number: signal.getsignal(number) for number in before} == before


def test_solve_values_every_move_and_tells_threats_when_asked() -> None:
    finished = (DATA / "games.txt").read_text().splitlines()[0]
    options = ("--moves", "--distance", "--memory", "16")
    result = kamon("solve", *options, stdin=f"{LINES[0]}\n{finished}")
    answer, over = map(json.loads, result.stdout.splitlines())
    moves = answer["moves"]
    keeping = [move["move"] for move in moves if move["value"] == answer["value"]]
    assert sorted(keeping) == sorted(answer["best"])
    assert moves[0]["distance"] == answer["distance"]
    assert set(answer["threats"]) == {"mover", "opponent"}
    assert over["moves"] == []


def test_after_an_interruption_no_other_position_is_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = contextlib.nullcontext(lambda: True)
    monkeypatch.setattr("kamon.cli.solve.stopped_by_hand", lambda: asked)
    lines = "\n".join([format_layout(Layout.shuffled(1))] * 3)
    result = kamon("solve", "--memory", "16", stdin=lines)
    assert result.exit_code == shared.INTERRUPTED
    (answer,) = map(json.loads, result.stdout.splitlines())
    assert answer["reason"] == "cancelled"


def test_solve_that_is_interrupted_says_what_is_proven() -> None:
    program = Path(sys.executable).with_name("kamon")
    with subprocess.Popen(
        [program, "solve", "--memory", "64"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # The answer to the first line tells that the solver is at work on the second.
        process.stdin.write(f"{LINES[0]}\n{format_layout(Layout.shuffled(1))}\n{LINES[1]}\n")
        process.stdin.close()
        assert json.loads(process.stdout.readline())["value"] is not None
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        answer = json.loads(process.stdout.readline())
        assert (answer["value"], answer["reason"]) == (None, "cancelled")
        assert process.wait(30) == shared.INTERRUPTED
        assert not process.stdout.read()


@pytest.mark.parametrize("level", ["2", "4"])
def test_a_game_against_the_computer(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    typed = "b1\nundo\nc1\nresign\nquit\n"
    result = kamon("play", "--seed", "7", "--against", level, stdin=typed)
    assert result.exit_code == 0
    assert result.stdout.count("The computer plays") >= 2
    (kept,) = (tmp_path / "kamon" / "games").glob("*.pgn")
    game = parse_record(kept.read_text())
    assert game.result is not None
    assert game.result.termination == "resignation"


def test_the_computer_begins_where_it_is_black(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    result = kamon("play", "--seed", "7", "--against", "1", "--side", "white", stdin="quit\n")
    assert "The computer plays" in result.stdout
    assert "White plays:" in result.stdout


# --- Saving a search


def test_a_whole_board_is_saved_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kamon.cli.solve._SAVE_EVERY", 0.0)
    board = format_layout(Layout.shuffled(2))
    path = tmp_path / "search.json"
    asked = ("solve", "--value-only", "--memory", "64", "--nodes", "2000000", "--save", str(path))
    first = kamon(*asked, stdin=board)
    assert json.loads(first.stdout)["value"] is None
    size = path.stat().st_size
    second = kamon(*asked, stdin=board)
    assert second.exit_code == 0
    assert path.stat().st_size >= size
    other = kamon(*asked, stdin=format_layout(Layout.shuffled(3)))
    assert other.exit_code == 2
    assert "another board" in other.stderr
    path.write_text("nonsense")
    broken = kamon(*asked, stdin=board)
    assert broken.exit_code == 2
    assert "not a saved search" in broken.stderr
    assert path.read_text() == "nonsense"


def test_a_search_that_cannot_be_saved_still_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise typer.BadParameter("cannot write it: no space left")

    monkeypatch.setattr("kamon.cli.solve.write_whole", no_room)
    result = kamon("solve", "--memory", "16", "--save", str(tmp_path / "x"), stdin=LINES[1])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["value"] is not None
    assert "no space left" in result.stderr


def test_a_folder_that_is_not_there_is_told_before_the_work(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "search.json"
    result = kamon("solve", "--save", str(path), stdin=LINES[1])
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert not result.stdout


def test_a_saved_search_keeps_one_board_and_what_was_solved_on_it(tmp_path: Path) -> None:
    path = tmp_path / "search.json"
    asked = ("solve", "--memory", "16", "--value-only", "--save", str(path))
    first = kamon(*asked, stdin=f"{LINES[0]}\n{LINES[1]}")
    assert first.exit_code == 1
    one, other = (json.loads(line) for line in first.stdout.splitlines())
    assert one["value"] is not None
    assert "one board" in other["error"]
    again = json.loads(kamon(*asked, stdin=LINES[0]).stdout)
    assert (again["value"], again["nodes"]) == (one["value"], 1)


def test_a_value_alone_has_no_distance() -> None:
    result = kamon("solve", "--value-only", "--distance", stdin=LINES[0])
    assert result.exit_code == 2
    assert "cannot be used together" in result.stderr


def test_all_that_is_asked_of_a_position_shares_its_time() -> None:
    line = (DATA / "ply10.txt").read_text().splitlines()[0]
    asked = ("solve", "--memory", "16", "--nodes", "3000", "--moves", "--distance")
    answer = json.loads(kamon(*asked, stdin=line).stdout)
    assert answer["reason"] == "nodes"
    assert any(move["value"] is None for move in answer["moves"])


def test_somebody_who_watches_a_whole_board_is_told_how_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening = Position(Layout.shuffled(2))
    standing = Standing(0.9, 3_000_000.0, dict.fromkeys(legal_cells(opening)[:2], -1))
    told = solve_module._how_far(standing, opening, 1_000_000, 10.0)
    names = " ".join(format_cell(cell) for cell in legal_cells(opening)[:2])
    assert told == (
        f"; estimates: 90% that Black wins, proof 25% done, about 30 s left; settled: {names}"
    )
    reply = opening.after(legal_cells(opening)[0])
    told = solve_module._how_far(Standing(0.9, 1e9, {}), reply, 1_000_000, 10.0)
    assert told == "; estimates: 10% that Black wins, proof 0% done, about 167 min left"
    assert solve_module._how_far(Standing(0.5, 1e6, {}), opening, 0, 1.0).endswith("0% done")
    monkeypatch.setattr("kamon.cli.solve.is_terminal", lambda: True)
    board = format_layout(opening.layout)
    asked = ("solve", "--value-only", "--memory", "16", "--nodes", "1500000")
    assert kamon(*asked, stdin=board).exit_code == 0


def test_a_review_that_is_interrupted_is_written_as_far_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextlib.contextmanager
    def stopped() -> Iterator[Callable[[], bool]]:
        yield lambda: True

    monkeypatch.setattr("kamon.cli.analyse.stopped_by_hand", stopped)
    result = kamon("analyse", "--memory", "16", stdin=game_record(0) + "\n" + game_record(1))
    assert result.exit_code == 130
    assert result.stdout.count("[Layout") == 1


def test_a_review_with_too_much_memory_is_refused() -> None:
    result = kamon("analyse", "--memory", str(1 << 23), stdin=game_record(0))
    assert result.exit_code == 2
    assert "does not fit into the memory" in result.stderr
