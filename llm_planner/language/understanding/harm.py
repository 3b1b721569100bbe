"""What nobody may have done to a person, in whatever words the rest of the command comes."""

from __future__ import annotations

import re

from llm_planner.errors import InputError
from llm_planner.language.understanding.wording import plain
from llm_planner.world.scene import Scene

_DEEDS = (
    r"hit|hits|hitting|punch|kick|slap|hurt|harm|injure|attack|stab|ram|crush|strike|kill|smash|trip up|trip|scare"
    r"|(?:drive|run|crash|bump|smash|roll|push|shove) (?:into|over)|knock (?:over|down)|pick up|lift|grab|shove"
)
_ANYBODY = "somebody|someone|anybody|anyone|everybody|everyone|people|person|child|baby|him|her|them|me|us"
_DENIED = re.compile(r"\b(?:not|never|no|dont|cannot|cant|mustnt|shouldnt|without|avoid|nor|neither|nobody|careful)\b")
_CLAUSE = re.compile(r"[.,;:!?]|\b(?:and|but|then)\b")


def check_harmless(command: str, scene: Scene) -> None:
    """Raises InputError when a clause, none that denies it, asks for a person to be hit, run over or lifted."""
    people = [plain(item.name) for item in scene.objects if item.kind == "person"]
    named = "|".join(map(re.escape, people))
    wanted = re.compile(rf"\b({_DEEDS})\b (?:the |a |an |my |into |over )*({named or _ANYBODY}|{_ANYBODY})\b")
    for clause in _CLAUSE.split(command):
        text = plain(clause)
        found = wanted.search(text)
        if found and not _DENIED.search(text[: found.start()]):
            raise InputError(
                f"“{found[0]}” would harm a person, which this robot does not do; say what should be done instead"
            )
