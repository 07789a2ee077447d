"""The page and the server behind it (docs/protocol.md, docs/hosting.md)."""
