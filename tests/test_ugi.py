"""The Universal Game Interface: sessions in this process, and one as another program sees it."""

import io
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import typer

from kamon import Layout, Position, Side, format_cell, format_position, legal_cells, parse_line
from kamon.cli import ugi as command
from kamon.engine import kernel, levels
from kamon.engine.limits import MIB, Limits
from kamon.engine.solver import Solver
from kamon.engine.strengths import STRENGTHS, STRONGEST
from kamon.engine.ugi import Session
from kamon.engine.ugi.clock import seconds_for_move
from kamon.engine.ugi.protocol import NO_MOVE, GoCommand, Options, parse_go, parse_setoption
from kamon.engine.ugi.search import Search, Task
from kamon.errors import EngineMissingError

DATA = Path(__file__).parent / "data"
GAMES = (DATA / "games.txt").read_text().splitlines()
START = Position(Layout.shuffled(0))
SEED_7 = "B4B1D6E6/F6F5F3D3F2/B3A4C3E3D4E4/A1C5B2E1D1C2A5/E2D2B5F4E5C1/F1C4A2--C6/A3D5A6B6"
# Where the engine must be compiled first and others use the machine, an answer takes its time.
LONG = 120.0


class Talk:
    """A session in this process, and what it says."""

    def __init__(self, *lines: str) -> None:
        self.heard: list[str] = []
        self.session = Session(self.heard.append)
        self.say(*lines)

    def say(self, *lines: str) -> list[str]:
        """Say lines, and return what is answered at once."""
        before = len(self.heard)
        for line in lines:
            self.session.handle(line)
        return self.heard[before:]

    def ask(self, *lines: str) -> str:
        """Say lines, the last of them ``go``, and return the move."""
        before = len(self.heard)
        self.say(*lines)
        search = self.session._search
        assert search is not None
        assert search._answered.wait(LONG)
        moves = [line for line in self.heard[before:] if line.startswith("bestmove")]
        assert len(moves) == 1
        assert self.heard[-1] == moves[0]
        return moves[0].removeprefix("bestmove ")


def legal_names(position: Position) -> list[str]:
    return [format_cell(cell) for cell in legal_cells(position)]


def solved(ply: int, value: str) -> Position:
    lines = (DATA / f"ply{ply:02}.txt").read_text().splitlines()
    game = parse_line(next(line for line in lines if line.endswith(value)))
    assert game is not None
    return game.position


def forced_position() -> Position:
    """Return a position with only one legal move."""
    rng = Random(3)
    position = START
    while len(legal := legal_cells(position)) != 1:
        position = position.after(rng.choice(legal)) if legal else START
    return position


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.perf_counter() + LONG
    while not condition():
        assert time.perf_counter() < deadline
        time.sleep(0.001)


def ended(how: str) -> str:
    layout, *moves = next(line for line in GAMES if how in line).partition(";")[0].split()
    return f"position fen {layout} moves {' '.join(moves)}"


# --- What is said first ---------------------------------------------------------------------


def test_it_introduces_itself_and_its_options() -> None:
    name, *rest = Talk().say("ugi")
    assert re.fullmatch(r"id name Kamon \d+\.\d+\.\d+\S*", name)
    assert rest == [
        "id author The Kamon contributors",
        "option name Level type spin default 12 min 1 max 12",
        "option name Seed type spin default 0 min 0 max 2147483647",
        "option name Threads type spin default 1 min 1 max 64",
        "option name Hash type spin default 64 min 1 max 32768",
        "ugiok",
    ]


def test_a_whole_session() -> None:
    talk = Talk("ugi", "setoption name Level value 3", "setoption name Seed value 5")
    assert talk.say("isready") == ["readyok"]
    assert talk.say("uginewgame", "isready") == ["readyok"]
    assert talk.say("position startpos") == []
    first = talk.ask("go movetime 5000")
    assert first in legal_names(START)
    assert talk.say(f"position startpos moves {first}", "query p1turn") == ["response false"]
    assert talk.say("query gameover", "query result") == ["response false", "response none"]
    second = talk.ask("go p1time 5000 p2time 5000 p1inc 0 p2inc 0")
    assert talk.say(f"position startpos moves {first} {second}", "query p1turn") == [
        "response true"
    ]
    assert re.fullmatch(r"info time \d+ pv " + second, talk.heard[-3])


