"""Matches: which of two players is stronger, over boards that both play from both sides.

client       a program that speaks the Universal Game Interface, in a process of its own
players      the levels, plain tree search, and programs
statistics   points and confidence intervals
match        playing the games
"""

from kamon.engine.matches.match import FinishedGame, play_game, play_match
from kamon.engine.matches.players import EngineStartError, Pace, Player, PlayerError, parse_player
from kamon.engine.matches.statistics import Score, interval, summary

__all__ = [
    "EngineStartError",
    "FinishedGame",
    "Pace",
    "Player",
    "PlayerError",
    "Score",
    "interval",
    "parse_player",
    "play_game",
    "play_match",
    "summary",
]
