"""Studies: trees of moves that people keep and share."""
