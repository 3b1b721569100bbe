"""State, events and commands of the plan execution in `execution.execution`, as immutable values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from math import dist

from llm_planner.execution.watch import Watch, watch_for
from llm_planner.ltl.alphabet import Trace
from llm_planner.plans.manner import AS_USUAL, Manner
from llm_planner.plans.plan import Goal, Outcome, Plan, PlanStep, StepStatus
from llm_planner.plans.privileges.decision import Decision
from llm_planner.plans.privileges.policy import Verdict
from llm_planner.programs.interpreter import Interpreter, SkillCall
from llm_planner.programs.values import Argument
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import SkillResult

# Events


@dataclass(frozen=True)
class SceneObserved:
    """The scene was measured; the first one starts the plan."""

    scene: Scene


@dataclass(frozen=True)
class SkillFinished:
    """The skill of a step has ended, with or without success."""

    step_id: str
    result: SkillResult


@dataclass(frozen=True)
class StopRequested:
    """A person wants the robot to stop and drop the plan."""

    reason: str = "you said stop"


@dataclass(frozen=True)
class PauseRequested:
    """A person wants the robot to stop; the plan waits for `ResumeRequested`."""


@dataclass(frozen=True)
class ResumeRequested:
    """A person wants a paused plan to continue; an interrupted step starts again."""


@dataclass(frozen=True)
class SkillServerLost:
    """The skill server is gone; the robot stops by itself."""


@dataclass(frozen=True)
class SceneLost:
    """The scene is not measured any more."""


Event = SceneObserved | SkillFinished | StopRequested | PauseRequested | ResumeRequested | SkillServerLost | SceneLost

# Commands


@dataclass(frozen=True)
class StartSkill:
    """Start a skill. `arguments` are in base words, independent of the speaker's viewpoint; its path avoids `zones`."""

    step_id: str
    skill: str
    arguments: Mapping[str, Argument]
    zones: tuple[Zone, ...] = ()


@dataclass(frozen=True)
class CancelSkill:
    """Stop the running skill; the robot brakes to rest."""

    step_id: str


class EndReason(str, Enum):
    """Reason why a plan ended."""

    DONE = "done"
    FAILED = "failed"  # a skill failed, or the final scene misses a goal
    STOPPED = "stopped"
    QUESTION = "question"  # the person must decide how to continue
    REPLAN = "replan"  # continuing as planned would break or miss a constraint
    BROKEN = "broken"  # a constraint is broken
    SCENE_LOST = "scene lost"
    SKILLS_LOST = "skills lost"

    @property
    def outcome(self) -> Outcome:
        """Outcome in the JSON format."""
        known = {EndReason.DONE: Outcome.DONE, EndReason.QUESTION: Outcome.QUESTION}
        return known.get(self, Outcome.FAILED)


@dataclass(frozen=True)
class Finish:
    """End of the plan, with a message for a person.

    `trace` shows a constraint that is the reason; `step_id` is the step that could not be recovered, "" for none.
    """

    reason: EndReason
    message: str
    trace: Trace = ()
    step_id: str = ""

    @property
    def may_go_on(self) -> bool:
        """Whether another plan may continue from here: nothing is broken, and nobody stopped or refused this plan."""
        return self.reason is EndReason.REPLAN or bool(self.step_id)


Command = StartSkill | CancelSkill | Finish

NOTHING = Scene(0.0, ())
UNWATCHED = Watch()
Permit = Callable[[SkillCall, Scene], Decision]  # decides whether a call, in base words, may start now


def permit_all(call: SkillCall, scene: Scene) -> Decision:
    """Allow every call; the default without a policy."""
    return Decision(Verdict.ALLOW)


class Phase(str, Enum):
    """What the execution waits for."""

    READY = "ready"  # a scene, to start the next step
    RUNNING = "running"  # the end of the skill
    SETTLING = "settling"  # a scene with all objects at rest
    PAUSED = "paused"
    ENDED = "ended"


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


@dataclass(frozen=True)
class Run:
    """A step under way, with its goals, the scene in which it began, and the zones that its path avoids.

    `result` is None until the skill has ended; `ended_at` is the time of the last scene before that [s].
    """

    task: Task
    goals: tuple[Goal, ...]
    began: Scene
    zones: tuple[Zone, ...] = ()
    result: SkillResult | None = None
    ended_at: float = 0.0

    @property
    def step(self) -> PlanStep:
        return self.task.step

    @property
    def held_at_start(self) -> str:
        return self.began.held

    @property
    def evidence(self) -> tuple[Goal, ...]:
        """The goals, if one of them was missing when the step began; goals that held already prove nothing."""
        return () if all(goal.holds(self.began) for goal in self.goals) else self.goals


@dataclass(frozen=True)
class Execution:
    """Complete state of an execution; `start_execution` makes the first one.

    Attributes:
        queue: Steps to do before the program's next call.
        goals: Effects of the finished steps that must hold at the end.
        wanted: Predicted goals of the whole plan.
        origins: Position of each object when it last lay on its own [m, base frame].
        first_places: Position of each object when it was first seen [m, base frame].
        failures: Failed calls, of earlier plans too.
        watch: Monitors of the constraints, which have read every scene.
        version: Number of edits of the plan.
        last_id: Highest step number that an edit has used.
        before: State before the last edit.
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
    wanted: tuple[Goal, ...] = ()
    origins: Mapping[str, Vector3] = field(default_factory=dict)
    first_places: Mapping[str, Vector3] = field(default_factory=dict)
    repairs: int = 0
    failures: tuple[FailedCall, ...] = ()
    watch: Watch = UNWATCHED
    permit: Permit = permit_all
    end: Finish | None = None
    manner: Manner = AS_USUAL
    version: int = 0
    last_id: int = 0
    before: Execution | None = None

    @property
    def told(self) -> str:
        """What the program has said to the person so far."""
        return " ".join(self.interpreter.told)

    @property
    def places_before(self) -> Mapping[str, Vector3]:
        """Position to which each object returns [m, base frame]: where it was picked if held, else its first place."""
        held = self.scene.held if self.scene else ""
        return {name: self.origins[name] if name == held else place for name, place in self.first_places.items()}


def start_execution(
    plan: Plan,
    interpreter: Interpreter,
    viewpoint: Viewpoint = BEHIND,
    scene: Scene = NOTHING,
    permit: Permit = permit_all,
) -> Execution:
    """Return the state before the first scene; raise InputError if a constraint cannot be monitored.

    `interpreter` is at the beginning of the program and is not changed. `scene` determines which letters are possible.
    """
    return Execution(
        plan, interpreter.fork(), viewpoint, wanted=plan.goals, watch=watch_for(plan.constraints, scene), permit=permit
    )


def continue_execution(state: Execution, plan: Plan, interpreter: Interpreter) -> Execution:
    """Return the state in which a new plan continues an ended execution (`Finish.may_go_on`).

    Finished steps, their goals and the history of the constraints stay. The steps of `plan` follow with consecutive
    numbers. The constraints and privileges remain those of the first plan.
    """
    past = tuple(step for step in state.plan.steps if step.status in (StepStatus.DONE, StepStatus.FAILED))
    number = max((int(step.id) for step in past if step.id.isdigit()), default=0)
    ahead = tuple(replace(step, id=str(number + k)) for k, step in enumerate(plan.steps, start=1))
    whole = replace(plan, steps=(*past, *ahead), constraints=state.plan.constraints, command=state.plan.command)
    fresh = replace(state, phase=Phase.READY, run=None, queue=(), program_ended=False, end=None)
    return replace(fresh, plan=whole, interpreter=interpreter.fork())
