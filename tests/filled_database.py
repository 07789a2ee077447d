"""A database with a little of everything, for tests that copy it or look after it."""

from typing import Any, Final

from sqlalchemy import Connection, Table, insert

from kamon import Layout
from kamon.position import Side
from kamon.web.database import (
    Database,
    board_days,
    day_games,
    handovers,
    played_days,
    puzzle_days,
    puzzle_players,
    puzzle_tries,
    puzzles,
    reviews,
    server,
    studies,
    thoughts,
    unsigned_holders,
)
from kamon.web.games import rooms, store
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import Command, Seat
from kamon.web.games.store import Change
from kamon.web.identity import hashed
from web_server import CHAIN, CHAIN_SEED

LAYOUT: Final = Layout.shuffled(int(CHAIN_SEED))
# Whatever people may have typed must arrive as it was.
NAMES: Final = ("Ann", "Žofie – “é”", "🀄 ’; DROP TABLE games; --", "line\nbreak\t\\x", "")


def fill(database: Database, games: int = 20) -> None:
    """Write games in every state, studies, reviews and what the server remembers of itself."""
    with database.writing() as connection:
        for number in range(games):
            _play(connection, number)
        _fill_the_rest(connection, games)


def _play(connection: Connection, number: int) -> None:
    """Write a game: the first waits for an opponent, each has one move more, and one is over."""
    game, moves = f"game{number}", number % (len(CHAIN) + 1)
    black, white = NAMES[number % len(NAMES)], NAMES[(number + 1) % len(NAMES)]
    seats = {Side.BLACK: Seat("person", black), Side.WHITE: Seat()}
    created = rooms.set_up(LAYOUT, Control.parse("300+5"), seats, 1_000, listed=True)
    room = rooms.create(game, [created])
    events = [created]
    commands = [Command("join", data={"name": white}, id=f"{game}-join")] if moves else []
    both = frozenset(Side)
    commands += [Command("move", both, {"cell": cell}, id=cell) for cell in CHAIN[:moves]]
    for at, command in enumerate(commands, 1_001):
        _, room, added = rooms.step(room, command, at)
        events += added
    flag = room.clock.flag(room.turn) if room.turn is not None else None
    holders = [(side, hashed(f"{game} {side.value}")) for side in Side]
    store.commit(
        connection, [Change(game, events, room.status, room.listed, flag, holders, "client")]
    )


def _fill_the_rest(connection: Connection, games: int) -> None:
    study = {"holder": "a" * 64, "updated": 3, "record": '[Event "Žofie"]\n\n1. a1 {“🀄”} *'}
    rating = {"rating": 1234.5, "deviation": 45.25, "volatility": 0.06}
    day_game = {"date": "2026-11-15", "level": 3, "side": "black"}
    rows: dict[Table, list[dict[str, Any]]] = {
        handovers: [{"token": "t" * 64, "game": "game0", "side": "black", "expires": 2**40}],
        studies: [
            {"id": f"study{number}", **study, "title": NAMES[number % len(NAMES)], "moves": number}
            for number in range(games)
        ],
        reviews: [{"id": "r" * 64, "updated": 5, "data": '{"rows":[1.5]}'}],
        server: [{"name": "key", "value": "00" * 32}, {"name": "alive", "value": "12345"}],
        unsigned_holders: [{"holder": "u" * 64}],
        board_days: [{"date": "2026-11-15", "seed": 2}],
        day_games: [
            {"game": "game0", **day_game, "won": None, "moves": None},
            *(
                {"game": f"game{number}", **day_game, "won": True, "moves": 15}
                for number in range(1, games)
            ),
        ],
        thoughts: [{"game": "game0", "number": 1, "client": "c", "since": 9, "leased_until": 0}],
        puzzles: [
            {"id": "abcdefg2", "text": "a,b", "canonical": "c", "pattern": "d"}
            | {"tries": 0, **rating},
            {"id": "abcdefg3", "text": None, "canonical": None, "pattern": None}
            | {"tries": 3, **rating},
        ],
        puzzle_players: [
            {"holder": "a" * 64, **rating, "streak": 1, "best_streak": 2, "run_started": 9}
            | {"run_score": 1, "run_misses": 0, "run_puzzle": "abcdefg2", "best_run": 4}
        ],
        puzzle_tries: [{"holder": "a" * 64, "puzzle": "abcdefg3", "at": 7, "solved": True}],
        played_days: [{"holder": "a" * 64, "day": 20_000}],
        puzzle_days: [{"date": "2026-11-16", "puzzle": "abcdefg3"}],
    }
    for table, several in rows.items():
        connection.execute(insert(table), several)
