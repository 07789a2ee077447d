"""``kamon play``: whole games by what two people type."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kamon.cli.app import app, main
from kamon.cli.play import Opponent
from kamon.game import Game
from kamon.layout import Layout
from kamon.notation import format_cell, format_line
from kamon.position import Side
from kamon.record import read_records
from kamon.rules import legal_cells

GAMES = (Path(__file__).parent / "data" / "games.txt").read_text().splitlines()
SCRIPT = Path(sys.executable).with_name("kamon")
SEED_7 = "B4B1D6E6/F6F5F3D3F2/B3A4C3E3D4E4/A1C5B2E1D1C2A5/E2D2B5F4E5C1/F1C4A2--C6/A3D5A6B6"


@pytest.fixture(autouse=True)
def games_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the games of a test in a folder of its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "kamon" / "games"


def play(*arguments: str | Path, typed: str = "") -> Result:
    """Sit down, type lines, and leave by the end of input."""
    result = CliRunner().invoke(app, ["play", *map(str, arguments)], input=typed)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def kept_games(folder: Path) -> list[Game]:
    games = []
    for path in sorted(folder.glob("*")):
        with path.open(encoding="utf-8") as stream:
            games += list(read_records(stream))
    return games


def kept_line(folder: Path) -> str:
    (game,) = kept_games(folder)
    return format_line(game)


def saved(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def empty_board(path: Path, layout: str) -> Path:
    return saved(path, f'[Layout "{layout}"]\n\n*\n')


def ended(how: str) -> tuple[str, list[str]]:
    """Return layout and moves of a game of the collection."""
    layout, *moves = next(line for line in GAMES if line.endswith(how)).split(" ;")[0].split()
    return layout, moves


# --- Beginning ------------------------------------------------------------------------------


def test_a_seed_gives_its_board_and_black_begins() -> None:
    result = play("--seed", "7")
    assert result.exit_code == 0
    assert "This is the board of seed 7." in result.stdout
    assert "Black begins on an edge space, but not on a corner: b1 c1 a2" in result.stdout
    assert "Black plays: " in result.stdout


def test_without_a_seed_the_seed_is_told_and_repeats_the_board() -> None:
    first = play().stdout
    (seed,) = re.findall(r"This is the board of seed (\d+)\.", first)
    assert play("--seed", seed).stdout == first


def test_a_game_without_a_move_is_not_kept(games_folder: Path) -> None:
    assert "kept" not in play("--seed", "7", typed="quit\n").stdout
    assert kept_games(games_folder) == []


@pytest.mark.parametrize("seed", ["-1", str(2**64), "x"])
def test_a_seed_beyond_the_limits_is_refused(seed: str) -> None:
    assert play("--seed", seed).exit_code == 2


def test_a_file_a_seed_and_the_last_game_exclude_each_other(tmp_path: Path) -> None:
    assert play("--seed", "7", "--resume").exit_code == 2
    assert play(tmp_path / "a.pgn", "--seed", "7").exit_code == 2
    assert play(tmp_path / "a.pgn", "--resume").exit_code == 2


def test_there_must_be_a_game_to_resume() -> None:
    result = play("--resume")
    assert result.exit_code == 2
    assert "no game to resume" in result.stderr


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "does not contain a game"), (b"\xff\xfe", "not UTF-8"), (None, "No such file")],
    ids=["empty", "bytes", "missing"],
)
def test_a_file_that_holds_no_game_is_told_with_status_2(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "game.pgn"
    if content is not None:
        path.write_bytes(content)
    result = play(path)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_bad_record_is_told_with_its_place_and_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path / "game.pgn", f'[Layout "{SEED_7}"]\n\n1. a1 *\n')
    monkeypatch.setattr(sys, "argv", ["kamon", "play", str(path)])
    with pytest.raises(SystemExit, match=r"^kamon: line 3, column 4: a1 cannot be played"):
        main()


def test_a_game_may_be_typed_by_another_program(
    games_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["kamon", "play", "--seed", "7"])
    monkeypatch.setattr(sys, "stdin", io.StringIO("c1\na2\n"))
    with pytest.raises(SystemExit, match=r"^0$"):
        main()
    assert kept_line(games_folder) == f"{SEED_7} c1 a2"


def test_a_saved_game_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = saved(tmp_path / "game.pgn", f'\ufeff[Round "1"]\n[Layout "{SEED_7}"]\n\n1. c1 *\n')
    assert "White plays: " in play(path).stdout


def test_a_data_folder_that_cannot_be_made_is_told_with_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(saved(tmp_path / "file", "")))
    assert play("--seed", "7").exit_code == 2


# --- Whole games ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (
            "black connection",
            r"Black connects (\w+) to \1 through ( ?[a-g][1-7])+\. Black has won\.",
        ),
        ("white loop", r"White closes a loop around [a-g1-7 ]+\. White has won\."),
        (
            "black connection+loop",
            r"Black connects .* and closes a loop around [a-g1-7 ]+\. Black has won\.",
        ),
        (
            "black block",
            r"Black leaves White nothing to play: White needs any .*, or anything .* has won\.",
        ),
        ("draw full", r"A draw: all the tokens are covered and nobody has won\."),
    ],
)
def test_a_whole_game_is_played_to_its_end_and_kept(
    how: str, said: str, tmp_path: Path, games_folder: Path
) -> None:
    layout, moves = ended(how)
    board = empty_board(tmp_path / "board.pgn", layout)
    result = play(board, typed="\n".join([*moves, "quit"]))
    assert result.exit_code == 0
    assert re.search(f"^{said}$", result.stdout, re.MULTILINE)
    assert "The game is over (undo, save FILE, quit): " in result.stdout
    (game,) = kept_games(games_folder)
    winner, termination = how.split()
    assert game.result is not None
    assert (game.result.winner.value if game.result.winner else "draw") == winner
    assert game.result.termination == termination
    assert format_line(game) == " ".join([layout, *moves])


def test_a_game_of_a_seed_is_kept_with_its_seed_and_its_date(games_folder: Path) -> None:
    result = play("--seed", "7", typed="c1\na2\nquit\n")
    assert "To match green fan (D6): d1 a2 d2 e3 e4 c5 g6 e7 f7 g7" in result.stdout
    (game,) = kept_games(games_folder)
    assert format_line(game) == f"{SEED_7} c1 a2"
    assert game.tags["Seed"] == "7"
    assert game.tags["Edition"] == "2020"
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", game.tags["Date"])
    (path,) = games_folder.iterdir()
    assert f"The game is saved in {path}" in result.stdout


def test_a_resigned_game_is_won_by_the_other_side(games_folder: Path) -> None:
    result = play("--seed", "7", typed="c1\nresign\nquit\n")
    assert "White has resigned." in result.stdout
    (game,) = kept_games(games_folder)
    assert game.result is not None
    assert game.result.winner is not None
    assert (game.result.winner.value, game.result.termination) == ("black", "resignation")


def test_after_a_resignation_nobody_moves_or_resigns_until_it_is_taken_back(
    games_folder: Path,
) -> None:
    result = play("--seed", "7", typed="c1\nresign\na2\nresign\nundo\na2\n")
    assert "undo lets you play on" in result.stdout
    assert "the game is already over" in result.stdout
    (game,) = kept_games(games_folder)
    assert game.result is None
    assert format_line(game) == f"{SEED_7} c1 a2"


def test_a_move_after_the_end_is_refused(tmp_path: Path) -> None:
    layout, moves = ended("white loop")
    board = empty_board(tmp_path / "board.pgn", layout)
    assert "the game is over" in play(board, typed="\n".join([*moves, "a1"])).stdout


@pytest.mark.parametrize("termination", ["time", "agreement"])
def test_a_saved_game_that_ended_otherwise_is_not_called_resigned(
    termination: str, tmp_path: Path
) -> None:
    result = "1/2-1/2" if termination == "agreement" else "1-0"
    path = saved(
        tmp_path / "game.pgn",
        f'[Termination "{termination}"]\n[Layout "{SEED_7}"]\n\n1. c1 {result}\n',
    )
    shown = play(path)
    assert shown.exit_code == 0
    assert "resigned" not in shown.stdout
    assert termination in shown.stdout


# --- What can be typed ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("d4", "d4 cannot be played: Black begins on an edge space, not inside"),
        ("f6", "f6 cannot be played: it is the neutral space"),
        ("c1\nc1", "c1 cannot be played: there is already a stone on it"),
        ("c1\nb1", "B1 has neither the letter nor the digit of D6 on c1"),
        ("C1", "'C1' is not a space"),
        ("fly away", "'fly' is not a space"),
        ("\x00\x1b[2J", r"'\x00\x1b[2J' is not a space"),
        ("x" * 10_000, "'" + "x" * 39 + "…' is not a space"),
        ("undo", "there is nothing to take back"),
        ("redo", "there is nothing to redo"),
        ("save", "save needs a file name"),
        ("save!", "save needs a file name"),
    ],
)
def test_what_cannot_be_done_is_told_and_the_game_goes_on(typed: str, reason: str) -> None:
    result = play("--seed", "7", typed=f"{typed}\nhelp\n")
    assert reason in result.stdout
    assert "take a move back" in result.stdout


def test_typed_bytes_that_are_no_text_are_told_and_the_game_goes_on() -> None:
    result = subprocess.run(
        [SCRIPT, "play", "--seed", "7"],
        input=b"\xff\xfe\nhelp\n",
        capture_output=True,
        check=False,
        timeout=60,
        env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"},
    )
    assert b"Traceback" not in result.stderr
    assert b"take a move back" in result.stdout


def test_empty_lines_ask_again() -> None:
    assert play("--seed", "7", typed="\n   \n").stdout.count("Black plays: ") == 3


def test_help_tells_what_can_be_typed_and_what_the_letters_mean() -> None:
    shown = play("--seed", "7", typed="help\n").stdout
    for word in ("undo", "redo", "save FILE", "save! FILE", "resign", "board", "help", "quit"):
        assert word in shown
    assert "A butterfly" in shown


def test_the_board_is_shown_again() -> None:
    assert play("--seed", "7", typed="board\n").stdout.count("a1    b1") == 2


def test_undo_and_redo_walk_along_the_game(games_folder: Path) -> None:
    shown = play("--seed", "7", typed="c1\na2\nundo\nundo\nredo\nredo\nredo\n").stdout
    prompts = re.findall("(Black|White) plays: ", shown)
    assert prompts == ["Black", "White", "Black", "White", "Black", "White", "Black", "Black"]
    assert "there is nothing to redo" in shown
    assert kept_line(games_folder) == f"{SEED_7} c1 a2"


def test_what_was_taken_back_stays_as_a_variation_of_what_was_played_instead(
    games_folder: Path,
) -> None:
    play("--seed", "7", typed="c1\na2\nundo\nd1\n")
    (game,) = kept_games(games_folder)
    assert format_line(game) == f"{SEED_7} c1 d1"
    (first,) = game.root.children
    cells = [child.cell for child in first.children if child.cell is not None]
    assert list(map(format_cell, cells)) == ["d1", "a2"]


def test_after_a_win_is_taken_back_the_game_is_not_over(tmp_path: Path) -> None:
    layout, moves = ended("white loop")
    board = empty_board(tmp_path / "board.pgn", layout)
    shown = play(board, typed="\n".join([*moves, "undo"])).stdout
    assert shown.splitlines()[-2].startswith("White plays: ")


def test_after_a_win_is_taken_back_one_may_resign_instead(
    tmp_path: Path, games_folder: Path
) -> None:
    layout, moves = ended("white loop")
    board = empty_board(tmp_path / "board.pgn", layout)
    shown = play(board, typed="\n".join([*moves, "undo", "resign"])).stdout
    assert "White has resigned." in shown
    (game,) = kept_games(games_folder)
    assert game.result is not None
    assert game.result.termination == "resignation"


def test_a_move_taken_back_is_still_taken_back_when_the_game_is_resumed() -> None:
    play("--seed", "7", typed="c1\na2\nundo\nquit\n")
    assert "White plays: " in play("--resume").stdout


# --- Saving and resuming --------------------------------------------------------------------


def test_a_game_is_saved_and_gone_on_with(tmp_path: Path, games_folder: Path) -> None:
    path = tmp_path / "my friday.pgn"
    assert f"saved to {path}" in play("--seed", "7", typed=f"c1\nsave {path}\n").stdout
    result = play(path, typed="a2\n")
    assert "White plays: " in result.stdout
    lines = {format_line(game) for game in kept_games(games_folder)}
    assert lines == {f"{SEED_7} c1", f"{SEED_7} c1 a2"}
    with path.open() as stream:
        assert [format_line(game) for game in read_records(stream)] == [f"{SEED_7} c1"]


def test_save_overwrites_only_with_an_exclamation_mark(tmp_path: Path) -> None:
    path = saved(tmp_path / "friday.pgn", "mine")
    assert "already exists" in play("--seed", "7", typed=f"c1\nsave {path}\n").stdout
    assert path.read_text() == "mine"
    assert "saved to" in play("--seed", "7", typed=f"c1\nsave! {path}\n").stdout
    assert path.read_text().endswith("1. c1 *\n")


@pytest.mark.parametrize(
    "save",
    [
        "save! {folder}",
        "save {folder}/nowhere/a.pgn",
        "save ~nobody-of-this-name/a.pgn",
        "save a\x00b",
        "save " + "x" * 300,
    ],
    ids=["folder", "nowhere", "nobody", "nul", "long"],
)
def test_a_name_that_cannot_be_written_is_told_and_the_game_goes_on(
    save: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    result = play("--seed", "7", typed=f"c1\n{save.format(folder=folder)}\na2\n")
    assert result.exit_code == 0
    assert "saved to" not in result.stdout
    assert "To match green door (F6)" in result.stdout
    assert list(folder.iterdir()) == []


def test_the_last_game_is_resumed_in_its_own_file(games_folder: Path) -> None:
    play("--seed", "3", typed="b1\nquit\n")
    (older,) = games_folder.iterdir()
    os.utime(older, (1, 1))
    play("--seed", "7", typed="c1\nquit\n")
    result = play("--resume", typed="a2\n")
    assert "White plays: " in result.stdout
    assert len(kept_games(games_folder)) == 2
    assert f"{SEED_7} c1 a2" in {format_line(game) for game in kept_games(games_folder)}


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let children be interrupted even where this process was started to ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def game_after_c1() -> Iterator["subprocess.Popen[bytes]"]:
    """Start a game of seed 7 as people do, play c1 and wait until White is asked."""
    with (
        interruptible(),
        subprocess.Popen(
            [SCRIPT, "play", "--seed", "7"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"c1\n")
        process.stdin.flush()
        shown = b""
        while b"White plays: " not in shown:
            fresh = os.read(process.stdout.fileno(), 4096)
            assert fresh, shown
            shown += fresh
        yield process


def test_an_interrupted_game_is_kept_and_says_so(games_folder: Path) -> None:
    with game_after_c1() as process:
        process.send_signal(signal.SIGINT)
        shown, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (0, b"")
    assert b"The game is saved in" in shown
    assert kept_line(games_folder) == f"{SEED_7} c1"


def test_every_move_is_kept_even_when_the_power_fails(games_folder: Path) -> None:
    with game_after_c1() as process:
        process.kill()
    assert kept_line(games_folder) == f"{SEED_7} c1"


def test_the_end_of_input_keeps_the_game(games_folder: Path) -> None:
    assert "The game is saved in" in play("--seed", "7", typed="c1").stdout
    assert kept_line(games_folder) == f"{SEED_7} c1"


# --- Editions -------------------------------------------------------------------------------


def test_a_game_in_the_edition_of_2007_speaks_its_words(games_folder: Path) -> None:
    shown = play("--seed", "7", "--edition", "2007", typed="c1\nhelp\n").stdout
    assert "on the pile: D6, six ankhs" in shown
    assert "To match six ankhs (D6): " in shown
    assert "A leaf" in shown
    (game,) = kept_games(games_folder)
    assert game.tags["Edition"] == "2007"


def test_a_block_is_told_in_the_words_of_2007(tmp_path: Path) -> None:
    layout, moves = ended("white block")
    board = empty_board(tmp_path / "board.pgn", layout)
    shown = play(board, "--edition", "2007", typed="\n".join(moves)).stdout
    assert re.search(r"Black needs any \w+, or anything printed [\w ]+\. White has won\.", shown)


def test_a_link_is_told_by_the_animals_of_2007(tmp_path: Path) -> None:
    layout, moves = ended("black connection")
    board = empty_board(tmp_path / "board.pgn", layout)
    shown = play(board, "--edition", "2007", typed="\n".join(moves)).stdout
    assert re.search(r"Black connects (snake|ibis|frog) to \1 through ", shown)


def test_a_resumed_game_keeps_its_edition() -> None:
    play("--seed", "7", "--edition", "2007", typed="c1\n")
    assert "To match six ankhs (D6): " in play("--resume").stdout


def test_a_level_that_needs_the_engine_gets_it_ready_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepared: list[bool] = []
    monkeypatch.setattr("kamon.cli.play.prepare", lambda: prepared.append(True))
    game = Game(Layout.shuffled(1))
    for level in (1, 6):
        assert Opponent(level, Side.BLACK).choose(game) in legal_cells(game.position)
    assert prepared == [True]
