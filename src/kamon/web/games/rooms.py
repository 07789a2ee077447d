"""Rooms: a game between two seats, told as numbered events. Knows nothing of HTTP or databases.

A command asks for something; ``decide`` answers with the events that it causes, or an ``ApiError``;
``evolve`` turns a room and an event into the next room. Both are pure, so a room is exactly the sum
of its events: what was stored is what is played on after a restart. ``step`` does both at once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate
from typing import Any, Final, Literal

from kamon import rules
from kamon.engine.strengths import from_first_ladder
from kamon.errors import IllegalMoveError, KamonError
from kamon.game import Game, OffBoard, Result
from kamon.layout import Layout
from kamon.notation import format_cell, format_layout, parse_cell, parse_layout
from kamon.position import Position, Side
from kamon.web.errors import ApiError
from kamon.web.games.clocks import Clock, Control

# How long an opponent must have been away before a clocked game can be claimed.
ABSENCE: Final = 120_000
# How often a side may offer the same between two moves, so that nobody is pestered.
OFFERS: Final = 3
# A game that has seen so much is not taken back any more, so that none grows without end.
EVENTS: Final = 2_000
ABORT_PLIES: Final = 2
NAME_LIMIT: Final = 40
# Which numbers the levels of the computer have in a game.
LADDER: Final = 2

Offer = Literal["draw", "takeback", "rematch"]
OFFERED_THINGS: Final[tuple[Offer, ...]] = ("draw", "takeback", "rematch")
Status = Literal["waiting", "playing", "over", "aborted"]


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits on a side: nobody yet, a person, or the computer at a level."""

    kind: Literal["open", "person", "computer"] = "open"
    name: str = ""
    level: int = 0

    def data(self) -> dict[str, Any]:
        """Turn a seat into plain values."""
        return {"kind": self.kind, "name": self.name, "level": self.level}


@dataclass(frozen=True, slots=True)
class Score:
    """How a series of games stands: the wins of who sits on each side, and the draws."""

    black: int = 0
    white: int = 0
    draws: int = 0

    def data(self) -> dict[str, int]:
        """Turn a score into plain values."""
        return {"black": self.black, "white": self.white, "draws": self.draws}

    def swapped(self) -> "Score":
        """Return the same score after the players have changed sides."""
        return Score(self.white, self.black, self.draws)

    def after(self, result: Result) -> "Score":
        """Return the score after one more game."""
        if result.winner is None:
            return replace(self, draws=self.draws + 1)
        if result.winner is Side.BLACK:
            return replace(self, black=self.black + 1)
        return replace(self, white=self.white + 1)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a game; ``command`` is the id under which a client asked."""

    number: int
    at: int
    kind: str
    data: dict[str, Any]
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a seat, or the server, asks of a room.

    ``sides`` are the sides that whoever asks may play for. ``after`` is the number of the last
    event that they had seen; None where it does not matter. ``absent`` tells since when the
    opponent has been away, if they are.
    """

    do: str
    sides: frozenset[Side] = frozenset()
    data: dict[str, Any] = field(default_factory=dict)
    after: int | None = None
    id: str | None = None
    absent: int | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """A game as its events have made it."""

    id: str
    layout: Layout
    control: Control
    black: Seat
    white: Seat
    shared: bool = False
    listed: bool = False
    number: int = 0
    moves: tuple[int, ...] = ()
    positions: tuple[Position, ...] = ()
    clocks: tuple[Clock, ...] = ()
    board_number: int = 0
    offers: dict[str, Side] = field(default_factory=dict)
    # How often each side has offered each thing since the last move.
    offered: dict[tuple[str, Side], int] = field(default_factory=dict)
    # On which board the rematch that is offered would be.
    offered_board: str = "new"
    result: Result | None = None
    aborted: bool = False
    next_id: str | None = None
    # How the series stood before this game; None in its first game.
    score_before: Score | None = None
    # The date, if it is played on the board of a day.
    day: str | None = None
    updated: int = 0
    commands: frozenset[str] = frozenset()

    @property
    def position(self) -> Position:
        """The position now."""
        return self.positions[-1]

    @property
    def clock(self) -> Clock:
        """The clock now."""
        return self.clocks[-1]

    @property
    def status(self) -> Status:
        """Where the game stands."""
        if self.aborted:
            return "aborted"
        if self.result is not None:
            return "over"
        return "waiting" if "open" in (self.black.kind, self.white.kind) else "playing"

    @property
    def turn(self) -> Side | None:
        """Whose turn it is, while there is play."""
        return self.position.turn if self.status == "playing" else None

    @property
    def score(self) -> Score | None:
        """How the series stands, this game included once it is over; None in its first game."""
        if self.score_before is None or self.result is None:
            return self.score_before
        return self.score_before.after(self.result)

    def seat(self, side: Side) -> Seat:
        """Return the seat of a side."""
        return self.black if side is Side.BLACK else self.white

    def open_side(self) -> Side:
        """Return the side that waits for somebody; Black's where both do."""
        return Side.BLACK if self.black.kind == "open" else Side.WHITE

    def computer_to_move(self) -> bool:
        """Tell whether the computer must think now."""
        return self.turn is not None and self.seat(self.turn).kind == "computer"

    def game(self) -> Game:
        """Return the game as a record has it."""
        game = Game(self.layout, self.moves)
        for node, clock in zip(game.main_line(), self.clocks[1:], strict=True):
            if self.control.timed:
                mover = node.position.turn.other
                node.clock = clock.black if mover is Side.BLACK else clock.white
        game.tags = {"Black": self._tag(self.black), "White": self._tag(self.white)}
        game.tags["TimeControl"] = str(self.control)
        if self.result is not None and game.result is None:
            game.end_off_board(self.result.winner, OffBoard(self.result.termination))
        return game

    @staticmethod
    def _tag(seat: Seat) -> str:
        return f"Computer, level {seat.level}" if seat.kind == "computer" else seat.name or "?"


