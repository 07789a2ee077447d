"""What runs by itself elsewhere, in hooks and on other machines, names what there is here."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github/workflows/test.yml"
HOOKS = ROOT / ".pre-commit-config.yaml"
PYTHONS = re.compile(r'"Programming Language :: Python :: (3\.\d+)"')
TARGET = re.compile(r"^([a-z0-9]+):", re.MULTILINE)


def read(path: Path) -> dict[Any, Any]:
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def commands() -> list[str]:
    jobs = read(WORKFLOW)["jobs"].values()
    ran = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    return ran + [hook["entry"] for repo in read(HOOKS)["repos"] for hook in repo["hooks"]]


def test_the_targets_of_make_are_there() -> None:
    named = set(re.findall(r"\bmake (\S+)", "\n".join(commands())))
    assert named == {"coverage", "lint", "test", "thorough", "types"}
    assert named <= set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))


def test_the_files_are_there() -> None:
    named = re.findall(r"\b\w+/[\w.]+", "\n".join(commands()))
    assert "requirements/dev.txt" in named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_python_that_is_claimed_is_tested() -> None:
    claimed = PYTHONS.findall((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert read(WORKFLOW)["jobs"]["everything"]["strategy"]["matrix"]["python"] == claimed


def test_the_hooks_fetch_nothing() -> None:
    assert {repo["repo"] for repo in read(HOOKS)["repos"]} == {"local"}


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob(".github/ISSUE_TEMPLATE/*.md")), ids=lambda path: str(path.stem)
)
def test_a_form_for_issues_says_what_it_is_for(path: Path) -> None:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert yaml.safe_load(front).keys() == {"name", "about", "labels"}
    assert "**" in body
