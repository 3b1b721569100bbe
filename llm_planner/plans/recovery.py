"""Recovery steps: pick up an object that was lost, restore a goal that was broken.

A failed call is not repeated while the objects lie as they did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import dist

from llm_planner.plans.plan import Goal, Plan, PlanStep, StepStatus
from llm_planner.programs.signatures import Signature
from llm_planner.scene.atoms import HELD
from llm_planner.scene.scene import Scene

ALIKE = 0.01  # [m] shift of an object below which a failed call is expected to fail again


@dataclass(frozen=True)
class Task:
    """A step to start, for the `attempt`-th time; `from_program` is False for a recovery step.

    `goals` are those of an earlier attempt, which judge this one too.
    """

    step: PlanStep
    attempt: int = 1
    from_program: bool = True
    goals: tuple[Goal, ...] = ()


@dataclass(frozen=True)
class FailedCall:
    """A failed step and the scene in which it began."""

    step: PlanStep
    scene: Scene

    def is_like(self, step: PlanStep, scene: Scene) -> bool:
        """Return whether `step` is the same call and the objects (and a mobile robot) are where they were then."""
        call = (self.step.skill, dict(self.step.arguments))
        return call == (step.skill, dict(step.arguments)) and _lies_alike(self.scene, scene)


def _lies_alike(before: Scene, now: Scene) -> bool:
    if (set(before.names), before.held) != (set(now.names), now.held):
        return False
    lying = [(item, now.find(item.name)) for item in before.objects if item.name != before.held]
    moved = [dist(a.position, b.position) for a, b in lying]
    if before.base and now.base:
        moved.append(dist(before.base.pose.position, now.base.pose.position))
    if now.building and before.robot and now.robot:
        moved.append(dist(before.robot.position, now.robot.position))
    return max(moved, default=0.0) <= ALIKE and all(a.state == b.state for a, b in lying)


def pick_again(
    goals: tuple[Goal, ...],
    task: Task,
    scene: Scene,
    skills: Mapping[str, Signature],
    held: tuple[str, ...] = (),
) -> tuple[Task, ...]:
    """Return the step that picks a lost object up again before `task`, or () if a lost object is not the cause.

    The lost object is the last of `held`, or else the last object that a goal wants in the gripper.
    """
    wants = {condition.atom.predicate for condition in skills[task.step.skill].preconditions}
    names = held or tuple(name for goal in goals if goal.atom.predicate == "held" for name in goal.objects)
    if scene.held or "holding" not in wants or not names:
        return ()
    return _pick(names[-1], f"{task.step.id}.{task.attempt}", task.step.line, scene, skills)


def redo(goal: Goal, plan: Plan, round_number: int, scene: Scene, skills: Mapping[str, Signature]) -> tuple[Task, ...]:
    """Return the steps that restore `goal`, broken at the end of the plan, or () if there is no simple way.

    A robot that drives would have to go there first, which takes a new plan.
    """
    step = next((item for item in plan.steps if item.id == goal.step_id), None)
    if scene.building or scene.base or step is None or goal.atom.arguments[:1] != (HELD,) or scene.held:
        return ()
    again = replace(step, id=f"{step.id}r{round_number}", status=StepStatus.PENDING, message="done again")
    pick = _pick(goal.held_at_start, f"{again.id}.0", step.line, scene, skills)
    return (*pick, Task(again, from_program=False, goals=(goal,))) if pick else ()


def _pick(name: str, step_id: str, line: int, scene: Scene, skills: Mapping[str, Signature]) -> tuple[Task, ...]:
    """Return a step of the first skill that grasps an object, if the object is still there."""
    taking = [skill for skill in skills.values() if skill.fills_gripper and len(skill.parameters) == 1]
    if not taking or name not in scene.names:
        return ()
    step = PlanStep(step_id, taking[0].name, {taking[0].parameters[0].name: name}, line, message="picked up again")
    return (Task(step, from_program=False),)
