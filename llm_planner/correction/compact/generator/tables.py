"""The written wordings, by what they ask for; some of each author's are kept from training, to test with."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

KEPT = 20  # one wording in so many is kept from training
FOLDER = Path(__file__).parent / "written"
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Section:
    """The wordings below one heading: its name, the choices that it makes, and its lines, for `phrasing.say`."""

    name: str
    choices: Mapping[str, str]
    lines: tuple[str, ...]
    slots: frozenset[str] = field(default=frozenset())


@lru_cache(maxsize=8)
def sections(kind: str, kept: bool | None = False) -> tuple[Section, ...]:
    """The sections of all authors' `requests`, `chatter` or `texts`: with the wordings to train on, with those `kept`
    from training, or for None with all."""
    found = (_section(head, lines, kept) for file in sorted((FOLDER / kind).glob("*.txt")) for head, lines in _in(file))
    return tuple(section for section in found if section.lines)


def _in(file: Path) -> list[tuple[str, list[str]]]:
    """The headings of a file, each with its lines."""
    found: list[tuple[str, list[str]]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[-1][1].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            found.append((line.strip(), []))
    return found


def _section(head: str, lines: list[str], kept: bool | None) -> Section:
    name, *pairs = head.split() if "=" in head else [head]
    choices = dict(pair.split("=") for pair in pairs)
    lines = [line for line in lines if kept in (None, _is_kept(line))]
    return Section(name, choices, tuple(lines), frozenset(slot for line in lines for slot in _SLOT.findall(line)))


def _is_kept(line: str) -> bool:
    return zlib.crc32(line.encode()) % KEPT == 0
