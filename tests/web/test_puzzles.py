"""Puzzles on a server: ratings, tries, days, runs, and what is found in games at night."""

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kamon import Game, Layout, format_cell, outcome, parse_cell, parse_line
from kamon.engine.limits import MIB, Limits
from kamon.engine.review import Review, Turn, review
from kamon.engine.solver import Solver
from kamon.engine.values import DRAW, LOSS
from kamon.position import Side
from kamon.puzzles.files import from_fields, to_fields
from kamon.puzzles.making import play_game, proven_puzzle
from kamon.puzzles.missed import missed_move, reviewed_mistake
from kamon.puzzles.themes import THEMES
from kamon.web.database import Database, puzzle_days
from kamon.web.engine.analysing import _look_for_puzzles
from kamon.web.errors import ApiError
from kamon.web.puzzles import store as module
from kamon.web.puzzles.book import Book, Listed, puzzle_for, shipped
from kamon.web.puzzles.glicko import LEAST_DEVIATION, MOST_DEVIATION, Rating, bounded, rated
from kamon.web.puzzles.judging import judge
from kamon.web.puzzles.messages import ThemeName
from kamon.web.puzzles.newcomers import EASY_RATING, UNRATED_TRIES, step
from kamon.web.puzzles.routes import _judge_missed
from kamon.web.puzzles.searching import Searching, is_night, last_mistake
from kamon.web.puzzles.store import FIRST_RATING, RUN_LENGTH, RUN_PENALTY, PuzzleStore
from kamon.web.writer import Writer
from postgres import Postgres, running_postgres
from shipped_puzzles import shipped_fields
from web_server import PATIENCE

ANN, BOB = "a" * 64, "b" * 64
NOW = 1_800_000_000_000
EASY = next(iter(shipped().values()))
NEXT = list(shipped().values())[1:]

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server."""
    with running_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[PuzzleStore]:
    """Puzzles in a database of each kind."""
    url = f"sqlite:///{tmp_path / 'kamon.sqlite'}"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").new_database()
    database = Database(url)
    await asyncio.to_thread(database.open)
    writer = Writer(database)
    yield PuzzleStore(database, writer)
    writer.close()
    database.close()


# --- Ratings ---


def test_the_example_of_the_paper() -> None:
    """From Glickman's "Example of the Glicko-2 system"."""
    opponents = [(Rating(1400, 30), 1.0), (Rating(1550, 100), 0.0), (Rating(1700, 300), 0.0)]
    after = rated(Rating(1500, 200, 0.06), opponents)
    assert after.value == pytest.approx(1464.06, abs=0.01)
    assert after.deviation == pytest.approx(151.52, abs=0.01)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)


def test_nobody_to_compare_with_changes_nothing() -> None:
    assert rated(Rating(1300, 80), []) == Rating(1300, 80)


def test_a_surprise_makes_a_rating_less_steady() -> None:
    """A long row of defeats against weak opponents takes the other branch of the paper's step 5."""
    steady = Rating(2000, 50, 0.06)
    after = rated(steady, [(Rating(1000, 30), 0.0)] * 20)
    assert after.volatility > steady.volatility
    assert after.value < steady.value


def test_a_rating_stays_open_to_change() -> None:
    assert bounded(Rating(1500, 1)).deviation == LEAST_DEVIATION
    assert bounded(Rating(1500, 999)).deviation == MOST_DEVIATION


# --- Tries ---


async def no_longer_new(store: PuzzleStore, holder: str) -> None:
    """Let somebody miss as many puzzles as are not rated."""
    for listed in NEXT[-UNRATED_TRIES:]:
        await store.note(holder, listed, NOW, solved=False)


