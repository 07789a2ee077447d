"""The command line. Commands translate between people and the library, and decide nothing."""

from kamon.cli.app import main

__all__ = ["main"]
