"""What each step of a plan is about: the case that a lesson is told of, and that its slots must fit later."""

from __future__ import annotations

from dataclasses import dataclass, replace

from llm_planner.correction.memory.lesson import Slots
from llm_planner.correction.situation import Situation
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.world.places import REGIONS
from llm_planner.world.scene import Scene, SceneObject

_OVER = (StepStatus.FAILED, StepStatus.SKIPPED)


@dataclass(frozen=True)
class Case:
    """`thing` is what is held during the step, or else what the step names; `named` is what the step names."""

    slots: Slots
    thing: SceneObject | None = None
    named: SceneObject | None = None


def cases_of(situation: Situation, user: str) -> dict[str, Case]:
    """The case of every step by its id, what is held and where the robot is followed through the plan."""
    scene, steps = situation.scene, situation.plan.steps
    cases: dict[str, Case] = {}
    held = scene.held if not any(step.status is StepStatus.DONE for step in steps) else ""
    room = scene.robot_room
    for step in steps:
        if step.status is StepStatus.RUNNING and scene.held:
            held = scene.held
        skill = situation.skills[step.skill]
        named = named_object(step, situation)
        thing = _object(scene, held) or named
        room = _reached(step, situation, named) or room
        slots = replace(thing_slots(thing), skill=step.skill, place=_region(step) or room, user=user)
        cases[step.id] = Case(slots, thing, named)
        if step.status not in _OVER:
            held = named.name if skill.fills_gripper and named else "" if skill.empties_gripper else held
    return cases


def thing_slots(thing: SceneObject | None) -> Slots:
    """All that is known of a thing; nothing of None."""
    if thing is None:
        return Slots()
    return Slots(kind=thing.kind, color=thing.color, name=thing.name if thing.name[:1].isupper() else "")


def named_object(step: PlanStep, situation: Situation) -> SceneObject | None:
    """The first object of the scene that the step's arguments name."""
    words = (value for value in step.arguments.values() if isinstance(value, str))
    return next((thing for word in words if (thing := _object(situation.scene, word))), None)


def _object(scene: Scene, name: str) -> SceneObject | None:
    return next((item for item in scene.objects if item.name == name), None)


def _region(step: PlanStep) -> str:
    return next((value for value in step.arguments.values() if isinstance(value, str) and value in REGIONS), "")


def _reached(step: PlanStep, situation: Situation, named: SceneObject | None) -> str:
    """The room in which a mobile robot is after the step, "" where it stays."""
    building, skill = situation.scene.building, situation.skills[step.skill]
    if building is None or not any(atom.predicate == "reached" for atom in skill.effects):
        return ""
    rooms = (str(value) for value in step.arguments.values() if value in building.names)
    return next(rooms, "") or (building.room_at(*named.position[:2]) if named else "")
