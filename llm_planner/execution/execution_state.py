"""What is known of a plan under way, as values: the state of `execution`.

What happens to a running plan, and what its execution asks for: the vocabulary of `execution`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from llm_planner.execution.watch import Watch, watch_for
from llm_planner.ltl.alphabet import Trace
from llm_planner.plans.manner import AS_USUAL, Manner
from llm_planner.plans.plan import Goal, Outcome, Plan, PlanStep, StepStatus
from llm_planner.plans.privileges.decision import Decision
from llm_planner.plans.privileges.policy import Verdict
from llm_planner.plans.recovery import FailedCall, Task
from llm_planner.programs.interpreter import Interpreter, SkillCall
from llm_planner.programs.values import Argument
from llm_planner.scene.places import BEHIND, Viewpoint
from llm_planner.scene.scene import Scene, Vector3
from llm_planner.scene.zones import Zone
from llm_planner.skills.contract import SkillResult

# Events


@dataclass(frozen=True)
class SceneObserved:
    """The scene as measured now. The first one starts the plan."""

    scene: Scene


@dataclass(frozen=True)
class SkillFinished:
    """The skill of that step has ended, well or not."""

    step_id: str
    result: SkillResult


@dataclass(frozen=True)
class StopRequested:
    """A person wants the arm to stop and the plan dropped."""

    reason: str = "you said stop"


@dataclass(frozen=True)
class PauseRequested:
    """The arm is to stop; the plan waits for `ResumeRequested`."""


@dataclass(frozen=True)
class ResumeRequested:
    """Go on where the plan was paused; an interrupted step starts again."""


@dataclass(frozen=True)
class SkillServerLost:
    """Whatever runs the skills is gone; the arm stops by itself."""


@dataclass(frozen=True)
class SceneLost:
    """Nobody measures the scene any more."""


Event = SceneObserved | SkillFinished | StopRequested | PauseRequested | ResumeRequested | SkillServerLost | SceneLost

# Commands


@dataclass(frozen=True)
class StartSkill:
    """Start a skill; `arguments` are in base words, whatever the speaker's viewpoint. Its way keeps out of `zones`."""

    step_id: str
    skill: str
    arguments: Mapping[str, Argument]
    zones: tuple[Zone, ...] = ()


@dataclass(frozen=True)
class CancelSkill:
    """Stop the running skill; the arm brakes to rest."""

    step_id: str


class EndReason(str, Enum):
    """Why a plan ended."""

    DONE = "done"
    FAILED = "failed"  # a skill, or the scene at the end
    STOPPED = "stopped"
    QUESTION = "question"  # only the person can say how to go on
    REPLAN = "replan"  # nothing is broken, but going on as planned would break or miss a constraint
    BROKEN = "broken"  # a constraint is broken
    SCENE_LOST = "scene lost"
    SKILLS_LOST = "skills lost"

    @property
    def outcome(self) -> Outcome:
        """The same in the words of the JSON format."""
        known = {EndReason.DONE: Outcome.DONE, EndReason.QUESTION: Outcome.QUESTION}
        return known.get(self, Outcome.FAILED)


@dataclass(frozen=True)
class Finish:
    """The plan has ended; `message` is for a person. Where a constraint is the reason, `trace` shows why; where a step
    that cannot be made good is, `step_id` is its id."""

    reason: EndReason
    message: str
    trace: Trace = ()
    step_id: str = ""

    @property
    def may_go_on(self) -> bool:
        """Whether another plan may go on from here: nothing is broken, and nobody has stopped or refused this one."""
        return self.reason is EndReason.REPLAN or bool(self.step_id)


Command = StartSkill | CancelSkill | Finish

NOTHING = Scene(0.0, ())
UNWATCHED = Watch()
Permit = Callable[[SkillCall, Scene], Decision]  # whether a call, in base words, may start now


def permit_all(call: SkillCall, scene: Scene) -> Decision:
    """What holds where no policy is given."""
    return Decision(Verdict.ALLOW)


class Phase(str, Enum):
    """What the execution is waiting for."""

    READY = "ready"  # a scene, to start the next step
    RUNNING = "running"  # the skill's end
    SETTLING = "settling"  # a scene in which things have come to rest
    PAUSED = "paused"
    ENDED = "ended"


@dataclass(frozen=True)
class Run:
    """A step under way: its task, the effects it has promised, the scene in which it began and the zones that its way
    keeps out of.

    `result` is None until the skill has ended; `ended_at` [s] is the time of the last scene by then.
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


@dataclass(frozen=True)
class Execution:
    """The whole state; `start_execution` makes the first one.

    `queue` are steps to do before the program is asked for its next. `goals` must hold at the end, by what has been
    done so far, and `wanted` are those of the whole plan as they were foreseen; `origins` is where each object last lay
    by itself and `first_places` where it lay when it was first seen [m, base frame]; `failures` are the calls that have
    failed, of the plans before this one too; `watch` has read every scene;
    `permit` is asked before each step; `end` is how it ended, once it has. `manner` is how the person wants its motion
    to be, `version` how often the plan was edited, `last_id` the highest number that an edit called a step by, `before`
    the state that the last edit changed.
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
        """Where each thing goes back to [m, base frame]: what is held where it was taken, all else where it lay before
        anything was done."""
        held = self.scene.held if self.scene else ""
        return {name: self.origins[name] if name == held else place for name, place in self.first_places.items()}


def start_execution(
    plan: Plan,
    interpreter: Interpreter,
    viewpoint: Viewpoint = BEHIND,
    scene: Scene = NOTHING,
    permit: Permit = permit_all,
) -> Execution:
    """The state before the first scene. `interpreter` is at the program's beginning and is not changed.

    What can occur in `scene` is what the constraints reckon with. Raises InputError for one that cannot be watched.
    """
    return Execution(
        plan, interpreter.fork(), viewpoint, wanted=plan.goals, watch=watch_for(plan.constraints, scene), permit=permit
    )


def continue_execution(state: Execution, plan: Plan, interpreter: Interpreter) -> Execution:
    """The state in which a new plan goes on where an execution ended and may go on (`Finish.may_go_on`).

    Steps that have ended, what they have achieved and what the constraints have seen stay; the steps of `plan` come
    after them, numbered on. The constraints and the privileges are those of the first plan.
    """
    past = tuple(step for step in state.plan.steps if step.status in (StepStatus.DONE, StepStatus.FAILED))
    number = max((int(step.id) for step in past if step.id.isdigit()), default=0)
    ahead = tuple(replace(step, id=str(number + k)) for k, step in enumerate(plan.steps, start=1))
    whole = replace(plan, steps=(*past, *ahead), constraints=state.plan.constraints, command=state.plan.command)
    fresh = replace(state, phase=Phase.READY, run=None, queue=(), program_ended=False, end=None)
    return replace(fresh, plan=whole, interpreter=interpreter.fork())
