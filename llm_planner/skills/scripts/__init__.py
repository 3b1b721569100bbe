"""The scripted skills of each robot: one small program of movements each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llm_planner.skills.arm import Script
from llm_planner.skills.scripts.basic import close_gripper, go_home, open_gripper, reach, wait
from llm_planner.skills.scripts.furniture import close_drawer, open_drawer, press
from llm_planner.skills.scripts.mobile import dock, drop_off, follow, go_to, look, pick_up
from llm_planner.skills.scripts.pick_and_place import (
    pick,
    place_at,
    place_beside,
    place_in,
    place_offset,
    place_on,
    stack,
)
from llm_planner.skills.scripts.rewards import achieve, manoeuvre
from llm_planner.skills.scripts.slide import push, sweep
from llm_planner.skills.scripts.tip import tip
from llm_planner.skills.scripts.wipe import wipe

ScriptFunction = Callable[[Any, Mapping[str, Any]], Script]  # of an `Arm` or a `Base`, and the arguments

ANY_ROBOT = "any"

_ARM: tuple[ScriptFunction, ...] = (
    pick, place_on, place_in, place_beside, place_at, place_offset, stack, push, sweep, tip, reach,
    open_gripper, close_gripper, go_home, open_drawer, close_drawer, press, wipe, achieve,
)  # fmt: skip
_MOBILE: tuple[ScriptFunction, ...] = (go_to, pick_up, drop_off, look, follow, dock, manoeuvre)

SCRIPTS: Mapping[str, Mapping[str, ScriptFunction]] = {
    robot: {script.__name__: script for script in scripts}
    for robot, scripts in (("arm", _ARM), ("mobile", _MOBILE), (ANY_ROBOT, (wait,)))
}
