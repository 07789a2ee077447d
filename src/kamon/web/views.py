"""What the page is told of a room. The page knows no rules: all that is legal is said here."""

from collections.abc import Sequence
from typing import Any

from kamon import rules
from kamon.geometry import CELLS
from kamon.notation import format_cell, format_layout, format_token, outcome_data
from kamon.position import Position, Side
from kamon.web.rooms import Event, Room


def board_view(position: Position) -> dict[str, Any]:
    """Tell a board: tokens, stones, what may be played and what that would allow in turn."""
    outcome = rules.outcome(position)
    legal = rules.legal_cells(position)
    signs = {Side.BLACK: "x", Side.WHITE: "o", None: "."}
    last_token = position.layout.tokens[position.last] if position.last is not None else None
    return {
        "tokens": [format_token(token) for token in position.layout.tokens],
        "stones": "".join(signs[position.owner(cell)] for cell in CELLS),
        "last": _cell(position.last),
        "turn": None if outcome else position.turn.value,
        "need": format_token(last_token) if last_token else None,
        "legal": [format_cell(cell) for cell in legal],
        "replies": {format_cell(cell): _replies(position, cell) for cell in legal},
        "outcome": outcome_data(outcome) if outcome else None,
    }


def _replies(position: Position, cell: int) -> list[str]:
    """List what a move would allow the opponent: nothing where it ends the game."""
    return [format_cell(reply) for reply in rules.legal_cells(position.after(cell))]


def assistance(position: Position) -> dict[str, Any]:
    """Tell the cells on which the opponent threatens to win, and the moves that lose at once."""
    legal = rules.legal_cells(position)
    threats: set[int] = set()
    losing = []
    for cell in legal:
        after = position.after(cell)
        winning = [reply for reply in rules.legal_cells(after) if _wins(after.after(reply))]
        threats.update(winning)
        if winning:
            losing.append(cell)
    winning_now = [cell for cell in legal if _wins(position.after(cell))]
    return {
        "threats": [format_cell(cell) for cell in sorted(threats)],
        "losing": [format_cell(cell) for cell in losing if cell not in winning_now],
        "winning": [format_cell(cell) for cell in winning_now],
    }


def _wins(position: Position) -> bool:
    outcome = rules.outcome(position)
    return outcome is not None and outcome.winner is not None


def room_view(
    room: Room,
    *,
    sides: frozenset[Side],
    present: dict[str, bool],
    absent: dict[str, int | None],
    now: int,
    watchers: int,
) -> dict[str, Any]:
    """Tell a room to somebody who plays for some sides, or watches."""
    turn = room.turn
    view = {
        "id": room.id,
        "number": room.number,
        "status": room.status,
        "you": sorted(side.value for side in sides),
        "shared": room.shared,
        "listed": room.listed,
        "seats": {side.value: room.seat(side).data() for side in Side},
        "present": present,
        "absent": absent,
        "watchers": watchers,
        "layout": format_layout(room.layout),
        "moves": [format_cell(cell) for cell in room.moves],
        "board": board_view(room.position),
        "result": _result(room),
        "offers": {what: side.value for what, side in room.offers.items()},
        "next": room.next_id,
        "clock": {
            "control": str(room.control),
            "black": room.clock.left(Side.BLACK, turn, now),
            "white": room.clock.left(Side.WHITE, turn, now),
            "running": turn.value if turn and room.clock.since is not None else None,
        },
    }
    if sides and (room.shared or "computer" in (room.black.kind, room.white.kind)):
        view["assistance"] = assistance(room.position) if turn in sides else None
    return view


def _result(room: Room) -> dict[str, Any] | None:
    if room.result is None:
        return None
    winner = room.result.winner
    return {"winner": winner.value if winner else None, "by": room.result.termination}


def event_view(event: Event) -> dict[str, Any]:
    """Tell one event."""
    return {"number": event.number, "at": event.at, "kind": event.kind, **event.data}


def summary(room: Room, sides: frozenset[Side], now: int) -> dict[str, Any]:
    """Tell a room in a list of games."""
    return {
        "id": room.id,
        "status": room.status,
        "you": sorted(side.value for side in sides),
        "shared": room.shared,
        "seats": {side.value: room.seat(side).data() for side in Side},
        "turn": room.turn.value if room.turn else None,
        "moves": len(room.moves),
        "control": str(room.control),
        "result": _result(room),
        "updated": room.updated,
        "age": max(0, now - room.updated),
        "board": {key: board_view(room.position)[key] for key in ("tokens", "stones", "last")},
    }


def _cell(cell: int | None) -> str | None:
    return None if cell is None else format_cell(cell)


def events_view(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Tell several events."""
    return [event_view(event) for event in events]
