"""Names of things and rooms in words, and in formulas."""

from __future__ import annotations

import re

from llm_planner.language.understanding.wording import plain
from llm_planner.temporal.formula import Formula
from llm_planner.world.propositions import parse_proposition
from llm_planner.world.scene import Scene


def arguments_of(formula: Formula) -> tuple[str, ...]:
    """Return every thing, place and skill that its propositions name, once each."""
    found = (parse_proposition(name).arguments for name in formula.propositions)
    return tuple(dict.fromkeys(one for some in found for one in some))


def names_in(text: str, scene: Scene) -> list[str]:
    """Return things and rooms whose full names are in a plain text, in their order; one within a longer one is not
    meant."""
    rooms = scene.building.names if scene.building else ()
    places: dict[int, str] = {}
    for name in sorted((*scene.names, *rooms), key=len, reverse=True):
        pattern = rf"\b{re.escape(plain(name))}\b"
        for found in re.finditer(pattern, text):
            places[found.start()] = name
        text = re.sub(pattern, lambda found: "_" * len(found[0]), text)
    return [places[start] for start in sorted(places)]
