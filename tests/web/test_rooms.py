"""Rooms: what follows from a command, whoever sends it and whenever it comes."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from kamon import Game, Layout, rules
from kamon.engine.strengths import STRONGEST
from kamon.game import Result
from kamon.geometry import CELLS
from kamon.notation import format_cell, parse_cell
from kamon.position import Side
from kamon.record import format_record, parse_record
from kamon.web.errors import ApiError
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import (
    ABSENCE,
    CLIENT_COMMANDS,
    EVENTS,
    OFFERED_THINGS,
    OFFERS,
    Command,
    Event,
    Room,
    Score,
    Seat,
    allowed,
    claim_wait,
    create,
    decide,
    next_game,
    set_up,
    step,
)
from web_server import CHAIN, CHAIN_SEED

BLACK, WHITE = Side.BLACK, Side.WHITE
NOW = 1_700_000_000_000
PERSON = {BLACK: Seat("person", "Ann"), WHITE: Seat("person", "Bob")}
COMPUTER = {BLACK: Seat("person", "Ann"), WHITE: Seat("computer", "", 3)}
OPEN = {BLACK: Seat("person", "Ann"), WHITE: Seat()}


class Play:
    """A room, and what has happened to it."""

    def __init__(
        self,
        seats: dict[Side, Seat] | None = None,
        control: str = "-",
        *,
        shared: bool = False,
        seed: int = int(CHAIN_SEED),
    ) -> None:
        self.now = NOW
        layout = Layout.shuffled(seed)
        first = set_up(layout, Control.parse(control), seats or PERSON, NOW, shared=shared)
        self.events: list[Event] = [first]
        self.room: Room = create("0123456789ab", self.events)

    def tell(self, do: str, *sides: Side, **rest: Any) -> tuple[Event, ...]:  # noqa: ANN401
        """Give a command that is obeyed: ``after``, ``id`` and ``absent`` as they are."""
        named = {name: rest.pop(name) for name in ("after", "id", "absent") if name in rest}
        command = Command(do, frozenset(sides), rest, **named)
        old, new, events = step(self.room, command, self.now)
        assert old is self.room
        self.room = new
        self.events += events
        return events

    def refused(self, do: str, *sides: Side, **rest: Any) -> str:  # noqa: ANN401
        """Give a command that is refused, and tell the code."""
        with pytest.raises(ApiError) as caught:
            self.tell(do, *sides, **rest)
        assert caught.value.message
        return caught.value.code

    def move(self, cell: str | None = None, wait: int = 0) -> None:
        """Let the side to move play a cell, or the first that is legal."""
        self.now += wait
        turn = self.room.position.turn
        chosen = cell or format_cell(rules.legal_cells(self.room.position)[0])
        self.tell("move", turn, cell=chosen)

    def whole(self) -> None:
        """Play to the end on the board."""
        for cell in CHAIN:
            self.move(cell)


# --- Moves ----------------------------------------------------------------------------------


def test_a_whole_game_ends_on_the_board() -> None:
    play = Play()
    play.whole()
    assert play.room.status == "over"
    assert play.room.result == Result(BLACK, "connection")
    assert [event.kind for event in play.events[-2:]] == ["moved", "ended"]
    assert play.refused("move", WHITE, cell="a1") == "game-over"


def test_a_move_is_one_numbered_event_under_the_id_of_its_command() -> None:
    play = Play()
    (event,) = play.tell("move", BLACK, cell="g6", id="my-command")
    assert (event.number, event.kind, event.data) == (2, "moved", {"cell": "g6"})
    assert event.command == "my-command"
    assert "my-command" in play.room.commands


def test_of_the_events_of_one_command_the_first_has_its_id() -> None:
    play = Play()
    for cell in CHAIN[:-1]:
        play.move(cell)
    events = play.tell("move", BLACK, cell=CHAIN[-1], id="the-last-one")
    assert [event.command for event in events] == ["the-last-one", None]


def test_a_move_out_of_turn_is_refused() -> None:
    assert Play().refused("move", WHITE, cell="g6") == "not-your-turn"


def test_a_move_that_the_rules_forbid_is_refused_with_the_reason() -> None:
    play = Play()
    with pytest.raises(ApiError, match="Black begins on an edge space") as caught:
        play.tell("move", BLACK, cell="d4")
    assert caught.value.code == "illegal-move"


@pytest.mark.parametrize("cell", ["", "z9", "G6", "g66", None])
def test_a_move_to_what_is_no_cell_is_a_bad_message(cell: str | None) -> None:
    assert Play().refused("move", BLACK, cell=cell) == "bad-message"


def test_a_move_that_answers_an_older_board_is_stale() -> None:
    play = Play()
    play.move()
    play.move()
    assert play.refused("move", BLACK, cell="a1", after=2) == "stale"


def test_an_offer_does_not_make_a_move_stale() -> None:
    play = Play()
    play.move()
    seen = play.room.number
    play.tell("offer", BLACK, what="draw")
    cell = format_cell(rules.legal_cells(play.room.position)[0])
    play.tell("move", WHITE, cell=cell, after=seen)
    assert len(play.room.moves) == 2


def test_a_move_forgets_the_offers() -> None:
    play = Play()
    play.tell("offer", WHITE, what="draw")
    play.move()
    assert play.room.offers == {}


def test_nobody_moves_before_the_second_player_has_come() -> None:
    assert Play(OPEN).refused("move", BLACK, cell="g6") == "not-started"


# --- Strangers ------------------------------------------------------------------------------


@pytest.mark.parametrize("do", sorted(CLIENT_COMMANDS - {"join"}))
def test_a_stranger_can_do_nothing(do: str) -> None:
    assert Play().refused(do, cell="g6", what="draw") == "not-your-seat"


def test_whoever_joins_takes_the_open_seat() -> None:
    play = Play(OPEN)
    assert play.room.turn is None
    play.tell("join", name="Bob")
    assert play.room.white == Seat("person", "Bob")
    assert play.room.status == "playing"
    assert play.refused("join", name="Eve") == "seat-taken"


def test_nobody_joins_their_own_game() -> None:
    assert Play(OPEN).refused("join", BLACK) == "own-game"


# --- Giving up ------------------------------------------------------------------------------


@pytest.mark.parametrize("side", list(Side))
def test_who_resigns_has_lost(side: Side) -> None:
    play = Play()
    play.tell("resign", side)
    assert play.room.result == Result(side.other, "resignation")


def test_at_one_screen_the_side_to_move_resigns() -> None:
    play = Play(shared=True)
    play.move()
    play.tell("resign", BLACK, WHITE)
    assert play.room.result == Result(BLACK, "resignation")


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_what_is_decided_does_not_depend_on_the_process(seed: str) -> None:
    """The order of a set of sides does."""
    code = """
