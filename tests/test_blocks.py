"""If a game could only be won by a block, counting linked tokens would tell who wins.

docs/engine.md states the rule and why it holds; here plain search agrees.
"""

from functools import cache
from random import Random

from kamon.tokens import TOKENS, Token


def matching(free: frozenset[Token], last: Token) -> frozenset[Token]:
    return frozenset(token for token in free if token.matches(last))


@cache
def wins_by_search(free: frozenset[Token], last: Token) -> bool:
    """Tell whether the side to move can leave the other side nothing that matches."""
    return any(not wins_by_search(free - {token}, token) for token in matching(free, last))


def wins_by_counting(free: frozenset[Token], last: Token) -> bool:
    """Tell whether a group of linked tokens that the side to move may play in is odd."""
    return any(len(group(free, token)) % 2 for token in matching(free, last))


def group(free: frozenset[Token], token: Token) -> frozenset[Token]:
    """Return all free tokens that are linked to one of them, and that one."""
    found = frozenset({token})
    while True:
        more = found.union(*(matching(free, each) for each in found))
        if more == found:
            return found
        found = more


def test_counting_tells_who_wins_a_block_game() -> None:
    rng = Random(1)
    wins = differs = 0
    for _ in range(400):
        last, *free = rng.sample(TOKENS, rng.randrange(1, 11))
        tokens = frozenset(free)
        assert wins_by_counting(tokens, last) == wins_by_search(tokens, last), (last, free)
        wins += wins_by_counting(tokens, last)
        differs += wins_by_counting(tokens, last) != len(tokens) % 2
    # Both answers come often, and it is not the number of free tokens alone that decides.
    assert 100 < wins < 300
    assert differs > 100


def test_two_even_groups_are_lost_although_a_third_one_is_odd() -> None:
    last = Token("A", 1)
    linked = {Token("A", 2), Token("A", 3), Token("B", 1), Token("C", 1)}
    far = {Token("F", 6)}
    assert not wins_by_counting(frozenset(linked | far), last)
    assert not wins_by_search(frozenset(linked | far), last)
