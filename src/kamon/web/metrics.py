"""What operators see of a server: numbers for Prometheus, on a port of their own.

Nothing here names a visitor, a game or an address.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

# Seconds: from a kept-alive answer to a thought of the strongest level.
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The numbers of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.events = Counter(
            "kamon_events", "Events stored, by kind.", ["kind"], registry=self.registry
        )
        self.refused = Counter(
            "kamon_refused",
            "Requests and messages refused, by code.",
            ["code"],
            registry=self.registry,
        )
        self.cut_off = Counter(
            "kamon_connections_cut_off",
            "Connections that were cut off, by reason.",
            ["reason"],
            registry=self.registry,
        )
        self.command_seconds = Histogram(
            "kamon_command_seconds",
            "Time from a command to its acknowledgement.",
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.commit_seconds = Histogram(
            "kamon_commit_seconds",
            "Time of one commit of many changes.",
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.thought_seconds = Histogram(
            "kamon_thought_seconds",
            "Time of one thought of the computer, by level.",
            ["level"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.conflicts = Counter(
            "kamon_conflicts",
            "Commands decided again because another server had changed the game.",
            registry=self.registry,
        )
        self.lost_notifications = Counter(
            "kamon_lost_notifications",
            "Changes by other servers that no notification told of.",
            registry=self.registry,
        )
        self.loop_lag = Gauge(
            "kamon_event_loop_lag_seconds",
            "How late the event loop was at its last look at the clock.",
            registry=self.registry,
        )

    def gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """Show a number that is read whenever somebody looks."""
        Gauge(f"kamon_{name}", help_text, registry=self.registry).set_function(read)

    def serve(self, address: str, port: int) -> Callable[[], None]:
        """Serve the numbers from a thread of its own; return how to stop."""
        server, _ = start_http_server(port, address, registry=self.registry)

        def stop() -> None:
            server.shutdown()
            server.server_close()

        return stop


@contextmanager
def timed(histogram: Histogram) -> Iterator[None]:
    """Measure how long a block takes."""
    started = time.perf_counter()
    try:
        yield
    finally:
        histogram.observe(time.perf_counter() - started)
