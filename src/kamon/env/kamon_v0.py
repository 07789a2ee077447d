"""A PettingZoo environment for two players, in the style of its classic board games.

    from kamon.env import kamon_v0
    env = kamon_v0.env(render_mode="ansi")

An action is a cell, 0 to 36. An observation is a dictionary: ``observation`` holds the planes of
``kamon.env.planes`` as the agent sees them, and ``action_mask`` is 1 for each legal cell; it is all
0 for the agent that is not to move. The last move pays +1 and -1, or 0 and 0 for a draw.
"""

from operator import index
from typing import Any, Final, SupportsIndex

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.env.pixels import draw as draw_pixels
from kamon.env.planes import SHAPE, observe
from kamon.errors import ExtraMissingError
from kamon.geometry import CELL_COUNT, cells
from kamon.layout import SEED_LIMIT, Layout
from kamon.notation import parse_layout
from kamon.position import Position, Side
from kamon.render import text

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ImportError as error:
    raise ExtraMissingError("kamon.env.kamon_v0", "PettingZoo", "env") from error

__all__ = ["AGENTS", "env", "raw_env"]

AGENTS: Final = {"black_0": Side.BLACK, "white_0": Side.WHITE}
_PIXELS: Final = 400

Observation = dict[str, npt.NDArray[np.int8]]


def env(layout: Layout | str | None = None, render_mode: str | None = None) -> Any:  # noqa: ANN401 - PettingZoo is untyped
    """Make the environment that refuses illegal actions: who plays one loses at once."""
    plain = raw_env(layout, render_mode)
    wrapped = wrappers.TerminateIllegalWrapper(plain, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


def observation_space() -> Any:  # noqa: ANN401 - a Gymnasium space
    """Describe what an agent sees."""
    planes = spaces.Box(low=0, high=1, shape=SHAPE, dtype=np.int8)
    mask = spaces.Box(low=0, high=1, shape=(CELL_COUNT,), dtype=np.int8)
    return spaces.Dict({"observation": planes, "action_mask": mask})


def seen_by(position: Position, side: Side) -> Observation:
    """Return what a side sees of a position."""
    mask = np.zeros(CELL_COUNT, dtype=np.int8)
    if position.turn is side:
        mask[list(cells(rules.legal_mask(position)))] = 1
    return {"observation": observe(position, side), "action_mask": mask}


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 - PettingZoo names it so
    """The environment without wrappers: an illegal action raises ``IllegalMoveError``.

    Each episode has a layout of its own, drawn by the seed of ``reset``; with ``layout`` all have
    that one, and ``reset(options={"layout": ...})`` sets it for one episode.
    """

    metadata: Final[dict[str, Any]] = {
        "render_modes": ["human", "ansi", "rgb_array"],
        "name": "kamon_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(self, layout: Layout | str | None = None, render_mode: str | None = None) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"{render_mode!r} is no render mode: expected human, ansi, rgb_array")
        self.layout = read_layout(layout)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.observation_spaces = {agent: observation_space() for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(CELL_COUNT) for agent in AGENTS}
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401 - a Gymnasium space
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:  # noqa: ANN401 - a Gymnasium space
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        asked = read_layout((options or {}).get("layout"))
        layout = asked or self.layout or random_layout(self._rng)
        self.position = Position(layout)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = "black_0"

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees."""
        return seen_by(self.position, AGENTS[agent])

    def step(self, action: int | None) -> None:
        """Play a cell; ``None`` for an agent whose game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError("expected a cell from 0 to 36: the game is not over")
        self.position = rules.play(self.position, read_action(action))
        self._cumulative_rewards[agent] = 0
        self.agent_selection = "white_0" if agent == "black_0" else "black_0"
        end = rules.outcome(self.position)
        if end is not None:
            self.terminations = dict.fromkeys(AGENTS, True)
            for name, side in AGENTS.items():
                self.rewards[name] = reward(end.winner, side)
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """Draw the position, as the render mode says."""
        return render(self.position, self.render_mode)

    def close(self) -> None:
        """Nothing is held open."""


def read_layout(layout: Layout | str | None) -> Layout | None:
    """Return a layout that may be given as a text."""
    if isinstance(layout, str):
        return parse_layout(layout)
    if layout is not None and not isinstance(layout, Layout):
        raise TypeError(f"a layout is a Layout or its text, not {layout!r}")
    return layout


def read_action(action: SupportsIndex) -> int:
    """Return an action as a plain number."""
    if not isinstance(action, SupportsIndex):
        raise TypeError(f"an action is a cell from 0 to {CELL_COUNT - 1}, not {action!r}")
    return index(action)


def random_layout(rng: np.random.Generator) -> Layout:
    """Draw a layout: a seed of ``Layout.shuffled``, each equally likely."""
    return Layout.shuffled(int(rng.integers(0, SEED_LIMIT - 1, dtype=np.uint64, endpoint=True)))


def reward(winner: Side | None, side: Side) -> int:
    """Return what a game that is over pays a side."""
    if winner is None:
        return 0
    return 1 if winner is side else -1


def render(position: Position, mode: str | None) -> str | npt.NDArray[np.uint8] | None:
    """Draw a position in one of the render modes."""
    if mode == "rgb_array":
        return draw_pixels(position, size=_PIXELS)
    if mode == "ansi":
        return text.draw(position, colour=True)
    if mode == "human":
        print(text.draw(position, colour=True))  # noqa: T201 - this is what the mode means
    return None
