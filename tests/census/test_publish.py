"""Published tables, the facts and the plots made from them, and the program that checks them."""

import hashlib
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest

from kamon import Layout, format_layout
from kamon.census.plots import plots
from kamon.census.positions import make_batch
from kamon.census.publish import join_boards, join_positions, kind_of, write_sums
from kamon.census.report import correlation, facts, fairness, interval, neutral_distance
from kamon.census.rows import BOARDS, POSITIONS, Parts, Row, read_rows, write_rows
from kamon.census.solve import BoardJob
from kamon.engine.limits import MIB, Limits
from kamon.errors import KamonError
from kamon.web.days.boards import SHIPPED, format_boards
from tools import check_census, publish_census

ROOT = Path(__file__).parents[2]
SHORT = Limits(nodes=1000, memory=MIB)


@pytest.fixture(scope="module")
def unsolved() -> Row:
    (row,) = BoardJob(5, SHORT).run()
    return row


def position_row(ply: int) -> Row:
    return {
        "layout": "",
        "moves": "",
        "ply": ply,
        "value": 1,
        "length": 1,
        "cells": [],
        "values": [],
    }


# --- Joining ---


def test_boards_are_joined_by_their_seeds(tmp_path: Path, unsolved: Row) -> None:
    parts = Parts(tmp_path / "run", BOARDS)
    parts.create()
    for seed in (30, 4):
        parts.write(seed, [unsolved | {"seed": seed, "canonical": str(seed)}])
    path = tmp_path / "boards.parquet"
    assert join_boards(parts, path) == 2
    assert [row["seed"] for row in read_rows(path, BOARDS)] == [4, 30]


@pytest.mark.parametrize("column", ["seed", "canonical"])
def test_a_board_that_comes_twice_is_not_published(
    tmp_path: Path, unsolved: Row, column: str
) -> None:
    parts = Parts(tmp_path, BOARDS)
    for seed in (1, 2):
        row = unsolved | {"seed": seed, "canonical": str(seed)}
        parts.write(seed, [row | {column: unsolved[column]}])
    with pytest.raises(KamonError, match=f"appears twice in .* its column '{column}'"):
        join_boards(parts, tmp_path / "boards.parquet")


def test_a_sample_of_positions_has_as_many_of_each_ply(tmp_path: Path) -> None:
    parts = Parts(tmp_path, POSITIONS)
    parts.write(1, [position_row(ply) for ply in [12] * 2 + [13] * 50 + [14] * 50])
    path = tmp_path / "out.parquet"
    assert join_positions(parts, path, 22) == 22
    plies = [row["ply"] for row in read_rows(path, POSITIONS)]
    assert [plies.count(ply) for ply in (12, 13, 14)] == [2, 10, 10]
    assert join_positions(parts, path, None) == 102


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KamonError, match="does not contain the results of a census"):
        kind_of(tmp_path, BOARDS, POSITIONS)
    with pytest.raises(KamonError, match="does not contain any results for boards"):
        join_boards(Parts(tmp_path, BOARDS), tmp_path / "boards.parquet")


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"something")
    write_sums(tmp_path)
    digest = hashlib.sha256(b"something").hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  a.parquet\n"


# --- Facts ---


def test_fairness_counts_the_looks_of_the_moves_that_win() -> None:
    row = {"first_moves": ["b1", "c1", "a2"], "estimates": [0.2, 0.3, 0.5], "complete": True}
    row |= {"value": "win"}
    assert fairness(row | {"winning": ["b1"]}) == pytest.approx(0.8)
    assert fairness(row | {"winning": ["b1", "a2"]}) == pytest.approx(0.3)
    assert fairness(row | {"winning": [], "value": "draw"}) == 1
    assert fairness(row | {"winning": [], "value": "loss"}) is None
    assert fairness(row | {"winning": ["b1"], "complete": False}) is None


def test_intervals_are_wilsons() -> None:
    assert interval(8, 10) == pytest.approx((0.490, 0.943), abs=0.001)
    assert interval(0, 0) == (0, 1)
    assert interval(10, 10)[1] == 1


def test_the_rank_correlation_sees_order_alone() -> None:
    assert correlation([1, 2, 3, 4], [10, 100, 1000, 10000]) == pytest.approx(1)
    assert correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert correlation([1, 1, 2, 2], [1, 2, 1, 2]) == pytest.approx(0)
    assert correlation([1, 1], [1, 2]) == 0


def test_the_neutral_is_at_most_three_steps_from_the_centre() -> None:
    distances = {neutral_distance(Layout.shuffled(seed)) for seed in range(60)}
    assert distances == {0, 1, 2, 3}


