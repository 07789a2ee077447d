"""Every field that an event may have is described, so that no answer drops one."""

import ast
import inspect

from kamon.web.games import rooms
from kamon.web.games.messages import EventView


def written_fields() -> set[str]:
    """Read from the source which fields the decisions and the set-up write into events."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(rooms))):
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            kind, data = node.elts
            if isinstance(kind, ast.Constant) and kind.value in rooms._EVOLUTIONS:
                assert isinstance(data, ast.Dict), kind.value
                found |= {str(key.value) for key in data.keys if isinstance(key, ast.Constant)}
    return found


def test_every_field_of_an_event_is_described() -> None:
    assert {"cell", "side", "winner", "by", "game", "away"} <= written_fields()
    assert written_fields() <= set(EventView.__annotations__)
