"""Pictures of a position: pure functions to a string, as SVG and as text."""
