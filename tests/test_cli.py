"""Every command but ``kamon play``: most in this process, a few as people start them."""

import contextlib
import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import typer
from typer.testing import CliRunner, Result

from kamon import __version__
from kamon.cli import app as program
from kamon.cli.files import write_whole
from kamon.render.palette import DARK, LIGHT

DATA = Path(__file__).parent / "data"
GAMES_FILE = DATA / "games.txt"
GAMES = GAMES_FILE.read_text().splitlines()
PERFT = (DATA / "perft.txt").read_text().splitlines()
SCRIPT = Path(sys.executable).with_name("kamon")
COMMANDS = [
    *["play", "serve", "copy", "new", "show", "status", "solve", "analyse", "match", "ugi"],
    *["perft", "convert", "admin", "census", "puzzles"],
]
LAST_SEED = 2**64 - 1

SEED_7 = "B4B1D6E6/F6F5F3D3F2/B3A4C3E3D4E4/A1C5B2E1D1C2A5/E2D2B5F4E5C1/F1C4A2--C6/A3D5A6B6"
BEGUN = f"{SEED_7} c1 a2"
NEUTRAL_FIRST = "--C2F5B4/E2B6F3D2A2/B1C1E5A6E1D5/A4D3F1A5B3F2C4/A1D1C3B2E3E6/A3B5C6D4F4/F6D6E4C5"


