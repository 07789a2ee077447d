"""How far a search may go, and how far it has gone."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

MIB: Final = 1 << 20
DEFAULT_MEMORY: Final = 512 * MIB
LEAST_MEMORY: Final = MIB
MOST_MEMORY: Final = 1 << 44
MOST_THREADS: Final = 64
NO_LIMIT: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Limits:
    """When to give up. ``memory`` in bytes is for everything that a solver keeps."""

    seconds: float | None = None
    nodes: int | None = None
    memory: int = DEFAULT_MEMORY
    threads: int = 1

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"the time limit must be more than 0 seconds, not {self.seconds}")
        if self.nodes is not None and not 1 <= self.nodes <= NO_LIMIT:
            raise ValueError(f"the node limit must be 1 to {NO_LIMIT:,}, not {self.nodes:,}")
        if self.memory < LEAST_MEMORY:
            raise ValueError(f"the memory must be at least {LEAST_MEMORY} bytes, not {self.memory}")
        if self.memory > MOST_MEMORY:
            raise ValueError(
                f"the memory must be at most {MOST_MEMORY // MIB:,} MiB, not {self.memory // MIB:,}"
            )
        if not 1 <= self.threads <= MOST_THREADS:
            raise ValueError(
                f"the number of threads must be 1 to {MOST_THREADS}, not {self.threads}"
            )


@dataclass(slots=True)
class Budget:
    """What is left of the limits, shared by all the searches that answer one question."""

    limits: Limits
    cancelled: Callable[[], bool] = lambda: False
    progress: Callable[[int, float], None] = lambda _nodes, _seconds: None
    nodes: int = 0
    started: float = field(default_factory=time.perf_counter)
    reason: str | None = None

    @property
    def seconds(self) -> float:
        """The time spent so far."""
        return time.perf_counter() - self.started

    def nodes_left(self) -> int:
        """Return how many nodes may still be searched."""
        return NO_LIMIT if self.limits.nodes is None else max(0, self.limits.nodes - self.nodes)

    def spent(self, under_way: int = 0) -> bool:
        """Tell whether to stop now, with so many nodes in the searches that are running."""
        self.progress(self.nodes + under_way, self.seconds)
        if self.cancelled():
            self.reason = "cancelled"
        elif self.limits.seconds is not None and self.seconds >= self.limits.seconds:
            self.reason = "time"
        elif under_way >= self.nodes_left():
            self.reason = "nodes"
        return self.reason is not None

    def give_up(self) -> None:
        """Note that a search has ended without an answer; by itself, where nobody stopped it."""
        self.reason = self.reason or "nodes"