def solved(seed: int, value: str, winning: list[str], **more: object) -> Row:
    moves = ["b1", "c1", "a2"]
    row: Row = {
        "seed": seed,
        "layout": format_layout(Layout.shuffled(seed)),
        "value": value,
        "winning": winning,
        "not_winning": [],
        "complete": value == "draw",
        "first_moves": moves,
        "estimates": [0.1 * (seed + 1), 0.5, 0.6],
        "line": ["b1"] * 20 if value == "win" else [],
        "ending": "loop" if value == "win" else None,
        "reason": None,
        "nodes": 3_000_000 * (seed + 1),
        "cpu_seconds": 3.0,
    }
    return row | more


BOARD_ROWS = [
    solved(1, "win", ["b1"]),
    solved(2, "win", ["a2"], complete=True),
    solved(3, "draw", []),
    solved(4, "loss", []) | {"value": None, "reason": "nodes"},
]


def test_the_facts_count_what_the_rows_say() -> None:
    text = facts(BOARD_ROWS)
    assert "4 boards were tried, and 3 are solved. Of the other 1, a limit on nodes or" in text
    assert "put off" not in text
    assert "| Black wins | 2 | 50% to 75% | 15% to 95% |" in text
    assert "| a draw | 1 | 25% to 50% |" in text
    assert "Of 2 boards it is known of every first move whether it wins. Black wins 1" in text
    assert "1 of 3 first moves win (33%)" in text
    assert "that looks best to random games wins on 1 of 1 boards" in text
    assert "The 2 lines from won boards end by: loop 2. They last 20 to 20 plies" in text
    assert "| 3 | 1.00 | draw | none |" in text
    assert "| drawn | 1 | 12 M | 12 M | 12 M | 3 s |" in text
    assert "| won by White | 1 | 15 M | 15 M | 15 M | 3 s |" in facts([solved(4, "loss", [])])


def test_boards_that_were_put_off_are_counted_apart_from_those_that_a_limit_ended() -> None:
    put_off = solved(5, "loss", []) | {"value": None, "reason": "chance"}
    both = "Of the other 2, a limit on nodes or time ended 1 and 1 were put off because Black"
    assert both in facts([*BOARD_ROWS, put_off])
    assert "Of the other 1, 1 were put off because Black" in facts([*BOARD_ROWS[:3], put_off])


def test_the_first_boards_are_counted_up_to_the_first_open_one() -> None:
    wins = [solved(seed, "win", ["b1"]) for seed in range(1, 9)]
    first = [*wins, solved(9, "draw", []), solved(10, "loss", [])]
    left = solved(11, "loss", []) | {"value": None, "reason": "nodes"}
    more = solved(12, "win", ["b1"])
    text = facts([more, left, *first])
    assert "the first 10 boards are all solved: Black wins 8, 1 are draws, and White" in text
    # The open one may be a win too, so it counts for the upper bounds.
    low, high = interval(8, 11)[0], interval(9, 11)[1]
    assert f"By these 11 alone, Black wins {low:.0%} to {high:.0%} of all boards" in text
    assert "are all solved" not in facts([more, *first])
    assert "are all solved" not in facts([*first[:9], left, more])


def test_there_are_facts_and_plots_of_nothing() -> None:
    assert "0 boards were tried, and 0 are solved." in facts([])
    assert "There is no board yet of which every first move is proven." in facts([])
    assert all(ET.fromstring(picture) is not None for picture in plots([]).values())  # noqa: S314 - our own


def test_each_plot_says_in_words_what_it_shows() -> None:
    drawn = plots(BOARD_ROWS)
    described = {
        name: (ET.fromstring(picture).findtext("{*}desc") or "")  # noqa: S314 - our own
        for name, picture in drawn.items()
    }
    assert described["who-wins.svg"] == "Black wins: 2, draw: 1, White wins: 0, not solved: 1"
    assert described["endings.svg"].startswith("connection: 0, loop: 2")
    assert (
        described["hardness.svg"]
        == "won by Black: 1 boards; drawn: 1 boards; won by White: 0 boards"
    )
    assert "1: 1" in described["first-moves.svg"]


# --- The second program ---


@pytest.fixture(scope="module")
def positions() -> list[Row]:
    return [row for row in make_batch(Random(8), 4) if row["ply"] >= 20]


def test_the_second_program_agrees_about_positions(positions: list[Row]) -> None:
    for row in positions:
        check_census.check_position(row)