async def test_a_solved_puzzle_raises_the_player_and_lowers_the_puzzle(store: PuzzleStore) -> None:
    await no_longer_new(store, ANN)
    assert store.player(ANN).rating.value == FIRST_RATING
    noted = await store.note(ANN, EASY, NOW, solved=True)
    assert noted.change is not None
    assert noted.change > 0
    assert noted.player == store.player(ANN)
    assert (noted.player.streak, noted.player.best_streak) == (1, 1)
    book = Book(store._database)
    listed = book.find(EASY.id)
    assert listed is not None
    assert listed.rating.value < EASY.rating.value
    assert listed.tries == 1
    assert store.counts(ANN) == (1, UNRATED_TRIES)
    assert store.tried(ANN)[EASY.id]
    assert store.tried(BOB) == {}


async def test_the_first_five_tries_change_no_rating(store: PuzzleStore) -> None:
    assert UNRATED_TRIES == 5
    for number, listed in enumerate(NEXT[:UNRATED_TRIES], 1):
        noted = await store.note(ANN, listed, NOW, solved=number != 2)
        assert (noted.change, noted.rating) == (None, None)
        assert noted.solved == (number != 2)
        assert store.player(ANN).rating == module.NEW_PLAYER.rating
    assert Book(store._database).puzzles() == shipped()
    assert store.counts(ANN) == (4, 1)
    assert (store.player(ANN).streak, store.player(ANN).best_streak) == (3, 3)
    # One of them again is still none of the others.
    assert (await store.note(ANN, NEXT[0], NOW, solved=True)).change is None
    sixth = await store.note(ANN, EASY, NOW, solved=True)
    assert sixth.change is not None
    assert sixth.rating is not None
    # Somebody else begins anew.
    assert (await store.note(BOB, EASY, NOW, solved=True)).change is None


async def test_puzzles_of_a_run_count_as_tries(store: PuzzleStore) -> None:
    await store.begin_run(ANN, NEXT[0].id, NOW)
    for listed, following in pairwise(NEXT[: UNRATED_TRIES + 1]):
        await store.note_run(ANN, listed.id, following.id, NOW, solved=True)
    assert (await store.note(ANN, EASY, NOW, solved=True)).change is not None


async def test_only_the_first_try_counts(store: PuzzleStore) -> None:
    await no_longer_new(store, ANN)
    await store.note(ANN, EASY, NOW, solved=False)
    before = store.player(ANN)
    again = await store.note(ANN, EASY, NOW + 1, solved=True)
    assert again.change is None
    assert store.player(ANN) == before
    assert store.counts(ANN) == (0, 1 + UNRATED_TRIES)


async def test_a_mistake_ends_the_streak_but_not_the_best_one(store: PuzzleStore) -> None:
    several = list(shipped().values())[:4]
    for listed in several[:3]:
        await store.note(ANN, listed, NOW, solved=True)
    await store.note(ANN, several[3], NOW, solved=False)
    player = store.player(ANN)
    assert (player.streak, player.best_streak) == (0, 3)


async def test_tries_at_the_same_moment_count_once(store: PuzzleStore) -> None:
    await no_longer_new(store, ANN)
    noted = await asyncio.gather(*(store.note(ANN, EASY, NOW, solved=True) for _ in range(8)))
    assert sum(each.change is not None for each in noted) == 1


async def test_everything_about_somebody_can_be_forgotten(store: PuzzleStore) -> None:
    await store.note(ANN, EASY, NOW, solved=True)
    await store.note(BOB, EASY, NOW, solved=True)
    await store.let_go(ANN)
    assert store.player(ANN) == module.NEW_PLAYER
    assert store.tried(ANN) == {}
    assert store.tried(BOB) == {EASY.id: True}


# --- Runs ---


async def test_a_run_counts_until_its_time_is_over(store: PuzzleStore) -> None:
    begun = await store.begin_run(ANN, "aaaaaaaa", NOW)
    assert begun.run_left(NOW) == RUN_LENGTH
    solved = await store.note_run(ANN, "aaaaaaaa", "bbbbbbbb", NOW + 1_000, solved=True)
    assert solved.run_puzzle == "bbbbbbbb"
    missed = await store.note_run(ANN, "bbbbbbbb", "cccccccc", NOW + 2_000, solved=False)
    assert missed.run_left(NOW + 2_000) == RUN_LENGTH - 2_000 - RUN_PENALTY
    with pytest.raises(ApiError) as late:
        await store.note_run(ANN, "cccccccc", "dddddddd", NOW + RUN_LENGTH, solved=True)
    assert late.value.code == "no-run"
    player = store.player(ANN)
    assert (player.run_score, player.run_misses, player.best_run) == (1, 1, 1)
    assert player.rating == module.NEW_PLAYER.rating
    again = await store.begin_run(ANN, "dddddddd", NOW + RUN_LENGTH)
    assert (again.run_score, again.run_misses, again.best_run) == (0, 0, 1)


