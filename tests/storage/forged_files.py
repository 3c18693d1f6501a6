"""Model files split and joined by the specification, without code of the library."""

import hashlib
import json
import struct
from typing import NamedTuple

FIXED = "<13s3xI20s3Q"
MAGIC = b"\x89LABELKIN\r\n\x1a\n"


class Parts(NamedTuple):
    about: dict
    model: dict
    data: bytes


def split_file(path):
    """Return the three parts of a file, after checking its lengths and its checksum."""
    raw = path.read_bytes()
    magic, version, _, *lengths = struct.unpack_from(FIXED, raw)
    assert (magic, version) == (MAGIC, 3)
    assert len(raw) == 64 + sum(lengths) + 32
    assert hashlib.sha256(raw[:-32]).digest() == raw[-32:]
    about, model = 64 + lengths[0], 64 + lengths[0] + lengths[1]
    return Parts(json.loads(raw[64:about]), json.loads(raw[about:model]), raw[model:-32])


def join_file(path, about, model, data=b"", version=3, writer=b"0.1.0"):
    """Write a file with a valid checksum and any content."""
    about, model = (
        part if isinstance(part, bytes) else json.dumps(part).encode() for part in (about, model)
    )
    fixed = struct.pack(FIXED, MAGIC, version, writer, len(about), len(model), len(data))
    raw = fixed + about + model + data
    path.write_bytes(raw + hashlib.sha256(raw).digest())
    return path
