"""Pictures as PNG (ISO/IEC 15948), for whoever is shown them over a network."""

from __future__ import annotations

import struct
import zlib

from llm_planner.skills.camera import Picture


def png_of(picture: Picture) -> bytes:
    """Of (height, width, 3) bytes, red green blue."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)  # each as it is: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 1)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
