"""Matches: players good and bad, pairs of games, and what the numbers say."""

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from kamon import (
    Game,
    Layout,
    Position,
    Side,
    format_cell,
    format_layout,
    format_line,
    legal_cells,
)
from kamon.cli import match
from kamon.engine import levels
from kamon.engine.matches import (
    EngineStartError,
    FinishedGame,
    Pace,
    Player,
    PlayerError,
    Score,
    client,
    interval,
    parse_player,
    play_game,
    play_match,
    summary,
)
from kamon.engine.matches.client import UgiClient
from kamon.engine.matches.players import LevelPlayer, UgiPlayer
from kamon.errors import EngineMissingError, FormatError
from kamon.game import OffBoard
from kamon.record import read_records

QUICK = Pace(scale=0.02)
START = Position(Layout.shuffled(0))

# Level 4 against level 1 on the boards of seeds 3 and 4, and what is told of it.
GOLDEN = [
    "c6 c5 e4 b4 c1 d1 d2 d6 f7 b1 e5 f3 a3 e6 f6 b2 g4 e2 d3",
    "b1 d5 f6 g4 e6 g5 b3 d7 b4 c5 c1 b2 a4 d6 c6 f4 f3 e4 d1 e2 d4 a2 b5 f5 d2 e5",
    "g5 a4 d5 g6 f5 f6 d6 e2 c4 a1 g4 c6 f3 b2 c3 d2 e5 e7 f4 b5 d7",
    "c6 d3 c4 c5 f5 d4 f6 f3 e2 b4 b3 b5 f4 e3 a4 d5",
]
SUMMARY = [
    "boards start at seed 3",
    "level:4 against level:1: 4 won, 0 drawn, 0 lost of 4",
    "score 100.0 %, with 95 % confidence from 34.2 % to 100.0 % (pairs of games: 2)",
]

# A program that speaks the protocol; what it does on ``go`` is put in, and what it does first.
PROGRAM = """
import sys, time
def say(*words):
    print(*words, flush=True)
{first}
for line in sys.stdin:
    words = line.split()
    if words[0] == "ugi":
        say("ugiok")
    elif words[0] == "isready":
        say("readyok")
    elif words[0] == "position":
        fields = words[2:]
    elif words[0] == "quit":
        {quit}
    elif words[0] == "go":
        {go}
"""
LEGAL = (
    "from kamon import *; "
    "position = parse_line(' '.join(fields)).position; "
    "say('bestmove', format_cell(legal_cells(position)[0]))"
)


def program(go: str = LEGAL, *, first: str = "", end: str = "break") -> list[str]:
    return [sys.executable, "-c", PROGRAM.format(go=go, first=first, quit=end)]


def engine(command: list[str], *, start: float = 30.0, grace: float = 30.0) -> UgiPlayer:
    return UgiPlayer("engine", command, 0.05, start=start, grace=grace)


@contextlib.contextmanager
def closing(*players: Player) -> Iterator[None]:
    try:
        yield
    finally:
        for player in players:
            player.close()


def lines_of(one: str, other: str, pace: Pace, *, games: int) -> list[str]:
    players = parse_player(one, pace), parse_player(other, pace)
    finished = play_match(*players, games=games, seed=3)
    return [format_line(each.game).partition(" ")[2] for each in finished]


# --- Players --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "level",
            "level:",
            "level:0",
            "level:13",
            "level:x",
            "level:-1",
            "level:٣",
            "Level:1",
        ),
        *("uct:0", "uct:1e3", "uct:999999999", "ugi:", "ugi:  ", "ugi:'", "fly:1", "uct"),
    ],
)
def test_what_is_no_player_is_told(text: str) -> None:
    with pytest.raises(FormatError, match="is not a player: expected level:1 to level:12"):
        parse_player(text, Pace())


@pytest.mark.parametrize("text", ["level:1", "uct:100", "ugi:engine --fast"])
def test_a_player_is_named_as_it_was_asked_for(text: str) -> None:
    player = parse_player(text, Pace())
    assert player.name == text
    player.close()


def test_a_match_of_levels_can_be_repeated_to_the_move() -> None:
    assert lines_of("level:4", "level:1", Pace(), games=4) == GOLDEN


def test_plain_tree_search_plays_and_can_be_repeated() -> None:
    first = lines_of("uct:50", "level:4", QUICK, games=2)
    assert first == lines_of("uct:50", "level:4", QUICK, games=2)


