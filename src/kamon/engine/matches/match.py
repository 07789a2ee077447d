"""Playing games: one, or a match of many.

Boards differ in what they are worth to Black, so each is played twice, with the sides changed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from kamon.engine.matches.players import Player, PlayerError
from kamon.game import Game
from kamon.layout import Layout
from kamon.position import Side


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game of a match, and the side of its first player.

    ``fault`` says what went wrong if a player lost by its own fault.
    """

    game: Game
    side: Side
    fault: str = ""

    @property
    def points(self) -> float:
        """The points of the first player: 1, 0.5 or 0."""
        result = self.game.result
        if result is None or result.winner is None:
            return 0.5
        return 1.0 if result.winner is self.side else 0.0


def play_game(layout: Layout, players: Mapping[Side, Player], seed: int) -> tuple[Game, str]:
    """Play one game, and return it with the fault that ended it, or an empty text.

    Raises ``EngineStartError`` if a player cannot be started.
    """
    rng = Random(seed)  # noqa: S311 - a match must be repeatable, not secret
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


def play_match(first: Player, second: Player, *, games: int, seed: int) -> Iterator[FinishedGame]:
    """Play games one after the other, two on each board, on the boards from ``seed`` on."""
    for number in range(games):
        pair, is_return_game = divmod(number, 2)
        side = Side.WHITE if is_return_game else Side.BLACK
        players = {side: first, side.other: second}
        layout = Layout.shuffled(seed + pair)
        game, fault = play_game(layout, players, 2 * (seed + pair) + is_return_game)
        game.tags |= {
            "Event": "Match",
            "Round": f"{pair + 1}.{is_return_game + 1}",
            "Seed": str(seed + pair),
        }
        yield FinishedGame(game, side, fault)
