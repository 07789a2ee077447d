"""A game reviewed: where it was decided, and what would have been better.

A review proves as much as its time allows, from the end of the game backwards, where proofs are
cheap and help the earlier ones. Everything in it is either proven or marked as an estimate. A
review that is continued keeps what was proven, so it never changes its mind: it only knows more.
"""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kamon import rules
from kamon.engine.distances import measure
from kamon.engine.limits import NO_LIMIT, Budget, Limits
from kamon.engine.playout_tree import NODES_PER_GAME, PlayoutTree, win_chance
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS, VALUE_NAMES, VALUES, WIN, negated
from kamon.game import Game, Node, OffBoard
from kamon.notation import format_cell, parse_cell
from kamon.position import Position, Side

# Random games that estimate a position that is not proven.
_GAMES: Final = 20_000
# A move after which the estimated chance has fallen by so much is doubtful.
_SHARP_FALL: Final = 0.35
# Positions from this ply on are proven in a moment, those from the next on before there is any
# advice; earlier ones take much longer.
_CHEAP: Final = 12
_FIRST_GOAL: Final = 6
# Nodes for the quickest of the better moves, and for the length of a lost position: not seconds, so
# that the advice is the same each time.
_ADVICE_NODES: Final = 4_000_000
_LENGTH_NODES: Final = 1_500_000
_TELL_EVERY: Final = 0.5
_REPORT_EVERY: Final = 1.0
_MOST_MOMENTS: Final = 3
# PGN's glyphs: a very poor move throws a win away, a poor one a draw; a doubtful one may.
_BLUNDER: Final = 4
_MISTAKE: Final = 2
_DOUBTFUL: Final = 6


@dataclass(frozen=True, slots=True)
class Turn:
    """A move of a game as the review sees it.

    ``before`` and ``after`` are exact values for the mover, of the position and of the move; None
    where not proven. ``chance`` and ``best_chance`` are estimates, of the move and of the best
    move, where one of the values is missing. ``better`` is a move that would have kept the value,
    the ``quickest`` such where that is known: it ends the game as ``ends`` says, or it leaves the
    opponent the replies ``leaves``, and ``line`` shows how it goes on. ``shortened`` counts the
    plies by which a move in a lost position hurried the end.
    """

    ply: int
    cell: int
    before: int | None
    after: int | None
    chance: float | None = None
    best_chance: float | None = None
    better: int | None = None
    quickest: bool = False
    line: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()
    ends: str | None = None
    shortened: int | None = None

    @property
    def is_proven(self) -> bool:
        """Tell whether it is known what the move threw away; a win keeps whatever there was."""
        return self.after == WIN or (self.before is not None and self.after is not None)

    @property
    def lost_by(self) -> int:
        """How much the move threw away: 2 a whole win, 1 half a point, 0 nothing that is proven."""
        if self.before is None or self.after is None:
            return 0
        return self.before - self.after

    @property
    def fall(self) -> float:
        """How far the estimated chance fell by the move; 0 where that is proven or unknown."""
        if self.is_proven or self.chance is None or self.best_chance is None:
            return 0.0
        return self.best_chance - self.chance

    @property
    def is_doubtful(self) -> bool:
        """Tell whether the move looks like a mistake, by estimate."""
        return self.fall >= _SHARP_FALL

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "ply": self.ply,
            "move": format_cell(self.cell),
            "before": _name(self.before),
            "after": _name(self.after),
            "estimate": _rounded(self.chance),
            "best_estimate": _rounded(self.best_chance),
            "lost": self.lost_by,
            "doubtful": self.is_doubtful,
            "better": None if self.better is None else format_cell(self.better),
            "quickest": self.quickest,
            "line": [format_cell(cell) for cell in self.line],
            "leaves": [format_cell(cell) for cell in self.leaves],
            "ends": self.ends,
            "shortened": self.shortened,
        }


def _name(value: int | None) -> str | None:
    return None if value is None else VALUE_NAMES[value]


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else round(chance, 3)


def read_turn(data: dict[str, Any]) -> Turn:
    """Read what ``Turn.data`` wrote."""
    return Turn(
        ply=int(data["ply"]),
        cell=parse_cell(data["move"]),
        before=VALUES.get(data["before"]),
        after=VALUES.get(data["after"]),
        chance=data["estimate"],
        best_chance=data["best_estimate"],
        better=None if data["better"] is None else parse_cell(data["better"]),
        quickest=bool(data["quickest"]),
        line=tuple(parse_cell(name) for name in data["line"]),
        leaves=tuple(parse_cell(name) for name in data["leaves"]),
        ends=data["ends"],
        shortened=data["shortened"],
    )