def test_the_second_program_finds_wrong_positions(positions: list[Row]) -> None:
    row = positions[0]
    wrong_values = [-value or 1 for value in row["values"]]
    for change in (
        {"values": wrong_values},
        {"length": row["length"] + 2},
        {"value": -row["value"] or 1},
        {"ply": row["ply"] + 1},
        {"cells": [*row["cells"][::-1], "a1"]},
    ):
        with pytest.raises(check_census.CheckFailedError):
            check_census.check_position(row | change)


def test_the_second_program_tells_what_it_found(
    tmp_path: Path, positions: list[Row], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "positions.parquet"
    write_rows(path, [positions[0], positions[1] | {"length": 99}], POSITIONS)
    with pytest.raises(SystemExit, match="1"):
        check_census.main(["positions", str(path), "--sample", "5"])
    assert "2 positions checked, 1 faults" in capsys.readouterr().out


PUBLISHED = publish_census.BOARDS_FILE


def published(**wanted: object) -> Row:
    return next(
        row
        for row in read_rows(PUBLISHED, BOARDS)
        if all(row[column] == value for column, value in wanted.items())
    )


def test_the_second_program_agrees_about_boards() -> None:
    for row in read_rows(PUBLISHED, BOARDS)[:6]:
        assert check_census.check_board(row) == len(row["samples"])


def test_the_second_program_finds_wrong_boards() -> None:
    row = published(value="win", complete=False)
    sample = row["samples"][0]
    changes: tuple[Row, ...] = (
        {"seed": row["seed"] + 1},
        {"winning": []},
        {"value": "draw"},
        {"complete": True},
        {"not_winning": row["winning"]},
        {"drawing": row["winning"]},
        {"first_moves": ["b1"]},
        {"ending": "full"},
        {"line": row["line"][:-1]},
        {"line": ["a1"]},
        {"samples": [sample | {"side": "white"}]},
        {"samples": [sample | {"moves": [*sample["moves"], sample["moves"][0]]}]},
    )
    for change in changes:
        with pytest.raises(check_census.CheckFailedError):
            check_census.check_board(row | change)


def test_what_was_checked_is_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "boards.parquet"
    good = published(value="win", complete=False)
    wrong = good | {"seed": good["seed"] + 1}
    write_rows(path, [good | {"checked": 0}, wrong], BOARDS)
    with pytest.raises(SystemExit, match="1"):
        check_census.main(["boards", str(path), "--mark"])
    assert [row["checked"] for row in read_rows(path, BOARDS)] == [len(good["samples"]), 0]
    assert "2 boards checked, 3 samples of proofs hold, 1 faults" in capsys.readouterr().out


# --- What is in this repository ---


def test_the_published_tables_are_what_their_checksums_say() -> None:
    for path in (PUBLISHED, publish_census.POSITIONS_FILE):
        sums = (path.parent / "SHA256SUMS").read_text(encoding="utf-8")
        assert f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" in sums


def test_the_published_boards_are_checked_and_each_comes_once() -> None:
    rows = read_rows(PUBLISHED, BOARDS)
    for column in ("seed", "canonical"):
        assert len({row[column] for row in rows}) == len(rows)
    assert all(row["checked"] == len(row["samples"]) for row in rows)


def test_the_published_positions_are_of_every_ply() -> None:
    table = pq.read_table(publish_census.POSITIONS_FILE)
    assert len(table) == 20_000
    assert set(table["ply"].to_pylist()) == set(range(12, 25))


def test_the_facts_and_plots_of_the_documents_are_those_of_the_data() -> None:
    rows = read_rows(PUBLISHED, BOARDS)
    page = publish_census.PAGE.read_text(encoding="utf-8")
    assert publish_census.with_facts(page, rows) == page
    for name, picture in plots(rows).items():
        assert (publish_census.PLOTS / name).read_text(encoding="utf-8") == picture


def test_the_boards_of_the_program_are_those_of_the_data() -> None:
    rows = read_rows(PUBLISHED, BOARDS)
    solved = [publish_census.solved_board(row) for row in rows if row["value"] is not None]
    assert format_boards(solved) == SHIPPED.read_text(encoding="utf-8")


def test_a_board_of_the_program_has_its_fairness_if_every_first_move_is_settled() -> None:
    won = solved(2, "win", ["b1"], complete=True, drawing=[], line=["b1"])
    assert publish_census.solved_board(won).fairness == 0.7857
    assert publish_census.solved_board(won | {"complete": False}).fairness is None


def test_the_data_stays_small() -> None:
    size = sum(path.stat().st_size for path in (ROOT / "data").rglob("*") if path.is_file())
    assert size < 10_000_000
