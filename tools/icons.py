"""Draw the icons in pixels from icon.svg, after it has changed.

The maskable one fills its whole square: systems cut a circle or a rounded square out of it, and
promise to leave the inner 80 %. So the crest is smaller there, on a ground of its own colour.
"""

import re
from pathlib import Path
from typing import Final

import resvg_py

STATIC: Final = Path(__file__).parents[1] / "src" / "kamon" / "web" / "static"
SIZE: Final = 512
GROUND: Final = "#211c18"
# Of the drawing, whose corners are 62 of 64 from the middle: they must stay within 0.8.
SCALE: Final = 0.76


def maskable() -> str:
    """Return the icon on a full square."""
    icon = (STATIC / "icon.svg").read_text(encoding="utf-8")
    drawing = re.sub(r"^<svg[^>]*>|</svg>\s*$", "", icon)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-64 -64 128 128">'
        f'<rect x="-64" y="-64" width="128" height="128" fill="{GROUND}"/>'
        f'<g transform="scale({SCALE})">{drawing}</g></svg>'
    )


def main() -> None:
    """Write the icon that the manifest names."""
    drawn = resvg_py.svg_to_bytes(svg_string=maskable(), width=SIZE, height=SIZE)
    (STATIC / f"icon-maskable-{SIZE}.png").write_bytes(bytes(drawn))


if __name__ == "__main__":
    main()
