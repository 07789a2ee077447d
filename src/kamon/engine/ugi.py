"""The Universal Game Interface: what a program says to the engine, and what it hears.

kz04px's protocol, a cousin of chess's UCI; docs/ugi.md has every command. A ``Session`` obeys one
line after the other and never waits for a search. A ``Search`` thinks in a thread of its own and
gives exactly one ``bestmove``: its own when it is done, or the best so far when it is stopped.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Final

from kamon import __version__, rules
from kamon.engine import levels
from kamon.engine.judgement import log_odds
from kamon.engine.strengths import STRENGTHS, STRONGEST
from kamon.engine.values import VALUE_NAMES as _NAMES
from kamon.errors import FormatError, KamonError, quote
from kamon.layout import Layout
from kamon.notation import LINE_LIMIT, format_cell, parse_cell, parse_layout, parse_position
from kamon.position import Position, Side

if TYPE_CHECKING:
    # At run time only the strong levels ask for the kernel.
    from kamon.engine.oracle import Oracle, Thought

START_SEED: Final = 0
# The levels up to this one look exactly so many plies ahead; the others have no fixed depth.
DEEPEST: Final = max(strength.plies for strength in STRENGTHS)
# What UCI sends where there is no move to send.
NO_MOVE: Final = "0000"

# After this long without an answer from the search, ``stop`` gives the best so far itself.
PATIENCE: Final = 0.02
# A character has up to four bytes, and a line of the longest kind may end in two more.
_BYTE_LIMIT: Final = 4 * LINE_LIMIT + 2


def start_position() -> Position:
    """Return what ``startpos`` names: the empty board of seed 0."""
    return Position(Layout.shuffled(START_SEED))


# --- Options --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Options:
    """What ``setoption`` can set. ``hash`` is the size of the solver's table in MiB."""

    level: int = STRONGEST
    seed: int = 0
    threads: int = 1
    hash: int = 64


# The name as it is told, and the least and the most that it may be set to.
_SPINS: Final = {
    "level": ("Level", 1, STRONGEST),
    "seed": ("Seed", 0, (1 << 31) - 1),
    "threads": ("Threads", 1, 64),
    "hash": ("Hash", 1, 1 << 15),
}


def option_lines() -> list[str]:
    """Describe every option in the protocol's words."""
    return [
        f"option name {name} type spin default {getattr(Options(), field)} min {low} max {high}"
        for field, (name, low, high) in _SPINS.items()
    ]


def read_option(words: Sequence[str], options: Options) -> Options:
    """Set what ``name X value Y`` says; the case of names does not matter, as in UCI."""
    match words:
        case ["name", name, "value", value]:
            pass
        case _:
            raise FormatError(
                f"{quote(' '.join(words))} sets nothing: expected name, an option, value, a number"
            )
    if name.lower() not in _SPINS:
        names = ", ".join(name for name, _, _ in _SPINS.values())
        raise FormatError(f"{quote(name)} is no option: expected {names}")
    shown, low, high = _SPINS[name.lower()]
    return replace(options, **{name.lower(): _number(shown, value, low, high)})


def _number(name: str, text: str, low: int, high: int) -> int:
    if re.fullmatch(r"-?[0-9]{1,18}", text) and low <= int(text) <= high:
        return int(text)
    raise FormatError(f"{quote(text)} is no {name}: expected a whole number from {low} to {high}")


# --- Positions ------------------------------------------------------------------------------


def read_position(words: Sequence[str]) -> Position:
    """Read what follows ``position``: where it starts, and the moves from there."""
    at = words.index("moves") if "moves" in words else len(words)
    position = _read_start(words[:at])
    for number, word in enumerate(words[at + 1 :], 1):
        try:
            position = rules.play(position, parse_cell(word))
        except KamonError as error:
            raise FormatError(f"move {number}: {error.message}") from None
    return position


def _read_start(words: Sequence[str]) -> Position:
    match words:
        case ["startpos"]:
            return start_position()
        case ["fen", layout]:
            return Position(parse_layout(layout))
        case ["fen", layout, pieces, last]:
            return parse_position(f"{layout} {pieces} {last}")
    raise FormatError(
        f"{quote(' '.join(words))} is no position: expected startpos, or fen and a layout, "
        "or fen and layout, pieces and last cell; then, for moves, the word moves and cells"
    )


