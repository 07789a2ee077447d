"""Check the tables of the census with a second program, which shares no code with the first.

Nothing of the package is imported. The board, the rules and the search are written here once more,
plainly and in another way: sets of cells are ints made from coordinates, chains are found by
flooding, and positions are solved by alpha-beta with a table. It is slow, so a sample is checked.

    python tools/check_census.py boards data/census/boards.parquet --mark
    python tools/check_census.py positions data/positions/positions.parquet --sample 500
    python tools/check_census.py puzzles src/kamon/puzzles/shipped.csv --sample 500

For a board, that the tokens are those of its seed, that its line is legal and ends as it says, and
that each of its samples, which are lines of play against the proof, leads to a position in which
the side that the proof is for indeed gets what it was promised. For a position, the value of every
move and the length of the game. For a puzzle, that at each turn the solution's move alone keeps the
value, that the defence is as stubborn as any, and that each wrong move is refuted as it says. Of a
puzzle of one move, also that the move ends the game or, if it has the theme "defend", that every
other one loses to the very next stone.
"""

import argparse
import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

Row = dict[str, Any]

ROWS: Final = ("abcd", "abcde", "abcdef", "abcdefg", "bcdefg", "cdefg", "defg")
NAMES: Final = [f"{letter}{row}" for row, letters in enumerate(ROWS, 1) for letter in letters]
BIT: Final = {name: 1 << index for index, name in enumerate(NAMES)}
NEUTRAL: Final = "--"
SIDES: Final = ("black", "white")
VALUES: Final = {"win": 1, "draw": 0, "loss": -1}
# A win is worth more the sooner it comes; a draw is worth nothing.
_SOON: Final = 100
# A puzzle of one move leaves at least this many legal moves to choose from.
_LEAST_MOVES: Final = 4


def _mask(names: str) -> int:
    return sum(BIT[name] for name in names.split())


EDGES: Final = (
    (_mask("a1 b1 c1 d1"), _mask("d7 e7 f7 g7")),
    (_mask("d1 e2 f3 g4"), _mask("a4 b5 c6 d7")),
    (_mask("g4 g5 g6 g7"), _mask("a1 a2 a3 a4")),
)
RIM: Final = _mask("a1 b1 c1 d1 e2 f3 g4 g5 g6 g7 f7 e7 d7 c6 b5 a4 a3 a2")
STARTS: Final = RIM & ~_mask("a1 d1 g4 g7 d7 a4")
BOARD: Final = sum(BIT.values())


def _beside(name: str) -> int:
    column, row = ord(name[0]), int(name[1])
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
    around = (f"{chr(column + right)}{row + down}" for right, down in steps)
    return sum(BIT.get(each, 0) for each in around)


BESIDE: Final = {BIT[name]: _beside(name) for name in NAMES}


def flood(start: int, within: int) -> int:
    """Return all cells that can be reached from a start."""
    reached = start & within
    edge = reached
    while edge:
        bit = edge & -edge
        fresh = BESIDE[bit] & within & ~reached
        reached |= fresh
        edge = (edge | fresh) & ~bit
    return reached


def ways_to_win(own: int) -> list[str]:
    """Name what some stones have made: a connection, a loop, both or nothing."""
    found = []
    if any(flood(here & own, own) & there for here, there in EDGES):
        found.append("connection")
    if BOARD & ~own & ~flood(RIM & ~own, BOARD & ~own):
        found.append("loop")
    return found


class Position(NamedTuple):
    """The stones of who is to move and of who has just moved, and the last stone, 0 for none."""

    mine: int
    theirs: int
    last: int


class CheckFailedError(Exception):
    """A table says what this program finds to be wrong."""