async def test_a_run_counts_its_own_puzzle_once(store: PuzzleStore) -> None:
    await store.begin_run(ANN, EASY.id, NOW)
    await store.note_run(ANN, EASY.id, "bbbbbbbb", NOW, solved=True)
    for puzzle in (EASY.id, "zzzzzzzz"):
        with pytest.raises(ApiError) as refused:
            await store.note_run(ANN, puzzle, "cccccccc", NOW, solved=True)
        assert refused.value.code == "no-run"
    # Who has seen it in a run does not win points with it later.
    await no_longer_new(store, ANN)
    assert (await store.note(ANN, EASY, NOW, solved=True)).change is None


async def test_without_a_run_nothing_counts(store: PuzzleStore) -> None:
    with pytest.raises(ApiError) as refused:
        await store.note_run(ANN, EASY.id, "bbbbbbbb", NOW, solved=True)
    assert refused.value.code == "no-run"


# --- Days ---


async def test_a_day_keeps_its_puzzle(store: PuzzleStore) -> None:
    day = date(2026, 11, 16)
    first = await asyncio.gather(*(store.puzzle_of(day) for _ in range(4)))
    assert len(set(first)) == 1
    assert store.days() == {"2026-11-16": first[0]}
    assert await store.puzzle_of(day + timedelta(days=1)) != first[0]


def puzzles_of_days(first: date, count: int) -> dict[date, Listed]:
    chosen: dict[date, str] = {}
    for number in range(count):
        day = first + timedelta(days=number)
        chosen[day] = puzzle_for(day, frozenset(chosen.values()))
    assert len(set(chosen.values())) == count
    return {day: shipped()[puzzle] for day, puzzle in chosen.items()}


def test_weekdays_have_short_puzzles_and_weekends_hard_ones() -> None:
    chosen = puzzles_of_days(date(2026, 11, 19), 280)
    weekdays = [each for day, each in chosen.items() if day.isoweekday() <= 5]
    weekends = [each for day, each in chosen.items() if day.isoweekday() > 5]
    assert len(weekends) == 80
    assert {each.turns for each in weekdays} == {1, 2, 3}
    assert not any("draw" in each.themes for each in weekdays)
    assert all(each.rating.value >= 1500 for each in weekends)


def test_earlier_days_are_chosen_as_they_were() -> None:
    chosen = puzzles_of_days(date(2026, 11, 1), 18)
    assert all(1000 <= each.rating.value <= 1500 for each in chosen.values())
    assert max(each.turns for each in chosen.values()) > 3
    # As the version before chose them, on a server that has no other days.
    assert puzzle_for(date(2026, 1, 1), frozenset()) == "6lezjyrp"
    assert puzzle_for(date(2026, 11, 18), frozenset()) == "72ky2byd"


async def test_a_day_that_has_a_puzzle_keeps_it(store: PuzzleStore) -> None:
    saturday = date(2026, 11, 21)
    row = {"date": saturday.isoformat(), "puzzle": EASY.id}
    await store._writer.insert(puzzle_days, row)
    assert await store.puzzle_of(saturday) == EASY.id


# --- Choosing ---


async def test_a_puzzle_is_chosen_near_the_rating(writer: Writer) -> None:
    book = Book(writer.database)
    chosen = [book.choose(900, Random(seed), without=frozenset()) for seed in range(20)]
    ratings = [each.rating.value for each in chosen if each is not None]
    all_ratings = sorted(each.rating.value for each in shipped().values())
    assert len(ratings) == 20
    assert (
        max(abs(rating - 900) for rating in ratings)
        <= sorted(abs(rating - 900) for rating in all_ratings)[min(24, len(all_ratings)) - 1]
    )


