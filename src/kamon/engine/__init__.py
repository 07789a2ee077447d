"""The engine: it does not guess, it solves (docs/engine.md)."""
