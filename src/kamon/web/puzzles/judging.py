"""What comes of a move in a puzzle. Pure."""

from dataclasses import dataclass

from kamon import rules
from kamon.errors import KamonError
from kamon.position import Position
from kamon.puzzles.puzzle import Puzzle
from kamon.web.errors import ApiError


@dataclass(frozen=True, slots=True)
class Judged:
    """What comes of a move: the position after it, the reply, and what it leads to."""

    right: bool
    done: bool
    after: Position
    reply: int | None
    value: int
    plies: int


def judge(puzzle: Puzzle, moves: list[int]) -> Judged:
    """Judge the newest of the solver's moves; those before it must be the right ones."""
    place = 2 * (len(moves) - 1)
    if list(puzzle.solution[:place:2]) != moves[:-1] or place >= len(puzzle.solution):
        raise ApiError("bad-message", detail="the moves before are not those of the solution")
    after = play(puzzle.at(place), moves[-1])
    found = puzzle.refutations[place // 2].get(moves[-1])
    if found is not None:
        return Judged(
            right=False,
            done=True,
            after=after,
            reply=found.reply,
            value=found.value,
            plies=found.plies,
        )
    reply = puzzle.solution[place + 1] if place + 1 < len(puzzle.solution) else None
    return Judged(
        right=True,
        done=place + 2 >= len(puzzle.solution),
        after=after,
        reply=reply,
        value=puzzle.value,
        plies=len(puzzle.solution) - place - 1,
    )


def play(position: Position, cell: int) -> Position:
    """Play a move, or refuse it as a request."""
    try:
        return rules.play(position, cell)
    except KamonError as error:
        raise ApiError("illegal-move", because=error) from None
