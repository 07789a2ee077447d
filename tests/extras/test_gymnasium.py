"""The Gymnasium environment: Gymnasium's own test, and games against levels."""

from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env

from kamon import Layout, LayoutError, Position, Side, legal_cells, outcome
from kamon.env.against_level import ID, AgainstLevel
from kamon.env.kamon_v0 import reward


def play(environment: AgainstLevel, seed: int) -> tuple[Position, float]:
    """Play random moves to the end."""
    rng = np.random.default_rng(seed)
    _, info = environment.reset(seed=seed)
    while True:
        legal = np.flatnonzero(info["action_mask"])
        assert legal.tolist() == legal_cells(environment.position)
        _, pays, done, truncated, info = environment.step(rng.choice(legal))
        assert not truncated
        if done:
            return environment.position, pays
        assert pays == 0


@pytest.mark.parametrize("side", ["black", "white", None])
def test_it_passes_the_test_of_gymnasium(side: str | None) -> None:
    check_env(gymnasium.make(ID, level=2, side=side, render_mode="ansi").unwrapped)


def test_an_episode_pays_who_wins() -> None:
    environment = AgainstLevel(level=1, side=None)
    paid = []
    for seed in range(20):
        position, pays = play(environment, seed)
        end = outcome(position)
        assert end is not None
        assert pays == reward(end.winner, environment.me)
        paid.append(pays)
    assert {1.0, -1.0} <= set(paid)


def test_the_same_seed_gives_the_same_game() -> None:
    environment = AgainstLevel(level=3, side="white")
    assert play(environment, 5) == play(environment, 5) != play(environment, 6)
    assert environment.me is Side.WHITE


def test_layout_and_side_may_be_given() -> None:
    layout = Layout.shuffled(3)
    environment = AgainstLevel(layout=layout)
    environment.reset(seed=1)
    assert (environment.position, environment.me) == (Position(layout), Side.BLACK)
    environment.reset(seed=1, options={"layout": Layout.shuffled(4), "side": "white"})
    assert environment.position.layout == Layout.shuffled(4)
    assert (environment.position.ply, environment.me) == (1, Side.WHITE)


def test_an_illegal_action_loses_and_says_why() -> None:
    environment = AgainstLevel()
    environment.reset(seed=1)
    _, pays, done, _, info = environment.step(18)
    assert (pays, done) == (-1.0, True)
    assert info["illegal"].startswith("d4 cannot be played")
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(legal_cells(environment.position)[0])


def test_a_game_that_is_over_needs_a_reset() -> None:
    environment = AgainstLevel()
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)
    play(environment, 1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        environment.step(0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": 0}, "a level is 1 to 12, not 0"),
        ({"level": 2.5}, "a level is 1 to 12, not 2.5"),
        ({"side": "red"}, "'red' is no side"),
        ({"render_mode": "svg"}, "'svg' is no render mode"),
    ],
)
def test_what_there_is_not_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AgainstLevel(**options)


def test_what_cannot_be_a_layout_or_an_action_is_named() -> None:
    with pytest.raises(LayoutError):
        AgainstLevel(layout="zz")
    environment = AgainstLevel()
    with pytest.raises(TypeError, match="a layout is a Layout or its text, not 3"):
        environment.reset(options={"layout": 3})
    environment.reset(seed=1)
    with pytest.raises(TypeError, match="an action is a cell from 0 to 36"):
        environment.step(1.5)  # type: ignore[arg-type]
