"""How the kernel is compiled, and where the result is kept.

numba notices a change in the file of a function, but not in a file that the function calls into.
So the cache folder is named after all sources of the kernel: a change anywhere is a new folder.
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from kamon.errors import EngineMissingError

try:
    # All that the kernel uses of numba, so that one place can say that it is missing.
    from llvmlite import binding, ir
    from numba import __version__ as numba_version
    from numba import njit, types
    from numba.core import cgutils, config
    from numba.core.options import DefaultOptions
    from numba.extending import intrinsic
except ImportError as error:
    missing = error.name in {"numba", "llvmlite"}
    raise EngineMissingError("" if missing else str(error)) from None

__all__ = [
    "CACHED",
    "CACHE_FOLDER",
    "ONE",
    "ZERO",
    "Boards",
    "Flags",
    "Ints",
    "Record",
    "Records",
    "cgutils",
    "compiled",
    "inlined",
    "intrinsic",
    "ir",
    "needs_compiling",
    "note_compiled",
    "types",
    "u64",
]

Function = TypeVar("Function", bound=Callable[..., Any])
Boards = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]
# A numpy array of records, and one of its records as compiled code sees it.
Records = npt.NDArray[np.void]
Record = Any

u64 = np.uint64
ZERO: Final = u64(0)
ONE: Final = u64(1)


def _processor() -> str:
    """Name the processor: what is compiled for one, as in an image, is of no use on another."""
    name = config.CPU_NAME or binding.get_host_cpu_name()
    return f"{name} {config.CPU_FEATURES or binding.get_host_cpu_features().flatten()}"


def _fingerprint() -> str:
    """Hash everything that the compiled code depends on."""
    digest = hashlib.sha256(f"{sys.version} {numba_version} {_processor()}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


CACHE_FOLDER: Final = user_cache_path("kamon", appauthor=False) / "kernel" / _fingerprint()


def _can_cache() -> bool:
    """Tell whether compiled code can be kept in the user's cache folder."""
    try:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(CACHE_FOLDER, os.W_OK)


CACHED: Final = _can_cache()


def needs_compiling() -> bool:
    """Tell whether the first search will have to wait for the compiler."""
    return not CACHED or not _stamp().exists()


def note_compiled() -> None:
    """Remember that everything that a search needs is in the cache."""
    if CACHED:
        with contextlib.suppress(OSError):
            _stamp().touch()


def _stamp() -> Path:
    return CACHE_FOLDER / "compiled"


# No function of the kernel allocates, so none needs to count references to arrays. Counting took
# half of the time of a search. The option is numba's own and private: where it is gone, we count.
WITHOUT_COUNTING: Final = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def compiled(function: Function) -> Function:
    """Compile on first use; other threads of Python run on while it works."""
    return _compiled(function)


def inlined(function: Function) -> Function:
    """Compile into the caller, where a call would cost more than the function."""
    return _compiled(function, forceinline=True)


def _compiled(function: Function, **options: bool) -> Function:
    # numba asks where to cache when it decorates a function. Other users of numba in this process
    # keep their own folder.
    before = config.CACHE_DIR
    if CACHED:
        config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        made = njit(nogil=True, cache=CACHED, **WITHOUT_COUNTING, **options)(function)
    finally:
        config.CACHE_DIR = before
    return cast("Function", made)
