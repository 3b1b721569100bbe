"""Pictures as PNG."""

import struct
import zlib

import numpy as np

from llm_planner.skills.remote import png_of


def test_a_picture_is_a_png():
    picture = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    file, chunks = png_of(picture), {}
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    place = 8
    while place < len(file):
        length, kind = struct.unpack(">I4s", file[place : place + 8])
        content = file[place + 8 : place + 8 + length]
        assert struct.unpack(">I", file[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + content)
        chunks[kind] = content
        place += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (7, 5)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(5, 1 + 7 * 3)
    assert (rows[:, 0] == 0).all()
    assert (rows[:, 1:].reshape(5, 7, 3) == picture).all()
