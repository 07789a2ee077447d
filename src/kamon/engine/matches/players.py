"""Players: whatever can choose moves in a match."""

import contextlib
import math
import re
import shlex
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, Protocol

from kamon import rules
from kamon.engine import levels
from kamon.engine.matches.client import EngineError, EngineTimeoutError, UgiClient
from kamon.engine.strengths import STRENGTHS, STRONGEST
from kamon.errors import FormatError, KamonError, quote
from kamon.game import OffBoard
from kamon.notation import format_layout, format_position, parse_cell
from kamon.position import Position

if TYPE_CHECKING:
    # At run time only the strong levels import the kernel.
    from kamon.engine.oracle import Oracle


class Player(Protocol):
    """Something that chooses moves."""

    name: str
    # Whether the player needs the compiled engine, which is then compiled before the first game.
    needs_kernel: bool

    def new_game(self, seed: int) -> None:
        """Forget the last game. Raises ``EngineStartError`` if the player cannot be started."""

    def choose(self, position: Position) -> int:
        """Choose a legal cell in a game that is not over, or raise a ``PlayerError``."""

    def close(self) -> None:
        """Free what the player holds; a new game may still follow."""


class PlayerError(KamonError):
    """A player loses the game by its own fault: on time, or else as if it had resigned."""

    def __init__(self, message: str, by: OffBoard = OffBoard.RESIGNATION) -> None:
        super().__init__(message)
        self.by = by


class EngineStartError(KamonError):
    """A program cannot be started or does not speak the protocol, so the match cannot go on."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to think: a factor on the levels' budgets, or a time for each move.

    Programs always need a time, and get a second if there is none. With ``ahead`` the highest
    level also thinks while its opponent does, in a thread of its own.
    """

    scale: float = 1.0
    seconds: float | None = None
    ahead: bool = False


# --- Levels ---------------------------------------------------------------------------------


class LevelPlayer:
    """One of the twelve levels. Without a time for each move, the same seed gives the same game.

    With a time, the highest level keeps what it has learnt from move to move.
    """

    def __init__(self, name: str, level: int, pace: Pace) -> None:
        self.name = name
        self.needs_kernel = STRENGTHS[level - 1].needs_kernel
        self._level = level
        self._pace = pace
        self._rng = Random(0)  # noqa: S311 - a match must be repeatable, not secret
        self._oracle: Oracle | None = None
        self._thinking_ahead: threading.Thread | None = None
        self._stop_ahead = threading.Event()

    def new_game(self, seed: int) -> None:
        """Start a new sequence of random numbers."""
        self._rng.seed(seed)
        self.close()

    def choose(self, position: Position) -> int:
        """Choose as the level does."""
        seed = self._rng.getrandbits(32)
        if self._level == STRONGEST and self._pace.seconds is not None:
            return self._choose_as_oracle(position, seed)
        return levels.choose(
            position, self._level, seed=seed, scale=self._pace.scale, seconds=self._pace.seconds
        )

    def close(self) -> None:
        """Forget what was learnt in the last game."""
        self._stop_thinking_ahead()
        self._oracle = None

    def _choose_as_oracle(self, position: Position, seed: int) -> int:
        # The easy levels need no kernel.
        from kamon.engine.oracle import Effort, Oracle  # noqa: PLC0415

        self._stop_thinking_ahead()
        if self._oracle is None or self._oracle.layout != position.layout:
            self._oracle = Oracle(position.layout, seed=seed)
        cell = self._oracle.think(position, Effort(self._pace.seconds)).cell
        after = position.after(cell)
        if self._pace.ahead and rules.outcome(after) is None:
            self._think_ahead(self._oracle, after)
        return cell

    def _think_ahead(self, oracle: "Oracle", position: Position) -> None:
        from kamon.engine.oracle import Effort  # noqa: PLC0415 - as above

        effort = Effort(cancelled=self._stop_ahead.is_set)
        self._thinking_ahead = threading.Thread(
            target=oracle.think, args=(position, effort), daemon=True
        )
        self._thinking_ahead.start()

    def _stop_thinking_ahead(self) -> None:
        if self._thinking_ahead is not None:
            self._stop_ahead.set()
            self._thinking_ahead.join()
            self._stop_ahead.clear()
            self._thinking_ahead = None


# --- Plain tree search ----------------------------------------------------------------------