def test_the_oracle_thinks_on_its_opponents_time_too() -> None:
    player = parse_player("level:12", Pace(seconds=0.05, ahead=True))
    player.new_game(1)
    after = START.after(player.choose(START))
    time.sleep(0.2)
    reply = legal_cells(after)[0]
    assert player.choose(after.after(reply)) in legal_cells(after.after(reply))
    player.close()
    assert isinstance(player, LevelPlayer)
    assert player._thinking_ahead is None


def test_the_oracle_keeps_what_it_knows_for_the_length_of_a_game() -> None:
    player = parse_player("level:12", Pace(seconds=0.05))
    assert isinstance(player, LevelPlayer)
    player.new_game(1)
    after = START.after(player.choose(START))
    oracle = player._oracle
    player.choose(after.after(legal_cells(after)[0]))
    assert player._oracle is oracle is not None
    player.new_game(2)
    assert player._oracle is None


def test_ctrl_c_between_two_games_ends_the_match(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def stopped() -> Iterator[Callable[[], bool]]:
        yield lambda: True

    monkeypatch.setattr(match, "stopped_by_hand", stopped)
    result = kamon_match("level:1", "level:2", "--games", "4")
    assert result.exit_code == 130
    assert "of 1" in result.stdout


def test_plain_uct_can_be_given_a_time() -> None:
    player = parse_player("uct", Pace(seconds=0.05))
    player.new_game(1)
    started = time.perf_counter()
    assert player.choose(START) in legal_cells(START)
    assert time.perf_counter() - started < 2


def test_a_level_can_be_given_a_time() -> None:
    player = parse_player("level:4", Pace(seconds=0.01))
    player.new_game(1)
    assert player.choose(START) in legal_cells(START)


# --- Games ----------------------------------------------------------------------------------


def test_each_board_is_played_from_both_sides() -> None:
    players = parse_player("level:1", Pace()), parse_player("level:2", Pace())
    finished = list(play_match(*players, games=3, seed=7))
    assert [each.side for each in finished] == [Side.BLACK, Side.WHITE, Side.BLACK]
    layouts = [Layout.shuffled(seed) for seed in (7, 7, 8)]
    assert [each.game.layout for each in finished] == layouts
    tags = finished[1].game.tags
    assert (tags["Black"], tags["White"]) == ("level:2", "level:1")
    assert (tags["Round"], tags["Seed"]) == ("1.2", "7")


@pytest.mark.parametrize(("side", "points"), [(Side.BLACK, 0.0), (Side.WHITE, 1.0)])
def test_points_go_to_the_winner(side: Side, points: float) -> None:
    game = Game(START)
    game.end_off_board(Side.WHITE, OffBoard.TIME)
    assert FinishedGame(game, side).points == points


def test_a_draw_is_half_a_point() -> None:
    game = Game(START)
    game.end_off_board(None, OffBoard.AGREEMENT)
    assert FinishedGame(game, Side.WHITE).points == 0.5


# --- Programs -------------------------------------------------------------------------------


def play_two(black: UgiPlayer) -> list[tuple[Game, str]]:
    """Play two games against a level."""
    players: dict[Side, Player] = {Side.BLACK: black, Side.WHITE: parse_player("level:1", Pace())}
    with closing(black):
        return [play_game(Layout.shuffled(seed), players, seed) for seed in (1, 2)]


def test_a_program_plays_whole_games() -> None:
    for game, fault in play_two(engine(program())):
        assert fault == ""
        assert game.outcome is not None


def test_our_own_program_is_understood() -> None:
    code = "from kamon.cli.ugi import run; run()"
    player = engine([sys.executable, "-c", code])
    with closing(player):
        player.new_game(0)
        for position in (START, START.after(legal_cells(START)[0])):
            assert player.choose(position) in legal_cells(position)


@pytest.mark.parametrize(
    ("go", "by", "fault"),
    [
        ("sys.exit(3)", "resignation", "engine ended with status 3"),
        ("raise OSError('no disk')", "resignation", "engine ended with status 1: OSError: no disk"),
        (
            "say('bestmove d4')",
            "resignation",
            "played an illegal move: d4 cannot be played: Black begins",
        ),
        ("say('bestmove 0000')", "resignation", "played an illegal move: '0000' is not a space"),
        ("say('bestmove')", "resignation", "played an illegal move: '' is not a space"),
        ("say('info'); say()", "time", "engine did not send bestmove within 0.35 s"),
        ("sys.stdout.buffer.write(b'bestmove \\xff\\n'); say()", "resignation", "is not a space"),
    ],
)
def test_a_fault_loses_the_game_and_the_next_has_a_new_process(
    go: str, by: str, fault: str
) -> None:
    patience = 0.3 if by == "time" else 30.0
    for game, said in play_two(engine(program(go), grace=patience)):
        assert fault in said
        assert game.result is not None
        assert (game.result.winner, game.result.termination) == (Side.WHITE, by)
        assert game.node.comment == said


def end(running: UgiClient) -> None:
    """End a program behind the back of the player that uses it."""
    running._process.kill()
    running._process.wait()


def test_a_program_that_ends_between_games_is_started_again() -> None:
    player = engine(program(end="pass"))
    with closing(player):
        player.new_game(0)
        first = player._client
        assert first is not None
        end(first)
        player.new_game(0)
        assert player._client is not first
        assert player.choose(START) == legal_cells(START)[0]


def test_a_program_that_stops_listening_is_gone() -> None:
    player = engine(program())
    with closing(player):
        player.new_game(0)
        assert player._client is not None
        end(player._client)
        with pytest.raises(PlayerError, match="was ended by signal 9"):
            player.choose(START)
        with pytest.raises(PlayerError, match="is not running"):
            player.choose(START)


def test_what_is_said_too_much_is_passed_over() -> None:
    twice = f"{LEGAL}; say('bestmove a1'); say(300 * 'bestmove b1\\n')"
    player = engine(program(twice))
    with closing(player):
        player.new_game(0)
        for _ in range(2):
            assert player.choose(START) == legal_cells(START)[0]


def test_a_move_may_be_followed_by_more_words() -> None:
    name = "b1" if 1 in legal_cells(START) else "c1"
    player = engine(program(f"say('bestmove {name} ponder c4')"))
    with closing(player):
        player.new_game(0)
        assert player.choose(START) in legal_cells(START)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/nowhere/engine"], "it does not run: No such file or directory"),
        (["\0"], "it does not run: embedded null byte"),
        ([sys.executable, "-c", "raise SystemExit('no licence')"], "with status 1: no licence"),
        (
            [sys.executable, "-c", "import os, time; os.close(1); os.close(2); time.sleep(60)"],
            "it closed its output",
        ),
    ],
)
def test_a_program_that_cannot_be_started_ends_the_match(
    command: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_END_SECONDS", 0.5)
    player = engine(command)
    with pytest.raises(EngineStartError) as caught:
        player.new_game(0)
    assert "engine cannot be started" in str(caught.value)
    assert reason in str(caught.value)


def test_a_program_that_speaks_something_else_cannot_be_started() -> None:
    player = engine(
        [sys.executable, "-c", "import time; print('hello'); time.sleep(60)"], start=0.3
    )
    with pytest.raises(EngineStartError, match=r"it did not send ugiok within 0\.3 s"):
        player.new_game(0)


def test_a_program_that_does_not_leave_is_made_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_END_SECONDS", 0.2)
    running = UgiClient("engine", program(end="pass"))
    running.quit()
    assert running._process.returncode is not None


def test_a_program_has_a_process_group_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert client._own_group() == {"start_new_session": True}
    monkeypatch.delattr(os, "killpg")
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    assert client._own_group() == {"creationflags": 0x200}


def test_a_program_plays_and_is_ended_without_process_groups(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As on Windows.
    monkeypatch.delattr(os, "killpg")
    monkeypatch.setattr(client, "_END_SECONDS", 0.2)
    player = engine(program(end="pass"))
    player.new_game(0)
    assert player.choose(START) == legal_cells(START)[0]
    running = player._client
    assert running is not None
    player.close()
    assert running._process.returncode is not None
    running.kill()


def test_every_line_is_logged_with_the_name_and_the_direction(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="kamon.engine.matches.client")
    talkative = "print('no book', file=sys.stderr, flush=True); say('info depth 1'); "
    player = engine(program(talkative + LEGAL))
    with closing(player):
        player.new_game(0)
        cell = player.choose(START)
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}
    from_stderr = [line for line in caplog.messages if "stderr" in line]
    assert from_stderr == ["engine stderr >> no book"]
    assert [line for line in caplog.messages if line not in from_stderr] == [
        "engine << ugi",
        "engine >> ugiok",
        "engine << uginewgame",
        "engine << isready",
        "engine >> readyok",
        f"engine << position fen {format_layout(START.layout)}",
        "engine << isready",
        "engine >> readyok",
        "engine << go movetime 50",
        "engine >> info depth 1",
        f"engine >> bestmove {format_cell(cell)}",
        "engine << quit",
    ]


# --- Statistics -----------------------------------------------------------------------------


def test_the_interval_of_a_known_example() -> None:
    # Ten pairs of mean 0.6 and sample variance 0.0722; Student's factor for nine is 2.262.
    pairs = [1.0, 0.5, 0.5, 0.75, 0.5, 1.0, 0.25, 0.5, 0.75, 0.25]
    found = interval(pairs)
    assert found is not None
    assert found == pytest.approx((0.4078, 0.7922), abs=5e-4)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # One degree of freedom: nothing is known.
        ([0.5, 1.0], (0.0, 1.0)),
        # Two: 0.5 and 4.303 times 0.5 over the root of three.
        ([0.0, 0.5, 1.0], (0.0, 1.0)),
        ([0.25, 0.5, 0.75] * 20, (0.4468, 0.5532)),
        # All alike: Wilson's interval.
        ([1.0] * 10, (0.7225, 1.0)),
        ([0.0] * 10, (0.0, 0.2775)),
        ([0.5] * 2, (0.0945, 0.9055)),
        ([0.5], (0.0546, 0.9454)),
    ],
)
def test_intervals(pairs: list[float], expected: tuple[float, float]) -> None:
    assert interval(pairs) == pytest.approx(expected, abs=5e-4)


