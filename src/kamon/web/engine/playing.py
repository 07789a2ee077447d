"""What a process does that plays for the computer. It loads nothing of the server."""

import contextlib
from collections import OrderedDict
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final

from kamon import rules
from kamon.engine.strengths import STRONGEST, strongest_plain_level
from kamon.errors import EngineMissingError
from kamon.layout import Layout
from kamon.notation import parse_position
from kamon.position import Position
from kamon.web.engine.workers import NOBODY_LISTENS, lower_priority

# Seconds for a move of the highest level, and for thinking ahead while the opponent thinks.
ORACLE_SECONDS: Final = 1.5
AHEAD_SECONDS: Final = 20.0
# How many games of the highest level one worker remembers: each takes up to 128 MiB.
GAMES_REMEMBERED: Final = 2


def work(pipe: Connection) -> None:
    """Answer questions until the pipe closes: a position, a level and a seed in, a cell out.

    After an answer of the highest level it goes on thinking about the reply. Any word from the
    pipe ends what it thinks about: the next question, or None. None means that nobody wants the
    answer any more, which is given all the same, or that others need the processor.
    """
    lower_priority()
    player = _Player()
    with contextlib.suppress(*NOBODY_LISTENS):
        while True:
            question = pipe.recv()
            if question is None:
                continue
            text, level, seed = question
            position = parse_position(text)
            cell = player.choose(position, level, seed, pipe.poll)
            pipe.send(cell)
            player.think_ahead(position.after(cell), level, pipe.poll)


class _Player:
    """Plays any level, and remembers the games of the highest."""

    def __init__(self) -> None:
        self._oracles: OrderedDict[Layout, Any] = OrderedDict()

    def choose(
        self, position: Position, level: int, seed: int, cancelled: Callable[[], bool]
    ) -> int:
        """Choose a move. Only the highest level can be cancelled: the others are soon done."""
        # Only the worker pays for the engine.
        from kamon.engine import levels  # noqa: PLC0415

        try:
            if level == STRONGEST:
                return self._ask_oracle(position, seed, cancelled)
            return levels.choose(position, level, seed=seed)
        except EngineMissingError:
            return levels.choose(position, strongest_plain_level(), seed=seed)

    def _ask_oracle(self, position: Position, seed: int, cancelled: Callable[[], bool]) -> int:
        from kamon.engine.oracle import Effort, Oracle  # noqa: PLC0415

        oracle = self._oracles.pop(position.layout, None)
        if oracle is None:
            while len(self._oracles) >= GAMES_REMEMBERED:
                self._oracles.popitem(last=False)
            oracle = Oracle(position.layout, seed=seed)
        self._oracles[position.layout] = oracle
        return int(oracle.think(position, Effort(ORACLE_SECONDS, cancelled=cancelled)).cell)

    def think_ahead(self, position: Position, level: int, disturbed: Callable[[], bool]) -> None:
        """Think about the opponent's position for a while, until somebody wants something."""
        oracle = self._oracles.get(position.layout)
        if level != STRONGEST or oracle is None or rules.outcome(position) is not None:
            return
        from kamon.engine.oracle import Effort  # noqa: PLC0415 - as above

        oracle.think(position, Effort(AHEAD_SECONDS, cancelled=disturbed))


def compile_engine(pipe: Connection) -> None:
    """Compile the engine, or find it compiled, and say so."""
    lower_priority()
    with contextlib.suppress(*NOBODY_LISTENS):
        pipe.recv()
        # Where there is no engine there is nothing to compile.
        with contextlib.suppress(EngineMissingError):
            from kamon.engine.solver import warm_up  # noqa: PLC0415

            warm_up()
        pipe.send("compiled")
