"""What happens to a running plan, and what its execution asks for: the vocabulary of `execution`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from llm_planner.control.zones import Zone
from llm_planner.plan.plan import Outcome
from llm_planner.skills.contract import Argument, SkillResult
from llm_planner.temporal.alphabet import Trace
from llm_planner.world.scene import Scene

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