# --- What to think about --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """How far a search may go. Where nothing is said, the level's own budget is spent."""

    seconds: float | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False

    @property
    def is_bounded(self) -> bool:
        """Tell whether anything is said that the strongest level heeds."""
        return self.infinite or self.seconds is not None or self.nodes is not None


_MOST: Final = 10**15
# No clock of the system waits longer than some weeks.
_LONGEST: Final = 1_000_000.0
# The least that each may be. A clock that has run out shows less than nothing.
_LEAST: Final = {
    "p1time": -_MOST,
    "p2time": -_MOST,
    "p1inc": 0,
    "p2inc": 0,
    "movetime": 1,
    "nodes": 1,
    "depth": 0,
}


def read_task(words: Sequence[str], turn: Side) -> Task:
    """Read what follows ``go``, for the side to move."""
    said: dict[str, int] = {}
    infinite = False
    rest = iter(words)
    for name in rest:
        if name == "infinite":
            infinite = True
        elif name in _LEAST:
            said[name] = _number(name, next(rest, ""), _LEAST[name], _MOST)
        else:
            raise FormatError(
                f"{quote(name)} is no limit: expected {', '.join(_LEAST)} or infinite"
            )
    return Task(_seconds(said, turn), said.get("nodes"), said.get("depth"), infinite)


def _seconds(said: dict[str, int], turn: Side) -> float | None:
    """Work out the time for one move.

    From the middle of a game on the solver needs next to none, so the first moves may have much
    of the clock: an eighth of what is left, and most of the increment.
    """
    if "movetime" in said:
        return min(said["movetime"] / 1000, _LONGEST)
    player = "p1" if turn is Side.BLACK else "p2"
    if f"{player}time" not in said:
        return None
    left = max(0, said[f"{player}time"])
    share = min(left / 8 + 0.8 * said.get(f"{player}inc", 0), 0.9 * left - 50)
    return min(max(1.0, share) / 1000, _LONGEST)


# --- Searching ------------------------------------------------------------------------------


class Search:
    """One answer to ``go``, thought about in a thread and given exactly once.

    ``best`` is the answer so far, from the start on a legal move. ``think`` gets the search, may
    improve on ``best`` and tell what it finds, ends soon after ``cancelled`` is set, and returns
    the answer.
    """

    def __init__(
        self,
        think: Callable[["Search"], int],
        first: int,
        task: Task,
        say: Callable[[str], None],
    ) -> None:
        self.best = first
        self.nodes = 0
        self.task = task
        self.cancelled = threading.Event()
        self._think = think
        self._say = say
        self._started = time.perf_counter()
        self._lock = threading.Lock()
        self._answered = threading.Event()
        self._alarm = None if task.seconds is None else threading.Timer(task.seconds, self.stop)
        if self._alarm is not None:
            self._alarm.daemon = True
            self._alarm.start()
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def seconds(self) -> float:
        """The time spent so far."""
        return time.perf_counter() - self._started

    @property
    def is_over(self) -> bool:
        """Tell whether the answer has been given.

        While it is being given this waits: who has heard it may send the next line at once.
        """
        with self._lock:
            return self._answered.is_set()

    def tell(self, line: str) -> None:
        """Say something about the search; after the answer nothing more is said."""
        with self._lock:
            if not self._answered.is_set():
                self._utter(line)

    def stop(self) -> None:
        """Have the answer now: the search's own if that comes at once, else the best so far."""
        self.cancelled.set()
        if not self._answered.wait(PATIENCE):
            self._answer()

    def wait(self) -> None:
        """Wait for the answer."""
        self._answered.wait()

    def _run(self) -> None:
        try:
            self.best = self._think(self)
        except Exception as error:  # noqa: BLE001 - whatever fails, an answer is owed
            self.tell(f"info string error: {_one_line(error)}")
        self._answer()

    def _answer(self) -> None:
        with self._lock:
            if self._answered.is_set():
                return
            move = format_cell(self.best)
            self._utter(f"info {_effort(self.nodes, self.seconds)}pv {move}", f"bestmove {move}")
            self._answered.set()
            if self._alarm is not None:
                self._alarm.cancel()

    def _utter(self, *lines: str) -> None:
        try:
            for line in lines:
                self._say(line)
        except (OSError, ValueError):
            # Whoever listened has gone, and nobody wants an answer any more.
            self.cancelled.set()


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _effort(nodes: int, seconds: float) -> str:
    """Write time, and nodes where they are counted, and end with a space."""
    counted = f"nodes {nodes} nps {int(nodes / seconds)} " if nodes else ""
    return f"{counted}time {int(1000 * seconds)} "


