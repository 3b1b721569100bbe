"""A policy over what is about to run: every step of a plan, and every call that a program can make."""

from __future__ import annotations

from collections.abc import Mapping

from llm_planner.plan.plan import Plan, in_base_words
from llm_planner.privileges.decision import check_ahead, check_foreseen, require
from llm_planner.privileges.outlook import Outlook
from llm_planner.privileges.policy import Policy, Possible
from llm_planner.program.checker import CheckedProgram
from llm_planner.program.interpreter import SkillCall
from llm_planner.program.signatures import Signature
from llm_planner.program.static_types import Type
from llm_planner.program.values import Point
from llm_planner.skills.contract import Argument
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene


def review_program(
    policy: Policy, source: str, program: CheckedProgram, scene: Scene, viewpoint: Viewpoint = BEHIND
) -> None:
    """Raises QuestionError or PrivilegeError for a call that `source` may not make, in whatever branch it stands.

    Arguments that only the running program knows are checked when the call is made.
    """
    for call in program.calls:
        skill = program.skills[call.skill]
        values = {name: _possible(skill, name, given, viewpoint) for name, given in call.arguments}
        require(check_ahead(policy, source, call.skill, values, scene))


def review_plan(
    policy: Policy,
    source: str,
    plan: Plan,
    skills: Mapping[str, Signature],
    scene: Scene,
    viewpoint: Viewpoint = BEHIND,
) -> None:
    """Raises QuestionError or PrivilegeError for a step that `source` may not have done in the scene foreseen for it.

    The plan begins in `scene`.
    """
    outlook = Outlook(scene)
    for step in plan.steps:
        skill = skills[step.skill]
        values = in_base_words(skill, step.arguments, viewpoint)
        require(check_foreseen(policy, source, SkillCall(step.skill, values, step.line), outlook))
        outlook = outlook.after(skill, values)


def _possible(skill: Signature, name: str, given: Type, viewpoint: Viewpoint) -> Possible:
    """The values that an argument may have, in the words of a person behind the robot; none where nobody knows."""
    literals = sorted(given.literals or (), key=repr)
    return tuple(in_base_words(skill, {name: _argument(value)}, viewpoint)[name] for value in literals)


def _argument(value: str | float | Point) -> Argument:
    return (value.x, value.y, value.z) if isinstance(value, Point) else value
