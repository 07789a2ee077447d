"""A module imports only what stands to its left on the map (docs/architecture.md)."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

import kamon

SOURCE = Path(kamon.__file__).parent

# From left to right. A name covers the modules below it.
ORDER = [
    "errors",
    "geometry",
    "tokens",
    "layout",
    "position",
    "rules",
    "game",
    "notation",
    "record",
    "editions",
    "render.artwork",
    "render.palette",
    "render.bodies",
    "render.svg",
    "render.text",
    "engine.strengths",
    "engine.judgement",
    "engine.kernel.compile",
    "engine.kernel.boards",
    "engine.kernel.endings",
    "engine.kernel.vectors",
    "engine.kernel.playouts",
    "engine.kernel.path",
    "engine.kernel.tree",
    "engine.kernel.guess",
    "engine.kernel.table",
    "engine.kernel.proof",
    "engine.kernel.lengths",
    "engine.kernel.batches",
    "engine.kernel",
    "engine.limits",
    "engine.values",
    "engine.prover",
    "engine.distances",
    "engine.late",
    "engine.playout_tree",
    "engine.top_tree",
    "engine.solver",
    "engine.oracle",
    "engine.levels",
    "engine.analysis",
    "engine.review",
    "engine.ugi.protocol",
    "engine.ugi.clock",
    "engine.ugi.search",
    "engine.ugi.session",
    "engine.ugi",
    "engine.matches.client",
    "engine.matches.players",
    "engine.matches.statistics",
    "engine.matches.match",
    "engine.matches",
    "engine.training.positions",
    "engine.training.samples",
    "engine.training.network",
    "engine.training",
    "census.canonical",
    "census.rows",
    "census.solve",
    "census.positions",
    "census.workers",
    "census.run",
    "census.publish",
    "census.report",
    "census.plots",
    "puzzles.themes",
    "puzzles.puzzle",
    "puzzles.finding",
    "puzzles.one_move",
    "puzzles.missed",
    "puzzles.difficulty",
    "puzzles.files",
    "puzzles.checking",
    "puzzles.making",
    "env.planes",
    "env.batch",
    "env.pixels",
    "env.kamon_v0",
    "env.against_level",
    "env.openspiel",
    "env.training",
    "env",
    "i18n",
    "web.settings",
    "web.errors",
    "web.health",
    "web.logs",
    "web.metrics",
    "web.overload",
    "web.server_time",
    "web.ids",
    "web.visible",
    "web.schemas",
    "web.limits",
    "web.connections",
    "web.identity",
    "web.database",
    "web.statements",
    "web.copying",
    "web.writer",
    "web.memory",
    "web.clock_check",
    "web.days.boards",
    "web.days.played",
    "web.days.store",
    "web.cluster.news",
    "web.cluster.members",
    "web.cluster.leases",
    "web.cluster.gossip",
    "web.games.clocks",
    "web.games.rooms",
    "web.games.store",
    "web.administration",
    "web.games.tables",
    "web.games.presence",
    "web.games.people",
    "web.games.flags",
    "web.games.commits",
    "web.games.desk",
    "web.games.attendance",
    "web.games.following",
    "web.games.views",
    "web.engine.fairness",
    "web.engine.workers",
    "web.engine.playing",
    "web.engine.analysing",
    "web.engine.insights",
    "web.engine.thinkers",
    "web.engine.analysts",
    "web.engine.reviews",
    "web.games.messages",
    "web.studies.tree",
    "web.studies.store",
    "web.pictures.qr_codes",
    "web.pictures.rasters",
    "web.pictures.studio",
    "web.puzzles.glicko",
    "web.puzzles.book",
    "web.puzzles.newcomers",
    "web.puzzles.store",
    "web.puzzles.searching",
    "web.services",
    "web.pages.colours",
    "web.pages.assets",
    "web.pages.kept",
    "web.pages.shell",
    "web.answers",
    "web.security",
    "web.contract",
    "web.games.lobby",
    "web.days.routes",
    "web.games.routes",
    "web.games.socket",
    "web.studies.routes",
    "web.pictures.routes",
    "web.puzzles.messages",
    "web.puzzles.judging",
    "web.puzzles.routes",
    "web.learn.lessons",
    "web.learn.rulebook",
    "web.pages.home",
    "web.pages.routes",
    "web.app",
    "web.migrations",
    "cli",
    "__main__",
]
# Notebooks show a position by asking the value itself, so it must reach for its picture.
EXCEPTIONS = {("position", "render.svg")}
GAME_MODULES = ORDER[: ORDER.index("engine.strengths")]
PACKAGES = {"", "render", "engine", "census", "puzzles", "web"} | {
    f"web.{part}"
    for part in (
        *("cluster", "days", "games", "engine", "studies", "pictures", "puzzles", "learn"),
        "pages",
    )
}


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[name.removesuffix("__init__").rstrip(".")] = path
    return found


@cache
def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = node.module or ""
            below = {f"{module}.{alias.name}" for alias in node.names}
            known = {f"kamon.{name}" for name in modules()}
            found.update((below & known) or {module})
    return found


def place(name: str) -> int:
    return next(at for at, room in enumerate(ORDER) if f"{name}.".startswith(f"{room}."))


def test_every_module_has_its_place_on_the_map() -> None:
    for name in modules():
        if name not in PACKAGES:
            assert place(name) is not None


@pytest.mark.parametrize("name", sorted(set(modules()) - PACKAGES))
def test_a_module_imports_only_what_stands_to_its_left(name: str) -> None:
    for imported in imports(modules()[name]):
        if imported.startswith("kamon.") and (name, imported[6:]) not in EXCEPTIONS:
            assert place(imported[6:]) <= place(name), f"{name} imports {imported}"


@pytest.mark.parametrize("name", GAME_MODULES)
def test_the_game_modules_import_the_standard_library_alone(name: str) -> None:
    for imported in imports(modules()[name]):
        top = imported.partition(".")[0]
        assert top == "kamon" or top in sys.stdlib_module_names, f"{name} imports {imported}"


def test_only_the_kernel_imports_numba() -> None:
    users = {
        name
        for name, path in modules().items()
        if any(imported.split(".")[0] in {"llvmlite", "numba"} for imported in imports(path))
    }
    assert users == {"engine.kernel.compile"}


def test_the_public_surface_is_what_it_says() -> None:
    assert kamon.__all__ == sorted(
        kamon.__all__, key=lambda name: (name.upper() != name, name[0].islower(), name)
    )
    assert all(hasattr(kamon, name) for name in kamon.__all__)
