"""What the step under way is about to bring about: the letters on its way, each with where the robot is by then.

A rule such as `moved(block) -> speed(robot) < 0.1` binds a robot that has slowed down when the block begins to move; by
then it is too late to begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import dist

from llm_planner.errors import InputError
from llm_planner.plan.execution_state import Execution
from llm_planner.plan.plan import in_base_words
from llm_planner.plan.trace import letter, pass_through
from llm_planner.skills.errors import SkillError
from llm_planner.temporal.alphabet import Letter
from llm_planner.world.scene import Scene, Vector3

SOON_ARM, SOON_BASE = 0.12, 0.8  # [m] before the robot is there: enough to brake from full speed


@dataclass(frozen=True)
class Turn:
    """The robot should be at `position` [m] when a scene first shows `letter`."""

    position: Vector3
    letter: Letter


def turns_of(state: Execution) -> tuple[Turn, ...]:
    """The changes of letters on the way of the step that has just been started; none where no way is foreseen."""
    if state.run is None or state.scene is None or not state.watch.watched:
        return ()
    skill, step = state.interpreter.program.skills[state.run.step.skill], state.run.step
    values = in_base_words(skill, step.arguments, state.viewpoint)
    try:
        every_point, zones = state.watch.needs_every_point, state.run.zones
        passage = pass_through(skill, values, state.scene, state.origins, every_point, zones)
    except (InputError, SkillError):
        return ()
    found, before = list[Turn](), state.watch.trace[-1:]
    for moment in passage.moments(state.watch.origins):
        shown = letter(moment, state.watch.propositions)
        if (shown,) != before and moment.scene.robot is not None:
            found.append(Turn(moment.scene.robot.position, shown))
        before = (shown,)
    return tuple(found)


def imminent(turns: tuple[Turn, ...], scene: Scene) -> tuple[Letter, ...]:
    """The letters of those turns that the robot is close to in `scene`."""
    if scene.robot is None:
        return ()
    soon = SOON_BASE if scene.building else SOON_ARM
    return tuple(turn.letter for turn in turns if dist(turn.position, scene.robot.position) <= soon)
