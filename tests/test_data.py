"""Games and counts from an independent implementation (tests/data)."""

from pathlib import Path

import pytest

from kamon import Game, format_cell, legal_cells, outcome, parse_line, perft

DATA = Path(__file__).parent / "data"


def read(name: str) -> list[tuple[Game, str]]:
    games = []
    for line in (DATA / name).read_text().splitlines():
        game = parse_line(line)
        assert game is not None
        games.append((game, line.partition(";")[2].strip()))
    return games


def test_finished_games_end_as_they_should() -> None:
    games = read("games.txt")
    assert len(games) == 195
    for game, expected in games:
        result = game.result
        assert result is not None
        winner = result.winner.value if result.winner else "draw"
        assert f"{winner} {result.termination}" == expected


def test_finished_games_end_no_earlier() -> None:
    for game, _ in read("games.txt"):
        while game.undo():
            assert game.outcome is None


def test_counts_of_sequences_are_as_they_should() -> None:
    counts = read("perft.txt")
    assert len(counts) == 18
    for game, expected in counts:
        assert [perft(game.position, depth) for depth in range(1, 6)] == [
            *map(int, expected.split())
        ]


@pytest.mark.parametrize("ply", [8, 10, 12, 16, 20])
def test_solved_positions_are_open_and_have_their_number_of_moves(ply: int) -> None:
    for game, value in read(f"ply{ply:02}.txt"):
        assert game.position.ply == ply
        assert outcome(game.position) is None
        assert value in ("win", "draw", "loss")


def test_critical_positions_are_read_and_have_a_choice() -> None:
    for game, told in read("critical06.txt"):
        values = dict(each.split("=") for each in told.split())
        names = [format_cell(cell) for cell in legal_cells(game.position)]
        assert sorted(values) == sorted(names)
        assert len(set(values.values())) > 1
