"""What the commands that use a database share: saying what is wrong with one."""

import contextlib
from collections.abc import Iterator

import typer


@contextlib.contextmanager
def opening(url: str, where: str) -> Iterator[None]:
    """Report an error of a database as wrong usage of the option that names it."""
    # The other commands must not pay for the server.
    from sqlalchemy.exc import SQLAlchemyError  # noqa: PLC0415

    from kamon.web.database import DatabaseError, shown  # noqa: PLC0415
    from kamon.web.errors import cause_of  # noqa: PLC0415

    try:
        yield
    except DatabaseError as error:
        raise typer.BadParameter(str(error), param_hint=where) from None
    except (SQLAlchemyError, OSError) as error:
        raise typer.BadParameter(
            f"{shown(url)} cannot be opened: {cause_of(error)}", param_hint=where
        ) from None
