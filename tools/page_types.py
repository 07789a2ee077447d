"""Write the page's types from the server's own description, so that the two cannot differ.

    python tools/page_types.py            writes types.d.ts
    python tools/page_types.py --check    fails if it is not up to date

The description is OpenAPI with the messages of the WebSocket. Ready-made generators describe every
route as well, which is forty times as long, and need a TypeScript of their own.
"""

import argparse
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kamon.web.app import create_app
from kamon.web.settings import Settings

TARGET: Final = Path(__file__).parents[1] / "src" / "kamon" / "web" / "static" / "js" / "types.d.ts"
HEAD: Final = (
    "// Written by tools/page_types.py from the server's description: run `make page-types`.\n"
)
PLAIN: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}
WIDTH: Final = 118


def declarations() -> str:
    """Return the whole file."""
    schemas = create_app(Settings("sqlite://")).openapi()["components"]["schemas"]
    return HEAD + "".join(_declaration(name, schemas[name]) for name in sorted(schemas))


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    comment = _comment(schema.get("description", ""))
    if "properties" not in schema:
        return f"\n{comment}export type {name} ={_wrapped(_type(schema))};\n"
    required = schema.get("required", ())
    fields = "".join(
        f"  {field}{'' if field in required else '?'}: {_type(each)};\n"
        for field, each in schema["properties"].items()
    )
    return f"\n{comment}export interface {name} {{\n{fields}}}\n"


def _comment(text: str) -> str:
    first = " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return f"/** {first} */\n" if first else ""


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    literals = [schema["const"]] if "const" in schema else schema.get("enum")
    if literals:
        return " | ".join(map(_literal, literals))
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(map(_type, several)))
    if schema.get("type") == "array":
        inner = _type(schema.get("items", {}))
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if schema.get("type") == "object":
        return f"Record<string, {_type(schema.get('additionalProperties', {}))}>"
    return PLAIN.get(str(schema.get("type")), "unknown")


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _wrapped(text: str) -> str:
    if len(text) < WIDTH // 2:
        return f" {text}"
    return "\n  | " + re.sub(r" \| ", "\n  | ", text)


def main() -> None:
    """Write the file, or say that it is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    wanted = declarations()
    if not parser.parse_args().check:
        TARGET.write_text(wanted, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != wanted:
        sys.exit(f"{TARGET.name} is not what the server says: run `make page-types`")


if __name__ == "__main__":
    main()
