"""Lines of text files, compressed or not, with their numbers; and errors that name the line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import batched, islice
from pathlib import Path
from typing import Any, BinaryIO

_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
