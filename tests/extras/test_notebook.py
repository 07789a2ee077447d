"""The notebook runs from top to bottom, and shows what it says."""

from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "first_steps.ipynb"

# Of the kernel's own libraries, about event loops and ports.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def run(folder: Path) -> list[Any]:
    """Run the notebook in a folder; return what all its cells gave out."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=600, resources=resources).execute()
    return [given for cell in notebook.cells for given in cell.get("outputs", [])]


def printed(outputs: list[Any]) -> str:
    return "".join(given.text for given in outputs if given.output_type == "stream")


def test_it_runs_without_a_census_and_shows_pictures(tmp_path: Path) -> None:
    outputs = run(tmp_path)
    kinds = [kind for given in outputs for kind in given.get("data", {})]
    assert kinds.count("image/svg+xml") == 3
    assert kinds.count("image/png") == 3
    assert "the side to move wins" in printed(outputs)


def test_it_plots_the_census_where_there_is_one(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "data" / "census"
    folder.mkdir(parents=True)
    rows = {
        "value": ["win", "loss", None],
        "winning": [["b1", "c1"], [], []],
        "complete": [True, True, False],
    }
    parquet.write_table(pyarrow.table(rows), folder / "boards.parquet")
    assert "2 boards solved: Black wins 1" in printed(run(tmp_path))


def test_it_is_stored_without_outputs() -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
