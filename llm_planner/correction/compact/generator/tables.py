"""The written wordings: by what they ask for, and some of them kept from training, to see how new ones are read."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent / "written"
KEPT = 12  # one in so many alternatives is kept from training
_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Section:
    """The wordings below one heading: its name, the choices that it makes, and its lines, for `phrasing.say`."""

    name: str
    choices: Mapping[str, str]
    lines: tuple[str, ...]
    slots: frozenset[str] = field(default=frozenset())


@lru_cache(maxsize=8)
def sections(file: str, kept: bool = False) -> tuple[Section, ...]:
    """The sections of a file: with the wordings to train on, or with those `kept` from training."""
    found: list[tuple[str, list[str]]] = []
    for line in (FOLDER / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[-1][1].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            found.append((line.strip(), []))
    return tuple(section for head, lines in found if (section := _section(head, lines, kept)).lines)


def _section(head: str, lines: list[str], kept: bool) -> Section:
    name, *pairs = head.split() if "=" in head else [head]
    written = [one for line in lines for one in (_kept(line) if kept else [_trained(line)])]
    choices = dict(pair.split("=") for pair in pairs)
    return Section(name, choices, tuple(written), frozenset(slot for line in written for slot in _SLOT.findall(line)))


def _trained(line: str) -> str:
    """The line without the alternatives that are kept from training."""
    return _INNERMOST.sub(lambda found: f"[{'|'.join(_split(found[1], line)[0])}]", line)


def _kept(line: str) -> list[str]:
    """The line with one of the alternatives that training never shows, once for every bracket that has such."""
    return [
        line[: found.start()] + f"[{'|'.join(fresh)}]" + line[found.end() :]
        for found in _INNERMOST.finditer(line)
        if (fresh := _split(found[1], line)[1])
    ]


def _split(alternatives: str, line: str) -> tuple[list[str], list[str]]:
    """Those to train on and those that are not; the first, the empty one and those with slots are trained on."""
    first, *others = alternatives.split("|")
    fresh = [one for one in others if one.strip() and "{" not in one and _is_kept(one, line)]
    return [first, *(one for one in others if one not in fresh)], fresh


def _is_kept(alternative: str, line: str) -> bool:
    return zlib.crc32(f"{alternative} in {line}".encode()) % KEPT == 0
