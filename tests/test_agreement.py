"""The rules and a naive referee that shares nothing with them, walked side by side."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kamon import (
    Game,
    Layout,
    Outcome,
    Position,
    cells,
    check,
    format_cell,
    format_layout,
    format_line,
    format_position,
    format_record,
    legal_cells,
    outcome,
    parse_cell,
    parse_line,
    parse_position,
    parse_record,
)
from kamon.geometry import NEIGHBOURS, PAIR_MASKS
from referee import Referee, Verdict, cut_off

seeds = st.integers(min_value=0, max_value=2**64 - 1)


def assert_same(position: Position, referee: Referee) -> None:
    """Compare turn, legal cells and outcome, and look at the cells of the proof."""
    line = f"{format_layout(position.layout)} {' '.join(referee.moves)}"
    assert {format_cell(cell) for cell in legal_cells(position)} == referee.legal(), line
    verdict, result = referee.verdict(), outcome(position)
    if verdict is None or result is None:
        assert verdict is None, line
        assert result is None, line
        assert position.turn.value == referee.turn(), line
        return
    assert (result.winner.value if result.winner else None) == verdict.winner, line
    assert [by.value for by in result.by] == verdict.by, line
    assert (str(result.needed) if result.needed else None) == verdict.needed, line
    assert_proof(position, result, verdict, line)


def assert_proof(position: Position, result: Outcome, verdict: Verdict, line: str) -> None:
    mine = position.stones(position.turn.other)
    lengths = {link.pair.name.lower(): len(link.chain) for link in result.links}
    assert lengths == verdict.links, line
    edges = {pair: (one, other) for pair, one, other in PAIR_MASKS}
    for link in result.links:
        assert edges[link.pair][0] >> link.chain[0] & 1, line
        assert edges[link.pair][1] >> link.chain[-1] & 1, line
        assert_path(link.chain, mine)
    assert (len(result.ring) or None) == verdict.shortest_ring, line
    if result.ring:
        assert_path((*result.ring, result.ring[0]), mine)
        assert result.ring[0] == position.last, line
        enclosed = {format_cell(cell) for cell in result.enclosed}
        assert enclosed == cut_off({format_cell(cell) for cell in result.ring}), line
        assert enclosed & verdict.enclosed, line


def assert_path(path: tuple[int, ...], stones: int) -> None:
    assert all(stones >> cell & 1 for cell in path)
    assert all(NEIGHBOURS[one] >> other & 1 for one, other in pairwise(path))


@settings(max_examples=150, deadline=None)
@given(seed=seeds, choice=st.randoms(use_true_random=False))
def test_rules_and_referee_agree_through_whole_games(seed: int, choice: Random) -> None:
    layout = Layout.shuffled(seed)
    position, referee = Position(layout), Referee(format_layout(layout))
    assert_same(position, referee)
    while legal := legal_cells(position):
        cell = choice.choice(legal)
        position = position.after(cell)
        referee.play(format_cell(cell))
        assert_same(position, referee)


@pytest.mark.no_cover
def test_rules_and_referee_agree_over_many_plain_random_games() -> None:
    # Hypothesis looks for odd games; these are simply many, so that the rare endings come up.
    rng = Random(2020)
    endings = set()
    for seed in range(600):
        layout = Layout.shuffled(seed)
        position, referee = Position(layout), Referee(format_layout(layout))
        while legal := legal_cells(position):
            cell = rng.choice(legal)
            position = position.after(cell)
            referee.play(format_cell(cell))
        assert_same(position, referee)
        result = outcome(position)
        assert result is not None
        endings.add("+".join(by.value for by in result.by))
    assert endings >= {"connection", "loop", "block", "connection+loop"}


class GameMachine(RuleBasedStateMachine):
    """Play, undo and redo at random; text and records must tell the same game at any moment."""

    @initialize(seed=seeds)
    def set_up(self, seed: int) -> None:
        self.game = Game(Layout.shuffled(seed))
        self.referee = Referee(format_layout(self.game.layout))

    @precondition(lambda self: bool(legal_cells(self.game.position)))
    @rule(data=st.data())
    def play(self, data: st.DataObject) -> None:
        cell = data.draw(st.sampled_from(legal_cells(self.game.position)))
        self.game.play(cell)
        self.referee.play(format_cell(cell))

    @precondition(lambda self: bool(self.game.moves))
    @rule()
    def undo(self) -> None:
        assert self.game.undo()
        self.referee.undo()

    @rule()
    def redo(self) -> None:
        if self.game.redo():
            self.referee.play(format_cell(self.game.moves[-1]))

    @rule(comment=st.text(st.characters(exclude_characters="{}", exclude_categories=["C"])))
    def comment(self, comment: str) -> None:
        self.game.node.comment = " ".join(comment.split())

    @invariant()
    def agrees(self) -> None:
        assert [format_cell(cell) for cell in self.game.moves] == self.referee.moves
        assert_same(self.game.position, self.referee)

    @invariant()
    def survives_text(self) -> None:
        position = self.game.position
        assert check(position) is position
        assert parse_position(format_position(position)) == position
        again = parse_line(format_line(self.game))
        assert again is not None
        assert again.moves == self.game.moves

    @invariant()
    def survives_a_record(self) -> None:
        record = format_record(self.game)
        assert format_record(parse_record(record)) == record


TestGameMachine = GameMachine.TestCase
TestGameMachine.settings = settings(max_examples=40, stateful_step_count=45, deadline=None)


@given(seed=seeds)
def test_every_cell_of_a_mask_has_a_name(seed: int) -> None:
    mask = seed & ((1 << 37) - 1)
    assert sum(1 << parse_cell(format_cell(cell)) for cell in cells(mask)) == mask
