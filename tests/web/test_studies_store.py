"""Studies in the database: whose they are, how many, and who saves over whom."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import text

from kamon import Game, Layout, format_record, parse_cell, parse_record
from kamon.notation import format_layout, format_line, parse_line
from kamon.web.errors import ApiError
from kamon.web.studies import store as module
from kamon.web.studies.store import Studies
from kamon.web.studies.tree import Study, game_of, read_anything, tree_of
from kamon.web.writer import Writer
from web_server import CHAIN, CHAIN_SEED

ANN, BOB = "a" * 64, "b" * 64
LAYOUT = Layout.shuffled(int(CHAIN_SEED))

pytestmark = pytest.mark.anyio


@pytest.fixture
def studies(writer: Writer) -> Studies:
    return Studies(writer.database, writer)


def game(moves: int = 3, title: str = "") -> Game:
    made = Game(LAYOUT, map(parse_cell, CHAIN[:moves]))
    made.tags = {"Event": title} if title else {}
    return made


async def keep(studies: Studies, name: str, holder: str = ANN, now: int = 10) -> None:
    await studies.keep(name, holder, now, format_record(game()), game())


async def keep_again(
    studies: Studies,
    name: str,
    made: Game,
    *,
    holder: str = ANN,
    seen: int | None = None,
    now: int = 20,
) -> int:
    return await studies.keep_again(name, holder, seen, now, format_record(made), made)


async def code_of(doing: Awaitable[object]) -> str:
    with pytest.raises(ApiError) as caught:
        await doing
    return caught.value.code


def names(studies: Studies, holder: str = ANN) -> list[str]:
    return [each.id for each in studies.list_of(holder, 100)]


# --- Keeping --------------------------------------------------------------------------------


async def test_a_study_is_found_as_it_was_kept(studies: Studies) -> None:
    made = game(5, "Mine – “é”")
    await studies.keep("one", ANN, 10, format_record(made), made)
    kept = studies.find("one")
    assert kept is not None
    assert (kept.holder, kept.updated, kept.record) == (ANN, 10, format_record(made))
    assert kept.line == format_line(made)
    assert studies.find("two") is None


async def test_a_list_has_the_latest_first_and_only_ones_own(studies: Studies) -> None:
    for name, now in (("old", 10), ("new", 30), ("mid", 20)):
        await keep(studies, name, now=now)
    await keep(studies, "bobs", BOB)
    assert names(studies) == ["new", "mid", "old"]
    assert names(studies, BOB) == ["bobs"]
    assert [each.id for each in studies.list_of(ANN, 2)] == ["new", "mid"]


async def test_a_list_shows_title_moves_and_board_without_reading_the_records(
    studies: Studies, writer: Writer
) -> None:
    made = game(4, "d" * 300)
    await studies.keep("one", ANN, 10, format_record(made), made)
    # Whatever the record holds, the list does not look.
    await writer.write(lambda each: each.execute(text("UPDATE studies SET record = 'rubbish'")))
    (told,) = studies.list_of(ANN, 9)
    assert (told.id, told.updated, told.title, told.moves) == ("one", 10, "d" * 200, 4)
    shown = parse_line(told.line)
    assert shown is not None
    assert shown.position == made.main_line()[-1].position


@pytest.mark.parametrize("read", [parse_record, lambda text: read_anything(text)[0]])
async def test_a_list_shows_the_end_of_the_main_line_of_a_study_with_variations(
    studies: Studies, read: Callable[[str], Game]
) -> None:
    line = f"1. {CHAIN[0]} (b1) {CHAIN[1]} 2. {CHAIN[2]} *"
    made = game_of(
        Study.model_validate(tree_of(read(f'[Layout "{format_layout(LAYOUT)}"] {line}')))
    )
    await studies.keep("one", ANN, 10, format_record(made), made)
    (told,) = studies.list_of(ANN, 9)
    shown = parse_line(told.line)
    assert shown is not None
    assert shown.moves == [parse_cell(cell) for cell in CHAIN[:3]]
    assert told.moves == 3


# --- How many -------------------------------------------------------------------------------


async def test_a_visitor_may_keep_so_many_studies_and_no_more(
    studies: Studies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STUDIES_LIMIT", 3)
    for name in ("one", "two", "three"):
        await keep(studies, name)
    with pytest.raises(ApiError) as caught:
        await keep(studies, "four")
    assert caught.value.code == "too-many-studies"
    assert caught.value.values == {"limit": 3}
    assert studies.find("four") is None
    # Others have their own, and one's own can still be changed.
    await keep(studies, "bobs", BOB)
    await keep_again(studies, "one", game(5))
    # Whoever deletes one may keep another.
    await studies.remove("two", ANN)
    await keep(studies, "four")


async def test_many_at_once_do_not_get_around_the_limit(
    studies: Studies, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STUDIES_LIMIT", 3)
    answers = await asyncio.gather(
        *(keep(studies, f"study-{each}") for each in range(10)), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 3
    assert len(names(studies)) == 3


# --- Saving again ---------------------------------------------------------------------------


async def test_a_study_that_is_saved_again_has_the_new_moves(studies: Studies) -> None:
    await keep(studies, "one")
    assert await keep_again(studies, "one", game(7, "Longer"), seen=10) == 20
    (told,) = studies.list_of(ANN, 9)
    assert (told.title, told.moves, told.updated) == ("Longer", 7, 20)


async def test_a_study_that_was_changed_in_another_window_is_not_overwritten(
    studies: Studies,
) -> None:
    await keep(studies, "one")
    assert await keep_again(studies, "one", game(7), seen=10) == 20
    assert await code_of(keep_again(studies, "one", game(1), seen=10, now=30)) == "study-changed"
    assert studies.list_of(ANN, 9)[0].moves == 7
    # Whoever has seen the change may go on, and so may who does not ask.
    assert await keep_again(studies, "one", game(8), seen=20, now=30) == 30
    assert await keep_again(studies, "one", game(9), now=40) == 40


async def test_of_two_windows_that_save_at_once_one_is_told(studies: Studies) -> None:
    await keep(studies, "one")
    answers = await asyncio.gather(
        *(keep_again(studies, "one", game(moves), seen=10) for moves in (5, 6)),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, ApiError) for answer in answers) == 1


async def test_a_change_is_always_later_than_the_one_before(studies: Studies) -> None:
    await keep(studies, "one", now=50)
    # In the same millisecond, or after the clock of the machine was set back.
    assert await keep_again(studies, "one", game(5), seen=50, now=50) == 51
    assert await keep_again(studies, "one", game(6), seen=51, now=7) == 52


# --- Whose ----------------------------------------------------------------------------------


async def test_only_the_owner_changes_or_deletes_a_study(studies: Studies) -> None:
    await keep(studies, "one")
    assert await code_of(keep_again(studies, "one", game(5), holder=BOB)) == "not-your-study"
    assert await code_of(studies.remove("one", BOB)) == "not-your-study"
    assert names(studies) == ["one"]
    await studies.remove("one", ANN)
    assert studies.find("one") is None
    assert names(studies) == []


async def test_what_is_not_there_can_be_neither_changed_nor_deleted(studies: Studies) -> None:
    assert await code_of(keep_again(studies, "none", game())) == "no-such-study"
    assert await code_of(studies.remove("none", ANN)) == "no-such-study"


async def test_studies_that_are_let_go_stay_but_are_nobodys(studies: Studies) -> None:
    await keep(studies, "one")
    await keep(studies, "bobs", BOB)
    await studies.let_go(ANN)
    assert names(studies) == []
    assert names(studies, BOB) == ["bobs"]
    kept = studies.find("one")
    assert kept is not None
    assert kept.holder == ""
    assert await code_of(keep_again(studies, "one", game(5))) == "not-your-study"
    assert await code_of(studies.remove("one", ANN)) == "not-your-study"


async def test_old_studies_are_cleared(studies: Studies) -> None:
    await keep(studies, "old", now=10)
    await keep(studies, "new", now=50)
    await studies.clear(50)
    assert names(studies) == ["new"]
