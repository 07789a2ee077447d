"""The levels by name and measure: data alone, so that a menu costs no engine."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Strength:
    """One level.

    Levels with ``plies`` look so far ahead in plain Python. They notice a winning reply with
    probability ``attention`` ** (steps - 1), where the steps lead from the move to the reply: what
    is close is seen, what is far may be overlooked. With probability ``plans`` they head for a
    link. The other levels may spend ``nodes`` and random ``games`` on a move.
    """

    level: int
    name: str
    description: str
    plies: int = 0
    attention: float = 1.0
    plans: float = 0.0
    nodes: int = 0
    games: int = 0

    @property
    def needs_kernel(self) -> bool:
        """Tell whether the compiled kernel must be there."""
        return self.nodes > 0


STRENGTHS: Final = (
    Strength(
        1,
        "Duckling",
        "Wins if one move is enough; otherwise plays at random.",
        plies=1,
    ),
    Strength(
        2,
        "Sprout",
        "Sees nearby threats, and sometimes has a plan.",
        plies=2,
        attention=0.4,
        plans=0.4,
    ),
    Strength(
        3,
        "Seedling",
        "Misses only distant threats, and usually has a plan.",
        plies=2,
        attention=0.8,
        plans=0.8,
    ),
    Strength(4, "Apprentice", "Sees every threat and heads for an edge.", plies=2, plans=1.0),
    Strength(5, "Gardener", "Thinks three moves ahead.", plies=3, plans=0.5),
    Strength(6, "Wayfarer", "Plays a hundred quick games in its head.", nodes=110, games=110),
    Strength(7, "Artisan", "Sees the end of the game coming.", nodes=330, games=320),
    Strength(8, "Swordsman", "Plays the last moves without a mistake.", nodes=1_000, games=900),
    Strength(9, "Scholar", "Plays the last third of the game perfectly.", nodes=3_000, games=2_700),
    Strength(
        10,
        "Master",
        "Usually plays perfectly from the middle of the game.",
        nodes=10_000,
        games=8_000,
    ),
    Strength(11, "Sage", "Rarely makes a mistake.", nodes=60_000, games=60_000),
    Strength(12, "Oracle", "Solves the game wherever it can.", nodes=1_000_000, games=400_000),
)
STRONGEST: Final = len(STRENGTHS)
# In the first version there were eight levels. Games from then, and their links, still name them.
_FIRST_LADDER: Final = (1, 4, 5, 7, 9, 10, 11, STRONGEST)


def from_first_ladder(level: int) -> int:
    """Return the level that plays like one of the eight of the first version."""
    return _FIRST_LADDER[level - 1]


def strongest_plain_level() -> int:
    """Return the strongest level that needs no compiled kernel."""
    return max(strength.level for strength in STRENGTHS if not strength.needs_kernel)
