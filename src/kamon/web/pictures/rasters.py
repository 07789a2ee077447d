"""Pictures as files: a question in, the bytes of an SVG, a PNG or a film out.

What has pixels is drawn in a process of its own (``work``). This module stands apart from the
routes so that this process loads no web server, and so that no server loads what draws pixels.
"""

import contextlib
import io
import re
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from kamon.editions import EDITIONS, EditionName
from kamon.game import Game
from kamon.geometry import CELL_NAMES
from kamon.notation import parse_line
from kamon.position import Position
from kamon.render import svg
from kamon.render.artwork import ARTWORK
from kamon.render.palette import DARK, LIGHT, Palette
from kamon.web.engine.workers import lower_priority

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFont import FreeTypeFont, ImageFont

Kind = Literal["picture.svg", "picture.png", "film.gif", "film.webp", "card.png"]

FRAME_TIME: Final = 700
LAST_FRAME_TIME: Final = 3000
CARD_SIZE: Final = (1200, 630)

_FONT: Final = Path(__file__).parents[1] / "static" / "fonts" / "eb-garamond-latin-500-normal.woff2"
# One colour of 256 is left to a GIF for what stays as it was in the frame before.
_COLOURS: Final = 255
# Slower methods make a film hardly smaller.
_WEBP_METHOD: Final = 2


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be drawn: all that a file depends on, and nothing else.

    ``line`` is a position line in its normal form, so that one picture has one question.
    """

    kind: Kind
    line: str
    edition: EditionName = "2020"
    theme: svg.Theme = "light"
    width: int = 600
    legal: bool = False
    coordinates: bool = False
    # What a card says under its title, a line each.
    caption: tuple[str, ...] = ()

    @property
    def palette(self) -> Palette:
        """The colours of the picture."""
        return LIGHT if self.theme == "light" else DARK

    def game(self) -> Game:
        """Return the game of the line."""
        game = parse_line(self.line)
        assert game is not None  # noqa: S101 - whoever asks has read the line before
        return game

    def board(self, position: Position, width: int | None = None) -> str:
        """Draw a position as SVG, as wide as the picture or as told."""
        return svg.draw(
            position,
            edition=EDITIONS[self.edition],
            theme=self.theme,
            size=width or self.width,
            legal=self.legal,
            coordinates=self.coordinates,
        )


def work(pipe: Connection) -> None:
    """Answer questions until the pipe closes."""
    lower_priority()
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            pipe.send(draw(pipe.recv()))


def draw(question: Question) -> bytes:
    """Draw what is asked for."""
    match question.kind:
        case "picture.svg":
            return question.board(question.game().position).encode()
        case "picture.png":
            return _picture(question)
        case "card.png":
            return _card(question)
        case "film.gif":
            return _gif(question)
        case "film.webp":
            return _webp(question)


# --- Pixels ---------------------------------------------------------------------------------


def _pixels(drawn: str, ground: str | None = None) -> bytes:
    """Turn SVG into PNG."""
    # Only the worker pays for it.
    import resvg_py  # noqa: PLC0415

    # Letters in a font of this machine would look different on the next, or be missing.
    return resvg_py.svg_to_bytes(svg_string=drawn, background=ground, skip_system_fonts=True)


def _open(png: bytes) -> "Image":
    from PIL import Image  # noqa: PLC0415 - see above

    return Image.open(io.BytesIO(png))


def _font(size: float) -> "FreeTypeFont | ImageFont":
    """Open the page's own font."""
    from PIL import ImageFont  # noqa: PLC0415 - see above

    try:
        return ImageFont.truetype(_FONT, size)
    except OSError:
        # A Pillow that was built without brotli cannot unpack it, but brings a plain one.
        return ImageFont.load_default(size)


def _png(image: "Image") -> bytes:
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


# --- One position ---------------------------------------------------------------------------

_VIEW: Final = re.compile(r'viewBox="\S+ \S+ (\d+) ')
# The names of cells as ``svg`` writes them.
_NAMES: Final = re.compile(
    r'<text y="(?P<y>-?\d+)"[^>]* font-size="(?P<size>\d+)" fill="(?P<ink>#\w+)" '
    r'stroke="(?P<halo>#\w+)" stroke-width="(?P<stroke>\d+)"[^>]*>(?P<name>\w\d)</text>'
)


def _picture(question: Question) -> bytes:
    drawn = question.board(question.game().position)
    png = _pixels(drawn)
    return _png(_named(_open(png), drawn)) if question.coordinates else png