def _level_for(depth: int) -> int:
    """Return the strongest level that looks no further ahead than so many plies."""
    plain = [strength for strength in STRENGTHS if not strength.needs_kernel]
    return max(strength.level for strength in plain if strength.plies <= max(1, depth))


def think_as(level: int, position: Position, task: Task, seed: int) -> int:
    """Think as a level does, on its own budget.

    More time or nodes than that make no level stronger, so that an opponent stays the same; less
    make it weaker.
    """
    strength = STRENGTHS[level - 1]
    if task.nodes is not None and task.nodes < strength.nodes:
        return levels.choose(position, level, seed=seed, scale=task.nodes / strength.nodes)
    return levels.choose(position, level, seed=seed, seconds=task.seconds)


# --- The strongest level without a budget ---------------------------------------------------

_SURE: Final = 10_000
# Over UGI ``nodes`` bounds the proof, and the random games beside it.
_GAMES_PER_NODE: Final = 2


def ask_the_oracle(oracle: "Oracle", position: Position, search: Search) -> int:
    """Let the Oracle think for as long as a task allows, and tell what it finds."""
    from kamon.engine.oracle import Effort  # noqa: PLC0415 - the easy levels need no kernel

    task = search.task
    games = None if task.nodes is None else _GAMES_PER_NODE * task.nodes
    effort = Effort(task.seconds, task.nodes, games, search.cancelled.is_set)

    def tell(thought: "Thought") -> None:
        search.best, search.nodes = thought.cell, thought.nodes
        if thought.value is None:
            score = round(100 * log_odds(thought.chance or 0.0))
        else:
            score = _SURE * thought.value
            search.tell(f"info string proven: {_NAMES[thought.value]} for the side to move")
        effort = _effort(thought.nodes, thought.seconds)
        search.tell(f"info {effort}score cp {score} pv {format_cell(thought.cell)}")

    return oracle.think(position, effort, tell).cell


# --- The session ----------------------------------------------------------------------------


def read_lines(stream: BinaryIO) -> Iterator[str]:
    """Read lines of whatever bytes come, and of an endless one no more than shows its length."""
    while line := stream.readline(_BYTE_LIMIT):
        rest = line
        while len(rest) == _BYTE_LIMIT and not rest.endswith(b"\n"):
            rest = stream.readline(_BYTE_LIMIT)
        yield line.decode("utf-8", errors="replace")


