"""Commands that call a skill by its name: "wave at the red block" calls `wave_at`.

The embedded model was trained on the shipped skills only. Other skills are called by the words of their names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from llm_planner.language.grounding.lifting import Lifted, lift
from llm_planner.language.grounding.naming import scene_phrases
from llm_planner.programs.signatures import Parameter, Signature
from llm_planner.scene.places import DIRECTIONS, REGIONS, SIDES
from llm_planner.scene.scene import Scene
from llm_planner.share import share_folder

# Words between the arguments of a call without a meaning of their own.
_BETWEEN = frozenset(("a", "an", "the", "at", "to", "on", "in", "of", "with", "by", "for", "from", "please"))
_WORDS = {"direction": DIRECTIONS, "side": SIDES, "region": REGIONS, "place": REGIONS}
_AMOUNTS = ("quantity", "seconds", "speed", "number")


@lru_cache(maxsize=1)
def _shipped() -> frozenset[str]:
    return frozenset(path.parent.name for path in share_folder("skills").glob("*/skill.yaml"))


def named_call(command: str, skills: Sequence[Signature], scene: Scene) -> str:
    """Return the program of a command that calls a skill that does not ship; "" for other commands.

    Every word must belong to the name or an argument. Arguments follow the order of the parameters.

    Args:
        command: Command in plain words.
        skills: Signatures of all skills.
        scene: Scene with the names of objects and rooms.
    """
    own = [skill for skill in skills if skill.is_skill and skill.name not in _shipped()]
    if not own:
        return ""
    said = [part for part in lift(command, scene_phrases(scene), slips=False) if part.text.strip(".,!?")]
    while said and said[0].text in ("please", "now"):
        said = said[1:]
    for skill in sorted(own, key=lambda one: -len(one.name)):
        name = skill.name.split("_")
        if [part.text for part in said[: len(name)]] == name:
            arguments = _arguments(skill, said[len(name) :], scene)
            if arguments is not None:
                return f"{skill.name}({', '.join(arguments)})"
    return ""


def _arguments(skill: Signature, said: Sequence[Lifted], scene: Scene) -> list[str] | None:
    """Return the arguments in program syntax; None if words are left over or an argument is missing."""
    left = [part for part in said if part.text not in _BETWEEN]
    arguments: list[str] = []
    for parameter in skill.parameters:
        value = _value(parameter, left[0], scene) if left else ""
        if value:
            left = left[1:]
            arguments.append(f"{parameter.name}={value}")
        elif parameter.required:
            return None
    return None if left else arguments


def _value(parameter: Parameter, part: Lifted, scene: Scene) -> str:
    """Return the part as a value of the parameter in program syntax; "" if it is not a value of its type."""
    if parameter.type in ("object", "destination") and part.name and not part.plural:
        rooms = scene.building.names if scene.building else ()
        return f'"{part.name}"' if part.name in (*scene.names, *rooms) else ""
    if parameter.type == "number" and part.segment in _AMOUNTS:
        return f"{part.value:g}"
    return f'"{part.text}"' if part.text in _WORDS.get(parameter.type, ()) else ""
