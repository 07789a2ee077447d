"""Public names of games and studies."""

import secrets
from typing import Annotated, Final

from pydantic import StringConstraints

# Letters that are hard to tell apart are left out.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH: Final = 12

PublicId = Annotated[str, StringConstraints(pattern=r"^[0-9a-hjkmnp-tv-z]{12}$")]


def new_id() -> str:
    """Make a name of 60 random bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
