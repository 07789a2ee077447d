"""How one server is set up."""

from dataclasses import dataclass

from platformdirs import user_data_path


def default_database() -> str:
    """Name the embedded database in the user's data folder."""
    return f"sqlite:///{user_data_path('kamon', appauthor=False) / 'kamon.sqlite'}"


@dataclass(frozen=True, slots=True)
class Settings:
    """``public_url`` is how people reach the server, where that differs from what it listens on."""

    database: str
    public_url: str | None = None
    trusted_proxy: str | None = None
    # Processes that play, and processes that study and review.
    workers: int = 2
    analysts: int = 2
    # Games, studies and reviews that nobody changes are kept for ever, or for so many days.
    keep_days: int | None = None
    # The hours of the night, by the clock of the machine, in which puzzles are looked for in games
    # that were played; None for never.
    night: tuple[int, int] | None = (1, 5)
    # Where Prometheus finds the numbers of this server; no port for nowhere.
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    # The computer answers no sooner than so many seconds after a move.
    moment: float = 0.0
    # Tests and benchmarks run on one machine but stand for many clients.
    budget_scale: float = 1.0
