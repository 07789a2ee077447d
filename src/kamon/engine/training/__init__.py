"""How the network and the solved positions were made, so that anybody can make them again.

    python -m kamon.engine.training.positions   random positions with their exact values
    python -m kamon.engine.training.samples     positions that searches judge, and what they cost
    python -m kamon.engine.training.network     a network fitted to such samples

Each has ``--help``, and with its defaults is done in some minutes.
"""
