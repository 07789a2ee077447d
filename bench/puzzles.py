"""How many puzzles one core makes in an hour, each proven twice."""

import argparse
import time
from collections.abc import Sequence
from typing import Final

from kamon.engine.solver import warm_up
from kamon.puzzles.making import GAMES_IN_A_BATCH, PuzzlesJob

_HOUR: Final = 3600
# Batches that no run has made so far, so that nothing is measured that was looked at before.
_FIRST: Final = 1_000_001


def main(arguments: Sequence[str] | None = None) -> None:
    """Make some batches, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=1)
    options = parser.parse_args(arguments)
    warm_up()
    PuzzlesJob(_FIRST - 1).run()
    started = time.process_time()
    made = sum(len(PuzzlesJob(_FIRST + number).run()) for number in range(options.batches))
    spent = time.process_time() - started
    print("| games | puzzles | CPU seconds | puzzles per core-hour |")
    print("|---:|---:|---:|---:|")
    games = options.batches * GAMES_IN_A_BATCH
    print(f"| {games:,} | {made} | {spent:.1f} | {made / spent * _HOUR:,.0f} |")


if __name__ == "__main__":
    main()
