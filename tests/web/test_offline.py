"""What opens without a network has all that it needs."""

import posixpath
import re

from kamon.web.pages.assets import STATIC
from kamon.web.pages.routes import OFFLINE_FILES

# Modules that the server writes are beside the files.
WRITTEN = {"artwork.js"}
IMPORT = re.compile(r'^import .*?from "(\.[^"]+)";|^} from "(\.[^"]+)";', re.MULTILINE)


def test_every_module_that_opens_without_a_network_finds_what_it_imports() -> None:
    missing = []
    for name in OFFLINE_FILES:
        if not name.endswith(".js") or name in WRITTEN:
            continue
        text = (STATIC / name).read_text(encoding="utf-8")
        for found in IMPORT.findall(text):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), "".join(found)))
            if target not in OFFLINE_FILES:
                missing.append((name, target))
    assert missing == []
