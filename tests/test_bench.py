"""The benchmarks: the yardstick is right, and each script prints its table."""

import os
import time
from pathlib import Path

import pytest

from kamon import Layout, Position, parse_line
from kamon.engine.limits import MIB
from kamon.engine.values import VALUE_NAMES

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _bench_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("ordered", [False, True])
def test_alphabeta_agrees_with_an_independent_solver(*, ordered: bool) -> None:
    from bench import alphabeta  # noqa: PLC0415 - not before the fixture

    for line in (ROOT / "tests" / "data" / "ply20.txt").read_text().splitlines()[:20]:
        game = parse_line(line)
        assert game is not None
        table = alphabeta.new_table(MIB)
        answer = alphabeta.solve(game.position, table, 10_000_000, ordered=ordered)
        assert answer.value is not None
        assert VALUE_NAMES[answer.value] == line.partition(";")[2].strip()


def test_alphabeta_ends_at_its_limit() -> None:
    from bench import alphabeta  # noqa: PLC0415 - not before the fixture

    opening = Position(Layout.shuffled(1))
    assert alphabeta.solve(opening, alphabeta.new_table(MIB), 1000) == (None, 1000)


def test_waits_under_an_attack_are_compared_with_quiet_ones() -> None:
    from bench import attacks  # noqa: PLC0415 - not before the fixture

    assert attacks.Waits([1.0, 2.0, 3.0], [2.0, 4.0, 60.0]).factor() == 2.0
    # Below ten milliseconds it is the machine that decides.
    assert attacks.Waits([0.001], [0.009]).factor() == 1.0
    assert attacks.Waits([0.001], [0.050]).factor() == 5.0
    known = {*(f"A{number}" for number in range(1, 8)), *(f"N{number}" for number in range(1, 5))}
    assert {attack.finding for attack in attacks.ATTACKS.values()} == known


def test_the_growth_of_memory_is_the_most_there_was() -> None:
    from bench import attacks  # noqa: PLC0415 - not before the fixture

    with attacks.Memory({"us": lambda: [os.getpid()]}) as memory:
        held = bytearray(64 << 20)
        time.sleep(0.3)
        del held
        time.sleep(0.3)
    assert memory.growth["us"] > 50


def test_the_engine_is_compared_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    from bench import engine  # noqa: PLC0415 - not before the fixture

    engine.main(["--parts", "solver", "--plies", "20", "--positions", "1", "--memory", "1"])
    assert "| 20 | alpha-beta, ordered | 1 of 1 |" in capsys.readouterr().out


def test_levels_are_compared_with_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    from bench import levels  # noqa: PLC0415 - not before the fixture

    levels.main(["--matches", "2", "--boards", "1", "--jobs", "1"])
    assert "| level:2 against level:1 | 1 | " in capsys.readouterr().out


def test_puzzles_are_counted_by_the_hour(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench import puzzles  # noqa: PLC0415 - not before the fixture
    from kamon.puzzles import making  # noqa: PLC0415 - only here

    monkeypatch.setattr(making, "GAMES_IN_A_BATCH", 8)
    puzzles.main([])
    assert "| games | puzzles | CPU seconds | puzzles per core-hour |" in capsys.readouterr().out
