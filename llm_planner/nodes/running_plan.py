"""The plan under way in the executor, and what others are told of it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from geometry_msgs.msg import Point
from llm_planner_interfaces.msg import PlanStatus
from rclpy.task import Future

from llm_planner.language.go_on_words import GO_ON
from llm_planner.nodes.correction_messages import edit_to_text
from llm_planner.nodes.idempotent_requests import SharedGoal
from llm_planner.nodes.plan_messages import constraint_to_msg, step_to_msg
from llm_planner.plan.edits import Edit
from llm_planner.plan.events import EndReason
from llm_planner.plan.execution_state import Execution, Phase
from llm_planner.plan.motion_rules import MotionRules
from llm_planner.plan.run_log import Kept, RunLog

MOST_EDITS = 20  # that are told of
_STATES = {EndReason.DONE: PlanStatus.SUCCEEDED, EndReason.STOPPED: PlanStatus.STOPPED}


@dataclass
class Running:
    """The plan under way; `state` is replaced by every event, `log` and `rules` see every scene.

    `edits` were applied, the newest last. While one is `checked`, the robot is held and the state looks at no scene;
    `goes_on` says whether it is to move on afterwards.
    """

    goal: SharedGoal
    state: Execution
    done: Future = field(default_factory=Future)
    log: RunLog = field(default_factory=RunLog)
    rules: MotionRules = field(default_factory=lambda: MotionRules(time.time_ns()))
    edits: tuple[Edit, ...] = ()
    checked: Future | None = None
    goes_on: bool = True

    @property
    def id(self) -> str:
        return self.goal.request.plan.id

    @property
    def has_ended(self) -> bool:
        return self.state.phase is Phase.ENDED

    @property
    def may_go_on(self) -> bool:
        """Whether whoever sent the plan may send another that goes on from here. What an edit has made of it they do
        not know, and would undo."""
        end = self.state.end
        return end is not None and end.may_go_on and not self.edits

    @property
    def told_at_the_end(self) -> str:
        """How it has ended, and what to say where only a person can have it gone on with; "" before its end."""
        end = self.state.end
        if end is None:
            return ""
        by_a_person = end.may_go_on and not self.may_go_on
        return f"{end.message} If it shall be tried again, {GO_ON}." if by_a_person else end.message

    @property
    def kept(self) -> tuple[Kept, ...]:
        """By how much each constraint has been kept up to now."""
        return self.log.kept(self.state.watch)

    @property
    def status(self) -> PlanStatus:
        """All that is told of it, but for who tells it and when."""
        state = self.state
        return PlanStatus(
            plan_id=self.id,
            state=_number(state),
            message=state.end.message if state.end else state.told,
            steps=list(map(step_to_msg, state.plan.steps)),
            complete=state.plan.complete,
            command=state.plan.command,
            version=state.version,
            edits=list(map(edit_to_text, self.edits[-MOST_EDITS:])),
            constraints=list(map(constraint_to_msg, state.plan.constraints)),
            things=list(state.places_before),
            origins=[Point(x=x, y=y, z=z) for x, y, z in state.places_before.values()],
        )


def _number(state: Execution) -> int:
    if state.end is not None:
        return _STATES.get(state.end.reason, PlanStatus.FAILED)
    return PlanStatus.PAUSED if state.phase is Phase.PAUSED else PlanStatus.RUNNING
