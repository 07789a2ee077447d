"""Layout: which token lies on which cell. It is set up once and never changes in a game."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import index
from random import Random
from typing import Final, SupportsIndex

from kamon.errors import Defect, KamonError, LayoutError, quote
from kamon.geometry import ALL, CELL_COUNT, OPENING, mask_of
from kamon.tokens import NEUTRAL, NEUTRAL_TEXT, TOKENS, Token

SEED_LIMIT: Final = 1 << 64

_FULL_SET: Final = (*TOKENS, NEUTRAL)


@dataclass(frozen=True, slots=True)
class Layout:
    """The token on each of the 37 cells, in reading order, ``None`` for the neutral.

    The masks are derived once here because every question about legality reads them.
    """

    tokens: tuple[Token | None, ...]
    neutral: int = field(init=False, repr=False, compare=False)
    playable: int = field(init=False, repr=False, compare=False)
    opening: int = field(init=False, repr=False, compare=False)
    matching: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if defects := find_defects(self.tokens):
            raise LayoutError(defects)
        derive = object.__setattr__  # the dataclass is frozen for everybody else
        derive(self, "neutral", self.tokens.index(NEUTRAL))
        derive(self, "playable", ALL & ~(1 << self.neutral))
        derive(self, "opening", OPENING & self.playable)
        derive(self, "matching", tuple(map(self._matching_mask, range(CELL_COUNT))))

    def _matching_mask(self, cell: int) -> int:
        token = self.tokens[cell]
        if token is None:
            return 0
        return mask_of(
            other_cell
            for other_cell, other in enumerate(self.tokens)
            if other is not None and other_cell != cell and other.matches(token)
        )

    @classmethod
    def shuffled(cls, seed: int) -> "Layout":
        """Set up at random: every arrangement equally likely, the same seed the same layout.

        Fisher and Yates, from the last place down, on ``Random.random()`` alone: that sequence
        is the one that Python promises to keep for a seed, in every release.
        """
        rng = Random(read_seed(seed))  # noqa: S311 - a layout is public, and must be repeatable
        tokens = list(_FULL_SET)
        for last in range(CELL_COUNT - 1, 0, -1):
            chosen = int(rng.random() * (last + 1))
            tokens[last], tokens[chosen] = tokens[chosen], tokens[last]
        return cls(tuple(tokens))


def read_seed(seed: object) -> int:
    """Return a seed as a plain number, if it is one from 0 to 2^64 - 1."""
    number = index(seed) if isinstance(seed, SupportsIndex) else -1
    if not 0 <= number < SEED_LIMIT:
        values = {"text": quote(str(seed)), "limit": str(SEED_LIMIT - 1)}
        raise KamonError(Defect("bad-seed", values))
    return number


def find_defects(tokens: Sequence[Token | None]) -> list[Defect]:
    """Say everything that keeps these tokens from being the game's set."""
    defects = []
    if len(tokens) != CELL_COUNT:
        counted = {"found": len(tokens), "expected": CELL_COUNT}
        defects.append(Defect("token-count", counted))
    counts = Counter(tokens)
    texts = {token: NEUTRAL_TEXT if token is None else str(token) for token in _FULL_SET}
    if missing := [text for token, text in texts.items() if not counts[token]]:
        defects.append(Defect("missing-tokens", {"tokens": " ".join(missing)}))
    if doubled := [text for token, text in texts.items() if counts[token] > 1]:
        defects.append(Defect("doubled-tokens", {"tokens": " ".join(doubled)}))
    if strangers := [str(token) for token in counts if token not in texts]:
        defects.append(Defect("unknown-tokens", {"tokens": " ".join(strangers)}))
    return defects
