"""The eight levels by name and measure: data alone, so that a menu costs no engine."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Strength:
    """One level. ``nodes`` and ``playouts`` are what the kernel may spend on a move.

    Levels without either play by looking ``plies`` ahead in plain Python.
    """

    level: int
    name: str
    description: str
    plies: int = 0
    nodes: int = 0
    playouts: int = 0

    @property
    def needs_kernel(self) -> bool:
        """Tell whether the compiled kernel must be there."""
        return self.nodes > 0


STRENGTHS: Final = (
    Strength(
        1, "First steps", "Takes a win that is one move away, and else plays anything.", plies=1
    ),
    Strength(2, "Seedling", "Also sees what you threaten to win with.", plies=2),
    Strength(3, "Apprentice", "Thinks three moves ahead and heads for an edge.", plies=3),
    Strength(4, "Wayfarer", "Plays a few hundred games in its head.", nodes=400, playouts=300),
    Strength(5, "Artisan", "Sees the end of the game coming.", nodes=2_500, playouts=1_200),
    Strength(
        6, "Swordsman", "Knows the last third of the game exactly.", nodes=12_000, playouts=6_000
    ),
    Strength(7, "Master", "Knows most games from the middle on.", nodes=60_000, playouts=30_000),
    Strength(8, "Oracle", "Solves the game wherever it can.", nodes=250_000, playouts=100_000),
)


def strongest_plain_level() -> int:
    """Return the strongest level that needs no compiled kernel."""
    return max(strength.level for strength in STRENGTHS if not strength.needs_kernel)
