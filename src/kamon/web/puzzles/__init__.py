"""Puzzles on the page: training at one's rating, against the clock, and one for each day."""