# --- Deciding -------------------------------------------------------------------------------


def step(room: Room, command: Command, now: int) -> tuple[Room, Room, tuple[Event, ...]]:
    """Obey a command: the old room, the new room, and the events between them."""
    events = decide(room, command, now)
    return room, reduce(evolve, events, room), events


def decide(room: Room, command: Command, now: int) -> tuple[Event, ...]:
    """Say what follows from a command, or raise an ``ApiError``."""
    if command.do not in _ANYBODY | SERVER_COMMANDS and not command.sides:
        raise ApiError("not-your-seat")
    # Servers that share games may tell the time a little differently.
    now = max(now, room.updated)
    facts = _DECISIONS[command.do](room, command, now)
    return tuple(
        Event(number, now, kind, data, command.id if number == room.number + 1 else None)
        for number, (kind, data) in enumerate(facts, room.number + 1)
    )


Facts = list[tuple[str, dict[str, Any]]]
_Decision = Callable[[Room, Command, int], Facts]
_DECISIONS: Final[dict[str, _Decision]] = {}
# What needs no seat, and what only the server itself or its host may ask for.
_ANYBODY: Final = frozenset({"join"})
SERVER_COMMANDS: Final = frozenset({"flag", "resume", "close", "rename"})


def _decides(do: str) -> Callable[[_Decision], _Decision]:
    """Register how a command is decided."""

    def register(decision: _Decision) -> _Decision:
        _DECISIONS[do] = decision
        return decision

    return register


@_decides("join")
def _decide_join(room: Room, command: Command, _: int) -> Facts:
    if room.status != "waiting":
        raise ApiError("seat-taken")
    if command.sides:
        raise ApiError("own-game")
    return [("joined", {"side": room.open_side().value, "name": command.data.get("name", "")})]


@_decides("move")
def _decide_move(room: Room, command: Command, now: int) -> Facts:
    turn = _playing(room)
    if turn not in command.sides:
        raise ApiError("not-your-turn")
    if command.after is not None and command.after < room.board_number:
        raise ApiError("stale")
    flag = room.clock.flag(turn)
    if flag is not None and now >= flag:
        return _ended(turn.other, OffBoard.TIME.value)
    try:
        cell = parse_cell(str(command.data.get("cell")))
        position = rules.play(room.position, cell)
    except IllegalMoveError as error:
        raise ApiError("illegal-move", because=error) from None
    except KamonError as error:
        raise ApiError("bad-message", because=error) from None
    facts: Facts = [("moved", {"cell": format_cell(cell)})]
    outcome = rules.outcome(position)
    if outcome is not None:
        facts += _ended(outcome.winner, "+".join(by.value for by in outcome.by))
    return facts


def first_side(sides: Iterable[Side]) -> Side:
    """Choose one of some sides, always the same: the order of a set differs between processes."""
    return min(sides, key=lambda side: side.value)


@_decides("resign")
def _decide_resign(room: Room, command: Command, _: int) -> Facts:
    turn = _playing(room)
    # At one screen it is the side to move that gives up.
    side = turn if turn in command.sides else first_side(command.sides)
    return _ended(side.other, OffBoard.RESIGNATION.value)


