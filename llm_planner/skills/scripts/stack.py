"""Stack: take an object and put it on another, going on from whatever of that has been done."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument, SkillErrorCode
from llm_planner.skills.errors import SkillError
from llm_planner.skills.scripts.pick import pick
from llm_planner.skills.scripts.place import leave, place_on
from llm_planner.world.predicates import on


def stack(arm: Arm, arguments: Mapping[str, Argument]) -> Script:
    """Leaves `object` on top of `onto`, or in it where it is a container."""
    name, onto = str(arguments["object"]), str(arguments["onto"])
    item = arm.find(name)
    if on(arm.scene, name, arm.find(onto).name):
        yield from leave(arm, item)
        return
    if arm.scene.held != name:
        yield from _take(arm, name)
    yield from place_on(arm, {"object": onto})


def _take(arm: Arm, name: str) -> Script:
    """What was still falling when the hand set out is taken from where it has come to lie."""
    try:
        yield from pick(arm, {"object": name})
    except SkillError as error:
        if error.code is not SkillErrorCode.OBJECT_LOST:
            raise
        yield from arm.retreat()
        yield from pick(arm, {"object": name})
