"""A game between two people, or against the computer: from a command to events on the disk."""
