"""``python -m kamon`` is the command ``kamon``."""

from kamon.cli import main

if __name__ == "__main__":
    main()
