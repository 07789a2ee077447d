"""The whole contract in one description: OpenAPI for HTTP, and the messages of the WebSocket."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from kamon.web.games.messages import SocketAnswer, SocketMessage
from kamon.web.identity import COOKIE, SECURE_COOKIE

SECURITY: Final = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "For programs."},
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": f"For pages, with our own Origin; {SECURE_COOKIE} over TLS.",
    },
}
_PLACE: Final = "#/components/schemas/{model}"


def describe(app: FastAPI) -> None:
    """Let an application describe its WebSocket too: OpenAPI has no place for it but schemas."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            described["components"]["schemas"] |= socket_schemas()
            described["components"]["securitySchemes"] = SECURITY
            # Either of them, or neither: whoever only looks needs none.
            described["security"] = [{"bearer": []}, {"cookie": []}, {}]
            app.openapi_schema = described
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def socket_schemas() -> dict[str, Any]:
    """Describe what is said over the WebSocket: ``SocketMessage`` to us, ``SocketAnswer`` by us."""
    schemas: dict[str, Any] = {}
    kinds: tuple[tuple[str, Any], ...] = (
        ("SocketMessage", SocketMessage),
        ("SocketAnswer", SocketAnswer),
    )
    for name, messages in kinds:
        schema = TypeAdapter(messages).json_schema(
            ref_template=_PLACE, mode="validation" if name == "SocketMessage" else "serialization"
        )
        schemas |= schema.pop("$defs", {})
        schemas[name] = schema
    return schemas
