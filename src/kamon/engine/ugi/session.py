"""One conversation with another program: its options, its position and its search.

A ``Session`` handles one line after the other and never waits for a search: that runs in a thread
of its own, so ``stop`` is heard at any time.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Final

from kamon import __version__, rules
from kamon.engine import levels
from kamon.engine.strengths import STRENGTHS, STRONGEST
from kamon.engine.ugi.clock import seconds_for_move
from kamon.engine.ugi.protocol import (
    Options,
    format_bestmove,
    format_error,
    format_options,
    parse_go,
    parse_position,
    parse_setoption,
    read_lines,
    start_position,
)
from kamon.engine.ugi.search import (
    MAX_DEPTH,
    Search,
    Task,
    choose_as_level,
    choose_as_oracle,
    level_for_depth,
)
from kamon.errors import FormatError, KamonError, quote
from kamon.notation import LINE_LIMIT
from kamon.position import Position, Side

if TYPE_CHECKING:
    # At run time only the strong levels import the kernel.
    from kamon.engine.oracle import Oracle

_REFUSED_WHILE_SEARCHING: Final = {"setoption", "uginewgame", "position", "go"}


class Session:
    """The state of one conversation. ``write`` gets each line that is sent to the other program."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._write_lock = threading.Lock()
        self._options = Options()
        self._position = start_position()
        self._search: Search | None = None
        self._is_kernel_loaded = False
        # It is kept for all moves of a game, and used by one search at a time.
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
            "query": self._answer_query,
            "quit": self._stop,
        }

    def serve(self, stream: BinaryIO) -> None:
        """Handle lines until ``quit`` or the end of the stream.

        At the end of the stream a search that will end by itself is waited for.
        """
        for line in read_lines(stream):
            if not self.handle(line):
                return
        if self._search is not None:
            (self._search.stop if self._search.task.infinite else self._search.wait)()

    def handle(self, line: str) -> bool:
        """Handle one line, and tell whether to go on. A broken line changes nothing."""
        command, *words = line.removeprefix("\ufeff").split() or [""]
        is_busy = command in _REFUSED_WHILE_SEARCHING and self._is_searching()
        try:
            self._check(line, command, is_busy=is_busy)
            if command:
                self._commands[command](words)
        except KamonError as error:
            self._send(format_error(f"{quote(command)}: {error.message}"))
            if command == "go" and not is_busy:
                # The other program now waits for a move. If a search is under way, that search
                # will give the move, and a second one would be taken for its answer.
                self._send(format_bestmove(None))
        return command != "quit"

    def _check(self, line: str, command: str, *, is_busy: bool) -> None:
        if len(line.strip()) > LINE_LIMIT:
            raise FormatError(f"expected a line of at most {LINE_LIMIT} characters")
        if command and command not in self._commands:
            raise FormatError(f"expected a command: {', '.join(self._commands)}")
        if is_busy:
            raise FormatError("a search is running: expected isready, query, stop or quit")

    def _send(self, line: str) -> None:
        with self._write_lock:
            self._write(line)

    # --- Commands ---

    def _introduce(self, _: list[str]) -> None:
        for line in (
            f"id name Kamon {__version__}",
            "id author The Kamon contributors",
            *format_options(),
            "ugiok",
        ):
            self._send(line)

    def _get_ready(self, _: list[str]) -> None:
        """Load the compiled kernel if the level needs it: the first time, that takes a while."""
        if not self._is_searching() and STRENGTHS[self._options.level - 1].needs_kernel:
            self._load_kernel()
        self._send("readyok")

    def _load_kernel(self) -> None:
        if self._is_kernel_loaded:
            return
        try:
            from kamon.engine import kernel  # noqa: PLC0415 - the easy levels need none

            if kernel.needs_compiling():
                self._send("info string compiling the engine, which takes about 15 seconds")
            levels.choose(start_position(), self._options.level, seed=0, scale=0.001)
            kernel.note_compiled()
            self._is_kernel_loaded = True
        except Exception as error:  # noqa: BLE001 - without the kernel the easy levels still play
            self._send(format_error(str(error) or type(error).__name__))

    def _set_option(self, words: list[str]) -> None:
        self._options = parse_setoption(words, self._options)

    def _new_game(self, _: list[str]) -> None:
        self._position = start_position()
        self._oracle = None

    def _set_position(self, words: list[str]) -> None:
        self._position = parse_position(words)

    def _answer_query(self, words: list[str]) -> None:
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
                    f"{quote(' '.join(words))} is not a query: expected p1turn, gameover or result"
                )
        self._send(f"response {answer}")

    def _go(self, words: list[str]) -> None:
        go = parse_go(words)
        if not rules.legal_cells(self._position):
            raise FormatError("the game is over, so there is no move")
        seconds = seconds_for_move(go, self._position.turn)
        task = Task(seconds, go.nodes, go.depth, go.infinite)
        first = levels.choose(self._position, 1, seed=self._seed)
        self._search = Search(self._way_to_think(task), first, task, self._send)

    def _stop(self, _: list[str]) -> None:
        if self._search is not None:
            self._search.stop()

    # --- Searching ---

    @property
    def _seed(self) -> int:
        return self._options.seed + self._position.ply

    def _is_searching(self) -> bool:
        return self._search is not None and not self._search.is_over

    def _way_to_think(self, task: Task) -> Callable[[Search], int]:
        """Choose how to think, with the position and the options as they are now."""
        position, options, seed = self._position, self._options, self._seed
        level = options.level
        if task.depth is not None and task.depth <= MAX_DEPTH:
            level = min(level, level_for_depth(task.depth))
        has_choice = len(rules.legal_cells(position)) > 1
        if level == STRONGEST and task.is_bounded and has_choice:
            return lambda search: self._choose_as_oracle(position, options, seed, search)
        return lambda _: choose_as_level(level, position, task, seed)

    def _choose_as_oracle(
        self, position: Position, options: Options, seed: int, search: Search
    ) -> int:
        with self._oracle_lock:
            return choose_as_oracle(self._oracle_for(position, options, seed), position, search)

    def _oracle_for(self, position: Position, options: Options, seed: int) -> "Oracle":
        """Return the Oracle of this game, with what it has learnt, or a new one."""
        from kamon.engine.limits import MIB, Limits  # noqa: PLC0415 - as above
        from kamon.engine.oracle import Oracle  # noqa: PLC0415

        limits = Limits(memory=options.hash * MIB, threads=options.threads)
        oracle = self._oracle
        is_same_board = oracle is not None and oracle.layout == position.layout
        if oracle is None or not is_same_board or oracle.solver.limits != limits:
            # Free the old table before the new one is allocated.
            self._oracle = oracle = None
            oracle = self._oracle = Oracle(
                position.layout, memory=limits.memory, threads=limits.threads, seed=seed
            )
        return oracle