from kamon.layout import Layout
from kamon.web.games.clocks import Control
from kamon.web.games.rooms import Command, Seat, Side, create, decide, set_up
seats = {side: Seat("person") for side in Side}
room = create("game", [set_up(Layout.shuffled(1), Control(), seats, 0, shared=True)])
print(decide(room, Command("abort", frozenset(Side)), 1)[0].data)
"""
    said = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert said.stdout == "{'side': 'black'}\n"


def test_a_game_can_be_aborted_before_the_second_move_and_not_after_it() -> None:
    for moves, code in ((0, None), (1, None), (2, "cannot-abort"), (3, "cannot-abort")):
        play = Play()
        for _ in range(moves):
            play.move()
        if code:
            assert play.refused("abort", WHITE) == code
        else:
            play.tell("abort", WHITE)
            assert play.room.status == "aborted"
            assert play.room.result is None
            assert play.refused("abort", WHITE) == "game-over"
            assert play.refused("move", BLACK, cell="g6") == "game-over"


def test_a_game_that_nobody_joined_can_be_aborted() -> None:
    play = Play(OPEN)
    play.tell("abort", BLACK)
    assert play.room.status == "aborted"
    assert play.refused("join") == "seat-taken"


# --- The host ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [PERSON, OPEN, COMPUTER])
def test_a_host_closes_a_game_at_any_time_but_once(seats: dict[Side, Seat]) -> None:
    play = Play(seats)
    if seats is PERSON:
        for cell in CHAIN[:5]:
            play.move(cell)
    assert [event.kind for event in play.tell("close")] == ["aborted"]
    assert play.room.status == "aborted"
    assert play.tell("close") == ()
    assert create(play.room.id, play.events) == play.room


def test_a_host_closes_no_game_that_is_over() -> None:
    play = Play()
    play.whole()
    assert play.tell("close") == ()
    assert play.room.status == "over"


def test_a_host_renames_a_person() -> None:
    play = Play(COMPUTER)
    play.move()
    before = play.room
    play.tell("rename", side="black", name="")
    assert play.room.black == Seat("person", "")
    assert (play.room.moves, play.room.board_number) == (before.moves, before.board_number)
    assert play.tell("rename", side="black", name="") == ()
    assert play.tell("rename", side="white", name="Hal") == ()
    assert create(play.room.id, play.events) == play.room


def test_a_player_is_not_a_host() -> None:
    assert not {"close", "rename"} & CLIENT_COMMANDS


# --- Offers ---------------------------------------------------------------------------------


def test_a_draw_needs_both() -> None:
    play = Play()
    play.tell("offer", BLACK, what="draw")
    assert play.room.offers == {"draw": BLACK}
    assert play.refused("offer", BLACK, what="draw") == "offered-already"
    assert play.refused("accept", BLACK, what="draw") == "no-offer"
    play.tell("accept", WHITE, what="draw")
    assert play.room.result == Result(None, "agreement")


def test_nobody_is_asked_for_ever() -> None:
    play = Play()
    for _ in range(OFFERS):
        play.tell("offer", BLACK, what="draw")
        play.tell("decline", WHITE, what="draw")
    assert play.refused("offer", BLACK, what="draw") == "offered-already"
    play.tell("offer", WHITE, what="draw")
    play.move()
    play.tell("offer", BLACK, what="draw")
    assert play.room.offers == {"draw": BLACK}


def test_a_game_does_not_grow_without_end() -> None:
    play = Play(shared=True)
    while play.room.number <= EVENTS:
        play.move()
        play.tell("offer", BLACK, WHITE, what="takeback")
    play.move()
    assert play.refused("offer", BLACK, WHITE, what="takeback") == "too-many-takebacks"
    play.move()


def test_to_offer_a_draw_in_turn_is_to_agree() -> None:
    play = Play()
    play.tell("offer", BLACK, what="draw")
    play.tell("offer", WHITE, what="draw")
    assert play.room.result == Result(None, "agreement")


def test_a_declined_offer_is_gone_and_may_come_again() -> None:
    play = Play()
    play.tell("offer", BLACK, what="draw")
    play.tell("decline", WHITE, what="draw")
    assert play.room.offers == {}
    assert play.refused("accept", WHITE, what="draw") == "no-offer"
    assert play.refused("decline", WHITE, what="draw") == "no-offer"
    play.tell("offer", BLACK, what="draw")
    # One may also think better of one's own.
    play.tell("decline", BLACK, what="draw")
    assert play.room.offers == {}


@pytest.mark.parametrize("what", ["peace", None, 3, ["draw"]])
def test_an_offer_of_something_else_is_a_bad_message(what: object) -> None:
    assert Play().refused("offer", BLACK, what=what) == "bad-message"


def test_the_computer_takes_no_draw() -> None:
    assert Play(COMPUTER).refused("offer", BLACK, what="draw") == "no-draw"


def test_two_at_one_screen_agree_at_once() -> None:
    play = Play(shared=True)
    play.tell("offer", BLACK, WHITE, what="draw")
    assert play.room.result == Result(None, "agreement")


# --- Taking back ----------------------------------------------------------------------------


def test_there_is_nothing_to_take_back_before_ones_own_first_move() -> None:
    play = Play()
    assert play.refused("offer", BLACK, what="takeback") == "nothing-to-take-back"
    play.move()
    assert play.refused("offer", WHITE, what="takeback") == "nothing-to-take-back"


def test_a_take_back_returns_to_the_turn_of_who_asked() -> None:
    for moves, asker, left in ((3, BLACK, 2), (3, WHITE, 1), (4, BLACK, 2), (4, WHITE, 3)):
        play = Play()
        for cell in CHAIN[:moves]:
            play.move(cell)
        play.tell("offer", asker, what="takeback")
        assert len(play.room.moves) == moves
        play.tell("accept", asker.other, what="takeback")
        assert [*map(format_cell, play.room.moves)] == list(CHAIN[:left])
        assert play.room.turn is asker
        assert play.room.offers == {}


def test_a_move_from_before_a_take_back_is_stale() -> None:
    play = Play()
    play.move()
    seen = play.room.number
    play.tell("offer", BLACK, what="takeback")
    play.tell("accept", WHITE, what="takeback")
    assert play.refused("move", BLACK, cell="g6", after=seen) == "stale"


def test_who_answers_a_take_back_with_one_grants_what_was_asked_and_no_more() -> None:
    play = Play()
    for cell in CHAIN[:3]:
        play.move(cell)
    # Black asks for one move back. White's own wish would cost Black's consent to two.
    play.tell("offer", BLACK, what="takeback")
    play.tell("offer", WHITE, what="takeback")
    assert [*map(format_cell, play.room.moves)] == list(CHAIN[:2])


def test_the_computer_and_one_screen_grant_a_take_back_at_once() -> None:
    play = Play(COMPUTER)
    play.move()
    play.move()
    play.tell("offer", BLACK, what="takeback")
    assert play.room.moves == ()
    play = Play(shared=True)
    play.move()
    play.move()
    play.tell("offer", BLACK, WHITE, what="takeback")
    assert len(play.room.moves) == 1


def test_a_take_back_restores_the_clock() -> None:
    play = Play(control="60+2")
    play.move()
    play.move()
    play.move(wait=10_000)
    play.move(wait=20_000)
    play.now += 5_000
    play.tell("offer", WHITE, what="takeback")
    play.now += 5_000
    play.tell("accept", BLACK, what="takeback")
    clock = play.room.clock
    assert (clock.black, clock.white) == (52_000, 60_000)
    assert clock.flag(WHITE) == play.now + 60_000


def test_after_a_take_back_days_are_counted_anew() -> None:
    play = Play(control="1/86400")
    for _ in range(3):
        play.move(wait=1_000)
    play.now += 80_000_000
    play.tell("offer", BLACK, what="takeback")
    play.tell("accept", WHITE, what="takeback")
    assert play.room.clock.flag(BLACK) == play.now + 86_400_000


# --- Time -----------------------------------------------------------------------------------


def test_the_server_ends_a_game_at_the_flag_and_not_before() -> None:
    play = Play(control="60+0")
    play.move()
    play.move()
    play.now += 59_999
    assert play.tell("flag") == ()
    play.now += 1
    play.tell("flag")
    assert play.room.result == Result(WHITE, "time")
    assert play.tell("flag") == ()


def test_a_move_after_the_flag_loses_on_time() -> None:
    play = Play(control="60+0")
    play.move()
    play.move()
    play.now += 60_000
    cell = format_cell(rules.legal_cells(play.room.position)[0])
    (event,) = play.tell("move", BLACK, cell=cell)
    assert event.data == {"winner": "white", "by": "time"}
    assert len(play.room.moves) == 2


def test_the_clock_stands_still_when_the_game_is_over() -> None:
    play = Play(control="60+0")
    play.move()
    play.move()
    play.now += 7_000
    play.tell("resign", WHITE)
    clock = play.room.clock
    assert clock.left(BLACK, None, play.now + 99_999) == 53_000
    assert clock.left(BLACK, BLACK, play.now + 99_999) == 53_000


def test_an_untimed_game_and_one_that_waits_have_no_flag() -> None:
    for play in (Play(), Play(OPEN, "60+0"), Play(control="60+0")):
        play.now += 10**12
        assert play.tell("flag") == ()


def test_a_clocked_game_is_claimed_after_two_minutes_of_absence() -> None:
    play = Play(control="600+0")
    away = play.now
    play.now += ABSENCE - 1
    assert ABSENCE == 120_000
    assert play.refused("claim", WHITE, absent=away) == "cannot-claim"
    assert play.refused("claim", WHITE) == "cannot-claim"
    play.now += 1
    play.tell("claim", WHITE, absent=away)
    assert play.room.result == Result(WHITE, "time")


@pytest.mark.parametrize(("control", "shared"), [("-", False), ("1/86400", False), ("600+0", True)])
def test_other_games_are_not_claimed(control: str, shared: bool) -> None:  # noqa: FBT001
    play = Play(control=control, shared=shared)
    assert play.refused("claim", WHITE, absent=play.now - 10**9) == "no-clock"


# --- Again ----------------------------------------------------------------------------------


def test_a_rematch_needs_an_end_and_both() -> None:
    play = Play()
    assert play.refused("offer", BLACK, what="rematch") == "not-over"
    play.tell("resign", BLACK)
    play.tell("offer", BLACK, what="rematch", board="same")
    assert play.events[-1].data == {"what": "rematch", "side": "black", "board": "same"}
    play.tell("accept", WHITE, what="rematch", next_id="ba9876543210")
    assert play.room.next_id == "ba9876543210"
    assert play.refused("offer", WHITE, what="rematch") == "rematched"


def test_there_is_a_rematch_after_an_aborted_game_too() -> None:
    play = Play(COMPUTER)
    play.tell("abort", BLACK)
    play.tell("offer", BLACK, what="rematch", next_id="ba9876543210")
    assert play.room.next_id == "ba9876543210"


def next_of(play: Play) -> Room:
    return create("ba9876543210", [next_game(play.room, "new", play.room.layout, 0)])


def test_a_series_of_rematches_has_a_score_that_follows_the_players() -> None:
    play = Play()
    play.tell("resign", BLACK)
    # Of one game alone there is no score.
    assert play.room.score is None
    play.room = next_of(play)
    assert play.room.score == Score(black=1)
    # Who has lost the first game sits on White now, and wins.
    play.tell("resign", BLACK)
    assert play.room.score == Score(black=1, white=1)
    play.room = next_of(play)
    play.tell("offer", BLACK, what="draw")
    play.tell("accept", WHITE, what="draw")
    assert play.room.score == Score(1, 1, 1)
    play.room = next_of(play)
    play.tell("abort", BLACK)
    assert next_of(play).score == Score(1, 1, 1)


def test_a_game_that_was_cancelled_begins_no_series() -> None:
    play = Play()
    play.tell("abort", BLACK)
    assert next_of(play).score is None


# --- As a record ----------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["none", "board", "resign", "abort"])
def test_a_room_is_a_record_that_can_be_read(end: str) -> None:
    names = {BLACK: Seat("person", 'A "quote" \\ and\na line'), WHITE: Seat("person", "")}
    play = Play(names, "60+2")
    if end == "board":
        play.whole()
    elif end != "none":
        play.move()
        play.tell(end, BLACK)
    game = parse_record(format_record(play.room.game()))
    assert tuple(game.moves) == play.room.moves
    assert game.tags["Black"] == 'A "quote" \\ and a line'
    assert game.tags["White"] == "?"
    assert game.tags["TimeControl"] == "60+2"
    assert game.result == play.room.result


def test_a_record_has_the_clocks() -> None:
    play = Play(COMPUTER, "60+2")
    for wait in (0, 0, 10_000, 20_000):
        play.move(wait=wait)
    game = parse_record(format_record(play.room.game()))
    assert [node.clock for node in game.main_line()] == [60_000, 60_000, 52_000, 42_000]
    assert game.tags["White"] == "Computer, level 3"


# --- Everything, in any order ---------------------------------------------------------------

SIDES = st.sampled_from(list(Side))
WHAT = st.sampled_from(["draw", "takeback", "rematch"])
CHOICES = st.lists(st.integers(0, 36), max_size=12)
SURE = st.sampled_from([False] * 5 + [True])


class AnyRoom(RuleBasedStateMachine):
    """Two seats, strangers, a computer and the server send what they like, whenever they like.

    Beside the room stands a small account of what must be true of it, kept in other words.
    """

    def __init__(self) -> None:
        super().__init__()
        self.play = Play()
        self.offers: dict[str, Side] = {}
        self.moves: list[str] = []
        # When the clock of the side to move began to run, and what each side has left.
        self.board_number = 0
        self.over = False
        self.rematched = False

    @initialize(
        seed=st.integers(0, 2**64 - 1),
        control=st.sampled_from(["-", "60+1", "0+5", "1/86400"]),
        seats=st.sampled_from([PERSON, PERSON, PERSON, COMPUTER, OPEN]),
        shared=st.booleans(),
        opening=CHOICES,
    )
    def begin(
        self, seed: int, control: str, seats: dict[Side, Seat], opening: list[int], *, shared: bool
    ) -> None:
        shared = shared and seats is PERSON
        self.play = Play(seats, control, shared=shared, seed=seed)
        self.they_play_on(opening)

    # --- What we know ---

    @property
    def room(self) -> Room:
        return self.play.room

    @property
    def started(self) -> bool:
        return self.room.white.kind != "open"

    @property
    def turn(self) -> Side:
        return WHITE if len(self.moves) % 2 else BLACK

    @property
    def flagged(self) -> bool:
        flag = self.room.clock.flag(self.turn)
        return flag is not None and self.play.now >= flag

    def not_playing(self) -> str | None:
        if self.over:
            return "game-over"
        return None if self.started else "not-started"

    def sides(self, side: Side) -> tuple[Side, ...]:
        return (BLACK, WHITE) if self.room.shared else (side,)

    def expect(self, code: str | None, do: str, *sides: Side, **rest: Any) -> bool:  # noqa: ANN401
        """Give a command; it must be refused with the code, or obeyed where that is None."""
        if code is None:
            self.play.tell(do, *sides, **rest)
            return True
        before = self.room
        assert self.play.refused(do, *sides, **rest) == code
        assert self.room is before
        return False

    def ended(self, winner: Side | None, by: str) -> None:
        assert self.room.result == Result(winner, by)
        self.over = True
        self.offers = {}

    def lost_on_time(self) -> None:
        self.ended(self.turn.other, "time")

    # --- What they do ---

    @rule(wait=st.integers(0, 3_000), sure=SURE)
    def time_goes_by(self, wait: int, *, sure: bool) -> None:
        self.play.now += 86_400_000 if sure else wait

    @rule(
        side=SIDES,
        cell=st.sampled_from([*map(format_cell, CELLS)]),
        behind=st.integers(0, 3),
    )
    def somebody_tries_a_cell(self, side: Side, cell: str, behind: int) -> None:
        self.try_move(self.sides(side), cell, self.room.number - behind)

    @rule(choices=CHOICES)
    def they_play_on(self, choices: list[int]) -> None:
        for choice in choices:
            if legal := rules.legal_cells(self.room.position):
                cell = format_cell(legal[choice % len(legal)])
                self.try_move(self.sides(self.turn), cell, None)

    def try_move(self, sides: tuple[Side, ...], cell: str, after: int | None) -> None:
        code = self.not_playing()
        if code is None and self.turn not in sides:
            code = "not-your-turn"
        elif code is None and after is not None and after < self.board_number:
            code = "stale"
        flagged = code is None and self.flagged
        if code is None and not flagged:
            legal = parse_cell(cell) in rules.legal_cells(self.room.position)
            code = None if legal else "illegal-move"
        if not self.expect(code, "move", *sides, cell=cell, after=after):
            return
        if flagged:
            self.lost_on_time()
            return
        self.moves.append(cell)
        self.offers = {}
        outcome = rules.outcome(self.room.position)
        self.board_number = self.room.number - (outcome is not None)
        if outcome is not None:
            self.ended(outcome.winner, "+".join(by.value for by in outcome.by))

    @rule()
    def the_server_looks_at_the_clock(self) -> None:
        flagged = self.started and not self.over and self.flagged
        before = self.room
        assert bool(self.play.tell("flag")) is flagged
        if flagged:
            self.lost_on_time()
        else:
            assert self.room is before

    @rule(name=st.text(max_size=5))
    def somebody_joins(self, name: str) -> None:
        code = "seat-taken" if self.over or self.started else None
        if self.expect(code, "join", name=name):
            assert self.room.white == Seat("person", name)

    @rule(do=st.sampled_from(sorted(CLIENT_COMMANDS - {"join"})), what=WHAT)
    def a_stranger_tries(self, do: str, what: str) -> None:
        self.expect("not-your-seat", do, cell="b1", what=what)

    @rule(side=SIDES)
    def the_owner_joins(self, side: Side) -> None:
        self.expect("own-game" if not (self.over or self.started) else "seat-taken", "join", side)

    # What ends a game is done once in a while only, or no game would get far.
    @rule(side=SIDES, sure=SURE)
    def somebody_resigns(self, side: Side, *, sure: bool) -> None:
        if sure and self.expect(self.not_playing(), "resign", *self.sides(side)):
            loser = self.turn if self.room.shared else side
            self.ended(loser.other, "resignation")

    @rule(side=SIDES, sure=SURE)
    def somebody_aborts(self, side: Side, *, sure: bool) -> None:
        code = "game-over" if self.over else None
        if code is None and len(self.moves) >= 2 and not self.room.shared:
            code = "cannot-abort"
        if (code or sure) and self.expect(code, "abort", *self.sides(side)):
            assert self.room.status == "aborted"
            self.over, self.offers = True, {}

    @rule(side=SIDES, away=st.sampled_from([None, 0, 119_999, 120_000, 10**9]), sure=SURE)
    def somebody_claims(self, side: Side, away: int | None, *, sure: bool) -> None:
        code = self.not_playing()
        clocked = str(self.room.control) in ("60+1", "0+5") and not self.room.shared
        if code is None and not clocked:
            code = "no-clock"
        elif code is None and (away is None or away < 120_000):
            code = "cannot-claim"
        absent = None if away is None else self.play.now - away
        if (code or sure) and self.expect(code, "claim", *self.sides(side), absent=absent):
            self.ended(side, "time")

    @rule(side=SIDES, what=WHAT, sure=SURE)
    def somebody_offers(self, side: Side, what: str, *, sure: bool) -> None:
        side = self.asker(side, what)
        other = self.room.seat(side.other).kind
        answers = self.offers.get(what) is side.other
        code = self.cannot(what, side.other if answers else side)
        if code is None and other == "computer" and what == "draw":
            code = "no-draw"
        often = self.room.offered.get((what, side), 0)
        if code is None and (self.offers.get(what) is side or often >= OFFERS):
            code = "offered-already"
        agreed = self.room.shared or other == "computer" or answers
        if code is None and agreed and what == "draw" and not sure:
            return
        if self.expect(code, "offer", *self.sides(side), what=what, next_id="ba9876543210"):
            if agreed:
                self.agreed(what, side.other if answers else side)
            else:
                self.offers[what] = side

    @rule(side=SIDES, what=WHAT)
    def somebody_accepts(self, side: Side, what: str) -> None:
        side = self.asker(side, what)
        code = None if self.offers.get(what) is side.other else "no-offer"
        if self.expect(code, "accept", *self.sides(side), what=what, next_id="ba9876543210"):
            self.agreed(what, side.other)

    @rule(side=SIDES, what=WHAT)
    def somebody_declines(self, side: Side, what: str) -> None:
        code = None if what in self.offers else "no-offer"
        if self.expect(code, "decline", *self.sides(self.asker(side, what)), what=what):
            del self.offers[what]

    @rule(side=SIDES, what=WHAT, answer=st.sampled_from(["offer", "accept", "decline"]), sure=SURE)
    def one_asks_and_the_other_answers(
        self, side: Side, what: str, answer: str, *, sure: bool
    ) -> None:
        if what == "draw" and not sure:
            answer = "decline"
        self.somebody_offers(side, what, sure=sure)
        if answer == "offer":
            self.somebody_offers(side.other, what, sure=sure)
        elif answer == "accept":
            self.somebody_accepts(side.other, what)
        else:
            self.somebody_declines(side.other, what)

    def asker(self, side: Side, what: str) -> Side:
        """Tell who asks: at one screen whose turn it is, or was, and Black once all is over."""
        if not self.room.shared:
            return side
        if self.over:
            return BLACK
        return self.turn.other if what == "takeback" else self.turn

    def cannot(self, what: str, side: Side) -> str | None:
        if what == "rematch":
            if not self.over:
                return "not-over"
            if self.rematched:
                return "rematched"
            return None if self.started else "no-opponent"
        if code := self.not_playing():
            return code
        if what == "takeback" and len(self.moves) < (2 if self.turn is side else 1):
            return "nothing-to-take-back"
        return None

    def agreed(self, what: str, asker: Side) -> None:
        self.offers = {}
        if what == "draw":
            self.ended(None, "agreement")
        elif what == "rematch":
            self.rematched = True
        else:
            del self.moves[-2 if self.turn is asker else -1 :]
            self.board_number = self.room.number

    # --- What is always true ---

    @invariant()
    def the_events_are_numbered_without_a_gap(self) -> None:
        numbers = [event.number for event in self.play.events]
        assert numbers == list(range(1, self.room.number + 1))

    @invariant()
    def the_account_and_the_room_agree(self) -> None:
        assert [*map(format_cell, self.room.moves)] == self.moves
        assert self.room.offers == self.offers
        assert (self.room.status in ("over", "aborted")) is self.over
        assert (self.room.turn is not None) is (self.started and not self.over)
        assert (self.room.next_id is not None) is self.rematched

    @rule(away=st.integers(0, 100_000))
    def the_server_was_away(self, away: int) -> None:
        before = self.room
        resumed = bool(self.play.tell("resume", away=away))
        assert resumed is (before.turn is not None and before.clock.since is not None)
        if resumed:
            after = self.room.clock.left(self.turn, self.turn, self.play.now)
            had = before.clock.left(self.turn, self.turn, self.play.now)
            whole = before.clock.black if self.turn is BLACK else before.clock.white
            assert had <= after <= min(whole, had + away)

    @invariant()
    def what_is_allowed_is_what_is_not_refused(self) -> None:
        for side in Side:
            sides = frozenset(self.sides(side))
            able = set(allowed(self.room, sides))
            assert {"resign", "abort"} & able == {
                do for do in ("resign", "abort") if self.is_accepted(do, sides)
            }
            assert able & {"draw", "takeback", "rematch"} == {
                what for what in OFFERED_THINGS if self.is_accepted("offer", sides, what=what)
            }
            legal = rules.legal_cells(self.room.position)
            cell = format_cell(legal[0]) if legal else "a1"
            assert ("move" in able) is self.is_accepted("move", sides, cell=cell)
            away = self.play.now - 60_000
            wait = claim_wait(self.room, away, self.play.now)
            claims = Command("claim", sides, absent=away)
            assert (wait is not None) is self.obeyed(claims, self.play.now + 10**6)
            assert wait in (None, 60_000)
        assert ("join" in allowed(self.room, frozenset())) is self.is_accepted("join", frozenset())

    def is_accepted(self, do: str, sides: frozenset[Side], **data: str) -> bool:
        return self.obeyed(Command(do, sides, {**data, "next_id": "-"}), self.play.now)

    def obeyed(self, command: Command, now: int) -> bool:
        try:
            decide(self.room, command, now)
        except ApiError:
            return False
        return True

    @invariant()
    def nobody_has_less_time_than_nothing_or_a_clock_before_its_time(self) -> None:
        clock = self.room.clock
        assert min(clock.black, clock.white) >= 0
        assert len(self.room.clocks) == len(self.room.positions) == len(self.moves) + 1
        running = clock.since is not None
        timed = self.room.control.timed
        aborted_or_playing = self.room.result is None
        assert running is (timed and aborted_or_playing and len(self.moves) >= 2)

    def teardown(self) -> None:
        self.the_room_is_the_sum_of_its_stored_events()
        self.the_moves_are_a_game()

    def the_room_is_the_sum_of_its_stored_events(self) -> None:
        stored = [
            Event(e.number, e.at, e.kind, json.loads(json.dumps(e.data)), e.command)
            for e in self.play.events
        ]
        assert create(self.room.id, stored) == self.room

    def the_moves_are_a_game(self) -> None:
        game = Game(self.room.layout, self.room.moves)
        assert game.position == self.room.position
        if game.result is not None:
            assert self.room.result == game.result
        record = parse_record(format_record(self.room.game()))
        assert tuple(record.moves) == self.room.moves
        assert record.result == self.room.result


AnyRoom.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestAnyRoom = AnyRoom.TestCase


def test_a_game_of_the_first_version_keeps_an_opponent_of_the_same_strength() -> None:
    first = set_up(Layout.shuffled(1), Control(), COMPUTER, 0)
    assert create("g", [first]).white.level == COMPUTER[WHITE].level
    old = {key: value for key, value in first.data.items() if key != "ladder"}
    old["white"] = {"kind": "computer", "name": "", "level": 8}
    assert create("g", [replace(first, data=old)]).white.level == STRONGEST
    old["white"] = {"kind": "person", "name": "Ann", "level": 0}
    assert create("g", [replace(first, data=old)]).white.level == 0
