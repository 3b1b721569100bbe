"""Read files of sentence templates, and draw sentences from them with the results that they mean.

The format is described for authors in `training/README.md`. In short:

    other_thing({thing}, instead={thing2})
      no , {thing} , not {thing2}
      [sorry|oops] , i meant {thing}

    direction: left frame=robot
      your left

A line that begins in the first column is a result, or the name of a slot, a colon and its value; the indented lines
below it are ways to say so. `[a|b]` is one of several, `{slot}` is filled. An argument of a result whose slot is not
said is left out.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "sentences"
TASKS = ("corrections", "commands", "rules")
KEPT = 20  # one wording in so many is kept from training
WORLDS = ("table", "rooms", "both", "letters")
SLOT = re.compile(r"\{([a-z]+\d?)(?:\.([a-z]+))?\}")
_HEAD = re.compile(r"(?P<slot>[a-z]+):(?P<value>.*)")
_FACET = re.compile(r"\s([a-z]+)=(\S+)")


@dataclass(frozen=True)
class Wording:
    """One way to say something; `hand` is its author, `kept` says that training never shows it."""

    text: str
    hand: str = ""
    kept: bool = False
    slots: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Block:
    """A result, or a value of a `slot`, with its wordings. `facets` are further values that come with it."""

    result: str
    wordings: tuple[Wording, ...]
    slot: str = ""
    world: str = "both"
    facets: tuple[tuple[str, str], ...] = ()
    share: float = 1.0


@dataclass
class Book:
    """All blocks: of the tasks, by task, and of slots, by slot."""

    tasks: dict[str, list[Block]] = field(default_factory=lambda: {task: [] for task in TASKS})
    slots: dict[str, list[Block]] = field(default_factory=dict)


def read_book(folder: Path = FOLDER) -> Book:
    """Read all files; raise ValueError that names file, line and remedy where one is not well-formed."""
    book = Book()
    for path in sorted(folder.rglob("*.txt")):
        hand = "" if path.parent == folder else path.parent.name
        for block in blocks_of(path, hand):
            if block.slot:
                book.slots.setdefault(block.slot, []).append(block)
            elif path.stem in book.tasks:
                book.tasks[path.stem].append(block)
            else:
                raise ValueError(f"{path}: a result stands in no file of a task; the files are {', '.join(TASKS)}")
    return book


def blocks_of(path: Path, hand: str) -> Iterator[Block]:
    """The blocks of a file."""
    world, head, lines = "both", "", []
    for number, line in enumerate([*path.read_text(encoding="utf-8").splitlines(), "#end"], start=1):
        if line.startswith((" ", "\t")) and line.strip():
            if not head:
                raise ValueError(f"{path}, line {number}: a wording stands below no result; begin it in column 1")
            lines.append(line.strip())
            continue
        if line.strip() and head and lines:
            yield _block(path, head, lines, hand, world)
            head, lines = "", []
        if line.startswith("# world:"):
            world = line.removeprefix("# world:").strip()
            if world not in WORLDS:
                raise ValueError(f"{path}, line {number}: the world {world!r} is none of {', '.join(WORLDS)}")
        elif line.strip() and not line.startswith("#"):
            head = line.strip()


def _block(path: Path, head: str, lines: list[str], hand: str, world: str) -> Block:
    match = _HEAD.fullmatch(head)
    slot, value = (match["slot"], match["value"]) if match else ("", head)
    facets = tuple(_FACET.findall(value)) if slot else ()
    share = float(dict(facets).get("share", 1))
    result = _FACET.sub("", value).strip() if slot else value
    try:
        wordings = tuple(
            Wording(line, hand, not slot and zlib.crc32(line.encode()) % KEPT == 0, _slots(line)) for line in lines
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    needed = {name for name, _ in SLOT.findall(result)} if slot == "" else set()
    useless = [one.text for one in wordings if needed and needed.isdisjoint(one.slots) and "*" in head]
    if useless:
        raise ValueError(f"{path}: {useless[0]!r} says nothing of {head!r}")
    return Block(result, wordings, slot, world, facets, share)


def _slots(line: str) -> frozenset[str]:
    if line.count("[") != line.count("]") or line.count("{") != line.count("}"):
        raise ValueError(f"the brackets of {line!r} do not match")
    return frozenset(name for name, _ in SLOT.findall(line))


def without_unsaid(result: str) -> str:
    """Take out arguments whose value is nothing (marked by `~`), of two with one key the second, and empty brackets."""
    while True:
        shorter = re.sub(r"(?:[a-z]+=)?~(?:, )?", "", result, count=1)
        if shorter == result:
            break
        result = shorter
    result = re.sub(r", (?=\))", "", result)
    result = re.sub(r"(\b[a-z]+=)([^,()]+), \1[^,()]+", r"\1\2", result)
    return result.replace("()", "")
