"""Puzzles: positions in which exactly one move is right, again and again, proven."""
