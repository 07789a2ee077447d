"""The locks belong to pyproject.toml and package.json, and hold versions and hashes alone."""

import json
import shutil
from pathlib import Path

import pytest

from tools import lock

FILES = ("pyproject.toml", "package.json", "package-lock.json")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Copy all that the check reads."""
    for name in FILES:
        shutil.copy(lock.ROOT / name, tmp_path)
    shutil.copytree(lock.ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_locks_are_up_to_date() -> None:
    assert lock.faults(lock.ROOT) == []


def test_what_is_installed_to_play_is_installed_to_test_in_the_same_versions() -> None:
    everything, *others = (
        lock.pins((lock.ROOT / one.path).read_text(encoding="utf-8")) for one in lock.LOCKS[:4]
    )
    for pins in others:
        assert pins.items() <= everything.items()


def test_a_new_dependency_makes_the_locks_stale(root: Path) -> None:
    change(root / "pyproject.toml", '"rich>=14",', '"rich>=14",\n    "six>=1",')
    faults = lock.faults(root)
    stale = "was not made from the dependencies that pyproject.toml has now"
    assert {f"{one.path}: {stale}" for one in lock.LOCKS} <= set(faults)
    assert "requirements/run.txt: six is missing" in faults
    assert "requirements/build.txt: six is missing" not in faults


def test_a_version_that_is_not_allowed_is_told(root: Path) -> None:
    change(root / "pyproject.toml", '"rich>=14",', '"rich>=99",')
    assert any("rich is locked at" in fault and "rich>=99" in fault for fault in lock.faults(root))


def test_a_package_is_locked_with_its_extras(root: Path) -> None:
    change(root / "requirements/postgres.txt", "psycopg[binary]==", "psycopg==")
    assert lock.faults(root) == [
        "requirements/postgres.txt: psycopg is locked without its extra binary"
    ]


def test_every_package_needs_a_hash(root: Path) -> None:
    with (root / "requirements/run.txt").open("a", encoding="utf-8") as stream:
        stream.write("six==1.17.0\n")
    assert lock.faults(root) == ["requirements/run.txt: six==1.17.0 has no hash"]


@pytest.mark.parametrize(
    "line", ["--find-links wheels", "six @ file:wheels/six.whl", "# from https://packages.example"]
)
def test_a_lock_names_no_address(root: Path, line: str) -> None:
    with (root / "requirements/run.txt").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    assert lock.faults(root) == ["requirements/run.txt: names an address"]


def test_a_lock_that_is_missing_is_told(root: Path) -> None:
    (root / "requirements/build.txt").unlink()
    (root / "package-lock.json").unlink()
    faults = lock.faults(root)
    assert "requirements/build.txt: hatchling is missing" in faults
    assert any(fault.startswith("package-lock.json: typescript is not") for fault in faults)


def test_the_lock_of_the_page_holds_hashes_and_no_addresses(root: Path) -> None:
    path = root / "package-lock.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    package = data["packages"]["node_modules/typescript"]
    del package["integrity"]
    package["resolved"] = "somewhere"
    path.write_text(json.dumps(data), encoding="utf-8")
    assert lock.faults(root) == [
        "package-lock.json: node_modules/typescript has no hash",
        "package-lock.json: node_modules/typescript names an address",
    ]
