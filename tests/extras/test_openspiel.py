"""The OpenSpiel game: OpenSpiel's own tests, a playthrough, and the rules as its judge."""

from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python.algorithms import generate_playthrough
from open_spiel.python.observation import make_observation

import kamon.env.openspiel
from kamon import Layout, Side, format_layout, legal_cells, outcome, parse_cell
from kamon.env.planes import observe

PLAYTHROUGH = Path(__file__).parents[1] / "data" / "openspiel.txt"


@pytest.mark.parametrize("game", ["python_kamon", "python_kamon(seed=7)"])
def test_it_passes_the_tests_of_openspiel(game: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(game), num_sims=10, serialize=True, verbose=False)


def test_it_is_registered_by_its_name() -> None:
    assert kamon.env.openspiel.NAME in pyspiel.registered_names()


def test_the_playthrough_is_still_what_happens() -> None:
    """To write it again: ``python tests/extras/test_openspiel.py``."""
    assert playthrough() == PLAYTHROUGH.read_text(encoding="utf-8")


def playthrough() -> str:
    played = generate_playthrough.playthrough("python_kamon(seed=7)", None, seed=1)
    return "".join(f"{line.rstrip()}\n" for line in played.splitlines())


def test_a_game_is_played_by_the_rules() -> None:
    rng = np.random.default_rng(1)
    for seed in range(10):
        game = pyspiel.load_game("python_kamon", {"seed": seed})
        assert game.layout == Layout.shuffled(seed)
        state = game.new_initial_state()
        while not state.is_terminal():
            assert state.legal_actions() == legal_cells(state.position)
            assert state.current_player() == int(state.position.turn is Side.WHITE)
            state.apply_action(int(rng.choice(state.legal_actions())))
        end = outcome(state.position)
        assert end is not None
        assert sum(state.returns()) == 0
        if end.winner is not None:
            assert state.returns()[int(end.winner is Side.WHITE)] == 1
        assert state.legal_actions() == []


def test_the_layout_may_be_given_as_text() -> None:
    layout = Layout.shuffled(5)
    game = pyspiel.load_game("python_kamon", {"layout": format_layout(layout)})
    assert game.layout == layout


def test_a_copy_goes_its_own_way() -> None:
    state = pyspiel.load_game("python_kamon(seed=7)").new_initial_state()
    state.apply_action(parse_cell("e7"))
    copied = state.clone()
    copied.apply_action(copied.legal_actions()[0])
    assert state.position.ply == 1
    assert copied.position.ply == 2
    assert state.action_to_string(1, 17) == "c4"


def test_both_players_see_the_planes_from_their_side() -> None:
    game = pyspiel.load_game("python_kamon(seed=7)")
    state = game.new_initial_state()
    state.apply_action(parse_cell("e7"))
    seen = make_observation(game)
    for player, side in enumerate((Side.BLACK, Side.WHITE)):
        seen.set_from(state, player)
        expected = np.moveaxis(observe(state.position, side), -1, 0)
        assert (seen.dict["observation"] == expected).all()
    assert seen.string_from(state, 0).endswith(" e7")


if __name__ == "__main__":
    PLAYTHROUGH.write_text(playthrough(), encoding="utf-8")
