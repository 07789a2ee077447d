"""Matches: which of two players is stronger, over boards that both play from both sides.

Boards differ in what they are worth to Black, so each is played twice with the sides changed, and
the pair of games, not the game, is what the statistics count.
"""

import contextlib
import math
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final, Protocol

from kamon import rules
from kamon.engine import levels
from kamon.engine.strengths import STRENGTHS, STRONGEST
from kamon.errors import FormatError, KamonError, quote
from kamon.game import Game, OffBoard
from kamon.layout import Layout
from kamon.notation import format_layout, format_position, parse_cell
from kamon.position import Position, Side

if TYPE_CHECKING:
    # At run time only the strong levels ask for the kernel.
    from kamon.engine.oracle import Oracle

# --- Players --------------------------------------------------------------------------------


class Player(Protocol):
    """Whoever chooses moves."""

    name: str
    # Whether the compiled engine must be there, and is worth compiling before the first game.
    needs_kernel: bool

    def new_game(self, seed: int) -> None:
        """Forget the last game. Raises ``EngineStartError`` where that cannot be done."""

    def choose(self, position: Position) -> int:
        """Choose a legal cell in a position that goes on, or raise a ``PlayerError``."""

    def close(self) -> None:
        """Let go of what the player holds; a new game may still follow."""


class PlayerError(KamonError):
    """A player loses the game by its own fault: on time, or else as if it had resigned."""

    def __init__(self, message: str, by: OffBoard = OffBoard.RESIGNATION) -> None:
        super().__init__(message)
        self.by = by


class EngineStartError(KamonError):
    """A program that cannot be started, or does not speak the protocol: no match without it."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to think: a factor on the levels' budgets, or a time for a move.

    Programs always need a time, and get a second where none is said. With ``ahead`` the highest
    level also thinks while its opponent does, in a thread of its own.
    """

    scale: float = 1.0
    seconds: float | None = None
    ahead: bool = False


class LevelPlayer:
    """A level of our own; with a pace in budgets, the same seed gives the same game.

    With a time, the highest keeps what it knows from move to move.
    """

    def __init__(self, name: str, level: int, pace: Pace) -> None:
        self.name = name
        self.needs_kernel = STRENGTHS[level - 1].needs_kernel
        self._level = level
        self._pace = pace
        self._rng = Random(0)  # noqa: S311 - a match must be repeatable, not secret
        self._oracle: Oracle | None = None
        self._disturbed = threading.Event()
        self._thinking_ahead: threading.Thread | None = None

    def new_game(self, seed: int) -> None:
        """Begin a new sequence of random numbers."""
        self._rng.seed(seed)
        self.close()

    def choose(self, position: Position) -> int:
        """Think as the level does."""
        seed = self._rng.getrandbits(32)
        if self._level == STRONGEST and self._pace.seconds is not None:
            return self._ask_oracle(position, seed)
        return levels.choose(
            position, self._level, seed=seed, scale=self._pace.scale, seconds=self._pace.seconds
        )

    def _ask_oracle(self, position: Position, seed: int) -> int:
        # The easy levels need no kernel.
        from kamon.engine.oracle import Effort, Oracle  # noqa: PLC0415

        self._stop_thinking_ahead()
        if self._oracle is None or self._oracle.layout != position.layout:
            self._oracle = Oracle(position.layout, seed=seed)
        oracle = self._oracle
        cell = oracle.think(position, Effort(self._pace.seconds)).cell
        after = position.after(cell)
        if self._pace.ahead and rules.outcome(after) is None:
            effort = Effort(cancelled=self._disturbed.is_set)
            self._thinking_ahead = threading.Thread(
                target=oracle.think, args=(after, effort), daemon=True
            )
            self._thinking_ahead.start()
        return cell

    def _stop_thinking_ahead(self) -> None:
        if self._thinking_ahead is not None:
            self._disturbed.set()
            self._thinking_ahead.join()
            self._disturbed.clear()
            self._thinking_ahead = None

    def close(self) -> None:
        """Let go of what is known of the last game."""
        self._stop_thinking_ahead()
        self._oracle = None


