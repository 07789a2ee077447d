"""Pictures and films of games."""