def test_the_kernel_is_made_ready_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def choose(_: Position, level: int, **__: float) -> int:
        asked.append(level)
        return 0

    monkeypatch.setattr(kernel, "needs_compiling", lambda: False)
    monkeypatch.setattr(levels, "choose", choose)
    talk = Talk("setoption name Level value 3", "isready")
    assert asked == []
    talk.say("setoption name Level value 6", "isready", "isready")
    assert asked == [6]
    assert talk.heard == ["readyok"] * 3


def test_whoever_waits_for_the_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "needs_compiling", lambda: True)
    monkeypatch.setattr(levels, "choose", lambda *_, **__: 0)
    told, ready = Talk().say("isready")
    assert told.startswith("info string compiling the engine")
    assert ready == "readyok"


def test_what_keeps_the_kernel_from_being_ready_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def choose(*_: object, **__: float) -> int:
        raise EngineMissingError

    monkeypatch.setattr(kernel, "needs_compiling", lambda: False)
    monkeypatch.setattr(levels, "choose", choose)
    error, ready = Talk().say("isready")
    assert error.startswith("info string error: the engine needs numba")
    assert ready == "readyok"


# --- Positions and questions ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "result"),
    [("black connection", "p1win"), ("white loop", "p2win"), ("draw full", "draw")],
)
def test_the_result_of_a_finished_game(how: str, result: str) -> None:
    talk = Talk(ended(how))
    assert talk.heard == []
    assert talk.say("query gameover", "query result") == ["response true", f"response {result}"]


def test_a_finished_game_has_no_move_and_nobody_waits_for_one() -> None:
    error, move = Talk(ended("black connection")).say("go")
    assert error.startswith("info string error: 'go': the game is over")
    assert move == f"bestmove {NO_MOVE}"


def test_a_position_may_be_named_in_three_ways() -> None:
    later = START.after(legal_cells(START)[0])
    talk = Talk(f"position fen {format_position(later)}")
    assert talk.say("query p1turn") == ["response false"]
    assert talk.session._position == later
    talk.say(f"position startpos moves {legal_names(START)[0]}")
    assert talk.session._position == later
    talk.say(f"position fen {SEED_7} moves c1 a2")
    game = parse_line(f"{SEED_7} c1 a2")
    assert game is not None
    assert talk.session._position == game.position
    talk.say("uginewgame")
    assert talk.session._position == START


