"""The Universal Game Interface, by which other programs use the engine (docs/ugi.md).

It is kz04px's protocol, a relative of UCI in chess: lines of text in both directions.

    protocol   reads commands and writes answers
    clock      decides how much time to use for a move
    search     thinks in a thread and gives exactly one answer
    session    keeps the state of a conversation and handles its commands
"""

from kamon.engine.ugi.session import Session

__all__ = ["Session"]