@dataclass(frozen=True, slots=True)
class Story:
    """What decided the game, in one word, with the move it is about if it is about one.

    ``mistake``   the last move that threw something away; everything after it is proven
    ``flawless``  every move is proven, and none threw anything away
    ``proven``    from ``ply`` on no move threw anything away; what was before is not proven
    ``off-board`` the result came off the board, and the last position is proven to be another
    ``open``      the end of the game is not proven
    ``empty``     no move was played

    ``winner`` is who won or, in a game that is not over, who is winning; None is a draw.
    """

    kind: str
    winner: Side | None = None
    ply: int | None = None

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        winner = None if self.winner is None else self.winner.value
        return {"kind": self.kind, "winner": winner, "ply": self.ply}


@dataclass(frozen=True, slots=True)
class Review:
    """A whole game, move by move. ``done`` tells that nothing more can be found out."""

    turns: tuple[Turn, ...] = field(default=())
    story: Story = field(default_factory=lambda: Story("empty"))
    done: bool = False

    @property
    def turning_points(self) -> tuple[Turn, ...]:
        """The moves that threw away a win or a draw."""
        return tuple(turn for turn in self.turns if turn.lost_by > 0)

    @property
    def moments(self) -> tuple[Turn, ...]:
        """The few moves that mattered most, the most important first.

        The last mistake decided the game. Then come larger ones before smaller, later before
        earlier; and where there are few, moves that look doubtful.
        """
        decisive, earlier = self.turning_points[-1:], self.turning_points[:-1]
        others = sorted(earlier, key=lambda turn: (turn.lost_by, turn.ply), reverse=True)
        doubtful = sorted(
            (turn for turn in self.turns if turn.is_doubtful),
            key=lambda turn: turn.fall,
            reverse=True,
        )
        return (*decisive, *others, *doubtful)[:_MOST_MOMENTS]

    def accuracy(self, parity: int) -> float | None:
        """Return the share of one side's proven moves that kept their value; 0 is Black."""
        proven = [turn for turn in self.turns if turn.ply % 2 == parity and turn.is_proven]
        if not proven:
            return None
        return sum(turn.lost_by == 0 for turn in proven) / len(proven)

    def data(self) -> dict[str, Any]:
        """Turn it into plain values for JSON."""
        return {
            "story": self.story.data(),
            "moments": [turn.ply for turn in self.moments],
            "turns": [turn.data() for turn in self.turns],
            "accuracy": {"black": self.accuracy(0), "white": self.accuracy(1)},
            "done": self.done,
        }