class Board:
    """One layout: who may play where, how games end, and who wins."""

    def __init__(self, layout: str) -> None:
        texts = layout.replace("/", "")
        tokens = [texts[at : at + 2] for at in range(0, len(texts), 2)]
        wanted = {symbol + suit for symbol in "ABCDEF" for suit in "123456"} | {NEUTRAL}
        if len(tokens) != len(NAMES) or set(tokens) != wanted:
            raise CheckFailedError(f"{layout} is no layout")
        self.playable = sum(1 << at for at, token in enumerate(tokens) if token != NEUTRAL)
        self.follow = {
            1 << at: sum(
                1 << to
                for to, other in enumerate(tokens)
                if other != NEUTRAL and (token[0] == other[0] or token[1] == other[1])
            )
            for at, token in enumerate(tokens)
        }
        self._table: dict[Position, tuple[int, int]] = {}

    def legal(self, position: Position) -> int:
        """Return where the mover may play, if nobody has won."""
        free = self.playable & ~(position.mine | position.theirs)
        return free & (self.follow[position.last] if position.last else STARTS)

    def end(self, position: Position) -> list[str]:
        """Name how the last stone has ended the game; nothing while it goes on."""
        if not position.last:
            return []
        won = ways_to_win(position.theirs)
        if won or self.legal(position):
            return won
        return ["block"] if self.playable & ~(position.mine | position.theirs) else ["full"]

    @staticmethod
    def after(position: Position, bit: int) -> Position:
        """Play a stone."""
        return Position(position.theirs, position.mine | bit, bit)

    def moves(self, position: Position) -> Iterator[tuple[int, Position]]:
        """Give each move and the position after it."""
        legal = self.legal(position)
        while legal:
            bit = legal & -legal
            legal ^= bit
            yield bit, self.after(position, bit)

    def play(self, names: Sequence[str]) -> Position:
        """Play moves from the start, and complain about what is not legal."""
        position = Position(0, 0, 0)
        for name in names:
            if self.end(position) or not self.legal(position) & BIT[name]:
                raise CheckFailedError(f"{name} is not legal in {' '.join(names)}")
            position = self.after(position, BIT[name])
        return position

    def score(self, position: Position, low: int = -_SOON, high: int = _SOON) -> int:
        """Return the score for the mover, if it is between the bounds; else a bound of it.

        A win in n plies is 100 - n, a loss the negative, a draw 0: the winner hurries, and the
        loser delays.
        """
        ended = self.end(position)
        if ended:
            return 0 if ended == ["full"] else -_SOON
        least, most = self._table.get(position, (-_SOON, _SOON))
        if least >= high or most <= low or least == most:
            return least if least >= high else most
        best = -_SOON
        if any(self._wins(after) for _, after in self.moves(position)):
            # Nothing is better, and looking here first saves most of the time.
            self._table[position] = _SOON - 1, _SOON - 1
            return _SOON - 1
        # Moves that leave few answers first: they cut off most.
        for _, after in sorted(
            self.moves(position), key=lambda move: self.legal(move[1]).bit_count()
        ):
            found = _later(-self.score(after, -_earlier(high), -_earlier(max(low, best))))
            best = max(best, found)
            if best >= high:
                break
        if best >= high:
            least = best
        elif best <= low:
            most = best
        else:
            least = most = best
        self._table[position] = least, most
        return best

    def _wins(self, after: Position) -> bool:
        """Return whether the last stone has won the game."""
        return self.end(after) not in ([], ["full"])

    def value(self, position: Position) -> int:
        """Return 1 for a win of the mover, 0 for a draw, -1 for a loss."""
        found = self.score(position, -1, 1)
        return (found > 0) - (found < 0)


def _later(score: int) -> int:
    """Turn a score of the position after a move into that of the one before: one ply more."""
    return score - (score > 0) + (score < 0)


def _earlier(score: int) -> int:
    """Undo ``_later`` for a bound, to the safe side."""
    return score + (score > 0) - (score < 0)


# --- Boards ---


def shuffled(seed: int) -> str:
    """Lay out the board of a seed, as docs/notation.md describes it."""
    tokens = [symbol + suit for symbol in "ABCDEF" for suit in "123456"] + [NEUTRAL]
    rng = Random(seed)  # noqa: S311 - a layout is public
    for last in range(len(tokens) - 1, 0, -1):
        chosen = int(rng.random() * (last + 1))
        tokens[last], tokens[chosen] = tokens[chosen], tokens[last]
    rows, at = [], 0
    for letters in ROWS:
        rows.append("".join(tokens[at : at + len(letters)]))
        at += len(letters)
    return "/".join(rows)


def check_board(row: Row) -> int:
    """Check what a row says of a board, and return how many of its samples hold."""
    if row["layout"] != shuffled(row["seed"]):
        raise CheckFailedError("the layout is not that of the seed")
    _check_first_moves(row)
    board = Board(row["layout"])
    if row["line"]:
        end = "+".join(board.end(board.play(row["line"])))
        if end != row["ending"]:
            raise CheckFailedError(f"the line ends by {end or 'nothing'}, not {row['ending']}")
    for sample in row["samples"]:
        _check_sample(board, row, sample)
    return len(row["samples"])