@_decides("abort")
def _decide_abort(room: Room, command: Command, _: int) -> Facts:
    if room.status not in ("waiting", "playing"):
        raise ApiError("game-over")
    if len(room.moves) >= ABORT_PLIES and not room.shared:
        raise ApiError("cannot-abort")
    return [("aborted", {"side": first_side(command.sides).value})]


@_decides("offer")
def _decide_offer(room: Room, command: Command, _: int) -> Facts:
    what, side = _offer_of(room, command)
    if what == "rematch":
        _over(room)
    else:
        _playing(room)
    other = room.seat(side.other)
    # Offering what the other side has offered accepts it, but not on another board.
    accepts = room.offers.get(what) is side.other and _same_board(room, what, command)
    asker = side.other if accepts else side
    if what == "takeback":
        _require_takeback(room, asker)
    if other.kind == "computer" and what == "draw":
        raise ApiError("no-draw")
    if room.offers.get(what) is side or room.offered.get((what, side), 0) >= OFFERS:
        raise ApiError("offered-already")
    board = command.data.get("board", room.offered_board if accepts else "new")
    if room.shared or other.kind == "computer" or accepts:
        return _agreed(room, what, asker, command, board)
    on_board = {"board": board} if what == "rematch" else {}
    return [("offered", {"what": what, "side": side.value, **on_board})]


def _same_board(room: Room, what: str, command: Command) -> bool:
    """Tell whether an offer asks for the board that the other side has offered."""
    return what != "rematch" or command.data.get("board", room.offered_board) == room.offered_board


@_decides("accept")
def _decide_accept(room: Room, command: Command, _: int) -> Facts:
    what, side = _offer_of(room, command)
    if room.offers.get(what) is not side.other:
        raise ApiError("no-offer")
    return _agreed(room, what, side.other, command, room.offered_board)


@_decides("decline")
def _decide_decline(room: Room, command: Command, _: int) -> Facts:
    what, side = _offer_of(room, command)
    if what not in room.offers:
        raise ApiError("no-offer")
    return [("declined", {"what": what, "side": side.value})]


@_decides("claim")
def _decide_claim(room: Room, command: Command, now: int) -> Facts:
    _playing(room)
    if not room.control.clocked or room.shared:
        raise ApiError("no-clock")
    if command.absent is None or now - command.absent < ABSENCE:
        raise ApiError("cannot-claim")
    return _ended(first_side(command.sides), OffBoard.TIME.value)


@_decides("flag")
def _decide_flag(room: Room, _: Command, now: int) -> Facts:
    turn = room.turn
    flag = room.clock.flag(turn) if turn is not None else None
    if turn is None or flag is None or now < flag:
        return []
    return _ended(turn.other, OffBoard.TIME.value)


@_decides("resume")
def _decide_resume(room: Room, command: Command, _: int) -> Facts:
    """Give the side to move the time back for which the server was away."""
    if room.turn is None or room.clock.since is None:
        return []
    return [("resumed", {"away": int(command.data["away"])})]


@_decides("close")
def _decide_close(room: Room, _: Command, __: int) -> Facts:
    """End a game that the host does not want."""
    return [("aborted", {})] if room.status in ("waiting", "playing") else []


@_decides("rename")
def _decide_rename(room: Room, command: Command, _: int) -> Facts:
    """Give a person the name that the host wants, or none."""
    side, name = Side(command.data["side"]), str(command.data["name"])
    seat = room.seat(side)
    if seat.kind != "person" or seat.name == name:
        return []
    return [("renamed", {"side": side.value, "name": name})]


CLIENT_COMMANDS: Final = frozenset(_DECISIONS) - SERVER_COMMANDS


def _playing(room: Room) -> Side:
    if room.turn is not None:
        return room.turn
    raise ApiError("not-started" if room.status == "waiting" else "game-over")


def _over(room: Room) -> None:
    if room.status not in ("over", "aborted"):
        raise ApiError("not-over")
    if room.next_id is not None:
        raise ApiError("rematched")
    if "open" in (room.black.kind, room.white.kind):
        # It was cancelled before anybody came.
        raise ApiError("no-opponent")


def _ended(winner: Side | None, by: str) -> Facts:
    return [("ended", {"winner": winner.value if winner else None, "by": by})]


def _offer_of(room: Room, command: Command) -> tuple[str, Side]:
    what = command.data.get("what")
    if what not in OFFERED_THINGS:
        raise ApiError("bad-message", detail="an offer is a draw, a takeback or a rematch")
    turn = room.turn
    if turn is not None and room.shared:
        # At one screen the last mover takes back.
        return what, turn.other if what == "takeback" else turn
    return what, first_side(command.sides)