def _named(image: "Image", drawn: str) -> "Image":
    """Write the names of the cells that an SVG holds on its pixels, in a font that is there."""
    from PIL import ImageDraw  # noqa: PLC0415 - see above

    view = _VIEW.search(drawn)
    assert view is not None  # noqa: S101 - every picture has one
    scale = image.width / int(view[1])
    pen = ImageDraw.Draw(image)
    for found in _NAMES.finditer(drawn):
        x, y = svg.centre(CELL_NAMES.index(found["name"]))
        pen.text(
            (image.width / 2 + x * scale, image.height / 2 + (y + int(found["y"])) * scale),
            found["name"],
            found["ink"],
            _font(int(found["size"]) * scale),
            "ms",
            stroke_width=int(found["stroke"]) / 2 * scale,
            stroke_fill=found["halo"],
        )
    return image


# --- Films ----------------------------------------------------------------------------------


def _frames(question: Question) -> list["Image"]:
    """Draw the game move by move, from where it starts."""
    game = question.game()
    positions = [game.root.position, *(node.position for node in game.main_line())]
    # The corners of a board are round, and a film has nothing to shine through.
    ground = question.palette.paper
    return [_open(_pixels(question.board(each), ground)).convert("RGB") for each in positions]


def _gif(question: Question) -> bytes:
    from PIL import Image  # noqa: PLC0415 - see above

    frames, plain = _frames(question), Image.Dither.NONE
    # One palette for all frames, and no dither: what does not change must not flicker.
    colours = _sheet(frames).quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=plain)
    return _film([frame.quantize(palette=colours, dither=plain) for frame in frames], "GIF")


def _sheet(frames: list["Image"]) -> "Image":
    """Put the first, the middle and the last frame on one sheet: together they have all colours."""
    from PIL import Image  # noqa: PLC0415 - see above

    chosen = [frames[0], frames[len(frames) // 2], frames[-1]]
    width, height = frames[0].size
    sheet = Image.new("RGB", (width, height * len(chosen)))
    for at, frame in enumerate(chosen):
        sheet.paste(frame, (0, at * height))
    return sheet


def _webp(question: Question) -> bytes:
    # Flat colours are smaller without loss than with it.
    return _film(_frames(question), "WEBP", lossless=True, quality=0, method=_WEBP_METHOD)


def _film(frames: list["Image"], media: str, **options: float) -> bytes:
    times = [FRAME_TIME] * (len(frames) - 1) + [LAST_FRAME_TIME]
    stream = io.BytesIO()
    frames[0].save(
        stream, media, save_all=True, append_images=frames[1:], duration=times, loop=0, **options
    )
    return stream.getvalue()


# --- The card that stands for a link --------------------------------------------------------

_BOARD_WIDTH: Final = 640
_BOARD_AT: Final = (520, 29)
# The middle of the room that the board leaves.
_COLUMN: Final = 272
_WORD: Final = "Kamon"
_WORD_SIZE: Final = 140
_WORD_AT: Final = 308
_RULE: Final = (358, 392)  # its height on the card, and its length
_CAPTION_AT: Final = 510
_CAPTION_STEP: Final = 52
_CAPTION_SIZE: Final = 40
_CRESTS: Final = (416, 69, 0.44)  # their height, the step from one to the next, their scale


def _card(question: Question) -> bytes:
    from PIL import ImageDraw  # noqa: PLC0415 - see above

    colours = question.palette
    board = question.board(question.game().position, _BOARD_WIDTH)
    width, height = CARD_SIZE
    x, y = _BOARD_AT
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect width="{width}" height="{height}" fill="{colours.paper}"/>'
        f'<g transform="translate({x} {y})">{board}</g>{_rule(colours)}{_crests(question)}</svg>'
    )
    card = _open(_pixels(drawn)).convert("RGB")
    ink = ImageDraw.Draw(card)
    ink.text((_COLUMN, _WORD_AT), _WORD, colours.text, _font(_WORD_SIZE), anchor="ms")
    for at, words in enumerate(question.caption):
        height = _CAPTION_AT + at * _CAPTION_STEP
        ink.text((_COLUMN, height), words, colours.text, _font(_CAPTION_SIZE), anchor="ms")
    return _png(card)


def _rule(colours: Palette) -> str:
    """Draw a fine line of gold that is broken by a lozenge, as the edges of the board are."""
    y, length = _RULE
    arm = length / 2 - 18
    return (
        f'<g transform="translate({_COLUMN} {y})" fill="{colours.gold}" stroke="none">'
        f'<rect x="{-length / 2:g}" y="-1" width="{arm:g}" height="2"/>'
        f'<rect x="18" y="-1" width="{arm:g}" height="2"/><path d="M0,-7l9,7-9,7-9-7Z"/></g>'
    )


def _crests(question: Question) -> str:
    """Draw the six symbols of the edition in a row, in the colour of the word."""
    y, step, scale = _CRESTS
    names = EDITIONS[question.edition].symbols.values()
    return "".join(
        f'<path d="{ARTWORK[name]}" fill="{question.palette.text}" fill-rule="evenodd" '
        f'transform="translate({_COLUMN + (at - (len(names) - 1) / 2) * step:g} {y}) '
        f'scale({scale})"/>'
        for at, name in enumerate(names)
    )
