"""Ways of saying things, as `written/manners.txt` has them: politeness, amounts without a number, times, repairs."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from llm_planner.errors import InputError

FILE = Path(__file__).parent / "written" / "manners.txt"


def ways(section: str) -> str:
    """One regular expression for everything in a section; the longer of two ways first."""
    found = _sections()
    if section not in found:
        raise InputError(f"the manners have no section {section!r}; the sections are: {', '.join(found)}")
    return "|".join(sorted(found[section], key=len, reverse=True))


def words_in_manners() -> frozenset[str]:
    """Every word that occurs in them."""
    return frozenset(
        word for lines in _sections().values() for line in lines for word in re.findall(r"[a-z]{2,}", line)
    )


@lru_cache(maxsize=1)
def _sections() -> dict[str, list[str]]:
    return read_sections(FILE.read_text(encoding="utf-8"))


def read_sections(text: str) -> dict[str, list[str]]:
    """The lines below each heading; raises InputError for a line that stands below none."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith("  "):
            lines = found.setdefault(line.strip().removesuffix(":"), [])
        elif not found:
            raise InputError(
                f"{line.strip()!r} in the manners stands below no heading; put one, such as before:, above"
            )
        else:
            lines.append(line.strip())
    return found
