"""Make a release: check everything, build the sdist and the wheel, and tag the commit.

CONTRIBUTING.md tells the whole process. ``--dry-run`` does all of it but the tag.
"""

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_VERSION: Final = re.compile(r'^__version__ = "(\d+\.\d+\.\d+)"$', re.MULTILINE)
_SECTION: Final = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)


class ReleaseError(Exception):
    """Something stands in the way of a release. ``str()`` is a sentence for people."""


def version(root: Path) -> str:
    """Read the version that the package says it has."""
    found = _VERSION.search((root / "src/kamon/__init__.py").read_text(encoding="utf-8"))
    if found is None:
        raise ReleaseError("src/kamon/__init__.py has no version of the form 1.2.3")
    return found[1]


def notes(root: Path) -> str:
    """Return what the changelog says about this version, which has to come first there."""
    wanted = version(root)
    sections = _SECTION.findall((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    title, text = sections[0] if sections else ("nothing", "")
    if title != wanted:
        raise ReleaseError(f"CHANGELOG.md begins with {title}, but the version is {wanted}")
    if not text.strip():
        raise ReleaseError(f"CHANGELOG.md says nothing about {wanted}")
    return str(text).strip()


def check_commit(root: Path) -> None:
    """Check that what is released is what is committed, and was not released before."""
    changed = _git(root, "status", "--porcelain")
    if changed:
        raise ReleaseError(f"there are changes that are not committed:\n{changed}")
    tag = f"v{version(root)}"
    if _git(root, "tag", "--list", tag):
        raise ReleaseError(f"the tag {tag} is there already")


def build(root: Path, folder: Path, kinds: Sequence[str] = ("sdist", "wheel")) -> list[Path]:
    """Build the sdist and the wheel with the locked backend, without the network."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), "-t"]
    for kind in kinds:
        subprocess.run([*command, kind], cwd=root, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return sorted(folder.iterdir())


def check_wheel(root: Path, wheel: Path) -> None:
    """Check that a wheel holds every file of the package, as it is, and nothing else."""
    source = root / "src"
    wanted = {
        path.relative_to(source).as_posix(): path
        for path in (source / "kamon").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        about = f"kamon-{version(root)}.dist-info/"
        found = {name for name in archive.namelist() if not name.startswith(about)}
        if found != wanted.keys():
            differing = ", ".join(sorted(found ^ wanted.keys()))
            raise ReleaseError(f"{wheel.name} and src/kamon differ in {differing}")
        for name, path in wanted.items():
            if archive.read(name) != path.read_bytes():
                raise ReleaseError(f"{name} in {wheel.name} is not as it is in src")


def release(root: Path, *, dry_run: bool) -> None:
    """Do every step; the tag comes last, so that a release that fails leaves none."""
    number, text = version(root), notes(root)
    check_commit(root)
    subprocess.run([_program("make"), "test"], cwd=root, check=True)  # noqa: S603
    shutil.rmtree(root / "dist", ignore_errors=True)
    for path in build(root, root / "dist"):
        if path.suffix == ".whl":
            check_wheel(root, path)
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    if dry_run:
        print(f"Kamon {number} could be released. Nothing was tagged.")
        return
    # A title in the changelog begins as a comment does for git.
    message = f"Kamon {number}\n\n{text}"
    _git(root, "tag", "--annotate", "--cleanup=whitespace", f"v{number}", "--message", message)
    print(f"Tagged v{number}. To publish it: git push origin v{number}, and upload dist/*.")


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603
        [_program("git"), *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise ReleaseError(f"{name} is not installed")
    return path


def main() -> None:
    """Release, or tell why not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dry-run", action="store_true", help="do everything but the tag")
    try:
        release(ROOT, dry_run=parser.parse_args().dry_run)
    except ReleaseError as error:
        sys.exit(str(error))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(map(str, error.cmd))} failed")


if __name__ == "__main__":
    main()