class UctPlayer:
    """A plain tree search of random games, against which the levels are measured.

    It plays so many games for each move, or as many as the time allows.
    """

    def __init__(self, name: str, games: int | None, seconds: float | None = None) -> None:
        self.name = name
        self.needs_kernel = True
        self._games = games
        self._seconds = seconds
        self._rng = Random(0)  # noqa: S311 - as above

    def new_game(self, seed: int) -> None:
        """Start a new sequence of random numbers."""
        self._rng.seed(seed)

    def choose(self, position: Position) -> int:
        """Choose the move that was tried most often; of equals, the first."""
        from kamon.engine.playout_tree import PlayoutTree  # noqa: PLC0415 - as above

        ends = math.inf if self._seconds is None else time.perf_counter() + self._seconds
        tree = PlayoutTree(position, self._rng.getrandbits(32), prove=False)
        tree.grow_until(ends, math.inf if self._games is None else self._games)
        visits = tree.visits()
        return max(visits, key=lambda cell: (visits[cell], -cell))

    def close(self) -> None:
        """Do nothing: the player keeps nothing."""


# --- Programs -------------------------------------------------------------------------------

# Programs that compile themselves on first use take long to start.
_START_SECONDS: Final = 120.0
# How much later than asked a move may come: pipes and schedulers cause delays.
_GRACE_SECONDS: Final = 2.0


class UgiPlayer:
    """A program that speaks the Universal Game Interface.

    After a fault its process is ended, and the next game starts another.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        seconds: float,
        *,
        start: float = _START_SECONDS,
        grace: float = _GRACE_SECONDS,
    ) -> None:
        self.name = name
        self.needs_kernel = False
        self._command = list(command)
        self._seconds = seconds
        self._start_seconds = start
        self._grace = grace
        self._client: UgiClient | None = None

    def new_game(self, seed: int) -> None:  # noqa: ARG002 - a program has its own random numbers
        """Announce a new game, and start the program if it is not running or does not answer."""
        if self._client is not None:
            try:
                self._client.new_game(self._start_seconds)
            except EngineError:
                self._kill()
        if self._client is None:
            self._start()

    def choose(self, position: Position) -> int:
        """Ask for a move, and end the process if no legal one comes."""
        try:
            return self._ask(position)
        except PlayerError:
            self._kill()
            raise

    def close(self) -> None:
        """End the process; it is asked to quit first."""
        if self._client is not None:
            self._client.quit()
            self._client = None

    def _start(self) -> None:
        try:
            self._client = UgiClient(self.name, self._command)
            self._client.greet(self._start_seconds)
            self._client.new_game(self._start_seconds)
        except EngineError as error:
            self._kill()
            raise EngineStartError(f"{self.name} cannot be started: it {error.message}") from None

    def _ask(self, position: Position) -> int:
        if self._client is None:
            raise PlayerError("is not running")
        fen = format_position(position) if position.ply else format_layout(position.layout)
        try:
            move = self._client.best_move(fen, self._seconds, self._grace)
        except EngineTimeoutError as error:
            raise PlayerError(error.message, OffBoard.TIME) from None
        except EngineError as error:
            raise PlayerError(error.message) from None
        return _parse_move(position, move)

    def _kill(self) -> None:
        if self._client is not None:
            self._client.kill()
            self._client = None


def _parse_move(position: Position, move: str) -> int:
    try:
        cell = parse_cell(move)
        rules.play(position, cell)
    except KamonError as error:
        raise PlayerError(f"played an illegal move: {error.message}") from None
    return cell


# --- Names of players -----------------------------------------------------------------------

MAX_UCT_GAMES: Final = 100_000_000


def parse_player(text: str, pace: Pace) -> Player:
    """Read a player: ``level:5``, ``uct:1000``, ``uct`` with a time, or ``ugi:COMMAND``."""
    kind, _, rest = text.partition(":")
    number = int(rest) if re.fullmatch("[0-9]{1,9}", rest) else 0
    if kind == "level" and 1 <= number <= len(STRENGTHS):
        return LevelPlayer(text, number, pace)
    if kind == "uct" and 1 <= number <= MAX_UCT_GAMES:
        return UctPlayer(text, number)
    if text == "uct" and pace.seconds is not None:
        return UctPlayer(text, None, pace.seconds)
    if kind == "ugi" and (command := _split_command(rest)):
        return UgiPlayer(text, command, pace.seconds or 1.0)
    raise FormatError(
        f"{quote(text)} is not a player: expected level:1 to level:{len(STRENGTHS)}, "
        f"uct:1 to uct:{MAX_UCT_GAMES} (games), uct with --movetime, or ugi:COMMAND"
    )


def _split_command(text: str) -> list[str]:
    """Split a command as a shell would; nothing if a quotation mark is not closed."""
    with contextlib.suppress(ValueError):
        return shlex.split(text)
    return []