# --- Broken lines ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "wrong", "expected"),
    [
        ("fly", "'fly'", "expected a command: ugi, isready"),
        ("UGI", "'UGI'", "expected a command"),
        ("go \0", "'\\x00' is not a limit", "expected p1time"),
        ("\x1b[31m", "'\\x1b[31m'", "expected a command"),
        ("go " + 5000 * "x", "'go'", "at most 4096 characters"),
        ("position", "'' is not a position", "expected startpos"),
        ("position c4", "'c4' is not a position", "fen and a layout"),
        ("position startpos c4", "'startpos c4' is not a position", "the word moves"),
        ("position fen", "'fen' is not a position", "fen and a layout"),
        ("position fen A1A1", "not a layout", "expected 7 rows"),
        (f"position fen {SEED_7} x c4", "'x' does not describe the stones", "use x, o or ."),
        (
            f"position fen {SEED_7} {'/'.join('....')} c4",
            "does not describe the stones",
            "separated by /",
        ),
        ("position startpos moves z9", "move 1: 'z9' is not a space", "for example c4"),
        ("position startpos moves d4", "move 1: d4 cannot be played", "Black begins"),
        ("go fly", "'fly' is not a limit", "expected p1time, p2time"),
        ("go movetime", "'' is not a valid movetime", "a whole number from 1"),
        ("go movetime 0", "'0' is not a valid movetime", "a whole number from 1"),
        ("go nodes 1e9", "'1e9' is not a valid nodes", "a whole number from 1"),
        ("go nodes ١٢", "is not a valid nodes", "a whole number from 1"),
        ("go depth " + 40 * "9", "is not a valid depth", "a whole number from 0"),
        ("setoption", "'' does not set an option", "expected name"),
        ("setoption Level 3", "'Level 3' does not set an option", "expected name"),
        ("setoption name Level value 13", "'13' is not a valid Level", "from 1 to 12"),
        ("setoption name Level value x", "'x' is not a valid Level", "from 1 to 12"),
        (
            "setoption name Colour value 1",
            "'Colour' is not an option",
            "Level, Seed, Threads, Hash",
        ),
        ("query", "'' is not a query", "expected p1turn, gameover or result"),
        ("query fen", "'fen' is not a query", "expected p1turn, gameover or result"),
    ],
)
def test_a_broken_line_is_told_and_changes_nothing(line: str, wrong: str, expected: str) -> None:
    talk = Talk("setoption name Level value 1", f"position fen {SEED_7} moves c1")
    before = talk.session._position, talk.session._options
    said, *rest = talk.say(line)
    # After ``go`` the other program waits for a move, whatever was wrong with the line.
    assert rest == ([f"bestmove {NO_MOVE}"] if line.startswith("go ") else [])
    assert said.startswith("info string error: ")
    assert wrong in said
    assert expected in said
    assert said.isprintable()
    assert (talk.session._position, talk.session._options) == before
    assert talk.say("query p1turn") == ["response false"]


@pytest.mark.parametrize("line", ["", "  ", "\n", "\ufeff", "stop"])
def test_a_line_that_says_nothing_is_passed_over(line: str) -> None:
    assert Talk().say(line) == []


VOCABULARY = """ugi isready setoption uginewgame position go stop query name value Level Seed 1 2 9
startpos fen moves c1 a2 b1 -1 x p1time p1inc movetime nodes depth infinite p1turn result"""


def test_whatever_comes_the_session_goes_on() -> None:
    words = [*VOCABULARY.split(), SEED_7, "\0", "\ufffd"]
    rng, talk = Random(1), Talk("setoption name Level value 1")
    for _ in range(400):
        talk.say(" ".join(rng.choices(words, k=rng.randrange(6))))
        if talk.session._options.level > 2:
            talk.say("stop", "setoption name Level value 1")
    talk.say("stop")
    starts = ("id ", "option ", "ugiok", "readyok", "info ", "bestmove ", "response ")
    assert all(line.startswith(starts) and "\n" not in line for line in talk.heard)
    assert talk.say("isready") == ["readyok"]


def test_bytes_that_are_no_text_and_lines_without_end_are_told() -> None:
    talk = Talk()
    talk.session.serve(io.BytesIO(b"\xff\xfe\n" + 100_000 * b"go " + b"\nquery p1turn"))
    first, second, third, fourth = talk.heard
    assert "expected a command" in first
    assert "at most 4096 characters" in second
    assert third == f"bestmove {NO_MOVE}"
    assert fourth == "response true"


# --- Options and limits ---------------------------------------------------------------------


def test_options_are_set_whatever_the_case_of_their_names() -> None:
    options = parse_setoption(["name", "hash", "value", "7"], Options())
    options = parse_setoption(["name", "THREADS", "value", "2"], options)
    assert options == Options(level=STRONGEST, seed=0, threads=2, hash=7)


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("", GoCommand()),
        ("infinite", GoCommand(infinite=True)),
        ("nodes 7 depth 0", GoCommand(nodes=7, depth=0)),
        ("movetime 250 p1time -9 infinite", GoCommand(movetime=250, p1time=-9, infinite=True)),
        (
            "p1time 1 p2time 2 p1inc 3 p2inc 4",
            GoCommand(p1time=1, p2time=2, p1inc=3, p2inc=4),
        ),
        ("nodes 7 nodes 8", GoCommand(nodes=8)),
    ],
)
def test_limits_may_come_in_any_order(words: str, command: GoCommand) -> None:
    assert parse_go(words.split()) == command


