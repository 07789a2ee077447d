"""``kamon puzzles`` as people use it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kamon.census.rows import PUZZLES, Parts
from kamon.cli.app import app
from kamon.puzzles import making
from kamon.puzzles.files import COLUMNS, SHIPPED
from shipped_puzzles import shipped_fields


def kamon(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["puzzles", *map(str, arguments)])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a run that was made elsewhere."""
    folder = tmp_path / "run"
    parts = Parts(folder, PUZZLES)
    parts.create()
    parts.write(1, [dict(fields) for fields in shipped_fields()[:4]])
    # A twin of the first one, and a batch without puzzles.
    parts.write(2, [dict(shipped_fields()[0])])
    parts.write(3, [])
    return folder


def test_what_was_made_is_not_made_again(run: Path) -> None:
    result = kamon("make", run, "--games", str(3 * making.GAMES_IN_A_BATCH))
    assert result.exit_code == 0
    assert "0 batches of 300 games to play, 3 already done" in result.output


def test_a_run_is_joined_and_checked(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "puzzles.csv"
    joined = kamon("join", run, file)
    assert joined.exit_code == 0
    assert "4 puzzles; left out: 1 twins, 0 dull ones" in joined.output
    checked = kamon("check", file)
    assert checked.exit_code == 0
    assert "4 of 4 puzzles checked, 0 wrong" in checked.output
    assert "already exists" in kamon("join", run, file).output


def test_a_run_without_puzzles_is_named(tmp_path: Path) -> None:
    assert "does not contain the puzzles of a run" in str(
        kamon("join", tmp_path, tmp_path / "x").exception
    )


def test_only_a_sample_is_checked_where_that_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "puzzles.csv"
    # As a spreadsheet may have written it.
    file.write_text("\n".join([*SHIPPED.read_text().splitlines()[:12], ""]), "utf-8-sig")
    result = kamon("check", file, "--sample", "3")
    assert result.exit_code == 0
    assert "3 of 10 puzzles checked, 0 wrong" in result.output


def test_a_file_without_puzzles_is_named(tmp_path: Path) -> None:
    file = tmp_path / "puzzles.csv"
    file.write_text("\n".join([*SHIPPED.read_text().splitlines()[:2], ""]))
    assert "does not contain any puzzles" in str(kamon("check", file).exception)


def test_a_puzzle_that_is_wrong_is_named(tmp_path: Path) -> None:
    fields = dict(shipped_fields()[0])
    fields["themes"] = "draw"
    file = tmp_path / "puzzles.csv"
    rows = [",".join(COLUMNS), ",".join(fields[column] for column in COLUMNS)]
    file.write_text("\n".join(["# kamon puzzles 1", *rows, ""]))
    result = kamon("check", file)
    assert result.exit_code == 1
    assert f"{fields['id']}: its themes are {shipped_fields()[0]['themes']}" in result.output


def test_twins_in_a_file_are_named(tmp_path: Path) -> None:
    lines = SHIPPED.read_text().splitlines()
    file = tmp_path / "puzzles.csv"
    file.write_text("\n".join([*lines[:3], lines[2], ""]))
    result = kamon("check", file)
    assert result.exit_code == 1
    assert "twins of others" in result.output


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result = kamon("check", tmp_path / "none.csv")
    assert result.exit_code == 2
    assert "cannot read" in result.output
