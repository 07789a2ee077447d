"""The PettingZoo environment: PettingZoo's own tests, and the rules as its judge."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("pettingzoo")

with warnings.catch_warnings():
    # Where the classic games are installed too, it imports them in a way that it advises against.
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, seed_test

from kamon import IllegalMoveError, Layout, LayoutError, format_layout, legal_cells, outcome
from kamon.env import kamon_v0, planes

# PettingZoo's test says this of every environment with an action mask, its own included.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Observation:UserWarning", "ignore:The environment passed:UserWarning"
)


@pytest.mark.parametrize("make", [kamon_v0.env, kamon_v0.raw_env])
def test_it_passes_the_tests_of_pettingzoo(make: type[kamon_v0.raw_env]) -> None:
    api_test(make(), num_cycles=500)


def test_the_same_seed_gives_the_same_episodes() -> None:
    seed_test(kamon_v0.env, num_cycles=200)
    layouts = []
    for seed in (1, 1, 2):
        environment = kamon_v0.raw_env()
        environment.reset(seed=seed)
        first = environment.position.layout
        environment.reset()
        assert environment.position.layout != first
        layouts.append((first, environment.position.layout))
    assert layouts[0] == layouts[1] != layouts[2]


def test_a_game_is_played_by_the_rules() -> None:
    environment, rng = kamon_v0.env(), np.random.default_rng(1)
    for seed in range(20):
        environment.reset(seed=seed)
        for agent in environment.agent_iter():
            seen, reward, done, truncated, _ = environment.last()
            position, side = environment.unwrapped.position, kamon_v0.AGENTS[agent]
            assert not truncated
            end = outcome(position)
            assert done == (end is not None)
            assert reward == (0 if end is None else kamon_v0.reward(end.winner, side))
            assert (seen["observation"] == planes.observe(position, side)).all()
            legal = np.flatnonzero(seen["action_mask"]).tolist()
            assert legal == (legal_cells(position) if position.turn is side else [])
            environment.step(None if done else int(rng.choice(legal)))


def test_a_layout_may_be_given_for_all_episodes_or_for_one() -> None:
    one, other = Layout.shuffled(1), Layout.shuffled(2)
    environment = kamon_v0.raw_env(layout=one)
    for options, expected in ((None, one), ({"layout": other}, other), (None, one)):
        environment.reset(options=options)
        assert environment.position.layout == expected


def test_an_illegal_action_loses_or_is_refused() -> None:
    raw = kamon_v0.raw_env()
    raw.reset(seed=1)
    for wrong in (18, -1, 37):
        with pytest.raises(IllegalMoveError):
            raw.step(wrong)
    with pytest.raises(ValueError, match="the game is not over"):
        raw.step(None)
    wrapped = kamon_v0.env()
    wrapped.reset(seed=1)
    wrapped.step(18)
    assert wrapped.terminations == {"black_0": True, "white_0": True}
    assert wrapped.rewards["black_0"] == -1


def test_it_is_drawn_as_text_and_as_pixels() -> None:
    for mode in ("ansi", "rgb_array"):
        environment = kamon_v0.env(render_mode=mode)
        environment.reset(seed=1)
        empty = environment.render()
        environment.step(legal_cells(environment.unwrapped.position)[0])
        drawn = environment.render()
        if mode == "ansi":
            assert "●" in drawn
            assert "●" not in empty
        else:
            assert drawn.shape == (empty.shape[0], 400, 3)
            assert drawn.dtype == np.uint8
            assert (drawn != empty).any()
    with pytest.raises(ValueError, match="'svg' is no render mode"):
        kamon_v0.env(render_mode="svg")


def test_a_layout_may_be_written_down() -> None:
    layout = Layout.shuffled(3)
    environment = kamon_v0.env(layout=format_layout(layout))
    environment.reset()
    assert environment.unwrapped.position.layout == layout
    with pytest.raises(LayoutError):
        kamon_v0.env(layout="zz")


def test_a_person_sees_the_board_after_each_move(capsys: pytest.CaptureFixture[str]) -> None:
    environment = kamon_v0.env(render_mode="human")
    environment.reset(seed=1)
    environment.step(legal_cells(environment.unwrapped.position)[0])
    assert "●" in capsys.readouterr().out


def test_what_is_missing_is_named_with_its_extra() -> None:
    code = (
        "import sys\n"
        "sys.modules['pettingzoo'] = sys.modules['gymnasium'] = sys.modules['pyspiel'] = None\n"
        "for name in ('kamon_v0', 'against_level', 'openspiel'):\n"
        "    try:\n"
        "        __import__(f'kamon.env.{name}')\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        'kamon.env.kamon_v0 needs PettingZoo: pip install "kamon[env]"',
        'kamon.env.kamon_v0 needs PettingZoo: pip install "kamon[env]"',
        'kamon.env.openspiel needs OpenSpiel: pip install "kamon[openspiel]"',
    ]