@pytest.mark.parametrize(
    ("words", "turn", "seconds"),
    [
        ("", Side.BLACK, None),
        ("infinite nodes 7", Side.BLACK, None),
        ("movetime 250 p1time 9", Side.BLACK, 0.25),
        ("p1time 80000 p2time 8000 p1inc 1000", Side.BLACK, 10.8),
        ("p1time 80000 p2time 8000", Side.WHITE, 1.0),
        ("p2time 8000", Side.BLACK, None),
        ("p1time 100 p1inc 5000", Side.BLACK, 0.04),
        ("p1time -5", Side.BLACK, 0.001),
        (f"movetime {10**15}", Side.BLACK, 1e6),
        (f"p2time {10**15}", Side.WHITE, 1e6),
    ],
)
def test_the_time_is_worked_out_for_the_side_to_move(
    words: str, turn: Side, seconds: float | None
) -> None:
    assert seconds_for_move(parse_go(words.split()), turn) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("level", "go", "expected"),
    [
        (7, "go", {"level": 7}),
        (7, "go movetime 60000", {"level": 7, "seconds": 60.0}),
        (7, "go movetime 50", {"level": 7, "seconds": 0.05}),
        (7, "go nodes 600000", {"level": 7}),
        (7, f"go nodes {STRENGTHS[6].nodes // 10}", {"level": 7, "scale": 0.1}),
        (7, "go depth 2", {"level": 4}),
        (7, "go depth 0", {"level": 1}),
        (7, "go depth 9", {"level": 7}),
        (2, "go depth 3", {"level": 2}),
        (STRONGEST, "go", {"level": STRONGEST}),
    ],
)
def test_a_level_gets_its_own_budget_or_less(
    level: int, go: str, expected: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[dict[str, float]] = []

    def choose(position: Position, level: int, *, seed: int, **budget: float | None) -> int:
        assert seed == 11
        calls.append({"level": level} | {key: x for key, x in budget.items() if x is not None})
        return legal_cells(position)[0]

    monkeypatch.setattr(levels, "choose", choose)
    Talk(f"setoption name Level value {level}", "setoption name Seed value 11").ask(go)
    assert calls == [{"level": 1}, expected]


def test_the_same_seed_gives_the_same_move() -> None:
    talk = Talk("setoption name Level value 6", "position startpos moves e7")
    assert talk.ask("go") == talk.ask("go")


# --- The oracle -----------------------------------------------------------------------------


@pytest.mark.parametrize(("ply", "value"), [(16, "win"), (16, "loss"), (20, "draw")])
def test_what_can_be_proven_is_proven_and_kept(ply: int, value: str) -> None:
    position = solved(ply, value)
    talk = Talk(f"position fen {format_position(position)}")
    move = talk.ask(f"go movetime {1000 * LONG:.0f}")
    assert f"info string proven: {value} for the side to move" in talk.heard
    after = position.after(next(c for c in legal_cells(position) if format_cell(c) == move))
    kept = {"win": -1, "draw": 0, "loss": 1}[value]
    assert Solver(position.layout, Limits(memory=16 * MIB)).value(after) == kept


def test_nodes_are_counted_and_kept() -> None:
    talk = Talk("setoption name Hash value 4")
    move = talk.ask("go nodes 5000")
    assert move in legal_names(START)
    found = re.fullmatch(r"info nodes (\d+) nps \d+ time \d+ pv " + move, talk.heard[-2])
    assert found
    assert 5000 <= int(found[1]) < 6000
    assert re.search(r"score cp -?\d+ pv [a-g][1-7]$", talk.heard[0])
    assert Talk("setoption name Hash value 4").ask("go nodes 5000") == move


def test_time_is_kept() -> None:
    talk = Talk("isready")
    started = time.perf_counter()
    assert talk.ask("go movetime 150") in legal_names(START)
    assert time.perf_counter() - started < 1.5


def test_a_forced_move_is_not_thought_about() -> None:
    position = forced_position()
    talk = Talk(f"position fen {format_position(position)}")
    assert talk.ask(f"go movetime {1000 * LONG:.0f}") == legal_names(position)[0]


def test_the_table_lives_as_long_as_its_game_and_its_options() -> None:
    talk = Talk("setoption name Hash value 4")
    talk.ask("go nodes 100")
    oracle = talk.session._oracle
    assert oracle is not None
    talk.ask("position startpos moves e7", "go nodes 100")
    assert talk.session._oracle is oracle
    talk.ask("setoption name Threads value 2", "go nodes 100")
    second = talk.session._oracle
    assert second is not oracle
    assert second is not None
    assert second.solver.limits == Limits(memory=4 * MIB, threads=2)
    talk.say("uginewgame")
    assert talk.session._oracle is None


# --- Stopping -------------------------------------------------------------------------------


def test_stop_is_answered_at_once_with_a_legal_move() -> None:
    talk = Talk("isready", "go infinite")
    wait_until(lambda: len(talk.heard) >= 4)
    started = time.perf_counter()
    *_, move = talk.say("stop")
    # 50 ms are promised on a machine of its own; this one may be busy.
    assert time.perf_counter() - started < 0.5
    assert move.removeprefix("bestmove ") in legal_names(START)
    said = len(talk.heard)
    assert talk.say("stop") == []
    time.sleep(0.05)
    assert len(talk.heard) == said


@pytest.mark.parametrize("level", [1, 7, 11])
def test_an_infinite_search_at_any_level_waits_for_stop(
    level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = legal_cells(START)[:2]
    moves = iter([first, second])
    monkeypatch.setattr(levels, "choose", lambda *_, **__: next(moves))
    talk = Talk(f"setoption name Level value {level}", "go infinite")
    search = talk.session._search
    assert search is not None
    wait_until(lambda: search.best == second)
    assert not search.is_over
    assert talk.heard == []
    assert talk.say("stop")[-1] == f"bestmove {format_cell(second)}"


def test_an_infinite_search_of_a_forced_move_waits_for_stop() -> None:
    position = forced_position()
    talk = Talk(f"position fen {format_position(position)}", "go infinite")
    search = talk.session._search
    assert search is not None
    assert not search.is_over
    assert talk.say("stop")[-1] == f"bestmove {legal_names(position)[0]}"


def test_stop_before_anything_is_found_is_answered_too() -> None:
    talk = Talk("isready")
    talk.say("go infinite", "stop")
    assert talk.heard[-1].removeprefix("bestmove ") in legal_names(START)
    assert talk.ask("go nodes 10") in legal_names(START)


def test_only_few_commands_are_for_a_search_that_is_under_way() -> None:
    talk = Talk("isready", "go infinite")
    for line in ("go", "go fly", "position startpos", "uginewgame", "setoption name Level value 1"):
        errors = [said for said in talk.say(line) if "error" in said]
        assert len(errors) == 1
        assert "a search is running: expected isready, query, stop or quit" in errors[0]
    assert "at most 4096 characters" in " ".join(talk.say("go " + 5000 * "x"))
    # The search that is under way will give the move that the other program waits for.
    assert not any(said.startswith("bestmove") for said in talk.heard)
    assert "readyok" in talk.say("isready")
    assert "response true" in talk.say("query p1turn")
    assert not talk.session.handle("quit")
    assert talk.heard[-1].startswith("bestmove ")


def test_who_has_heard_the_move_may_go_on_at_once() -> None:
    heard: list[str] = []
    other = threading.Thread(target=lambda: session.handle("position startpos moves e7"))

    def write(line: str) -> None:
        heard.append(line)
        if line.startswith("bestmove"):
            other.start()
            time.sleep(0.05)

    session = Session(write)
    session.handle("setoption name Level value 1")
    session.handle("go")
    assert session._search is not None
    session._search.wait()
    other.join()
    assert heard[-1].startswith("bestmove")
    assert session._position == START.after(legal_cells(START)[legal_names(START).index("e7")])


def test_the_end_of_input_stops_what_has_no_end_and_waits_for_the_rest() -> None:
    for go in (b"go infinite\n", b"go nodes 200\n"):
        talk = Talk("setoption name Hash value 1")
        talk.session.serve(io.BytesIO(go))
        assert talk.heard[-1].startswith("bestmove ")


def test_quit_ends_a_session() -> None:
    talk = Talk()
    talk.session.serve(io.BytesIO(b"quit\nisready\n"))
    assert talk.heard == []


def test_a_search_that_does_not_listen_is_answered_for() -> None:
    heard: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def think(search: Search) -> int:
        search.best = 8
        begun.set()
        go_on.wait(LONG)
        search.report("info string too late")
        return 9

    search = Search(think, 7, Task(), heard.append)
    assert begun.wait(LONG)
    search.stop()
    assert heard[-1] == f"bestmove {format_cell(8)}"
    go_on.set()
    search._thread.join(LONG)
    search.stop()
    assert len(heard) == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [(ValueError("one\n  two"), "one two"), (MemoryError(), "MemoryError")],
)
def test_a_search_that_fails_says_why_and_still_answers(error: Exception, said: str) -> None:
    heard: list[str] = []

    def think(_: Search) -> int:
        raise error

    search = Search(think, 7, Task(), heard.append)
    search.wait()
    assert heard[0] == f"info string error: {said}"
    assert heard[-1] == f"bestmove {format_cell(7)}"


@pytest.mark.parametrize("seconds", [None, 0.01])
def test_a_search_ends_quietly_when_nobody_listens_any_more(seconds: float | None) -> None:
    def say(_: str) -> None:
        raise BrokenPipeError

    def think(search: Search) -> int:
        if seconds is None:
            search.report("info string hello")
        assert search.cancelled.wait(LONG)
        return 7

    search = Search(think, 7, Task(seconds=seconds), say)
    search.wait()
    assert search.is_over


# --- The program ----------------------------------------------------------------------------


def run_program(stdin: bytes, before: str = "") -> "subprocess.CompletedProcess[bytes]":
    code = f"{before}\nfrom kamon.cli.ugi import run\nrun()"
    return subprocess.run(
        [sys.executable, "-c", code], input=stdin, capture_output=True, check=False, timeout=60
    )


def test_another_program_can_play_with_it() -> None:
    done = run_program(
        b"ugi\r\nsetoption name Level value 2\nisready\nposition startpos moves e7\n"
        b"\xc3\xa9\ngo movetime 2000\n"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[6:8] == ["ugiok", "readyok"]
    assert "'é': expected a command" in lines[8]
    assert lines[-1].startswith("bestmove ")


def test_where_the_kernel_is_missing_that_is_said_and_a_move_comes_anyhow() -> None:
    done = run_program(b"isready\ngo movetime 20000\n", "import sys\nsys.modules['numba'] = None")
    assert (done.returncode, done.stderr) == (0, b"")
    first, ready, second, _, move = done.stdout.decode().splitlines()
    assert first == second
    assert "the engine needs numba" in first
    assert ready == "readyok"
    assert move.removeprefix("bestmove ") in legal_names(START)


def test_the_command_speaks_on_the_standard_streams(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"query result\nquit\n")))
    command.run()
    assert capfdbinary.readouterr().out == b"response none\n"


def test_closed_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(typer.BadParameter, match="standard input is closed"):
        command.run()
