"""The examples of docs/research.md that need the extras."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pettingzoo")
pytest.importorskip("pyspiel")

PAGE = Path(__file__).parents[2] / "docs" / "research.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=["PettingZoo", "Gymnasium", "OpenSpiel"])
def test_the_example_runs(example: str) -> None:
    exec(example, {})  # noqa: S102 - our own document