class UctPlayer:
    """A plain tree search of random games: the yardstick of the levels.

    So many games for each move, or as many as the time allows.
    """

    def __init__(self, name: str, games: int | None, seconds: float | None = None) -> None:
        self.name = name
        self.needs_kernel = True
        self._games = games
        self._seconds = seconds
        self._rng = Random(0)  # noqa: S311 - as above

    def new_game(self, seed: int) -> None:
        """Begin a new sequence of random numbers."""
        self._rng.seed(seed)

    def choose(self, position: Position) -> int:
        """Play the move that was tried most; of equals, the first."""
        from kamon.engine.playout_tree import PlayoutTree  # noqa: PLC0415 - as above

        ends = math.inf if self._seconds is None else time.perf_counter() + self._seconds
        tree = PlayoutTree(position, self._rng.getrandbits(32), prove=False)
        tree.grow_until(ends, math.inf if self._games is None else self._games)
        visits = tree.visits()
        return max(visits, key=lambda cell: (visits[cell], -cell))

    def close(self) -> None:
        """Hold nothing."""


MOST_PLAYOUTS: Final = 100_000_000


def parse_player(text: str, pace: Pace) -> Player:
    """Read a player: ``level:5``, ``uct:1000``, ``uct`` with a time, or ``ugi:COMMAND``."""
    kind, _, rest = text.partition(":")
    number = int(rest) if re.fullmatch("[0-9]{1,9}", rest) else 0
    if kind == "level" and 1 <= number <= len(STRENGTHS):
        return LevelPlayer(text, number, pace)
    if kind == "uct" and 1 <= number <= MOST_PLAYOUTS:
        return UctPlayer(text, number)
    if text == "uct" and pace.seconds is not None:
        return UctPlayer(text, None, pace.seconds)
    if kind == "ugi" and (words := _words(rest)):
        return UgiPlayer(text, words, pace.seconds or 1.0)
    raise FormatError(
        f"{quote(text)} is no player: expected level:1 to level:{len(STRENGTHS)}, "
        f"uct:1 to uct:{MOST_PLAYOUTS} (games), uct with --movetime, or ugi: and a command"
    )


def _words(command: str) -> list[str]:
    """Cut a command as a shell would; nothing where a quotation mark is left open."""
    with contextlib.suppress(ValueError):
        return shlex.split(command)
    return []


# --- Programs -------------------------------------------------------------------------------

# What a program may take to load, and to leave. One that compiles on first use needs the former.
_START_SECONDS: Final = 120.0
_END_SECONDS: Final = 2.0
# How much later than asked a move may come: pipes and schedulers take their time.
_GRACE_SECONDS: Final = 2.0
_ANSWERS: Final = ("ugiok", "readyok", "bestmove")
_LINE_LIMIT: Final = 1 << 16


