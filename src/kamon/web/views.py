"""What the page is told of a room. The page knows no rules: all that is legal is said here."""

from collections.abc import Sequence
from typing import Any

from kamon import rules
from kamon.geometry import CELLS, cells
from kamon.notation import format_cell, format_layout, format_token, outcome_data
from kamon.position import Position, Side
from kamon.web import rooms
from kamon.web.rooms import Event, Room


def picture_view(position: Position) -> dict[str, Any]:
    """Tell what a board looks like."""
    signs = {Side.BLACK: "x", Side.WHITE: "o", None: "."}
    return {
        "tokens": [format_token(token) for token in position.layout.tokens],
        "stones": "".join(signs[position.owner(cell)] for cell in CELLS),
        "last": _cell(position.last),
    }


def board_view(position: Position) -> dict[str, Any]:
    """Tell a board: tokens, stones, what may be played and what that would allow in turn."""
    outcome = rules.outcome(position)
    replies = rules.replies(position)
    last_token = position.layout.tokens[position.last] if position.last is not None else None
    return {
        **picture_view(position),
        "turn": None if outcome else position.turn.value,
        "need": format_token(last_token) if last_token else None,
        "legal": [format_cell(cell) for cell in replies],
        "replies": {
            format_cell(cell): [format_cell(reply) for reply in cells(mask)]
            for cell, mask in replies.items()
        },
        "outcome": outcome_data(outcome) if outcome else None,
    }


def assistance(position: Position) -> dict[str, Any]:
    """Tell the cells on which the opponent threatens to win, and the moves that lose at once."""
    dangers = rules.dangers(position)
    return {
        "threats": [format_cell(cell) for cell in dangers.threats],
        "losing": [format_cell(cell) for cell in dangers.losing],
        "winning": [format_cell(cell) for cell in dangers.winning],
    }


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
        "takeback": room.status == "playing"
        and any(rooms.takeback_plies(room, side) for side in sides),
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
        "board": picture_view(room.position),
    }


def _cell(cell: int | None) -> str | None:
    return None if cell is None else format_cell(cell)


def events_view(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Tell several events."""
    return [event_view(event) for event in events]