def test_a_score_is_counted_in_games_and_in_pairs() -> None:
    score = Score((1.0, 0.5)).plus(0.0, 0.0).plus(1.0)
    assert (score.wins, score.draws, score.losses) == (2, 1, 2)
    assert score.share == 0.5
    assert score.pairs == [0.75, 0.0]


def test_before_the_first_pair_there_is_no_score() -> None:
    assert interval([]) is None
    assert Score().share == 0.5
    assert summary("a", "b", Score((1.0,))) == (
        "a against b: 1 won, 0 drawn, 0 lost of 1\n"
        "no board has been played from both sides, so there is no score yet"
    )


def test_a_summary_tells_all() -> None:
    score = Score((1.0, 1.0, 1.0, 0.0, 0.5, 1.0))
    assert summary("a", "b", score) == (
        "a against b: 4 won, 1 drawn, 1 lost of 6\n"
        "score 75.0 %, with 95 % confidence from 12.9 % to 100.0 % (pairs of games: 3)"
    )


# --- The command ----------------------------------------------------------------------------


def kamon_match(*arguments: str | Path) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(match.run)
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def games_in(path: Path) -> list[Game]:
    with path.open(encoding="utf-8") as stream:
        return list(read_records(stream))


def test_the_engine_is_compiled_before_a_match_that_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared = []
    monkeypatch.setattr("kamon.cli.match.prepare", lambda: prepared.append(True))
    assert kamon_match("level:1", "level:2", "--games", "1").exit_code == 0
    assert not prepared
    assert kamon_match("level:1", "uct:20", "--games", "1").exit_code == 0
    assert prepared == [True]


