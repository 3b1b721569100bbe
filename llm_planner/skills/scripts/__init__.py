"""The scripted skills: one small program of movements each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llm_planner.skills.arm import Arm, Script
from llm_planner.skills.contract import Argument
from llm_planner.skills.scripts.basic import close_gripper, go_home, open_gripper
from llm_planner.skills.scripts.pick import pick
from llm_planner.skills.scripts.place import place_at, place_beside, place_in, place_offset, place_on
from llm_planner.skills.scripts.push import push

ScriptFunction = Callable[[Arm, Mapping[str, Argument]], Script]

SCRIPTS: Mapping[str, ScriptFunction] = {
    script.__name__: script
    for script in (
        pick, place_on, place_in, place_beside, place_at, place_offset, push, open_gripper, close_gripper, go_home,
    )
}  # fmt: skip