def takeback_plies(room: Room, side: Side) -> int:
    """Count the plies to take back so that a side's last move is undone and it is its turn."""
    plies = 1 if room.position.turn is side.other else 2
    return plies if len(room.moves) >= plies else 0


def _require_takeback(room: Room, asker: Side) -> int:
    """Return how many plies are taken back, or say why none can be."""
    plies = takeback_plies(room, asker)
    if not plies:
        raise ApiError("nothing-to-take-back")
    if room.number > EVENTS:
        raise ApiError("too-many-takebacks")
    return plies


def _agreed(room: Room, what: str, asker: Side, command: Command, board: str) -> Facts:
    if what == "draw":
        return _ended(None, OffBoard.AGREEMENT.value)
    if what == "takeback":
        return [("takenback", {"ply": len(room.moves) - _require_takeback(room, asker)})]
    return [("rematched", {"game": command.data["next_id"], "board": board})]


# --- What somebody may do -------------------------------------------------------------------


def allowed(room: Room, sides: frozenset[Side]) -> list[str]:
    """List what somebody may ask for now; ``draw``, ``takeback`` and ``rematch`` are offers.

    A claim depends on the clock on the wall as well, and has a function of its own.
    """
    if not sides:
        return ["join"] if room.status == "waiting" else []
    able = []
    if room.turn in sides:
        able.append("move")
    if room.turn is not None:
        able.append("resign")
    open_still = room.status in ("waiting", "playing")
    if open_still and (room.shared or len(room.moves) < ABORT_PLIES):
        able.append("abort")
    # Whoever plays cannot ask for another game yet, and whoever does not has nothing else to ask.
    offers = ("draw", "takeback") if room.turn is not None else ("rematch",)
    able += [what for what in offers if _may_offer(room, what, sides)]
    return able


def _may_offer(room: Room, what: str, sides: frozenset[Side]) -> bool:
    try:
        _decide_offer(room, Command("offer", sides, {"what": what, "next_id": "-"}), 0)
    except ApiError:
        return False
    return True


def claim_wait(room: Room, absent: int | None, now: int) -> int | None:
    """Return how long the opponent must still stay away before the game can be claimed."""
    if room.turn is None or room.shared or not room.control.clocked or absent is None:
        return None
    return max(0, absent + ABSENCE - now)


# --- The next game --------------------------------------------------------------------------


def next_game(room: Room, board: str, fresh: Layout, now: int) -> Event:
    """Set a rematch up: sides swapped, on the same board or a fresh one."""
    layout = room.layout if board == "same" else fresh
    seats = {side: room.seat(side.other) for side in Side}
    before = room.score_before
    score = (before or Score()).after(room.result) if room.result else before
    return set_up(
        layout,
        room.control,
        seats,
        now,
        shared=room.shared,
        score=score.swapped() if score else None,
    )


# --- Evolving -------------------------------------------------------------------------------


def create(room_id: str, events: Iterable[Event]) -> Room:
    """Build a room from its events, the first of which sets it up."""
    first, *rest = events
    data = first.data
    layout = parse_layout(data["layout"])
    control = Control.parse(data["control"])
    opening = tuple(parse_cell(cell) for cell in data.get("opening", ()))
    positions = tuple(accumulate(opening, Position.after, initial=Position(layout)))
    room = Room(
        id=room_id,
        layout=layout,
        control=control,
        black=_seat(data, "black"),
        white=_seat(data, "white"),
        shared=data["shared"],
        listed=data["listed"],
        number=first.number,
        moves=opening,
        positions=positions,
        clocks=(Clock.start(control),) * len(positions),
        score_before=Score(**data["score"]) if "score" in data else None,
        day=data.get("day"),
        updated=first.at,
        commands=frozenset({first.command}) if first.command else frozenset(),
    )
    return reduce(evolve, rest, room)


def _seat(data: dict[str, Any], side: str) -> Seat:
    """Read a seat; games of the first version name the levels of the first ladder."""
    seat = Seat(**data[side])
    if seat.kind == "computer" and data.get("ladder", 1) < LADDER:
        return replace(seat, level=from_first_ladder(seat.level))
    return seat