def test_a_match_tells_its_boards_and_its_score_and_keeps_its_games(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    result = kamon_match("level:4", "level:1", "--games", "4", "--seed", "3", "--output", path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == SUMMARY
    assert [format_line(game).partition(" ")[2] for game in games_in(path)] == GOLDEN
    kamon_match("level:1", "level:1", "--games", "1", "--output", path)
    assert len(games_in(path)) == 5


def test_without_a_seed_one_is_chosen_and_told() -> None:
    result = kamon_match("level:1", "level:1", "--games", "1")
    assert result.stdout.startswith("boards start at seed ")
    assert "level:1 #1 against level:1 #2" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["level:1", "level:0", "--games", "1"], "'level:0' is not a player"),
        (["level:1", "level:2"], "--games"),
        (["level:1", "level:2", "--games", "0"], "--games"),
        (["level:1", "level:2", "--games", "1", "--scale", "0"], "--scale must be more than 0"),
        (["level:1", "level:2", "--games", "1", "--think-ahead"], "needs --movetime"),
        (["level:1", "level:2", "--games", "1", "--scale", "nan"], "--scale must be more than 0"),
        (
            ["level:1", "level:2", "--games", "1", "--movetime", "inf"],
            "--movetime must be more than 0",
        ),
        (
            ["level:1", "level:2", "--games", "1", "--scale", "1", "--movetime", "1"],
            "cannot be used together",
        ),
        (["level:1", "level:2", "--games", "1", "--output", "/"], "cannot write /"),
        (["level:1", "level:2", "--games", "1", "--log", "/"], "cannot write /"),
    ],
)
def test_wrong_usage_is_told_with_status_2(arguments: list[str], message: str) -> None:
    result = kamon_match(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_the_lines_of_the_programs_can_be_written_to_a_file(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(program()[2])
    log = tmp_path / "lines.txt"
    name = f"ugi:'{sys.executable}' '{script}'"
    for games in (1, 2):
        result = kamon_match(name, name, "--games", "1", "--seed", "1", "--log", log)
        assert (result.exit_code, result.stderr) == (0, "")
        lines = log.read_text(encoding="utf-8").splitlines()
        for number in (1, 2):
            ends = [line.partition(f"{name} #{number} ")[2] for line in lines]
            assert ends.count("<< ugi") == ends.count(">> ugiok") == games
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ugi:", line) for line in lines)
    kamon_match(name, "level:1", "--games", "1")
    assert log.read_text(encoding="utf-8").splitlines() == lines
    assert not client.LOGGER.handlers


def test_a_fault_is_told_and_the_match_goes_on(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text(program("sys.exit(5)")[2])
    path = tmp_path / "games.pgn"
    name = f"ugi:'{sys.executable}' '{script}'"
    result = kamon_match(name, "level:1", "--games", "2", "--seed", "1", "--output", path)
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        f"kamon: game 1.{number}: {name} ended with status 5" for number in (1, 2)
    ]
    assert "0 won, 0 drawn, 2 lost of 2" in result.stdout
    assert [game.root.comment[-19:] for game in games_in(path)] == ["ended with status 5", ""]


def test_a_program_that_is_not_there_ends_the_match_with_status_1() -> None:
    result = kamon_match("level:1", "ugi:/nowhere/engine", "--games", "2")
    assert result.exit_code == 1
    assert result.stderr.startswith("kamon: ugi:/nowhere/engine cannot be started")
    assert "0 lost of 0" in result.stdout


def failing_after(count: int, error: BaseException) -> Callable[..., int]:
    """Choose moves like a level, but only so many."""
    real, asked = levels.choose, iter(range(count))

    def choose(position: Position, level: int, *, seed: int, **_: float) -> int:
        if next(asked, None) is None:
            raise error
        return real(position, level, seed=seed)

    return choose


@pytest.mark.parametrize(
    ("error", "status"), [(KeyboardInterrupt(), 130), (EngineMissingError(), 1)]
)
def test_what_ends_a_match_early_loses_no_finished_game(
    error: BaseException, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "choose", failing_after(80, error))
    path = tmp_path / "games.pgn"
    result = kamon_match("level:1", "level:1", "--games", "50", "--seed", "1", "--output", path)
    assert result.exit_code == status
    games = games_in(path)
    assert len(games) >= 2
    assert f"lost of {len(games)}" in result.stdout


def test_people_at_a_terminal_see_how_it_goes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    game = Game(START)
    game.tags["Round"] = "1.1"
    game.end_off_board(Side.WHITE, OffBoard.TIME)
    match._tell(FinishedGame(game, Side.WHITE, "it slept"), Score((1.0,)), 7)
    players = parse_player("level:1", Pace()), parse_player("level:2", Pace())
    assert match._play(players, 1, 5, None) == 0
    err = capsys.readouterr().err
    assert err.startswith("\nkamon: game 1.1: it slept\n\rgame 1 of 7: +1 =0 -0\rgame 1 of 1: ")
    assert err.endswith("\n")


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let children be interrupted even where this process was started to ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupted_match_tells_its_score(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    code = "import typer; from kamon.cli.match import run; typer.run(run)"
    arguments = ["level:1", "level:1", "--games", "100000", "--output", str(path)]
    with (
        interruptible(),
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 2000):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")
    assert f"lost of {len(games_in(path))}\nscore ".encode() in out
