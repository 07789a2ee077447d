"""Kamon, Bruno Cathala's board game for two: rules, text formats, records and pictures.

The names here are the library's public surface; docs/library.md shows each at work.
"""

from kamon.editions import COSMOLUDO_2020, EDITIONS, JACTALEA_2007, Edition
from kamon.errors import (
    Defect,
    FormatError,
    IllegalMoveError,
    KamonError,
    LayoutError,
    PositionError,
)
from kamon.game import Game, Node, OffBoard, Result
from kamon.geometry import Edge, Pair, cells
from kamon.layout import Layout
from kamon.notation import (
    format_cell,
    format_layout,
    format_line,
    format_position,
    format_token,
    outcome_data,
    parse_cell,
    parse_layout,
    parse_line,
    parse_position,
    parse_token,
)
from kamon.position import Position, Side
from kamon.record import format_record, parse_record, read_records, split_records
from kamon.rules import By, Link, Outcome, check, legal_cells, legal_mask, outcome, perft, play
from kamon.tokens import Token

# Said here, and read from here when the package is built: asking for it would cost every start.
__version__ = "0.2.0"

__all__ = [
    "COSMOLUDO_2020",
    "EDITIONS",
    "JACTALEA_2007",
    "By",
    "Defect",
    "Edge",
    "Edition",
    "FormatError",
    "Game",
    "IllegalMoveError",
    "KamonError",
    "Layout",
    "LayoutError",
    "Link",
    "Node",
    "OffBoard",
    "Outcome",
    "Pair",
    "Position",
    "PositionError",
    "Result",
    "Side",
    "Token",
    "cells",
    "check",
    "format_cell",
    "format_layout",
    "format_line",
    "format_position",
    "format_record",
    "format_token",
    "legal_cells",
    "legal_mask",
    "outcome",
    "outcome_data",
    "parse_cell",
    "parse_layout",
    "parse_line",
    "parse_position",
    "parse_record",
    "parse_token",
    "perft",
    "play",
    "read_records",
    "split_records",
]