def review(
    game: Game,
    limits: Limits,
    *,
    known: Iterable[Turn] = (),
    tell: Callable[[Review], None] = lambda _: None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Review:
    """Review the main line within the limits, of which seconds and nodes are for the whole game.

    ``known`` are turns of an earlier review of this game, which this one goes on from. ``tell``
    hears of every step forward, and ``progress`` at least every few seconds, also inside one long
    search.
    """
    return _Reviewer(game, limits, known, tell, progress, cancelled).run()


class _Reviewer:
    """One game under review."""

    def __init__(
        self,
        game: Game,
        limits: Limits,
        known: Iterable[Turn],
        tell: Callable[[Review], None],
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
    ) -> None:
        nodes = game.main_line()
        self.game, self.tell, self.progress = game, tell, progress
        self.positions = [game.root.position, *(node.position for node in nodes)]
        self.cells = [node.cell for node in nodes if node.cell is not None]
        self.solver = Solver(game.layout, replace(limits, seconds=None, nodes=None))
        self.budget = Budget(limits, cancelled)
        self.first_ply = self.positions[0].ply
        self.values: dict[int, int | None] = {}
        self.lengths: dict[int, int | None] = {}
        self.turns = [
            Turn(self.first_ply + at, cell, None, None) for at, cell in enumerate(self.cells)
        ]
        self.told = 0.0
        # How many positions are done, and when that was last reported.
        self.positions_done = 0
        self.reported = 0.0
        for turn in known:
            self._take_over(turn)

    def _take_over(self, turn: Turn) -> None:
        """Believe what an earlier review has proven."""
        at = turn.ply - self.first_ply
        if not 0 <= at < len(self.cells) or self.cells[at] != turn.cell:
            raise ValueError("that is the review of another game")
        self.turns[at] = turn
        for place, value in ((at, turn.before), (at + 1, negated(turn.after))):
            if value is not None:
                self.values[place] = value

    def run(self) -> Review:
        if not self.cells:
            return Review(done=True)
        self._prove_from(_CHEAP)
        self._estimate()
        self._prove_from(_FIRST_GOAL)
        self._measure_lost_positions()
        self._prove_from(0)
        self._measure_lost_positions()
        found = self._found()
        self.tell(found)
        return found

    def _over(self) -> bool:
        return self.budget.spent()

    # --- Values ---

    def _estimate(self) -> None:
        """Estimate the moves that are not proven, so that there is something to show at once."""
        for at, turn in enumerate(self.turns):
            if turn.is_proven or turn.chance is not None or self.budget.cancelled():
                continue
            position = self.positions[at]
            tree = PlayoutTree(position, position.ply, NODES_PER_GAME * _GAMES + 50)
            tree.grow(_GAMES)
            # As exact as it is written down, so that a review reads back as it was.
            chances = {cell: round(win_chance(share), 3) for cell, share in tree.chances().items()}
            visits = tree.visits()
            best = max(visits, key=lambda cell: visits[cell])
            chance = chances[turn.cell]
            self.turns[at] = replace(turn, chance=chance, best_chance=max(chance, chances[best]))
        self._say()

    def _prove_from(self, ply: int) -> None:
        """Prove the positions from a ply on, the last one first."""
        for at in range(len(self.positions) - 1, -1, -1):
            if self.positions[at].ply < ply or self._over():
                break
            if self.values.get(at) is not None:
                continue
            self.values[at] = self._value(at)
            self.positions_done = max(self.positions_done, len(self.positions) - at)
            self._report()
            self._note_values()
            self._say()
            self._advise()

    def _value(self, at: int) -> int | None:
        if self.values.get(at + 1) == LOSS:
            # The move that was played wins.
            return WIN
        spent_before = self.budget.nodes
        part = self._part()
        value = self.solver.value(self.positions[at], part)
        self.budget.nodes = spent_before + part.nodes
        return value

    def _part(self, nodes: int = NO_LIMIT) -> Budget:
        """Return what is left for one search, at most this many nodes. It reports while it runs."""
        return Budget(self._limits_left(nodes), self.budget.cancelled, self._keep_reporting)

    def _keep_reporting(self, _nodes: int, _seconds: float) -> None:
        """Report now and then: whoever listens must see that a long search is still running."""
        if time.monotonic() - self.reported > _REPORT_EVERY:
            self._report()

    def _report(self) -> None:
        self.reported = time.monotonic()
        self.progress(self.positions_done, len(self.positions))

    def _limits_left(self, nodes: int = NO_LIMIT) -> Limits:
        """Return what is left of the limits, and no more than so many nodes."""
        limits = self.budget.limits
        seconds = limits.seconds
        if seconds is not None:
            seconds = max(0.001, seconds - self.budget.seconds)
        return replace(limits, seconds=seconds, nodes=max(1, min(nodes, self.budget.nodes_left())))

    def _note_values(self) -> None:
        for at, turn in enumerate(self.turns):
            before, after = self.values.get(at), negated(self.values.get(at + 1))
            if (before, after) != (turn.before, turn.after):
                self.turns[at] = replace(turn, before=before, after=after)

    # --- What would have been better ---

    def _advise(self) -> None:
        """Find better moves for mistakes that have none yet, the last first."""
        for at in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[at]
            if turn.lost_by > 0 and turn.better is None and not self.budget.cancelled():
                self.turns[at] = self._advised(at, turn)
                self._say()

    def _measure_lost_positions(self) -> None:
        """Find the moves in lost positions that hurried the end, the last first."""
        for at in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[at]
            both_lost = turn.before == LOSS and turn.after == LOSS
            if both_lost and turn.shortened is None and not self._measured(at, turn):
                break

    def _advised(self, at: int, turn: Turn) -> Turn:
        position = self.positions[at]
        assert turn.before is not None  # noqa: S101 - a mistake has a value before it
        better, quickest = self._better_move(position, turn.before)
        if better is None:
            return turn
        reply = position.after(better)
        budget = self._part(_ADVICE_NODES)
        line = (better, *self.solver.line(reply, budget))
        outcome = rules.outcome(reply)
        ends = None if outcome is None else "+".join(by.value for by in outcome.by)
        return replace(
            turn,
            better=better,
            quickest=quickest,
            line=line,
            leaves=tuple(rules.legal_cells(reply)),
            ends=ends,
        )

    def _better_move(self, position: Position, value: int) -> tuple[int | None, bool]:
        """Return a move that keeps a value, and whether it is the quickest win of all."""
        # The proof of the value went through such a move.
        known = self.solver.known_best(position, value)
        budget = self._part(_ADVICE_NODES)
        values = self.solver.values(position, budget)
        keeping = [cell for cell, reached in values.items() if reached == value] or list(known)
        if not keeping:
            return None, False
        if value == DRAW:
            return keeping[0], False
        lengths = {cell: self._length(position.after(cell), LOSS, budget) for cell in keeping}
        measured = {cell: length for cell, length in lengths.items() if length is not None}
        complete = None not in values.values() and len(measured) == len(keeping)
        best = min(measured or keeping, key=lambda cell: (measured.get(cell, 0), cell))
        return best, complete

    def _length(self, position: Position, value: int, budget: Budget) -> int | None:
        return measure(self.solver.prover, position, value, budget)

    def _measured(self, at: int, turn: Turn) -> bool:
        """Find out by how much a move in a lost position hurried the end; False if no time."""
        for place in (at, at + 1):
            if place not in self.lengths:
                budget = self._part(_LENGTH_NODES)
                value = LOSS if place == at else WIN
                self.lengths[place] = self._length(self.positions[place], value, budget)
        before, after = self.lengths[at], self.lengths[at + 1]
        if before is None or after is None:
            return False
        self.turns[at] = replace(turn, shortened=before - after - 1)
        return True

    # --- Telling ---

    def _say(self) -> None:
        if time.monotonic() - self.told > _TELL_EVERY:
            self.told = time.monotonic()
            self.tell(self._found())

    def _found(self) -> Review:
        turns = tuple(self.turns)
        done = all(turn.is_proven for turn in turns) and all(
            turn.better is not None for turn in turns if turn.lost_by > 0
        )
        return Review(turns, tell_story(self.game, turns), done)


def tell_story(game: Game, turns: tuple[Turn, ...]) -> Story:
    """Say what decided a game."""
    if not turns:
        return Story("empty")
    last, result = turns[-1], game.result
    last_side = Side.BLACK if last.ply % 2 == 0 else Side.WHITE
    ahead = None if last.after is None else _side_ahead(last_side, last.after)
    winner = ahead if result is None else result.winner
    if last.after is None:
        return Story("open", winner)
    if ahead is not winner:
        return Story("off-board", winner)
    return _story_on_the_board(turns, winner)


def _story_on_the_board(turns: tuple[Turn, ...], winner: Side | None) -> Story:
    """Say what decided a game whose end is proven to be right."""
    mistakes = [turn for turn in turns if turn.lost_by > 0]
    if mistakes:
        return Story("mistake", winner, mistakes[-1].ply)
    proven = _proven_tail(turns)
    if len(proven) == len(turns):
        return Story("flawless", winner)
    return Story("proven", winner, proven[0].ply if proven else turns[-1].ply)


def _side_ahead(side: Side, value: int) -> Side | None:
    return None if value == DRAW else side if value == WIN else side.other


def _proven_tail(turns: tuple[Turn, ...]) -> list[Turn]:
    """Return the turns at the end of a game of which every one is proven."""
    tail: list[Turn] = []
    for turn in reversed(turns):
        if turn.before is None or turn.after is None:
            break
        tail.insert(0, turn)
    return tail


# --- In a record ----------------------------------------------------------------------------

_VERBS: Final = {WIN: "wins", DRAW: "draws", LOSS: "loses"}


def annotate(game: Game, found: Review) -> Game:
    """Write a review into the record: glyphs, comments, and the better line as a variation."""
    for turn, node in zip(found.turns, game.main_line(), strict=True):
        glyph = _glyph(turn)
        if glyph is not None and glyph not in node.glyphs:
            node.glyphs = (*node.glyphs, glyph)
        if turn.lost_by > 0 and turn.better is not None:
            _add_line(game, node.parent or game.root, turn.line)
        _add_comment(node, _comment(turn))
    if found.turns:
        _add_comment(game.root, summary(game, found))
    return game


def _glyph(turn: Turn) -> int | None:
    if turn.lost_by > 0:
        return _BLUNDER if turn.lost_by == WIN - LOSS else _MISTAKE
    return _DOUBTFUL if turn.is_doubtful else None


def _comment(turn: Turn) -> str:
    if turn.after is None:
        if turn.chance is None:
            return ""
        doubtful = "doubtful; " if turn.is_doubtful else ""
        return f"{doubtful}not proven, estimated {_percent(turn.chance)}"
    text = f"{_VERBS[turn.after]} with best play"
    if turn.is_doubtful:
        text += f"; doubtful, before it estimated {_percent(turn.best_chance or 0.0)}"
    if turn.lost_by > 0 and turn.better is not None:
        quickest = " the quickest" if turn.quickest else ""
        text += f"; {format_cell(turn.better)} {_VERBS[turn.before or 0]}{quickest}"
    if turn.shortened:
        text += f"; shortens the game by {turn.shortened} plies"
    return text


def _percent(chance: float) -> str:
    """Write an estimate, which is never quite sure."""
    return f"{min(0.99, max(0.01, chance)):.0%}"


# What an earlier review has written, which the new one replaces.
_OWN_WORDS: Final = re.compile(
    r"(doubtful; )?not proven, estimated \d+%"
    r"|(wins|draws|loses) with best play(; doubtful, before it estimated \d+%)?"
    r"(; [a-g][1-7] (wins|draws)( the quickest)?)?(; shortens the game by \d+ plies)?"
    r"|Nobody made a mistake: [^.]*\."
    r"|From move \d+ on [^.]*, and nobody made a mistake\. What happened before is not proven\."
    r"|(Black|White) (was winning|could have drawn), but move [^.]*\."
    r"( (Black|White) would have (won|drawn) with [a-g][1-7]\.)?"
    r"|(Black|White) won because [^.]*, but was not winning on the board\."
    r"|The players agreed on a draw, but [^.]* was winning on the board\."
    r"|Nothing is proven\.|No move was played\."
)


def _add_comment(node: Node, text: str) -> None:
    others = " ".join(_OWN_WORDS.sub("", node.comment).split())
    node.comment = f"{others} {text}".strip()


def _add_line(game: Game, start: Node, line: tuple[int, ...]) -> None:
    game.go_to(start)
    for cell in line:
        game.play(cell)


def summary(game: Game, found: Review) -> str:
    """Say in a sentence or two what decided a game."""
    winner = None if found.story.winner is None else found.story.winner.value.capitalize()
    sentences: dict[str, Callable[[], str]] = {
        "mistake": lambda: _mistake_sentence(found),
        "flawless": lambda: _flawless_sentence(winner),
        "proven": lambda: f"{_from_move(found, winner)} What happened before is not proven.",
        "off-board": lambda: _off_board_sentence(game, found, winner),
        "open": lambda: "Nothing is proven.",
        "empty": lambda: "No move was played.",
    }
    return sentences[found.story.kind]()


def _flawless_sentence(winner: str | None) -> str:
    if winner is None:
        return "Nobody made a mistake: with best play this game is a draw."
    return f"Nobody made a mistake: {winner} was winning from the first move to the last."


def _ahead(found: Review) -> str:
    """Name the side that is proven to win the last position."""
    last = found.turns[-1]
    return "Black" if (last.ply % 2 == 0) == (last.after == WIN) else "White"


def _off_board_sentence(game: Game, found: Review, winner: str | None) -> str:
    if winner is None:
        return f"The players agreed on a draw, but {_ahead(found)} was winning on the board."
    by_time = game.result is not None and game.result.termination == OffBoard.TIME.value
    how = "the clock ran out" if by_time else "the other side resigned"
    return f"{winner} won because {how}, but was not winning on the board."


def _from_move(found: Review, winner: str | None) -> str:
    # Where White's move is the first that is proven, both sides' are from the next number on.
    number = min((found.story.ply or 0) + 1, found.turns[-1].ply) // 2 + 1
    if winner is None:
        return f"From move {number} on the game was a draw, and nobody made a mistake."
    return f"From move {number} on {winner} was winning, and nobody made a mistake."


def _mistake_sentence(found: Review) -> str:
    turn = next(turn for turn in found.turns if turn.ply == found.story.ply)
    side = "Black" if turn.ply % 2 == 0 else "White"
    other = "White" if side == "Black" else "Black"
    number, move = turn.ply // 2 + 1, format_cell(turn.cell)
    was = "was winning" if turn.before == WIN else "could have drawn"
    became = "made it a draw" if turn.after == DRAW else f"gave the game to {other}"
    text = f"{side} {was}, but move {number}, {move}, {became}."
    if turn.better is None:
        return text
    would = "won" if turn.before == WIN else "drawn"
    return f"{text} {side} would have {would} with {format_cell(turn.better)}."
