"""The documents say what is true: their examples run, their links lead somewhere."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from doctest import DocTest, DocTestParser, DocTestRunner
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

import kamon
from kamon import Layout, format_layout, format_record, parse_line, parse_record
from kamon.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
README = ROOT / "README.md"
LIBRARY = ROOT / "docs/library.md"
NOTATION = ROOT / "docs/notation.md"

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"')
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
PICTURE = re.compile(r"^kamon (show .*) --svg (docs/images/\S+)(.*) --force$", re.MULTILINE)


class Block(NamedTuple):
    language: str
    body: str
    line: int


class Console(NamedTuple):
    command: str
    output: str
    place: str


@cache
def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start(2)))
        for found in FENCE.finditer(text)
    ]


def bodies(page: Path, language: str) -> list[str]:
    return [block.body for block in blocks(page) if block.language == language]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def consoles(page: Path) -> list[Console]:
    """Cut console blocks into commands and what each is said to print."""
    found = []
    for block in blocks(page):
        if block.language == "console":
            for part in re.split(r"^\$ ", block.body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                found.append(Console(command, output, f"{name_of(page)}:{block.line}"))
    return found


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as links do."""
    titles = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def examples(page: Path) -> DocTest:
    """Join the examples of a page, which go on with each other's names."""
    parser = DocTestParser()
    found = []
    for block in blocks(page):
        if block.language == "pycon":
            for example in parser.get_examples(block.body, name_of(page)):
                example.lineno += block.line
                found.append(example)
    return DocTest(found, {"__name__": "__main__"}, name_of(page), str(page), 0, None)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_python_examples_run(page: Path) -> None:
    said: list[str] = []
    results = DocTestRunner(verbose=False).run(examples(page), out=said.append)
    assert not results.failed, "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_python_example_stands_in_a_block_that_is_run(page: Path) -> None:
    prompts = re.findall(r"^\s*>>> ", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(prompts) == len(examples(page).examples)


@pytest.mark.parametrize("name", kamon.__all__)
def test_every_public_name_is_shown_at_work(name: str) -> None:
    shown = [example.source for example in examples(LIBRARY).examples]
    used = [source for source in shown if re.search(rf"\b{name}\b", source)]
    assert any("import" not in source for source in used), f"{name} is in no example"


@pytest.mark.parametrize(
    "console",
    [console for page in PAGES for console in consoles(page)],
    ids=lambda console: console.place,
)
def test_the_commands_print_what_is_shown(console: Console) -> None:
    shell = shutil.which("sh")
    assert shell
    here = str(Path(sys.executable).parent)
    done = subprocess.run(
        [shell, "-c", console.command],
        cwd=ROOT,
        env=os.environ | {"PATH": here + os.pathsep + os.environ["PATH"], "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.stdout.rstrip("\n") == console.output.rstrip("\n"), console.command


def test_the_readme_shows_the_commands() -> None:
    commands = " ".join(console.command for console in consoles(README))
    assert all(f"kamon {name}" in commands for name in ("new", "show", "status", "perft"))
    assert "kamon convert" in commands


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for found in LINK.finditer(FENCE.sub("", page.read_text(encoding="utf-8"))):
        target = unquote(found[1] or found[2])
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors(there), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize(
    "found",
    [found for page in PAGES for found in PICTURE.finditer(page.read_text(encoding="utf-8"))],
    ids=lambda found: Path(found[2]).stem,
)
def test_the_pictures_are_what_the_program_draws(found: re.Match[str]) -> None:
    drawn = CliRunner().invoke(app, [*shlex.split(found[1] + found[3]), "--svg", "-"])
    assert drawn.exit_code == 0
    kept = (ROOT / found[2]).read_text(encoding="utf-8")
    assert kept == drawn.output, "CONTRIBUTING.md tells how to draw the pictures again"


def test_every_picture_can_be_drawn_again() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    drawn = {Path(found[2]).name for found in PICTURE.finditer(pages)}
    assert drawn == {path.name for path in (ROOT / "docs/images").iterdir()}


def test_the_golden_layout_is_that_of_seed_0() -> None:
    _, _, shuffle = NOTATION.read_text(encoding="utf-8").partition("## The shuffle")
    golden = FENCE.search(shuffle)
    assert golden
    assert golden[2].strip() == format_layout(Layout.shuffled(0))


def test_the_record_in_the_notation_is_as_the_program_writes_it() -> None:
    for record in bodies(NOTATION, "pgn"):
        assert format_record(parse_record(record)) == record


def test_the_lines_in_the_notation_can_be_read() -> None:
    lines = [body for body in bodies(NOTATION, "text") if not body.startswith("...")]
    assert len(lines) == 4
    assert all(parse_line(line) is not None for line in lines)
