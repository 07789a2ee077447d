"""How the network and the solved positions are made: each command works on a small scale."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from kamon import Layout, Position, legal_cells, parse_line
from kamon.engine import kernel
from kamon.engine.limits import MIB, Limits
from kamon.engine.prover import Prover, stored_weights
from kamon.engine.solver import Solver
from kamon.engine.training import network, positions, samples
from kamon.engine.values import VALUE_NAMES

LIMITS = Limits(memory=16 * MIB)


def test_solved_positions_are_written_with_their_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    positions.main(["--ply", "20", "--count", "3", "--memory", "16"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line in lines:
        game = parse_line(line)
        assert game is not None
        assert game.position.ply == 20
        value = Solver(game.layout, LIMITS).value(game.position)
        assert line.endswith(f"; {VALUE_NAMES[value or 0]}")


def test_critical_positions_are_written_with_the_value_of_every_move(
    capsys: pytest.CaptureFixture[str],
) -> None:
    positions.main(["--ply", "18", "--count", "2", "--memory", "16", "--critical"])
    for line in capsys.readouterr().out.splitlines():
        game = parse_line(line)
        assert game is not None
        values = dict(each.split("=") for each in line.partition(";")[2].split())
        assert len(values) == len(legal_cells(game.position))
        assert len(set(values.values())) > 1


def test_what_a_limit_leaves_open_is_no_solved_position() -> None:
    lines = positions.solved_lines(Random(3), 16, Limits(nodes=30, memory=MIB))
    game = parse_line(next(lines))
    assert game is not None


def test_samples_come_from_the_frontier_of_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_IN_ONE_JOB", 3)
    path = tmp_path / "samples.npz"
    samples.main([str(path), "--count", "4", "--jobs", "1"])
    found = np.load(path)
    assert found["features"].shape == (4, kernel.FEATURES)
    assert (found["nodes"] > 0).all()
    assert np.isfinite(found["features"]).all()


def test_one_process_collects_its_share() -> None:
    found = samples._collect((5, 12))
    assert len(found) == 12
    assert len({each.nodes for each in found}) > 3
    assert [each.nodes for each in samples._collect((5, 12))] == [each.nodes for each in found]


def test_a_search_without_a_frontier_gives_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    follow, nowhere = samples.frontier, iter([True, True])

    def frontier(prover: Prover, position: Position, rng: Random) -> Position | None:
        return None if next(nowhere, False) else follow(prover, position, rng)

    monkeypatch.setattr(samples, "frontier", frontier)
    assert len(samples._collect((5, 3))) == 3
    late = positions.random_game(Random(1), 30).position
    assert samples._is_easy(Prover(late.layout, LIMITS), late)


def test_a_position_that_needs_no_search_is_no_sample() -> None:
    game = parse_line((Path(__file__).parent / "data" / "games.txt").read_text().splitlines()[0])
    assert game is not None
    assert samples.label(game.layout, game.position) is None
    game.undo()
    assert samples.label(game.layout, game.position) is None
    prover = Prover(game.layout, LIMITS)
    assert samples.frontier(prover, game.position, Random(1)) is None
    game.redo()
    assert not samples._was_entered(prover, game.position)


def test_a_position_that_takes_too_long_is_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "_LABEL_NODES", 10)
    opening = Position(Layout.shuffled(1))
    assert samples.label(opening.layout, opening) is None


def test_a_network_learns_and_is_compared_with_the_one_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(600, kernel.FEATURES)).astype(np.float32)
    won = features[:, 0] > 0
    nodes = np.exp(3 + features[:, 1]).astype(np.int64) + 1
    path, output = tmp_path / "samples.npz", tmp_path / "network.npz"
    np.savez(path, features=features, won=won, nodes=nodes)
    monkeypatch.setattr(network, "_COMPARED", (20,))
    network.main([str(path), "--output", str(output), "--epochs", "300", "--compare", "2"])
    assert "ply 20: " in capsys.readouterr().out
    made = np.load(output)
    assert {name: made[name].shape for name in made.files} == {
        name: part.shape for name, part in stored_weights().items()
    }
    # It has learned what there was to learn.
    hidden = np.maximum(0, features @ made["w1"] + made["b1"])
    odds = hidden @ made["w2"][0] + made["b2"][0]
    assert ((odds > 0) == won).mean() > 0.9


def test_what_needs_no_search_takes_no_nodes() -> None:
    game = parse_line((Path(__file__).parent / "data" / "games.txt").read_text().splitlines()[0])
    assert game is not None
    assert network._nodes_for(stored_weights(), game.position) == 0
