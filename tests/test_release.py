"""The release script, on a small package in a repository of its own."""

import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

from kamon import __version__
from tools import release

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "kamon"
dynamic = ["version"]
requires-python = ">=3.11"
[tool.hatch.version]
path = "src/kamon/__init__.py"
[tool.hatch.build.targets.wheel]
packages = ["src/kamon"]
"""


def git(root: Path, *arguments: str) -> str:
    command = [release._program("git"), *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # A hook of git's that runs the tests sets these for its own repository.
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ann")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ann@kamon.example")
    files = {
        "pyproject.toml": PROJECT,
        "Makefile": "test:\n\t@touch dist-tested\n",
        ".gitignore": "dist*\n",
        "CHANGELOG.md": "## 1.2.3\n\n### To play\n- A board.\n\n## 1.2.2\n- Older.\n",
        "src/kamon/__init__.py": '__version__ = "1.2.3"\n',
        "src/kamon/words.po": 'msgid ""\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    return tmp_path


def test_a_release_is_tested_built_and_tagged(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release.release(root, dry_run=False)
    assert (root / "dist-tested").exists()
    built = {path.name for path in (root / "dist").iterdir()}
    assert built == {"kamon-1.2.3-py3-none-any.whl", "kamon-1.2.3.tar.gz"}
    tagged = " ".join(git(root, "tag", "--list", "-n9").split())
    assert tagged == "v1.2.3 Kamon 1.2.3 ### To play - A board."
    assert "Tagged v1.2.3" in capsys.readouterr().out
    with pytest.raises(release.ReleaseError, match=r"the tag v1\.2\.3 is there already"):
        release.release(root, dry_run=False)


def test_a_dry_run_leaves_no_tag(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release.release(root, dry_run=True)
    assert git(root, "tag", "--list") == ""
    assert "Nothing was tagged" in capsys.readouterr().out


def test_failing_tests_end_it(root: Path) -> None:
    (root / "Makefile").write_text("test:\n\t@false\n", encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--message", "Break it")
    with pytest.raises(subprocess.CalledProcessError):
        release.release(root, dry_run=False)
    assert git(root, "tag", "--list") == ""


def test_what_is_not_committed_is_not_released(root: Path) -> None:
    (root / "notes.txt").touch()
    with pytest.raises(release.ReleaseError, match=r"not committed:\n\?\? notes\.txt"):
        release.release(root, dry_run=True)


@pytest.mark.parametrize(
    ("changelog", "why"),
    [
        ("## Unreleased\n- New.\n\n## 1.2.3\n", "begins with Unreleased, but the version is 1.2.3"),
        ("## 1.2.3\n\n## 1.2.2\n- Older.\n", "says nothing about 1.2.3"),
        ("", "begins with nothing"),
    ],
)
def test_the_changelog_tells_of_the_version(root: Path, changelog: str, why: str) -> None:
    (root / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    with pytest.raises(release.ReleaseError, match=why):
        release.notes(root)


def test_a_version_has_three_numbers(root: Path) -> None:
    (root / "src/kamon/__init__.py").write_text('__version__ = "1.2.3.dev1"\n', encoding="utf-8")
    with pytest.raises(release.ReleaseError, match="no version"):
        release.version(root)


def test_a_wheel_holds_the_whole_package_and_nothing_else(root: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "kamon-1.2.3-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("kamon/__init__.py", '__version__ = "1.2.3"\n')
        archive.writestr("secret.txt", "")
    with pytest.raises(release.ReleaseError, match=r"differ in kamon/words\.po, secret\.txt"):
        release.check_wheel(root, wheel)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("kamon/__init__.py", "")
        archive.writestr("kamon/words.po", 'msgid ""\n')
    with pytest.raises(release.ReleaseError, match="is not as it is in src"):
        release.check_wheel(root, wheel)


def test_the_documents_show_the_version_and_the_changelog_tells_of_it() -> None:
    assert release.version(release.ROOT) == __version__
    ugi = (release.ROOT / "docs/ugi.md").read_text(encoding="utf-8")
    hosting = (release.ROOT / "docs/hosting.md").read_text(encoding="utf-8")
    changelog = (release.ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"id name Kamon {__version__}\n" in ugi
    assert f'"version":"{__version__}"' in hosting
    assert f"\n## {__version__}\n" in changelog
    citation = yaml.safe_load((release.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()