class UgiPlayer:
    """A program that speaks the Universal Game Interface (docs/ugi.md), in a process of its own.

    After a fault the process is ended, and the next game starts another.
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
        self._process: Process | None = None

    def new_game(self, seed: int) -> None:  # noqa: ARG002 - a program has randomness of its own
        """Announce a new game, to a new process where the old one does not listen."""
        if self._process is not None:
            try:
                self._announce(self._process)
            except PlayerError:
                self._drop()
        if self._process is None:
            self._start()

    def choose(self, position: Position) -> int:
        """Ask for a move; ends the process where none comes that can be played."""
        try:
            return self._ask(position)
        except PlayerError:
            self._drop()
            raise

    def close(self) -> None:
        """End the process, politely if it listens."""
        if self._process is not None:
            self._process.leave()
            self._process = None

    def _start(self) -> None:
        try:
            self._process = Process(self._command)
            self._process.send("ugi")
            self._process.wait_for("ugiok", self._start_seconds)
            self._announce(self._process)
        except PlayerError as error:
            self._drop()
            raise EngineStartError(f"{self.name} cannot be started: it {error.message}") from None

    def _announce(self, process: "Process") -> None:
        process.send("uginewgame")
        process.send("isready")
        process.wait_for("readyok", self._start_seconds)

    def _ask(self, position: Position) -> int:
        process = self._process
        if process is None:
            raise PlayerError("is not running")
        fields = format_position(position) if position.ply else format_layout(position.layout)
        process.send(f"position fen {fields}")
        # Besides the protocol's wish, a way to leave behind whatever it has said too much.
        process.send("isready")
        process.wait_for("readyok", self._seconds + self._grace)
        process.send(f"go movetime {max(1, round(1000 * self._seconds))}")
        words = process.wait_for("bestmove", self._seconds + self._grace)
        return _read_move(position, words)

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def _read_move(position: Position, words: Sequence[str]) -> int:
    try:
        cell = parse_cell(" ".join(words[1:2]))
        rules.play(position, cell)
    except KamonError as error:
        raise PlayerError(f"played what is no legal move: {error.message}") from None
    return cell


class Process:
    """A running program: lines go in, and the few that are waited for come out."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            # A session of its own, so that Ctrl-C is for us to handle and for us alone.
            self._popen = subprocess.Popen(  # noqa: S603 - the very program that was asked for
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or error
            raise PlayerError(f"does not run: {what}") from None
        # The first line of each kind since the last that was waited for: one that talks without
        # end cannot fill our memory, nor drown what matters.
        self._heard: dict[str, list[str]] = {}
        self._has_ended = False
        self._news = threading.Condition()
        self._last_words = ""
        self._readers = [
            threading.Thread(target=read, daemon=True)
            for read in (self._read_answers, self._read_complaints)
        ]
        for reader in self._readers:
            reader.start()

    def send(self, line: str) -> None:
        """Say a line."""
        assert self._popen.stdin is not None  # noqa: S101 - it was asked for
        try:
            self._popen.stdin.write(f"{line}\n".encode())
            self._popen.stdin.flush()
        except OSError:
            raise self._obituary() from None

    def wait_for(self, word: str, seconds: float) -> list[str]:
        """Return the words of the line that begins with one; what was said before is forgotten."""
        with self._news:
            self._news.wait_for(lambda: word in self._heard or self._has_ended, seconds)
            words = self._heard.get(word)
            self._heard.clear()
        if words is not None:
            return words
        if self._has_ended:
            raise self._obituary()
        raise PlayerError(f"said no {word} in {seconds:g} s", OffBoard.TIME)

    def leave(self) -> None:
        """Ask the program to end, and see to it."""
        with contextlib.suppress(PlayerError):
            self.send("quit")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the program at once, and whatever it has started: the session is its own."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        assert self._popen.stdin is not None  # noqa: S101 - as above
        # What could not be sent is of no use any more.
        with contextlib.suppress(OSError):
            self._popen.stdin.close()
        self._join()

    def _join(self) -> None:
        # A child that the program leaves behind may hold the pipes open; no use in waiting for it.
        for reader in self._readers:
            reader.join(0.5)

    def _obituary(self) -> PlayerError:
        """Say how the program ended, in its own last words if it left any."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(_END_SECONDS)
        self._join()
        how = _manner(self._popen.returncode)
        return PlayerError(f"{how}: {self._last_words}" if self._last_words else how)

    def _read_answers(self) -> None:
        assert self._popen.stdout is not None  # noqa: S101 - as above
        with self._popen.stdout as stream:
            while line := stream.readline(_LINE_LIMIT):
                words = line.decode("utf-8", errors="replace").split()
                if words and words[0] in _ANSWERS:
                    with self._news:
                        self._heard.setdefault(words[0], words)
                        self._news.notify()
        with self._news:
            self._has_ended = True
            self._news.notify()

    def _read_complaints(self) -> None:
        assert self._popen.stderr is not None  # noqa: S101 - as above
        with self._popen.stderr as stream:
            while line := stream.readline(_LINE_LIMIT):
                text = line.decode("utf-8", errors="replace").strip()
                self._last_words = text[:200] or self._last_words


def _manner(status: int | None) -> str:
    if status is None:
        return "closed its output"
    return f"ended with status {status}" if status >= 0 else f"was ended by signal {-status}"


# --- Games ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finished:
    """A game of a match. ``fault`` tells what went wrong where a player lost by its own fault."""

    game: Game
    one: Side
    fault: str = ""

    @property
    def points(self) -> float:
        """What player one has made of it: 1, 0.5 or 0."""
        result = self.game.result
        if result is None or result.winner is None:
            return 0.5
        return 1.0 if result.winner is self.one else 0.0


def play_game(layout: Layout, players: Mapping[Side, Player], seed: int) -> tuple[Game, str]:
    """Play one game, and tell the fault that ended it, if one did.

    Only what no game can be played without is raised, as ``EngineStartError``.
    """
    rng = Random(seed)  # noqa: S311 - as above
    game = Game(layout)
    for side, player in players.items():
        player.new_game(rng.getrandbits(32))
        game.tags[side.value.capitalize()] = player.name
    while game.outcome is None:
        turn = game.position.turn
        try:
            game.play(players[turn].choose(game.position))
        except PlayerError as error:
            fault = f"{players[turn].name} {error.message}"
            game.node.comment = fault
            game.end_off_board(turn.other, error.by)
            return game, fault
    return game, ""


def play_match(one: Player, other: Player, *, games: int, seed: int) -> Iterator[Finished]:
    """Play game after game: two on each board of the seeds from ``seed`` on, sides changed."""
    for number in range(games):
        pair, second = divmod(number, 2)
        side = Side.WHITE if second else Side.BLACK
        players = {side: one, side.other: other}
        layout = Layout.shuffled(seed + pair)
        game, fault = play_game(layout, players, 2 * (seed + pair) + second)
        game.tags |= {
            "Event": "Match",
            "Round": f"{pair + 1}.{second + 1}",
            "Seed": str(seed + pair),
        }
        yield Finished(game, side, fault)


# --- Statistics -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """The points of player one, game by game, two games to a board."""

    points: tuple[float, ...] = ()

    def plus(self, finished: Finished) -> "Score":
        """Add a game."""
        return Score((*self.points, finished.points))

    @property
    def wins(self) -> int:
        """How many games player one has won."""
        return self.points.count(1.0)

    @property
    def draws(self) -> int:
        """How many games nobody has won."""
        return self.points.count(0.5)

    @property
    def losses(self) -> int:
        """How many games player one has lost."""
        return self.points.count(0.0)

    @property
    def share(self) -> float:
        """The share of the points, from 0 to 1; one half before the first game."""
        return sum(self.points) / len(self.points) if self.points else 0.5

    @property
    def pairs(self) -> list[float]:
        """The share of the points on each board that both have played from both sides."""
        return [(a + b) / 2 for a, b in zip(self.points[::2], self.points[1::2], strict=False)]


_Z: Final = 1.959964
# Student's factors for one and two degrees of freedom, where the series below is too coarse.
_STUDENT: Final = {1: 12.7062, 2: 4.3027}


def interval(pairs: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % confidence interval for the share that pairs of games were drawn from.

    Mean and spread of the pairs with Student's factor for their number. Where all pairs ended
    alike their spread tells nothing; then it is Wilson's interval for as many single trials,
    which is rather too wide. None where there is no pair.
    """
    if not pairs:
        return None
    count = len(pairs)
    mean = sum(pairs) / count
    squares = sum((share - mean) ** 2 for share in pairs)
    if squares == 0:
        return _wilson(mean, count)
    reach = _student(count - 1) * math.sqrt(squares / (count - 1) / count)
    return max(0.0, mean - reach), min(1.0, mean + reach)


def _student(freedom: int) -> float:
    """Return Student's factor for 95 %, by Cornish and Fisher's series: right to a hundredth."""
    if freedom in _STUDENT:
        return _STUDENT[freedom]
    return (
        _Z
        + (_Z**3 + _Z) / (4 * freedom)
        + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
        + (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / (384 * freedom**3)
    )


def _wilson(share: float, count: int) -> tuple[float, float]:
    weight = _Z**2 / count
    centre = (share + weight / 2) / (1 + weight)
    reach = _Z / (1 + weight) * math.sqrt((share * (1 - share) + weight / 4) / count)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def summary(one: str, other: str, score: Score) -> str:
    """Tell in two lines how a match stands."""
    played = (
        f"{one} against {other}: {score.wins} won, {score.draws} drawn, {score.losses} lost "
        f"of {len(score.points)}"
    )
    between = interval(score.pairs)
    if between is None:
        return f"{played}\nno board has been played from both sides, so there is no score yet"
    low, high = (100 * bound for bound in between)
    return (
        f"{played}\nscore {100 * score.share:.1f} %, with 95 % confidence from {low:.1f} % to "
        f"{high:.1f} % (pairs of games: {len(score.pairs)})"
    )
