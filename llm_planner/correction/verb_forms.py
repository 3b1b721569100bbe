"""Verbs of a robot's work, in the forms in which people put requests: "going", "went" and "gone" are "go"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).parent / "written" / "verbs.txt"
_DOUBLING = re.compile(r"[^aeiou][aeiou][^aeiouwxy]$")


def plain_past(word: str) -> str:
    """The verb that the word is the past or the participle of, or the word where it is that verb; "" for none."""
    return _pasts().get(word) or (word if word in verbs() else "")


def plain_gerund(word: str) -> str:
    """The verb of which the word is the form with -ing; "" for none."""
    return _gerunds().get(word, "")


@lru_cache(maxsize=1)
def verbs() -> frozenset[str]:
    """All of them."""
    return frozenset(verb for verb, *_ in _lines())


@lru_cache(maxsize=1)
def _pasts() -> Mapping[str, str]:
    return {form: verb for verb, *irregular in _lines() for form in irregular or _with_ending(verb, "ed")}


@lru_cache(maxsize=1)
def _gerunds() -> Mapping[str, str]:
    return {form: verb for verb, *_ in _lines() for form in _with_ending(verb, "ing")}


def _with_ending(verb: str, ending: str) -> Iterator[str]:
    """British and American spelling: "travelling" and "traveling"."""
    if verb.endswith("e") and verb != "be":
        yield verb[:-1] + ending
    elif ending == "ed" and re.search(r"[^aeiou]y$", verb):
        yield f"{verb[:-1]}ied"
    else:
        yield verb + ending
        if _DOUBLING.search(verb):
            yield verb + verb[-1] + ending


@lru_cache(maxsize=1)
def _lines() -> tuple[list[str], ...]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return tuple(line.split() for line in lines if line.strip() and not line.startswith("#"))
