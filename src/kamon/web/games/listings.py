"""The list of games that wait for anyone, of which nobody may fill more than a part."""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Final

from kamon.web.errors import too_many
from kamon.web.games.desk import Desk
from kamon.web.games.tables import Table

# Games that one address may have waiting at a time.
GAMES_PER_CLIENT: Final = 3
GAMES_REMEMBERED: Final = 10_000


class Listings:
    """Who has set up which of the games that wait. Kept in memory: addresses are not stored."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._client_of: OrderedDict[str, str] = OrderedDict()

    def require_place(self, client: str) -> None:
        """Refuse one more game of a client who has enough of them waiting."""
        mine = [game for game, other in self._client_of.items() if other == client]
        if sum(self._is_waiting(game) for game in mine) >= GAMES_PER_CLIENT:
            raise too_many("games of this address that wait for an opponent", 60)

    def add(self, game: str, client: str) -> None:
        """Note who has set a game up."""
        self._client_of[game] = client
        while len(self._client_of) > GAMES_REMEMBERED:
            self._client_of.popitem(last=False)

    def fair_share(self, tables: Sequence[Table]) -> list[Table]:
        """Choose the games that are listed: of each address a few, of unknown ones all."""
        seen: Counter[str] = Counter()
        chosen = []
        for table in tables:
            client = self._client_of.get(table.room.id, "")
            seen[client] += 1
            if not client or seen[client] <= GAMES_PER_CLIENT:
                chosen.append(table)
        return chosen

    def _is_waiting(self, game: str) -> bool:
        table = self._desk.tables.loaded(game)
        if table is not None and table.room.status == "waiting":
            return True
        self._client_of.pop(game, None)
        return False
