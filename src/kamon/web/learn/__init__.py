"""The tutorial and the rules."""