def _check_first_moves(row: Row) -> None:
    """Check that the columns about first moves agree with each other and with the value."""
    starts = Board(row["layout"]).legal(Position(0, 0, 0))
    legal = {name for name in NAMES if starts & BIT[name]}
    winning, others = set(row["winning"]), set(row["not_winning"])
    if legal != set(row["first_moves"]) or not winning | others <= legal or winning & others:
        raise CheckFailedError("the first moves are not those of the board")
    if bool(winning) != (row["value"] == "win"):
        raise CheckFailedError(f"the value is {row['value']}, with {len(winning)} winning moves")
    if not set(row["drawing"]) <= others:
        raise CheckFailedError("a move that draws is not among those that do not win")
    is_complete = row["value"] is not None and winning | others == legal
    if row["complete"] != is_complete:
        raise CheckFailedError("it is not as complete as it says")


def _check_sample(board: Board, row: Row, sample: Row) -> None:
    """Play a line against the proof, and see whether its side gets what it was promised."""
    moves = sample["moves"]
    promised = VALUES[sample["at_least"]]
    black_is_promised = sample["side"] == "black"
    if black_is_promised and promised == 1 and moves[0] not in row["winning"]:
        raise CheckFailedError(f"the proof begins with {moves[0]}, which is not said to win")
    position = board.play(moves)
    mover = SIDES[len(moves) % 2]
    value = board.value(position)
    if (value if mover == sample["side"] else -value) < promised:
        raise CheckFailedError(f"{sample['side']} is promised a {sample['at_least']} in {moves}")


# --- Positions ---


def check_position(row: Row) -> None:
    """Check the values of all moves of a position, and the length of the game."""
    board = Board(row["layout"])
    moves = row["moves"].split()
    position = board.play(moves)
    if len(moves) != row["ply"] or board.end(position):
        raise CheckFailedError("it is not at its ply, or over")
    values = {bit: -board.value(after) for bit, after in board.moves(position)}
    found = [NAMES[bit.bit_length() - 1] for bit in values]
    if found != row["cells"] or list(values.values()) != row["values"]:
        raise CheckFailedError(f"the moves {found} are worth {list(values.values())}")
    if row["value"] != max(row["values"]):
        raise CheckFailedError("its value is not that of the best move")
    length = _SOON - abs(board.score(position)) if row["value"] else 36 - row["ply"]
    if length != row["length"]:
        raise CheckFailedError(f"the game lasts {length} plies, not {row['length']}")


# --- Puzzles ---


