"""What is known of a plan under way, as values: the state of `execution`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from llm_planner.plan.events import Finish
from llm_planner.plan.plan import Goal, Plan, PlanStep
from llm_planner.plan.recovery import Task
from llm_planner.program.interpreter import Interpreter
from llm_planner.skills.contract import SkillResult
from llm_planner.world.places import BEHIND, Viewpoint
from llm_planner.world.scene import Scene, Vector3


class Phase(str, Enum):
    """What the execution is waiting for."""

    READY = "ready"  # a scene, to start the next step
    RUNNING = "running"  # the skill's end
    SETTLING = "settling"  # a scene in which things have come to rest
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True)
class Run:
    """A step under way: its task, the effects it has promised and what was in the gripper when it began.

    `result` is None until the skill has ended; `ended_at` [s] is the time of the last scene by then.
    """

    task: Task
    goals: tuple[Goal, ...]
    held_at_start: str
    result: SkillResult | None = None
    ended_at: float = 0.0

    @property
    def step(self) -> PlanStep:
        return self.task.step


@dataclass(frozen=True)
class Execution:
    """The whole state; `start_execution` makes the first one.

    `queue` are steps to do before the program is asked for its next. `goals` must hold at the end, by what has been
    done so far; `origins` is where each object last lay by itself [m, base frame]; `end` is how it ended, once it has.
    """

    plan: Plan
    interpreter: Interpreter
    viewpoint: Viewpoint
    phase: Phase = Phase.READY
    scene: Scene | None = None
    run: Run | None = None
    queue: tuple[Task, ...] = ()
    program_ended: bool = False
    goals: tuple[Goal, ...] = ()
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    repairs: int = 0
    end: Finish | None = None


def start_execution(plan: Plan, interpreter: Interpreter, viewpoint: Viewpoint = BEHIND) -> Execution:
    """The state before the first scene. `interpreter` is at the program's beginning and is not changed."""
    return Execution(plan, interpreter.fork(), viewpoint)