async def test_what_was_tried_is_not_chosen_again(writer: Writer) -> None:
    book = Book(writer.database)
    everything = frozenset(shipped())
    last = next(iter(everything))
    chosen = book.choose(1200, Random(1), without=everything - {last})
    assert chosen is not None
    assert chosen.id == last
    assert book.choose(1200, Random(1), without=everything) is None


@pytest.mark.parametrize("theme", ["link", "quiet"])
async def test_a_theme_can_be_asked_for(writer: Writer, theme: str) -> None:
    chosen = Book(writer.database).choose(
        1200, Random(1), fits=lambda listed: theme in listed.themes, without=frozenset()
    )
    assert chosen is not None
    assert theme in chosen.themes


@pytest.mark.parametrize(
    ("tries", "turns", "defends"),
    [(0, 1, False), (1, 1, False), (2, 1, True), (3, 2, False), (4, 2, False)],
)
async def test_a_newcomer_begins_with_easy_puzzles(
    writer: Writer, tries: int, turns: int, *, defends: bool
) -> None:
    book, fits = Book(writer.database), step(tries, None)
    for seed in range(20):
        chosen = book.choose(EASY_RATING, Random(seed), fits=fits, without=frozenset())
        assert chosen is not None
        assert (chosen.turns, "defend" in chosen.themes) == (turns, defends)
        assert "draw" not in chosen.themes
        assert chosen.rating.value < 900


async def test_a_newcomer_who_asks_for_a_theme_gets_it(writer: Writer) -> None:
    for theme in THEMES:
        chosen = Book(writer.database).choose(
            EASY_RATING, Random(1), fits=step(0, theme), without=frozenset()
        )
        assert chosen is not None
        assert theme in chosen.themes


def test_every_theme_can_be_asked_for() -> None:
    assert set(ThemeName.__args__) == set(THEMES)  # type: ignore[attr-defined]


