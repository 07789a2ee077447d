"""What a process does that studies and reviews. It loads nothing of the server."""

from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final

from kamon.errors import EngineMissingError
from kamon.web.engine.workers import NOBODY_LISTENS, lower_priority

_MEMORY: Final = 256 << 20
# The last word of an answer, and the word that there is no engine on this machine.
END: Final = "end"
NO_ENGINE: Final = "no engine"

Told = dict[str, Any]


def work(pipe: Connection) -> None:
    """Answer questions until the pipe closes. Any word that comes meanwhile ends the answer."""
    lower_priority()
    with suppress(*NOBODY_LISTENS):
        while True:
            question = pipe.recv()
            if question is not None:
                try:
                    _answer(question, pipe.send, pipe.poll)
                except EngineMissingError:
                    pipe.send(NO_ENGINE)
            pipe.send(END)


def _answer(question: Told, tell: Callable[[Told], None], stopped: Callable[[], bool]) -> None:
    from kamon.engine import analysis, review  # noqa: PLC0415 - only the worker pays for the engine
    from kamon.engine.limits import Limits  # noqa: PLC0415
    from kamon.notation import parse_line  # noqa: PLC0415

    game = parse_line(question["line"])
    assert game is not None  # noqa: S101 - it has been checked
    if question["kind"] in {"puzzle", "missed"}:
        tell(_look_for_puzzles(question, game))
        return
    if question["kind"] == "study":
        solver = _solver(game.layout)
        analysis.study(
            solver,
            game.position,
            lambda insight: tell(insight.data()),
            seconds=question["seconds"],
            cancelled=stopped,
        )
        return
    review.review(
        game,
        Limits(seconds=question["seconds"], memory=_MEMORY),
        known=[review.read_turn(turn) for turn in question["known"]],
        tell=lambda found: tell(found.data()),
        progress=lambda done, whole: tell({"progress": [done, whole]}),
        cancelled=stopped,
    )


def _look_for_puzzles(question: Told, game: Any) -> Told:  # noqa: ANN401 - as below
    """Find the puzzle in a game, or the move that one side missed."""
    from kamon.engine.review import read_turn  # noqa: PLC0415
    from kamon.position import Side  # noqa: PLC0415
    from kamon.puzzles.files import format_row  # noqa: PLC0415
    from kamon.puzzles.making import proven_puzzle  # noqa: PLC0415
    from kamon.puzzles.missed import missed_move, reviewed_mistake  # noqa: PLC0415

    positions = [game.root.position, *(node.position for node in game.main_line())]
    if question["kind"] == "puzzle":
        puzzle = proven_puzzle(positions, game.moves)
        return {"puzzle": None if puzzle is None else format_row(puzzle)}
    if question["mistake"] is None:
        missed = missed_move(positions, game.moves, Side(question["side"]))
    else:
        mistake = read_turn(question["mistake"])
        missed = reviewed_mistake(_solver(game.layout), positions[mistake.ply], mistake)
    return {"missed": None if missed is None else missed.data()}


_kept: dict[str, Any] = {}


def _solver(layout: Any) -> Any:  # noqa: ANN401 - the engine is imported where it is needed
    """Return the solver of a layout, with what it proved when this board was asked for last."""
    from kamon.engine.limits import Limits  # noqa: PLC0415
    from kamon.engine.solver import Solver  # noqa: PLC0415

    if _kept.get("layout") != layout:
        _kept.clear()
        _kept.update(layout=layout, solver=Solver(layout, Limits(memory=_MEMORY)))
    return _kept["solver"]