class Session:
    """The state of one conversation. ``write`` takes each line that is said."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._options = Options()
        self._position = start_position()
        self._search: Search | None = None
        self._is_warm = False
        # One for the moves of a game, and one search at a time that uses it.
        self._oracle: Oracle | None = None
        self._oracle_lock = threading.Lock()
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "ugi": self._introduce,
            "isready": self._get_ready,
            "setoption": self._set_option,
            "uginewgame": self._new_game,
            "position": self._set_position,
            "go": self._go,
            "stop": self._stop,
            "query": self._respond,
            "quit": self._stop,
        }

    def serve(self, stream: BinaryIO) -> None:
        """Obey lines until ``quit``, or until they end; then a search that has an end may go on."""
        for line in read_lines(stream):
            if not self.obey(line):
                return
        if self._search is not None:
            (self._search.stop if self._search.task.infinite else self._search.wait)()

    def obey(self, line: str) -> bool:
        """Obey one line, and tell whether to go on. A broken line changes nothing."""
        command, *words = line.removeprefix("\ufeff").split() or [""]
        try:
            if len(line.strip()) > LINE_LIMIT:
                raise FormatError(f"expected a line of at most {LINE_LIMIT} characters")
            if command and command not in self._commands:
                raise FormatError(f"expected a command: {', '.join(self._commands)}")
            if command:
                self._commands[command](words)
        except KamonError as error:
            self._say(f"info string error: {quote(command)}: {error.message}")
        return command != "quit"

    def _say(self, line: str) -> None:
        with self._lock:
            self._write(line)

    # --- Commands ---

    def _introduce(self, _: list[str]) -> None:
        for line in (
            f"id name Kamon {__version__}",
            "id author The Kamon contributors",
            *option_lines(),
            "ugiok",
        ):
            self._say(line)

    def _get_ready(self, _: list[str]) -> None:
        """Load the compiled kernel where it will be needed: that may take a while, once."""
        if not self._is_searching() and STRENGTHS[self._options.level - 1].needs_kernel:
            self._warm_up()
        self._say("readyok")

    def _warm_up(self) -> None:
        if self._is_warm:
            return
        try:
            from kamon.engine import kernel  # noqa: PLC0415 - the easy levels need none

            if kernel.needs_compiling():
                self._say("info string compiling the engine, which takes about 15 seconds")
            levels.choose(start_position(), self._options.level, seed=0, scale=0.001)
            kernel.note_compiled()
            self._is_warm = True
        except Exception as error:  # noqa: BLE001 - where the kernel is missing, the easy levels play
            self._say(f"info string error: {_one_line(error)}")

    def _set_option(self, words: list[str]) -> None:
        self._refuse_while_searching()
        self._options = read_option(words, self._options)

    def _new_game(self, _: list[str]) -> None:
        self._refuse_while_searching()
        self._position = start_position()
        self._oracle = None

    def _set_position(self, words: list[str]) -> None:
        self._refuse_while_searching()
        self._position = read_position(words)

    def _respond(self, words: list[str]) -> None:
        outcome = rules.outcome(self._position)
        winner = None if outcome is None else outcome.winner
        match words:
            case ["p1turn"]:
                answer = str(self._position.turn is Side.BLACK).lower()
            case ["gameover"]:
                answer = str(outcome is not None).lower()
            case ["result"] if winner is not None:
                answer = "p1win" if winner is Side.BLACK else "p2win"
            case ["result"]:
                answer = "none" if outcome is None else "draw"
            case _:
                raise FormatError(
                    f"{quote(' '.join(words))} is no question: expected p1turn, gameover or result"
                )
        self._say(f"response {answer}")

    def _go(self, words: list[str]) -> None:
        self._refuse_while_searching()
        task = read_task(words, self._position.turn)
        if not rules.legal_cells(self._position):
            self._say(f"info string error: 'go': the game is over, so there is no move: {NO_MOVE}")
            self._say(f"bestmove {NO_MOVE}")
            return
        first = levels.choose(self._position, 1, seed=self._seed)
        self._search = Search(self._thinking(task), first, task, self._say)

    def _stop(self, _: list[str]) -> None:
        if self._search is not None:
            self._search.stop()

    # --- Searching ---

    @property
    def _seed(self) -> int:
        return self._options.seed + self._position.ply

    def _is_searching(self) -> bool:
        return self._search is not None and not self._search.is_over

    def _refuse_while_searching(self) -> None:
        if self._is_searching():
            raise FormatError("a search is under way: expected isready, query, stop or quit")

    def _thinking(self, task: Task) -> Callable[[Search], int]:
        """Choose how to think, about the position and by the options of this moment."""
        position, options, seed = self._position, self._options, self._seed
        level = options.level
        if task.depth is not None and task.depth <= DEEPEST:
            level = min(level, _level_for(task.depth))
        has_choice = len(rules.legal_cells(position)) > 1
        if level == STRONGEST and task.is_bounded and has_choice:
            return lambda search: self._ask_the_oracle(position, options, seed, search)
        return lambda _: think_as(level, position, task, seed)

    def _ask_the_oracle(
        self, position: Position, options: Options, seed: int, search: Search
    ) -> int:
        with self._oracle_lock:
            return ask_the_oracle(self._oracle_for(position, options, seed), position, search)

    def _oracle_for(self, position: Position, options: Options, seed: int) -> "Oracle":
        """Go on with what is known of this game if there is anything."""
        from kamon.engine.limits import MIB, Limits  # noqa: PLC0415 - as above
        from kamon.engine.oracle import Oracle  # noqa: PLC0415

        limits = Limits(memory=options.hash * MIB, threads=options.threads)
        oracle = self._oracle
        is_ours = oracle is not None and oracle.layout == position.layout
        if oracle is None or not is_ours or oracle.solver.limits != limits:
            # The old table goes before the new one comes.
            self._oracle = oracle = None
            oracle = self._oracle = Oracle(
                position.layout, memory=limits.memory, threads=limits.threads, seed=seed
            )
        return oracle
