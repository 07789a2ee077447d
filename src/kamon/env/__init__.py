"""The game for researchers: batches in NumPy, and environments for other people's libraries.

planes           what a network sees of a position
batch            thousands of positions at once
kamon_v0         a PettingZoo environment for two players
against_level    a Gymnasium environment against one of the levels
openspiel        an OpenSpiel game, registered when it is imported
training         a small network that learns exact values, and plays

Nothing is imported here: each module needs packages of its own, and says which.
"""