def check_puzzle(row: Row) -> None:
    """Check that each of the solver's moves is the only one, and everything said of the others."""
    layout, *moves = row["line"].split()
    board = Board(layout)
    position = board.play(moves)
    goal, solution = VALUES[row["value"]], row["solution"].split()
    turns = [turn.split() for turn in row["refutations"].split(" / ")]
    if len(turns) != (len(solution) + 1) // 2:
        raise CheckFailedError("it has not as many turns as refutations")
    for place, name in enumerate(solution):
        after = board.play([*moves, *solution[: place + 1]])
        if place % 2:
            _check_defence(board, position, after, goal)
        else:
            _check_turn(board, position, BIT[name], goal, turns[place // 2])
        position = after
    if len(solution) == 1:
        _check_one_move(board, board.play(moves))
    if bool(board.end(position)) == ("defend" in row["themes"].split()):
        raise CheckFailedError("its solution does not end where it should")
    if "defend" in row["themes"].split():
        _check_threats(solution, turns)


def _check_one_move(board: Board, position: Position) -> None:
    if board.legal(position).bit_count() < _LEAST_MOVES:
        raise CheckFailedError("there are too few moves to choose from")


def _check_threats(solution: list[str], turns: list[list[str]]) -> None:
    """Check that a defence is one move, and that every other one loses to the next stone."""
    if len(solution) > 1 or not all(told.endswith("-1") for told in turns[0]):
        raise CheckFailedError("it is not the only move that stops the threats")


def _check_turn(board: Board, position: Position, right: int, goal: int, told: list[str]) -> None:
    refutations = dict(entry.split(":") for entry in told)
    for bit, after in board.moves(position):
        name = NAMES[bit.bit_length() - 1]
        value = -board.value(after)
        if value != goal if bit == right else value >= goal:
            raise CheckFailedError(f"{name} is worth {value}, where {goal} is wanted")
        if bit == right:
            continue
        if name not in refutations:
            raise CheckFailedError(f"{name} is not refuted")
        _check_refutation(board, after, value, refutations.pop(name))
    if refutations:
        raise CheckFailedError(f"{' '.join(refutations)} cannot be played")


def _check_refutation(board: Board, after: Position, value: int, told: str) -> None:
    reply, sign, plies = told.partition("=" if value == 0 else "-")
    if not sign or int(plies) != _plies(board, after):
        raise CheckFailedError(f"{told} is not how it is refuted")
    if not board.end(after):
        reached = board.after(after, board.legal(after) & BIT[reply])
        if board.value(reached) != value or _plies(board, reached) != int(plies) - 1:
            raise CheckFailedError(f"{told} is not the best reply")


def _check_defence(board: Board, position: Position, after: Position, goal: int) -> None:
    if board.value(after) != goal or _plies(board, after) != _plies(board, position) - 1:
        raise CheckFailedError("its defence is not the most stubborn")


def _plies(board: Board, position: Position) -> int:
    """Count the plies to the end with best play; a drawn game fills the board."""
    score = board.score(position)
    stones = (position.mine | position.theirs).bit_count()
    return _SOON - abs(score) if score else len(NAMES) - 1 - stones


# --- The program ---


def check_boards(path: Path, *, mark: bool) -> int:
    """Check all boards of a table, and write how many samples of each hold if that is asked."""
    table = pq.read_table(path)
    checked, faults = [], 0
    for row in table.to_pylist():
        try:
            checked.append(check_board(row))
        except CheckFailedError as error:
            checked.append(0)
            faults += 1
            print(f"seed {row['seed']}: {error}")
    if mark:
        at = table.schema.get_field_index("checked")
        column = pa.array(checked, type=pa.int32())
        pq.write_table(
            table.set_column(at, table.schema.field(at), column), path, compression="zstd"
        )
    print(f"{len(checked)} boards checked, {sum(checked)} samples of proofs hold, {faults} faults")
    return faults


def count_faults(rows: Iterable[Row], check: Callable[[Row], None], name: str) -> int:
    """Check some rows, and tell of each one that is wrong by which name it goes."""
    faults = 0
    for row in rows:
        try:
            check(row)
        except CheckFailedError as error:
            faults += 1
            print(f"{name.format(**row)}: {error}")
    return faults


def check_positions(paths: Sequence[Path], sample: int, least_ply: int, seed: int) -> int:
    """Check a random sample of the positions from a ply on."""
    rng = Random(seed)  # noqa: S311 - a sample is no secret
    rows: list[Row] = []
    for path in paths:
        table = pq.read_table(path)
        late = table.filter(pc.greater_equal(table["ply"], least_ply))
        chosen = min(len(late), -(-sample // len(paths)))
        rows += late.take(sorted(rng.sample(range(len(late)), chosen))).to_pylist()
    faults = count_faults(rows[:sample], check_position, "{layout} {moves}")
    print(f"{len(rows[:sample])} positions checked, {faults} faults")
    return faults


def check_puzzles(path: Path, sample: int, least_ply: int, seed: int) -> int:
    """Check a random sample of the puzzles that begin at a ply or later."""
    with path.open(encoding="utf-8") as lines:
        next(lines, None)
        rows = [row for row in csv.DictReader(lines) if row["line"].count(" ") >= least_ply]
    chosen = Random(seed).sample(rows, min(sample, len(rows)))  # noqa: S311 - no secret
    faults = count_faults(chosen, check_puzzle, "{id}")
    print(f"{len(chosen)} puzzles checked, {faults} faults")
    return faults


def main(arguments: Sequence[str] | None = None) -> None:
    """Check a table: status 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    kinds = parser.add_subparsers(dest="kind", required=True)
    boards = kinds.add_parser("boards", help="all boards of a table")
    boards.add_argument("file", type=Path)
    boards.add_argument("--mark", action="store_true", help="write the column 'checked'")
    positions = kinds.add_parser("positions", help="a sample of positions")
    positions.add_argument("files", type=Path, nargs="+")
    puzzles = kinds.add_parser("puzzles", help="a sample of puzzles")
    puzzles.add_argument("file", type=Path)
    for samples in (positions, puzzles):
        samples.add_argument("--sample", type=int, default=200)
        samples.add_argument("--from-ply", type=int, default=18, help="earlier ones take long")
        samples.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    try:
        faults = check(options)
    except (OSError, pa.ArrowInvalid) as error:
        sys.exit(f"cannot read the table: {error}")
    except KeyError as error:
        sys.exit(f"this is no table of {options.kind}: it has no column {error}")
    sys.exit(1 if faults else 0)


def check(options: argparse.Namespace) -> int:
    """Check what the options say, and return how much is wrong."""
    if options.kind == "boards":
        return check_boards(options.file, mark=options.mark)
    if options.kind == "puzzles":
        return check_puzzles(options.file, options.sample, options.from_ply, options.seed)
    return check_positions(options.files, options.sample, options.from_ply, options.seed)


if __name__ == "__main__":
    main()
