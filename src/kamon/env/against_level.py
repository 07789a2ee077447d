"""A Gymnasium environment: one player against one of the twelve levels.

    import gymnasium
    import kamon.env.against_level
    env = gymnasium.make("kamon/AgainstLevel-v0", level=3)

Actions and observations are those of ``kamon.env.kamon_v0``, and ``info`` has the ``action_mask``
too. A won game pays +1, a lost one -1. An illegal action loses, and ``info["illegal"]`` says why.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from kamon import rules
from kamon.engine import levels
from kamon.engine.strengths import STRONGEST
from kamon.env.kamon_v0 import (
    Observation,
    observation_space,
    random_layout,
    read_action,
    read_layout,
    render,
    reward,
    seen_by,
)
from kamon.errors import ExtraMissingError, IllegalMoveError
from kamon.geometry import CELL_COUNT
from kamon.layout import Layout
from kamon.position import Position, Side

try:
    import gymnasium
except ImportError as error:
    raise ExtraMissingError("kamon.env.against_level", "Gymnasium", "env") from error

__all__ = ["ID", "AgainstLevel"]

ID: Final = "kamon/AgainstLevel-v0"
_SIDES: Final = ("black", "white")

Info = dict[str, Any]


class AgainstLevel(gymnasium.Env):  # type: ignore[misc]
    """One player against a level. The same seed and the same actions give the same game.

    ``side`` is ``black``, ``white``, or None for one that is drawn for each episode, as is the
    layout unless one is given. ``reset(options={"layout": ..., "side": ...})`` sets them once.
    """

    metadata: Final[dict[str, Any]] = {
        "render_modes": ["human", "ansi", "rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        level: int = 1,
        side: str | None = "black",
        layout: Layout | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        if level not in range(1, STRONGEST + 1):
            raise ValueError(f"a level is 1 to {STRONGEST}, not {level}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"{render_mode!r} is no render mode: expected human, ansi, rgb_array")
        self.level = int(level)
        self.side = _check_side(side)
        self.layout = read_layout(layout)
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = gymnasium.spaces.Discrete(CELL_COUNT)
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin an episode; where the level has the first move, it has made it."""
        super().reset(seed=seed)
        asked = options or {}
        layout = read_layout(asked.get("layout")) or self.layout or random_layout(self.np_random)
        drawn = _SIDES[self.np_random.integers(len(_SIDES))]
        self.me = Side(_check_side(asked.get("side", self.side)) or drawn)
        self.position = Position(layout)
        self._is_over = False
        if self.position.turn is not self.me:
            self._answer()
        return self._seen()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, Info]:
        """Play a cell, and let the level answer."""
        if self._is_over:
            raise gymnasium.error.ResetNeeded("there is no game that goes on: call reset()")
        try:
            self.position = rules.play(self.position, read_action(action))
        except IllegalMoveError as error:
            self._is_over = True
            observation, info = self._seen()
            return observation, -1.0, True, False, info | {"illegal": str(error)}
        if rules.outcome(self.position) is None:
            self._answer()
        end = rules.outcome(self.position)
        self._is_over = end is not None
        pays = 0.0 if end is None else float(reward(end.winner, self.me))
        if self.render_mode == "human":
            self.render()
        observation, info = self._seen()
        return observation, pays, self._is_over, False, info

    def _answer(self) -> None:
        seed = int(self.np_random.integers(1 << 32))
        self.position = self.position.after(levels.choose(self.position, self.level, seed=seed))

    def _seen(self) -> tuple[Observation, Info]:
        seen = seen_by(self.position, self.me)
        return seen, {"action_mask": seen["action_mask"].copy()}

    def render(self) -> Any:  # noqa: ANN401 - a text, pixels or nothing
        """Draw the position, as the render mode says."""
        drawn: str | npt.NDArray[np.uint8] | None = render(self.position, self.render_mode)
        return drawn


def _check_side(side: str | None) -> str | None:
    if side is not None and side not in _SIDES:
        raise ValueError(f"{side!r} is no side: expected black, white or None")
    return side


gymnasium.register(id=ID, entry_point=AgainstLevel)
