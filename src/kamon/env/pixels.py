"""A position as an array of pixels."""

import io

import numpy as np
import numpy.typing as npt

from kamon.position import Position
from kamon.render import svg


def draw(position: Position, *, size: int = 400) -> npt.NDArray[np.uint8]:
    """Draw a position, ``size`` pixels wide: rows of pixels of red, green and blue."""
    # Loaded for the first picture, because few runs want one.
    import resvg_py  # noqa: PLC0415
    from PIL import Image  # noqa: PLC0415

    png = resvg_py.svg_to_bytes(
        svg_string=svg.draw(position, size=size), background="white", skip_system_fonts=True
    )
    with Image.open(io.BytesIO(png)) as image:
        return np.asarray(image.convert("RGB"))
