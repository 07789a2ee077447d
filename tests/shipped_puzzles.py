"""The puzzles that come with the program, column by column."""

from functools import lru_cache

from kamon.puzzles.files import shipped_rows, split_row


@lru_cache(maxsize=1)
def shipped_fields() -> tuple[dict[str, str], ...]:
    return tuple(map(split_row, shipped_rows()))
