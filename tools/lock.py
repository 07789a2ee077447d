"""Write and check the locks: the exact version and hashes of everything that is installed.

``make lock`` writes the files in ``requirements/`` with uv, for every system and every Python that
``pyproject.toml`` allows. It keeps the versions that are locked already wherever they still fit;
``tools/lock.py --upgrade`` takes the newest. ``tools/lock.py --check`` needs no network: it tells
whether the locks still belong to ``pyproject.toml`` and ``package.json``.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
_MADE_FROM: Final = "# Made from the dependencies with sha256 "
# A pin may have extras, and ends with the last of its hashes; uv continues lines with a backslash.
_PIN: Final = re.compile(
    r"^([A-Za-z0-9._-]+)(?:\[([^]]*)\])?==([^\s\\]+)((?:.*\\\n)*.*)", re.MULTILINE
)
# Where a package comes from is for the installer's own settings to say.
_ADDRESS: Final = re.compile(r"://|^\s*--(?!hash=)|\bfile:", re.MULTILINE)


class Lock(NamedTuple):
    """What one file in ``requirements/`` holds: the package's own dependencies, extras, groups."""

    name: str
    project: bool
    groups: tuple[str, ...]
    extras: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Where it is, from the root."""
        return f"requirements/{self.name}.txt"


# The first is resolved by itself, and the others follow it wherever they share a package.
LOCKS: Final = (
    Lock("dev", project=True, groups=("dev",)),
    Lock("run", project=True, groups=()),
    Lock("build", project=False, groups=("build",)),
    Lock("postgres", project=True, groups=(), extras=("postgres",)),
    Lock("bench", project=False, groups=("bench",)),
    Lock("extras", project=False, groups=("extras",)),
    Lock("lock", project=False, groups=("lock",)),
)


def read_project(root: Path) -> dict[str, Any]:
    """Read ``pyproject.toml``."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def digest(project: dict[str, Any]) -> str:
    """Hash everything in ``pyproject.toml`` that the locks depend on."""
    tables = [
        project["build-system"]["requires"],
        project["project"]["requires-python"],
        project["project"]["dependencies"],
        project["project"].get("optional-dependencies", {}),
        project["dependency-groups"],
    ]
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def requirements(project: dict[str, Any], lock: Lock) -> list[Requirement]:
    """List what a lock has to satisfy."""
    texts = list(project["project"]["dependencies"]) if lock.project else []
    for extra in lock.extras:
        texts += project["project"]["optional-dependencies"][extra]
    for group in lock.groups:
        texts += _group(project, group)
    if "build" in lock.groups or "dev" in lock.groups:
        texts += project["build-system"]["requires"]
    return [Requirement(text) for text in texts]


def _group(project: dict[str, Any], name: str) -> Iterable[str]:
    for entry in project["dependency-groups"][name]:
        if isinstance(entry, str):
            yield entry
        else:
            yield from _group(project, entry["include-group"])


def pins(text: str) -> dict[str, list[str]]:
    """Return the locked versions by package; systems and Pythons may differ in theirs."""
    found: dict[str, list[str]] = {}
    for name, _, version, _ in _PIN.findall(text):
        found.setdefault(canonicalize_name(name), []).append(version)
    return found


def faults(root: Path) -> list[str]:
    """Say what is wrong with the locks, in one sentence each."""
    project = read_project(root)
    found = []
    for lock in LOCKS:
        path = root / lock.path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        found += [f"{lock.path}: {fault}" for fault in _faults(project, lock, text)]
    return found + [f"package-lock.json: {fault}" for fault in _npm_faults(root)]


def _faults(project: dict[str, Any], lock: Lock, text: str) -> Iterable[str]:
    if _MADE_FROM + digest(project) not in text.splitlines():
        yield "was not made from the dependencies that pyproject.toml has now"
    if _ADDRESS.search(text):
        yield "names an address"
    extras: dict[str, set[str]] = {}
    for name, its_extras, version, rest in _PIN.findall(text):
        if "--hash=sha256:" not in rest:
            yield f"{name}=={version} has no hash"
        extras.setdefault(canonicalize_name(name), set()).update(its_extras.split(","))
    locked = pins(text)
    for wanted in requirements(project, lock):
        for extra in sorted(wanted.extras - extras.get(canonicalize_name(wanted.name), set())):
            yield f"{wanted.name} is locked without its extra {extra}"
        versions = locked.get(canonicalize_name(wanted.name))
        if versions is None:
            yield f"{wanted.name} is missing"
        elif not all(wanted.specifier.contains(version) for version in versions):
            yield f"{wanted.name} is locked at {', '.join(versions)}, but has to be {wanted}"


def _npm_faults(root: Path) -> Iterable[str]:
    wanted = json.loads((root / "package.json").read_text(encoding="utf-8"))
    path = root / "package-lock.json"
    packages = json.loads(path.read_text(encoding="utf-8"))["packages"] if path.exists() else {}
    for kind in ("dependencies", "devDependencies"):
        for name, version in wanted.get(kind, {}).items():
            if packages.get(f"node_modules/{name}", {}).get("version") != version:
                yield f"{name} is not locked at {version}"
    for place, package in packages.items():
        if place and "integrity" not in package:
            yield f"{place} has no hash"
        if "resolved" in package:
            yield f"{place} names an address"


def write(root: Path, *, upgrade: bool) -> None:
    """Make all locks anew; those that are there tell which versions to keep."""
    project = read_project(root)
    oldest = project["project"]["requires-python"].removeprefix(">=")
    uv = str(Path(sys.executable).with_name("uv"))
    for lock in LOCKS:
        options = [f"--group={group}" for group in lock.groups]
        options += [f"--extra={extra}" for extra in lock.extras]
        options += ["pyproject.toml"] if lock.project else []
        options += ["--upgrade"] if upgrade else []
        options += [] if lock is LOCKS[0] else [f"--constraints={LOCKS[0].path}"]
        # pip does not apply a pin of `coverage` to a package that requires `coverage[toml]`: it
        # takes the newest version, and refuses it because the lock has no hash for it.
        command = [
            *(uv, "pip", "compile", "--quiet", "--universal", f"--python-version={oldest}"),
            *("--generate-hashes", "--no-header", "--no-emit-index-url", "--no-emit-find-links"),
            "--no-strip-extras",
            *("--output-file", lock.path, *options),
        ]
        subprocess.run(command, cwd=root, check=True)  # noqa: S603 - our own tool
        path = root / lock.path
        header = f"# `make lock` writes this file.\n{_MADE_FROM}{digest(project)}\n"
        path.write_text(header + path.read_text(encoding="utf-8"), encoding="utf-8")


def main() -> None:
    """Write the locks, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only tell what is wrong")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    options = parser.parse_args()
    if not options.check:
        (ROOT / "requirements").mkdir(exist_ok=True)
        write(ROOT, upgrade=options.upgrade)
    wrong = faults(ROOT)
    if wrong:
        sys.exit("\n".join([*wrong, "Run `make lock`, and commit what it writes."]))


if __name__ == "__main__":
    main()
