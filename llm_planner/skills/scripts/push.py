"""Push: closed fingers behind the object, straight ahead, up again."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.scripts.slide import slide
from llm_planner.world.names import the
from llm_planner.world.places import direction_vector

MISSED = 0.02  # [m]


def push(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Slides `object` over the table by `distance` [m] in `direction` from where it lay on its own."""
    name, direction = str(arguments["object"]), str(arguments["direction"])
    distance = float(arguments["distance"])  # type: ignore[arg-type]  # checked against the manifest
    (ux, uy), (x, y, _) = direction_vector(direction), arm.began.scene.find(name).position
    goal = x + ux * distance, y + uy * distance
    yield from slide(arm, name, lambda item: goal)
    position = arm.find(name).position
    done = (position[0] - x) * ux + (position[1] - y) * uy
    if abs(done - distance) > MISSED:
        raise SkillError(
            SkillErrorCode.EFFECT_MISSING, f"{the(name)} moved {done * 100:.1f} cm instead of {distance * 100:.1f} cm"
        )
