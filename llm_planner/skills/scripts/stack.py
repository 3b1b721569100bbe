"""Stack: take an object and put it on another, going on from whatever of that has been done."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument
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
        yield from pick(arm, {"object": name})
    yield from place_on(arm, {"object": onto})
