"""Kamon for OpenSpiel: ``import kamon.env.openspiel`` registers the game ``python_kamon``.

    import pyspiel
    import kamon.env.openspiel
    game = pyspiel.load_game("python_kamon(seed=7)")

An action is a cell, 0 to 36. The layout is part of the game, not a move of chance: its ``seed``, or
``layout`` with the text of one, chooses it. Observations are the planes of ``kamon.env.planes``,
the planes first, as the player sees them.
"""

from typing import Any, Final

import numpy as np

from kamon import rules
from kamon.env.planes import PLANES, SIZE, observe
from kamon.errors import ExtraMissingError
from kamon.geometry import CELL_COUNT, cells
from kamon.layout import Layout
from kamon.notation import format_cell, format_position, parse_layout
from kamon.position import Position, Side
from kamon.render import text

try:
    import pyspiel
except ImportError as error:
    raise ExtraMissingError("kamon.env.openspiel", "OpenSpiel", "openspiel") from error

__all__ = ["NAME", "KamonGame", "KamonState"]

NAME: Final = "python_kamon"
# No observer shows more than the board, so history and private information are not told.
_SHAPE: Final = (len(PLANES), SIZE, SIZE)
_SIDES: Final = (Side.BLACK, Side.WHITE)

_TYPE: Final = pyspiel.GameType(
    short_name=NAME,
    long_name="Kamon (Python)",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"seed": 0, "layout": ""},
)
_INFO: Final = pyspiel.GameInfo(
    num_distinct_actions=CELL_COUNT,
    max_chance_outcomes=0,
    num_players=2,
    min_utility=-1.0,
    max_utility=1.0,
    utility_sum=0.0,
    max_game_length=CELL_COUNT - 1,
)


class KamonGame(pyspiel.Game):  # type: ignore[misc]
    """The game on one layout."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        asked = params or {}
        super().__init__(_TYPE, _INFO, asked)
        written = str(asked.get("layout", ""))
        seed = int(asked.get("seed", 0))
        self.layout = parse_layout(written) if written else Layout.shuffled(seed)

    def new_initial_state(self) -> "KamonState":
        """Begin a game."""
        return KamonState(self)

    def make_py_observer(
        self, iig_obs_type: object = None, params: dict[str, Any] | None = None
    ) -> "KamonObserver":
        """Make an observer."""
        return KamonObserver(iig_obs_type, params)


class KamonState(pyspiel.State):  # type: ignore[misc]
    """One moment of a game."""

    def __init__(self, game: KamonGame) -> None:
        super().__init__(game)
        self.position = Position(game.layout)

    def current_player(self) -> int:
        """Return who is to move: 0 Black, 1 White."""
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return _SIDES.index(self.position.turn)

    def _legal_actions(self, player: int) -> list[int]:
        mover = self.position.turn is _SIDES[player]
        return list(cells(rules.legal_mask(self.position))) if mover else []

    def _apply_action(self, action: int) -> None:
        self.position = rules.play(self.position, action)

    def _action_to_string(self, player: int, action: int) -> str:
        del player  # Black and White write a cell alike.
        return format_cell(action)

    def is_terminal(self) -> bool:
        """Tell whether the game is over."""
        return rules.outcome(self.position) is not None

    def returns(self) -> list[float]:
        """Return what the game pays Black and White."""
        end = rules.outcome(self.position)
        if end is None or end.winner is None:
            return [0.0, 0.0]
        return [1.0 if side is end.winner else -1.0 for side in _SIDES]

    def __deepcopy__(self, _: dict[int, Any]) -> "KamonState":
        # Positions never change, so copies may share them.
        copied = KamonState(self.get_game())
        for action in self.history():
            copied.apply_action(action)
        return copied

    def __str__(self) -> str:
        return text.draw(self.position, legal=False)


class KamonObserver:
    """What a player sees: everything."""

    def __init__(self, iig_obs_type: object, params: dict[str, Any] | None) -> None:
        del iig_obs_type  # There is no private information to leave out.
        if params:
            raise ValueError(f"expected no parameters of the observer, not {params}")
        self.tensor = np.zeros(np.prod(_SHAPE), np.float32)
        self.dict = {"observation": self.tensor.reshape(_SHAPE)}

    def set_from(self, state: KamonState, player: int) -> None:
        """Fill in the tensor."""
        seen = observe(state.position, _SIDES[player])
        self.dict["observation"][:] = np.moveaxis(seen, -1, 0)

    def string_from(self, state: KamonState, player: int) -> str:
        """Return the position as text."""
        del player  # Both see the same.
        return format_position(state.position)


pyspiel.register_game(_TYPE, KamonGame)