def kamon(*arguments: str | Path, stdin: str | bytes = b"") -> Result:
    """Run a command in this process. Only an exit is expected, never another exception."""
    result = CliRunner().invoke(program.app, [str(each) for each in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def script(*arguments: str | Path, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run the program as people do."""
    return subprocess.run(
        [SCRIPT, *arguments], input=stdin, capture_output=True, check=False, timeout=60
    )


def call_main(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int | str | None:
    """Run the whole program in this process, and return what it exits with."""
    monkeypatch.setattr(sys, "argv", ["kamon", *map(str, arguments)])
    with pytest.raises(SystemExit) as exit_:
        program.main()
    return exit_.value.code


def lines_of(result: Result) -> list[str]:
    return result.stdout.splitlines()


def comment_of(line: str) -> str:
    return line.partition(";")[2].strip()


# --- The program ----------------------------------------------------------------------------


def test_the_version_is_the_package_s() -> None:
    result = kamon("--version")
    assert (result.exit_code, result.stdout) == (0, f"kamon {__version__}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command(option: str) -> None:
    result = kamon(option)
    assert result.exit_code == 0
    assert re.findall(r"^  (\w+)  ", result.stdout, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_shows_examples_of_it(command: str) -> None:
    result = kamon(command, "--help")
    assert result.exit_code == 0
    assert f"kamon {command}" in result.stdout.partition("Examples:")[2]


def test_without_a_command_help_is_shown() -> None:
    assert "Commands:" in kamon().output


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["--fly"], ["new", "--fly"], ["status", "one", "two"], ["show", "--theme", "pink"]],
    ids=" ".join,
)
def test_wrong_usage_is_told_with_status_2(arguments: list[str]) -> None:
    result = kamon(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert result.stdout == ""


def test_the_program_starts_as_a_script_and_ends_well() -> None:
    result = script("new", "--seed", "7")
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == f"{SEED_7} ; seed 7\n".encode()


def test_the_program_ends_with_status_0_when_all_went_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert call_main(monkeypatch, "--version") == 0


@pytest.mark.parametrize("command", ["status", "perft", "convert"])
def test_a_missing_file_is_told_with_status_2(command: str, tmp_path: Path) -> None:
    depth = ["--depth", "1"] if command == "perft" else []
    result = kamon(command, tmp_path / "nowhere.txt", *depth)
    assert result.exit_code == 2
    assert "No such file" in result.stderr


@pytest.mark.parametrize("command", ["status", "perft", "convert"])
def test_a_folder_is_no_file_to_read(command: str, tmp_path: Path) -> None:
    depth = ["--depth", "1"] if command == "perft" else []
    result = kamon(command, tmp_path, *depth)
    assert result.exit_code == 2
    assert "is a directory" in result.stderr


def test_a_reader_that_has_seen_enough_ends_the_program_quietly() -> None:
    with subprocess.Popen(
        [SCRIPT, "status", GAMES_FILE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["outcome"]["winner"] == "black"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_complaints_that_nobody_reads_end_the_program_quietly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    complaints = os.fdopen(writer, "w")
    # The program gives its output's descriptor away, so it gets one that is nobody else's.
    with (tmp_path / "output").open("w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", complaints)
        assert call_main(monkeypatch, "status", tmp_path / "nowhere.txt") == 1
    with contextlib.suppress(BrokenPipeError):
        complaints.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.parametrize("command", ["new", "show", "status", "convert"])
def test_a_full_disk_is_told_without_a_traceback(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [SCRIPT, command],
            input=GAMES[0].encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=60,
        )
    assert b"No space left" in result.stderr
    assert b"Traceback" not in result.stderr
    assert result.returncode != 0


@pytest.mark.parametrize(
    ("arguments", "status"), [(["show", BEGUN], 0), (["status"], 2)], ids=["show", "status"]
)
def test_a_closed_standard_input_is_missed_only_by_who_reads_it(
    arguments: list[str], status: int
) -> None:
    result = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" <&-', "sh", SCRIPT, *arguments],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"Traceback" not in result.stderr
    assert result.returncode == status


def test_without_a_standard_input_a_file_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert call_main(monkeypatch, "status") == 2
    assert "standard input is closed" in capsys.readouterr().err


# --- kamon new ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "layout"),
    [
        (0, "A3A1B5D5/D6C6A4E3F4/--A5A2B1E6E2/B6D4F6C4D3D2A6/F5D1B2E5F1F3/C2B4E1C1C5/B3C3E4F2"),
        (7, SEED_7),
        (
            LAST_SEED,
            "E5C2C3C5/C6A5D2D1E1/B4--C4B3A4D6/A3E4F2B5A6E2E3/B1F5A2E6F6F4/D4F3D5B6F1/D3B2C1A1",
        ),
    ],
)
def test_a_seed_always_gives_the_same_layout(seed: int, layout: str) -> None:
    result = kamon("new", "--seed", str(seed))
    assert (result.exit_code, result.stdout) == (0, f"{layout} ; seed {seed}\n")


def test_a_count_gives_the_layouts_of_the_seeds_that_follow() -> None:
    several = lines_of(kamon("new", "--seed", "5", "--count", "3"))
    assert several == [line for seed in "567" for line in lines_of(kamon("new", "--seed", seed))]


def test_without_a_seed_the_seed_that_is_shown_repeats_the_layout() -> None:
    line = kamon("new").stdout
    assert kamon("new", "--seed", comment_of(line).removeprefix("seed ")).stdout == line


def test_without_a_seed_two_layouts_differ() -> None:
    assert kamon("new").stdout != kamon("new").stdout


def test_a_count_without_a_seed_gives_seeds_in_a_row() -> None:
    seeds = [
        int(comment_of(line).removeprefix("seed "))
        for line in lines_of(kamon("new", "--count", "3"))
    ]
    assert seeds == [seeds[0], seeds[0] + 1, seeds[0] + 2]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--seed", "-1"],
        ["--seed", str(LAST_SEED + 1)],
        ["--seed", str(LAST_SEED), "--count", "2"],
        ["--seed", "seven"],
        ["--count", "0"],
        ["--count", "-1"],
        ["--count", str(2**64 + 1)],
        ["--count", str(2**65), "--seed", "0"],
    ],
    ids=" ".join,
)
def test_seeds_beyond_the_limits_are_refused(arguments: list[str]) -> None:
    result = kamon("new", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


# --- kamon show -----------------------------------------------------------------------------


def test_a_position_is_shown_as_text_with_a_legend() -> None:
    result = kamon("show", BEGUN)
    assert result.exit_code == 0
    assert "○F6<" in result.stdout
    assert "A butterfly" in result.stdout
    assert "\x1b" not in result.stdout


def test_the_words_of_a_line_may_come_one_by_one() -> None:
    assert kamon("show", *BEGUN.split()).stdout == kamon("show", BEGUN).stdout


def test_a_line_may_begin_with_the_neutral() -> None:
    result = kamon("show", NEUTRAL_FIRST)
    assert result.exit_code == 0
    assert "--" in lines_of(result)[1]


def test_several_positions_are_shown_in_a_row_with_one_legend() -> None:
    result = kamon("show", stdin=f"{SEED_7}\n\n{BEGUN}\n")
    assert result.exit_code == 0
    assert result.stdout.count("a1    b1") == 2
    assert result.stdout.count("symbols:") == 1


def test_what_is_shown_follows_the_edition_and_the_wish_for_legal_cells() -> None:
    assert "on the pile: F6, six waves" in kamon("show", BEGUN, "--edition", "2007").stdout
    assert "(" in kamon("show", BEGUN).stdout
    assert "(" not in kamon("show", BEGUN, "--no-legal").stdout


def test_a_picture_goes_to_a_file_and_says_nothing(tmp_path: Path) -> None:
    target = tmp_path / "board.svg"
    result = kamon("show", BEGUN, "--svg", target)
    assert (result.exit_code, result.output) == (0, "")
    assert ET.parse(target).getroot().get("width") == "600"  # noqa: S314 - our own picture
    assert [path.name for path in tmp_path.iterdir()] == ["board.svg"]


def test_a_picture_goes_to_the_output() -> None:
    result = kamon("show", BEGUN, "--svg", "-", "--size", "223", "--theme", "dark", "--coordinates")
    root = ET.fromstring(result.stdout)  # noqa: S314 - our own picture
    assert root.get("width") == "223"
    assert DARK.paper in result.stdout
    assert ">d4</text>" in result.stdout


def test_a_picture_follows_the_edition_and_the_wish_for_legal_cells() -> None:
    assert 'data-token="F6"' in kamon("show", BEGUN, "--svg", "-", "--edition", "2007").stdout
    assert LIGHT.legal in kamon("show", BEGUN, "--svg", "-").stdout
    assert LIGHT.legal not in kamon("show", BEGUN, "--svg", "-", "--no-legal").stdout


def test_a_file_that_is_there_is_left_alone_without_force(tmp_path: Path) -> None:
    target = tmp_path / "board.svg"
    target.write_text("mine")
    result = kamon("show", BEGUN, "--svg", target)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert target.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["board.svg"]


def test_force_overwrites(tmp_path: Path) -> None:
    target = tmp_path / "board.svg"
    target.write_text("mine")
    assert kamon("show", BEGUN, "--svg", target, "--force").exit_code == 0
    assert target.read_text().startswith("<svg")


@pytest.mark.parametrize("stdin", [f"{SEED_7}\n{BEGUN}\n", "", "; nothing\n\n"])
def test_a_picture_takes_exactly_one_position(stdin: str, tmp_path: Path) -> None:
    result = kamon("show", "--svg", tmp_path / "board.svg", stdin=stdin)
    assert result.exit_code == 2
    assert "position" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", ["49", "5001", "-1", "wide"])
def test_a_picture_has_a_sensible_size(size: str) -> None:
    assert kamon("show", BEGUN, "--svg", "-", "--size", size).exit_code == 2


def test_a_bad_line_is_told_with_its_place_and_no_traceback() -> None:
    result = script("show", f"{SEED_7} c1 z9")
    assert result.returncode == 1
    assert result.stdout == b""
    column = len(f"{SEED_7} c1 z")
    assert result.stderr.decode().startswith(f"kamon: line 1, column {column}: 'z9' is not a space")
    assert b"Traceback" not in result.stderr


def test_an_illegal_move_is_told_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    said = call_main(monkeypatch, "show", f"{SEED_7} a1")
    assert "a1 cannot be played: Black begins on an edge space, but not on a corner" in str(said)


def test_the_line_of_a_bad_position_is_counted_in_the_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.TextIOWrapper(io.BytesIO(f"{BEGUN}\n\nrubbish\n".encode()))
    monkeypatch.setattr(sys, "stdin", text)
    assert str(call_main(monkeypatch, "show")).startswith("kamon: line 3, column 1: not a layout")


# --- kamon status ---------------------------------------------------------------------------


def test_every_game_of_the_collection_ends_as_its_comment_says() -> None:
    result = kamon("status", GAMES_FILE)
    assert result.exit_code == 0
    outcomes = [json.loads(line)["outcome"] for line in lines_of(result)]
    told = [f"{found['winner'] or 'draw'} {'+'.join(found['by'])}" for found in outcomes]
    assert told == [comment_of(line) for line in GAMES]


def test_a_game_that_goes_on_has_a_turn_and_legal_cells() -> None:
    result = kamon("status", stdin=f"{SEED_7} c1\n")
    assert result.stdout == (
        '{"turn": "white", "legal": ["d1", "a2", "d2", "e3", "e4", "c5", "g6", "e7", "f7", "g7"], '
        '"outcome": null}\n'
    )


def test_a_finished_game_has_neither_turn_nor_legal_cells() -> None:
    line = next(line for line in GAMES if line.endswith("; white block"))
    ended = json.loads(kamon("status", stdin=line).stdout)
    assert list(ended) == ["turn", "legal", "outcome"]
    assert ended["turn"] is None
    assert ended["legal"] == []


@pytest.mark.parametrize(
    ("layout", "outcome"),
    [
        (
            "B1A3D6F4",
            {
                "winner": "white",
                "by": ["connection", "loop"],
                "links": [
                    {"colour": "yellow", "chain": ["g6", "f6", "e5", "d5", "c4", "b4", "a3"]}
                ],
                "ring": ["e5", "e4", "f4", "g5", "g6", "f6"],
                "enclosed": ["f5"],
                "needed": None,
            },
        ),
        (
            "A2F3F1D3",
            {
                "winner": "white",
                "by": ["block"],
                "links": [],
                "ring": [],
                "enclosed": [],
                "needed": {"symbol": "E", "suit": 5},
            },
        ),
        (
            "D6C6B4E3/F4",
            {
                "winner": None,
                "by": ["full"],
                "links": [],
                "ring": [],
                "enclosed": [],
                "needed": None,
            },
        ),
    ],
    ids=["connection+loop", "block", "full"],
)
def test_an_outcome_has_exactly_this_shape(layout: str, outcome: dict[str, object]) -> None:
    line = next(line for line in GAMES if line.startswith(layout))
    found = json.loads(kamon("status", stdin=line).stdout)["outcome"]
    assert found == outcome
    assert list(found) == list(outcome)


def test_lines_that_say_nothing_are_passed_over() -> None:
    result = kamon("status", stdin=f"\n   \n; a comment\n{BEGUN}\r\n\n")
    assert result.exit_code == 0
    assert len(lines_of(result)) == 1


def test_nothing_gives_nothing() -> None:
    result = kamon("status", stdin="")
    assert (result.exit_code, result.output) == (0, "")


def test_a_bad_line_is_told_in_its_place_and_the_rest_go_on() -> None:
    result = kamon("status", stdin=f"{SEED_7}\n\n{SEED_7} d4\n{BEGUN}\n")
    first, bad, last = map(json.loads, lines_of(result))
    assert result.exit_code == 1
    assert list(bad) == ["error", "line"]
    assert bad["line"] == 3
    assert "d4 cannot be played" in bad["error"]
    assert (first["turn"], last["turn"]) == ("black", "black")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"\xff\xfe", "byte 0xff is not UTF-8 text"),
        (b"\x00", r"'\x00'"),
        (SEED_7.encode() + b" c1\x00", r"'c1\x00' is not a space"),
        (b"x" * 1_000_000, "(limit 4096)"),
        ("🀄".encode() * 250_000, "(limit 4096)"),
        (GAMES[0].partition(" ;")[0].encode() + b" a1", "the game is over"),
        (SEED_7.encode() + b" C1", "'C1' is not a space"),
        (SEED_7.lower().encode(), "these are not tokens"),
    ],
    ids=["bytes", "nul", "nul-in-move", "endless", "endless-wide", "over", "capital", "small"],
)
def test_rubbish_is_one_error_and_spoils_no_other_line(line: bytes, reason: str) -> None:
    result = kamon("status", stdin=line + b"\n" + BEGUN.encode())
    bad, good = map(json.loads, lines_of(result))
    assert result.exit_code == 1
    assert reason in bad["error"]
    assert len(bad["error"]) < 1000
    assert bad["line"] == 1
    assert good["turn"] == "black"


def test_an_endless_line_without_an_end_is_one_error() -> None:
    result = kamon("status", stdin=b"x" * 1_000_000)
    (bad,) = map(json.loads, lines_of(result))
    assert "(limit 4096)" in bad["error"]


def test_a_line_of_exactly_the_limit_is_read_whatever_ends_it() -> None:
    line = f"{BEGUN} ;".ljust(4096, ".")
    assert kamon("status", stdin=line).exit_code == 0
    assert kamon("status", stdin=line + "\n").exit_code == 0


def test_a_byte_order_mark_is_passed_over() -> None:
    assert kamon("status", stdin=b"\xef\xbb\xbf" + BEGUN.encode()).exit_code == 0


def test_the_status_of_a_position_without_history_is_told() -> None:
    fields = f"{SEED_7} ..x./o..../....../......./....../...../.... a2"
    assert kamon("status", stdin=fields).stdout == kamon("status", stdin=BEGUN).stdout


# --- kamon perft ----------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_the_counts_are_those_of_the_collection(depth: int) -> None:
    result = kamon("perft", "--depth", str(depth), DATA / "perft.txt")
    assert result.exit_code == 0
    assert lines_of(result) == [comment_of(line).split()[depth - 1] for line in PERFT]


def test_deeper_counts_are_those_of_the_collection() -> None:
    few = PERFT[-4:]
    result = kamon("perft", "--depth", "5", stdin="\n".join(few))
    assert lines_of(result) == [comment_of(line).split()[4] for line in few]


def test_there_is_one_sequence_of_no_plies() -> None:
    assert kamon("perft", "--depth", "0", stdin=BEGUN).stdout == "1\n"


def test_a_finished_game_goes_nowhere() -> None:
    assert kamon("perft", "--depth", "1", stdin=GAMES[0]).stdout == "0\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--depth"], ["--depth", "-1"], ["--depth", "37"], ["--depth", "deep"]]
)
def test_a_depth_is_needed_and_must_make_sense(arguments: list[str]) -> None:
    result = kamon("perft", *arguments, stdin=BEGUN)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_line_that_cannot_be_counted_leaves_a_dash() -> None:
    result = kamon("perft", "--depth", "1", stdin=f"{SEED_7}\nrubbish\n{SEED_7}\n")
    assert result.exit_code == 1
    assert lines_of(result) == ["12", "-", "12"]
    assert result.stderr.startswith("kamon: line 2, column 1: not a layout")


# --- kamon convert --------------------------------------------------------------------------


def test_lines_become_records_and_the_same_lines_again(tmp_path: Path) -> None:
    records = tmp_path / "games.pgn"
    assert kamon("convert", GAMES_FILE, "--output", records).exit_code == 0
    result = kamon("convert", records)
    assert result.exit_code == 0
    assert lines_of(result) == GAMES


def test_unfinished_games_come_back_without_a_comment(tmp_path: Path) -> None:
    lines = tmp_path / "lines"
    lines.write_text(
        f"{SEED_7}\n{BEGUN}\n{SEED_7} ..x./o..../....../......./....../...../.... a2 f7\n"
    )
    records = tmp_path / "games.pgn"
    assert kamon("convert", lines, "-o", records).exit_code == 0
    assert kamon("convert", records).stdout == lines.read_text()


def test_records_are_known_by_their_first_bracket_on_standard_input_too() -> None:
    record = script("convert", stdin=BEGUN.encode()).stdout
    assert record.startswith(b"[")
    assert script("convert", stdin=record).stdout == f"{BEGUN}\n".encode()
    assert script("convert", stdin=b"\xef\xbb\xbf\n \n" + record).stdout == f"{BEGUN}\n".encode()


def test_records_are_known_even_when_a_blank_line_comes_long_before_them() -> None:
    record = script("convert", stdin=BEGUN.encode()).stdout
    with subprocess.Popen(
        [SCRIPT, "convert"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        time.sleep(0.5)  # long enough for the program to start and look
        output, _ = process.communicate(record, timeout=60)
    assert output == f"{BEGUN}\n".encode()


def test_records_are_known_behind_pages_of_blank_lines(tmp_path: Path) -> None:
    source = tmp_path / "games.pgn"
    source.write_bytes(b"\n" * 100_000 + script("convert", stdin=BEGUN.encode()).stdout)
    assert kamon("convert", source).stdout == f"{BEGUN}\n"


@pytest.mark.no_cover
def test_a_million_blank_lines_are_passed_over_quickly(tmp_path: Path) -> None:
    source = tmp_path / "games.txt"
    source.write_bytes(b"\n" * 1_000_000 + BEGUN.encode())
    result = subprocess.run(
        [SCRIPT, "convert", source], capture_output=True, check=False, timeout=20
    )
    assert result.returncode == 0
    assert result.stdout.count(b"[Layout ") == 1


@pytest.mark.parametrize("stdin", ["", "\n \n", "; nothing\n"])
def test_nothing_converts_to_nothing(stdin: str) -> None:
    result = kamon("convert", stdin=stdin)
    assert (result.exit_code, result.output) == (0, "")


def test_how_a_game_ended_off_the_board_is_told_in_the_comment(tmp_path: Path) -> None:
    source = tmp_path / "games.pgn"
    source.write_text(
        f'[Result "0-1"]\n[Termination "resignation"]\n[Layout "{SEED_7}"]\n\n1. c1 a2 0-1\n\n'
        f'[Termination "agreement"]\n[Layout "{SEED_7}"]\n\n1. c1 1/2-1/2\n'
    )
    assert lines_of(kamon("convert", source)) == [
        f"{BEGUN} ; white resignation",
        f"{SEED_7} c1 ; draw agreement",
    ]


def test_a_bad_record_is_told_and_the_rest_converted(tmp_path: Path) -> None:
    source = tmp_path / "games.pgn"
    good = f'[Layout "{SEED_7}"]\n\n1. c1 a2 *\n\n'
    source.write_text(good + good.replace("a2", "z9") + good)
    result = kamon("convert", source)
    assert result.exit_code == 1
    assert lines_of(result) == [BEGUN, BEGUN]
    assert result.stderr.startswith("kamon: line 7, column 7: 'z9' does not belong here")
    assert len(result.stderr.splitlines()) == 1


def test_a_bad_line_is_told_and_the_rest_converted(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    result = kamon("convert", "-o", target, stdin=f"{BEGUN}\nrubbish\n{BEGUN}\n")
    assert result.exit_code == 1
    assert result.stderr.startswith("kamon: line 2, column 1: not a layout")
    assert target.read_text().count("[Layout ") == 2


def test_bytes_that_are_no_text_may_stand_in_a_name(tmp_path: Path) -> None:
    source = tmp_path / "games.pgn"
    source.write_bytes(f'[Black "Ren\xe9"]\n[Layout "{SEED_7}"]\n\n1. c1 a2 *\n'.encode("latin-1"))
    result = kamon("convert", source)
    assert (result.exit_code, result.stdout) == (0, f"{BEGUN}\n")


def test_a_file_to_write_must_not_be_there_without_force(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    target.write_text("mine")
    assert kamon("convert", GAMES_FILE, "-o", target).exit_code == 2
    assert target.read_text() == "mine"
    assert kamon("convert", GAMES_FILE, "-o", target, "--force").exit_code == 0
    assert target.read_text().startswith("[Result")


def test_a_file_may_be_converted_onto_itself(tmp_path: Path) -> None:
    both = tmp_path / "games"
    both.write_bytes(GAMES_FILE.read_bytes())
    assert kamon("convert", both, "-o", both, "--force").exit_code == 0
    assert kamon("convert", both, "-o", both, "--force").exit_code == 0
    assert both.read_bytes() == GAMES_FILE.read_bytes()


def test_a_folder_that_is_not_there_is_told_with_status_2(tmp_path: Path) -> None:
    result = kamon("convert", GAMES_FILE, "-o", tmp_path / "nowhere" / "games.pgn")
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    result = script("convert", GAMES_FILE, "-o", folder, "--force")
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == [folder]


def test_a_name_too_long_for_a_file_is_told_with_status_2(tmp_path: Path) -> None:
    result = script("convert", GAMES_FILE, "-o", tmp_path / ("x" * 300))
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr


def test_a_written_file_can_be_read_by_whom_the_system_lets(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    before = os.umask(0o027)
    try:
        assert kamon("convert", GAMES_FILE, "-o", target).exit_code == 0
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="needs a shell that sets limits")
def test_a_file_is_not_half_written_when_the_disk_is_full(tmp_path: Path) -> None:
    # Without coverage, which would run into the limit as well.
    limited = ["/bin/sh", "-c", 'ulimit -f 8; exec "$@"', "sh", str(SCRIPT)]
    plain = {name: value for name, value in os.environ.items() if "COV" not in name}
    result = subprocess.run(
        [*limited, "convert", GAMES_FILE, "-o", tmp_path / "games.pgn"],
        env=plain,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert list(tmp_path.iterdir()) == []
    assert result.returncode != 0
    assert b"File too large" in result.stderr
    assert b"Traceback" not in result.stderr


def test_an_error_midway_leaves_the_old_file_and_no_scratch(tmp_path: Path) -> None:
    target = tmp_path / "games.pgn"
    target.write_text("mine")

    def write_half() -> None:
        with write_whole(target, force=True) as stream:
            stream.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert target.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [target]


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let children be interrupted even where this process was started to ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupted_conversion_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        interruptible(),
        subprocess.Popen(
            [SCRIPT, "convert", "-o", tmp_path / "games.pgn"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(BEGUN.encode() + b"\nrubbish\n")
        process.stdin.flush()
        # The complaint shows that the first line is written.
        assert process.stderr.readline().startswith(b"kamon: line 2, column 1: not a layout")
        assert [path.name[:7] for path in tmp_path.iterdir()] == [".kamon-"]
        process.send_signal(signal.SIGINT)
        complaint = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert b"Traceback" not in complaint
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_no_scratch_file(tmp_path: Path) -> None:
    with (
        pytest.raises(typer.BadParameter, match=r"cannot write .*: No space left"),
        write_whole(tmp_path / "games.pgn", force=False),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(tmp_path.iterdir()) == []
