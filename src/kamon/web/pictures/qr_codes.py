"""Addresses as QR codes."""

import io
from functools import lru_cache

import segno


@lru_cache(maxsize=256)
def draw(address: str) -> str:
    """Draw an address as a QR code, dark on light in either theme. Takes some milliseconds."""
    stream = io.BytesIO()
    segno.make(address, error="m").save(
        stream, kind="svg", scale=6, border=3, dark="#1d1a16", light="#fbf7ec", xmldecl=False
    )
    return stream.getvalue().decode()