def set_up(  # noqa: PLR0913 - what a game may be, all by name
    layout: Layout,
    control: Control,
    seats: dict[Side, Seat],
    now: int,
    *,
    shared: bool = False,
    listed: bool = False,
    opening: Iterable[int] = (),
    score: Score | None = None,
    day: str | None = None,
) -> Event:
    """Return the first event of a game, in which some moves may have been made already."""
    data: dict[str, Any] = {
        "layout": format_layout(layout),
        "control": str(control),
        "ladder": LADDER,
        "black": seats[Side.BLACK].data(),
        "white": seats[Side.WHITE].data(),
        "shared": shared,
        "listed": listed,
        "opening": [format_cell(cell) for cell in opening],
    }
    if score is not None:
        data["score"] = score.data()
    if day is not None:
        data["day"] = day
    return Event(1, now, "created", data)


def evolve(room: Room, event: Event) -> Room:
    """Return the room after an event. Trusts that ``decide`` has made it."""
    changes = _EVOLUTIONS[event.kind](room, event.data, event)
    if event.command:
        changes["commands"] = room.commands | {event.command}
    return replace(room, number=event.number, updated=event.at, **changes)


# What changes; the rest of the room stays as it is.
_Changes = dict[str, Any]
_Evolution = Callable[[Room, dict[str, Any], Event], _Changes]
_EVOLUTIONS: Final[dict[str, _Evolution]] = {}


def _evolves(kind: str) -> Callable[[_Evolution], _Evolution]:
    """Register what an event does to a room."""

    def register(evolution: _Evolution) -> _Evolution:
        _EVOLUTIONS[kind] = evolution
        return evolution

    return register


@_evolves("joined")
def _evolve_joined(_: Room, data: dict[str, Any], __: Event) -> _Changes:
    seat = Seat("person", data["name"])
    return {data["side"]: seat}


# A person sits there with that name from now on, as if they had just come.
_evolves("renamed")(_evolve_joined)


@_evolves("moved")
def _evolve_moved(room: Room, data: dict[str, Any], event: Event) -> _Changes:
    cell = parse_cell(data["cell"])
    mover = room.position.turn
    ply = len(room.moves) + 1
    return {
        "moves": (*room.moves, cell),
        "positions": (*room.positions, room.position.after(cell)),
        "clocks": (*room.clocks, room.clock.after_move(room.control, mover, ply, event.at)),
        "board_number": event.number,
        "offers": {},
        "offered": {},
    }


@_evolves("takenback")
def _evolve_takenback(room: Room, data: dict[str, Any], event: Event) -> _Changes:
    ply = data["ply"]
    restored = room.clocks[ply].running(room.control, ply, event.at)
    return {
        "moves": room.moves[:ply],
        "positions": room.positions[: ply + 1],
        "clocks": (*room.clocks[:ply], restored),
        "board_number": event.number,
        "offers": {},
        "offered": {},
    }


@_evolves("offered")
def _evolve_offered(room: Room, data: dict[str, Any], _: Event) -> _Changes:
    what, side = data["what"], Side(data["side"])
    often = room.offered.get((what, side), 0) + 1
    changes: _Changes = {
        "offers": {**room.offers, what: side},
        "offered": {**room.offered, (what, side): often},
    }
    if what == "rematch":
        changes["offered_board"] = data.get("board", "new")
    return changes


@_evolves("declined")
def _evolve_declined(room: Room, data: dict[str, Any], _: Event) -> _Changes:
    left = {what: side for what, side in room.offers.items() if what != data["what"]}
    return {"offers": left}


@_evolves("ended")
def _evolve_ended(room: Room, data: dict[str, Any], event: Event) -> _Changes:
    winner = Side(data["winner"]) if data["winner"] else None
    # The clocks stand still from here on.
    turn = room.position.turn
    clock = room.clock
    stopped = Clock(*(clock.left(side, turn, event.at) for side in Side))
    return {
        "result": Result(winner, data["by"]),
        "clocks": (*room.clocks[:-1], stopped),
        "offers": {},
        "offered": {},
    }


@_evolves("aborted")
def _evolve_aborted(_: Room, __: dict[str, Any], ___: Event) -> _Changes:
    return {"aborted": True, "offers": {}}


@_evolves("rematched")
def _evolve_rematched(_: Room, data: dict[str, Any], __: Event) -> _Changes:
    return {"next_id": data["game"], "offers": {}}


@_evolves("resumed")
def _evolve_resumed(room: Room, data: dict[str, Any], event: Event) -> _Changes:
    clock = room.clock
    assert clock.since is not None  # noqa: S101 - otherwise it is not resumed
    later = replace(clock, since=min(event.at, clock.since + data["away"]))
    return {"clocks": (*room.clocks[:-1], later)}