async def test_a_new_rating_does_not_wait_for_a_slow_database(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ratings are noted on the event loop, while a thread reads them all."""
    book = Book(writer.database)
    reading, answer = threading.Event(), threading.Event()

    def slow() -> dict[str, Listed]:
        reading.set()
        assert answer.wait(PATIENCE)
        return {}

    book.puzzles()
    book.forget()
    monkeypatch.setattr(book, "_changed", slow)
    reader = threading.Thread(target=book.puzzles)
    reader.start()
    assert reading.wait(PATIENCE)
    book.renew(EASY.id, Rating(1234, 99))
    assert reader.is_alive()
    answer.set()
    reader.join(PATIENCE)


async def test_a_rating_that_has_changed_is_known_at_once(writer: Writer) -> None:
    book = Book(writer.database)
    assert book.find(EASY.id) == EASY
    book.renew(EASY.id, Rating(1234, 99))
    changed = book.find(EASY.id)
    assert changed is not None
    assert (changed.rating, changed.tries) == (Rating(1234, 99), 1)
    book.renew("zzzzzzzz", Rating(1234, 99))
    assert book.find("zzzzzzzz") is None


async def test_a_puzzle_of_another_version_is_passed_over(store: PuzzleStore) -> None:
    gone = replace(EASY, id="zzzzzzzz")
    await store.note(ANN, gone, NOW, solved=True)
    assert Book(store._database).find("zzzzzzzz") is None


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
async def test_two_servers_that_meet_a_newcomer_at_once_both_note_the_try(
    store: PuzzleStore,
) -> None:
    other_writer = Writer(store._database)
    other = PuzzleStore(store._database, other_writer)
    first, second = list(shipped().values())[:2]
    for number in range(20):
        holder = f"{number:064}"
        await asyncio.gather(
            store.note(holder, first, NOW, solved=True),
            other.note(holder, second, NOW, solved=True),
        )
        assert store.counts(holder) == (2, 0)
        assert store.player(holder).streak == 2
    other_writer.close()


@pytest.mark.parametrize("store", ["postgresql"], indirect=True)
async def test_two_servers_do_not_both_take_a_try_for_the_last_unrated_one(
    store: PuzzleStore,
) -> None:
    other_writer = Writer(store._database)
    other = PuzzleStore(store._database, other_writer)
    for number in range(20):
        holder = f"{number:064}"
        for listed in NEXT[: UNRATED_TRIES - 1]:
            await store.note(holder, listed, NOW, solved=True)
        fifth_and_sixth = await asyncio.gather(
            store.note(holder, NEXT[-1], NOW, solved=True),
            other.note(holder, NEXT[-2], NOW, solved=True),
        )
        assert sum(each.change is not None for each in fifth_and_sixth) == 1
    other_writer.close()


# --- Judging ---

PUZZLE = from_fields(next(each for each in shipped_fields() if each["solution"].count(" ") == 4))


def test_right_moves_lead_to_the_end() -> None:
    first = judge(PUZZLE, [PUZZLE.solution[0]])
    assert (first.right, first.done, first.reply) == (True, False, PUZZLE.solution[1])
    last = judge(PUZZLE, list(PUZZLE.solution[::2]))
    assert (last.right, last.done, last.reply) == (True, True, None)


def test_a_wrong_move_is_refuted() -> None:
    wrong, found = next(iter(PUZZLE.refutations[0].items()))
    judged = judge(PUZZLE, [wrong])
    assert (judged.right, judged.done) == (False, True)
    assert (judged.reply, judged.value, judged.plies) == (found.reply, found.value, found.plies)


@pytest.mark.parametrize("moves", [[0, 1], [*PUZZLE.solution[::2], 0]])
def test_moves_beside_the_solution_are_refused(moves: list[int]) -> None:
    with pytest.raises(ApiError) as caught:
        judge(PUZZLE, moves)
    assert caught.value.code == "bad-message"


def test_a_defence_is_done_after_its_one_move() -> None:
    defence = next(each for each in shipped().values() if "defend" in each.themes).read()
    right = judge(defence, list(defence.solution))
    assert (right.right, right.done, right.reply) == (True, True, None)
    assert outcome(right.after) is None
    wrong = judge(defence, [next(iter(defence.refutations[0]))])
    assert (wrong.right, wrong.plies) == (False, 1)
    assert wrong.reply is not None
    assert outcome(wrong.after.after(wrong.reply)) is not None


def test_an_illegal_move_is_refused() -> None:
    taken = PUZZLE.moves[0]
    with pytest.raises(ApiError) as caught:
        judge(PUZZLE, [taken])
    assert caught.value.code == "illegal-move"


# --- At night ---


@pytest.mark.parametrize(
    ("hours", "hour", "expected"),
    [
        ((1, 5), 0, False),
        ((1, 5), 1, True),
        ((1, 5), 4, True),
        ((1, 5), 5, False),
        ((22, 4), 23, True),
        ((22, 4), 3, True),
        ((22, 4), 12, False),
        ((0, 24), 23, True),
    ],
)
def test_the_night_may_begin_before_midnight(
    hours: tuple[int, int], hour: int, *, expected: bool
) -> None:
    assert is_night(hours, datetime(2026, 11, 16, hour, tzinfo=UTC)) is expected


async def test_a_puzzle_that_was_made_here_is_found_and_has_no_twin(store: PuzzleStore) -> None:
    rng = Random(11)
    games = (play_game(Layout.shuffled(rng.getrandbits(40)), rng) for _ in range(100))
    puzzle = next(found for game in games if (found := proven_puzzle(*game)) is not None)
    assert await store.add(puzzle)
    assert not await store.add(puzzle)
    listed = Book(store._database).find(puzzle.id)
    assert listed is not None
    assert to_fields(listed.read()) == to_fields(puzzle)


class Engine:
    """Stands for the engine: fails in its own way at some games, and finds nothing in others."""

    waiting = 0

    def __init__(self, failures: dict[str, str]) -> None:
        self.failures = failures
        self.asked: list[str] = []

    async def table(self, game: str) -> SimpleNamespace:
        self.asked.append(game)
        if self.failures.get(game) == "no-such-game":
            raise ApiError("no-such-game")
        moves = PUZZLE.moves + PUZZLE.solution
        return SimpleNamespace(room=SimpleNamespace(layout=PUZZLE.layout, moves=moves))

    def now(self) -> int:
        return 0

    async def work(self, *_: object) -> AsyncGenerator[dict[str, None], None]:
        if code := self.failures.get(self.asked[-1]):
            raise ApiError(code, seconds=1)
        yield {"puzzle": None}


def searching_with(engine: Engine, memory: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401
    async def read(name: str) -> str | None:
        return memory.get(name)

    async def keep(name: str, value: str) -> None:
        memory[name] = value

    async def take_lease(name: str, now: int, milliseconds: int) -> bool:
        assert (now, milliseconds > 0) == (0, True)
        return memory.setdefault(name, "free") == "free"

    async def end_lease(name: str) -> None:
        del memory[name]

    def finished(since: int, _: int) -> list[tuple[str, int]]:
        return [(f"game-{at}", at) for at in (1, 2, 3) if at > since]

    monkeypatch.setattr("kamon.web.puzzles.searching._LEAST_MOVES", 1)
    fakes = cast("Any", engine)
    store = cast("Any", SimpleNamespace(finished_games=finished))
    remembered = cast(
        "Any", SimpleNamespace(read=read, keep=keep, take_lease=take_lease, end_lease=end_lease)
    )
    return Searching(store, cast("Any", None), fakes, fakes, cast("Any", None), remembered)


@pytest.mark.parametrize("code", ["engine-failed", "no-such-game"])
async def test_a_game_that_cannot_be_searched_keeps_no_other_waiting(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, memory = Engine({"game-2": code}), dict[str, str]()
    await searching_with(engine, memory, monkeypatch).at_night((0, 24))
    assert engine.asked == ["game-1", "game-2", "game-3"]
    assert memory == {"puzzles": "3"}


async def test_of_several_servers_one_searches_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, memory = Engine({}), {"puzzles lease": "another server's"}
    searching = searching_with(engine, memory, monkeypatch)
    await searching.at_night((0, 24))
    assert engine.asked == []
    del memory["puzzles lease"]
    await searching.at_night((0, 24))
    assert engine.asked == ["game-1", "game-2", "game-3"]


@pytest.mark.parametrize("code", ["no-engine", "too-many"])
async def test_without_an_engine_that_is_free_games_wait_for_the_next_time(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, memory = Engine({"game-2": code}), dict[str, str]()
    searching = searching_with(engine, memory, monkeypatch)
    await searching.at_night((0, 24))
    assert memory == {"puzzles": "1"}
    engine.failures.clear()
    await searching.at_night((0, 24))
    assert memory == {"puzzles": "3"}


# --- What somebody has missed ---


def test_the_last_missed_move_is_found() -> None:
    found = 0
    rng = Random(3)
    for seed in range(12):
        positions, moves = play_game(Layout.shuffled(seed), rng)
        for side in Side:
            missed = missed_move(positions, moves, side)
            if missed is None:
                continue
            found += 1
            position = positions[missed.ply]
            assert position.turn is side
            assert moves[missed.ply] == missed.played
            assert missed.played not in missed.right
            assert missed.played in missed.refutations
            assert missed.data()["right"] == [format_cell(cell) for cell in missed.right]
    assert found


def test_an_engine_process_looks_for_both() -> None:
    positions, moves = play_game(Layout.shuffled(1), Random(1))
    game = Game(positions[0].layout, moves)
    assert set(_look_for_puzzles({"kind": "puzzle"}, game)) == {"puzzle"}
    question = {"kind": "missed", "side": "black", "mistake": None}
    answer: dict[str, Any] = _look_for_puzzles(question, game)
    assert set(answer) == {"missed"}


# White's last mistake is move 7 of both, at ply 7: c4 keeps the draw, and c3 loses.
EARLY_MISTAKE = (
    "B5C4D2A4/B2E5B1B4C3/D4D3C6B3A2F6/E2F2C5--A5F1D5/C1A6B6A3F4D1/F5C2A1E6E1/F3E4E3D6 "
    "c6 a1 e4 e6 e5 f7 e2 c3 d5 c5 g7 c1 d6 e3 a4 f6 g6 f4 b5 c4 b2 e7 f5"
)


class ReviewingEngine:
    """Stands for the engine and the kept reviews: answers in this process, and counts."""

    def __init__(self) -> None:
        self.review: dict[str, Any] | None = None
        self.asked: list[dict[str, Any]] = []

    async def stored(self, line: str) -> dict[str, Any] | None:
        assert line == EARLY_MISTAKE
        return self.review

    async def work(self, question: dict[str, Any], _: str) -> AsyncGenerator[dict[str, Any], None]:
        self.asked.append(question)
        game = parse_line(question["line"])
        yield {"waiting": True}
        yield _look_for_puzzles(question, game)


def review_of(line: str) -> dict[str, Any]:
    """Review a game as the server does, until its last mistake has a better move."""
    game = parse_line(line)
    assert game is not None
    found: list[Review] = []

    def is_enough() -> bool:
        return bool(found) and last_mistake(found[-1].data(), Side.WHITE) is not None

    limits = Limits(seconds=60, memory=64 * MIB)
    found.append(review(game, limits, tell=found.append, cancelled=is_enough))
    return dict(found[-1].data())


async def test_a_mistake_of_a_review_is_missed_however_early_it_was() -> None:
    game = parse_line(EARLY_MISTAKE)
    assert game is not None
    room = cast("Any", SimpleNamespace(id="game", layout=game.layout, moves=game.moves))
    engine = ReviewingEngine()
    fakes, none = cast("Any", engine), cast("Any", None)
    searching = Searching(none, none, none, fakes, fakes, none)
    # The search from the end does not go back that far.
    assert await searching.find_missed([(room, Side.WHITE)], "") is None
    # What was found before there is a review does not hide what the review has proven.
    engine.review = review_of(EARLY_MISTAKE)
    found = await searching.find_missed([(room, Side.WHITE)], "")
    assert found is not None
    assert found[:2] == (room, Side.WHITE)
    missed = found[2]
    assert (missed["ply"], missed["value"], missed["played"]) == (7, "draw", "c3")
    assert missed["right"] == ["c4"]
    assert missed["refutations"]["c3"]["value"] == "loss"
    assert missed == await searching.missed(room, Side.WHITE, "")
    # The engine was asked once without a review, and once with it.
    assert [question["mistake"] is not None for question in engine.asked] == [False, True]


def test_a_mistake_that_cannot_be_refuted_in_time_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = parse_line(EARLY_MISTAKE)
    assert game is not None
    mistake = Turn(7, game.moves[7], DRAW, LOSS, better=parse_cell("c4"))
    position = [node.position for node in game.main_line()][6]
    monkeypatch.setattr("kamon.puzzles.missed._SECONDS", 0.001)
    solver = Solver(game.layout, Limits(memory=16 * MIB))
    assert reviewed_mistake(solver, position, mistake) is None
    with pytest.raises(ValueError, match="has not proven"):
        reviewed_mistake(solver, position, replace(mistake, better=None))


def test_a_move_that_is_not_proven_is_neither_right_nor_wrong() -> None:
    game = parse_line(EARLY_MISTAKE)
    assert game is not None
    positions = [game.root.position, *(node.position for node in game.main_line())]
    room = cast("Any", SimpleNamespace(positions=positions))
    lost = {"reply": "d5", "value": "loss", "plies": 0}
    missed = {"ply": 7, "value": "draw", "right": ["c4"], "refutations": {"c3": lost}}
    assert _judge_missed(room, missed, parse_cell("c4")).right
    assert not _judge_missed(room, missed, parse_cell("c3")).right
    with pytest.raises(ApiError) as caught:
        _judge_missed(room, missed, parse_cell("d3"))
    assert caught.value.code == "too-slow"
