"""The board of the day, and the solved boards that it is taken from."""
