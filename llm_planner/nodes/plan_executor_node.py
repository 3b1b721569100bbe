"""Carries plans out: drives the state machine of `plan.execution` with scenes and skill results. No model in here."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from llm_planner_interfaces.action import ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, ConstraintStatus, MotionPatch, Plan, PlanStatus
from llm_planner_interfaces.srv import StopRobot
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future

from llm_planner.errors import InputError, LlmPlannerError, QuestionError
from llm_planner.nodes.base_messages import MAP_FRAME
from llm_planner.nodes.journal_file import journal_path, note
from llm_planner.nodes.message_conversions import BASE_FRAME as ARM_FRAME
from llm_planner.nodes.motion_messages import patch_to_msg
from llm_planner.nodes.plan_messages import plan_from_msg, step_to_msg, trace_to_msg, watch_to_msg
from llm_planner.nodes.scene_feed import NO_SCENE, SceneFeed
from llm_planner.nodes.settings import CAMERA, PRIVILEGES, SKILLS, Setting
from llm_planner.nodes.shell import LATCHED, OK, PATCHES, RELIABLE, WARN, ShellNode, run_node
from llm_planner.nodes.silence import Silence
from llm_planner.nodes.skill_client import SkillClient
from llm_planner.nodes.skill_folder import library_of
from llm_planner.plan.acceptance import accept
from llm_planner.plan.commander import Commander
from llm_planner.plan.events import (
    CancelSkill,
    EndReason,
    Event,
    Finish,
    SceneLost,
    SceneObserved,
    SkillFinished,
    SkillServerLost,
    StartSkill,
    StopRequested,
)
from llm_planner.plan.execution import advance
from llm_planner.plan.execution_state import Execution, Phase
from llm_planner.plan.journal import Journal, RecordKind, read_journal, unfinished
from llm_planner.plan.motion_rules import MotionRules
from llm_planner.plan.plan import PlanStep, StepStatus
from llm_planner.plan.planning import outcome_of
from llm_planner.plan.planning_settings import planning_settings
from llm_planner.plan.report import constraint_json, kept_json
from llm_planner.plan.run_log import Kept, RunLog
from llm_planner.plan.watch import Watch
from llm_planner.skills.contract import SkillResult
from llm_planner.temporal.monitor import Verdict
from llm_planner.world.places import viewpoint

Result = ExecutePlan.Result
_CODES = {
    EndReason.DONE: Result.SUCCEEDED,
    EndReason.FAILED: Result.SKILL_FAILED,
    EndReason.STOPPED: Result.STOPPED,
    EndReason.QUESTION: Result.QUESTION,
    EndReason.REPLAN: Result.REPLAN,
    EndReason.BROKEN: Result.CONSTRAINT_BROKEN,
    EndReason.SCENE_LOST: Result.NO_SCENE,
    EndReason.SKILLS_LOST: Result.SKILLS_LOST,
}
SCENE_PATIENCE = 2.0  # [s] that a plan waits for a scene
_STATES = {EndReason.DONE: PlanStatus.SUCCEEDED, EndReason.STOPPED: PlanStatus.STOPPED}


@dataclass
class Running:
    """The plan under way; `state` is replaced by every event, `log` and `rules` see every scene."""

    goal: ServerGoalHandle
    state: Execution
    done: Future = field(default_factory=Future)
    log: RunLog = field(default_factory=RunLog)
    rules: MotionRules = field(default_factory=lambda: MotionRules(time.time_ns()))

    @property
    def id(self) -> str:
        return self.goal.request.plan.id

    @property
    def kept(self) -> tuple[Kept, ...]:
        """By how much each constraint has been kept up to now."""
        return self.log.kept(self.state.watch)


class PlanExecutorNode(ShellNode):
    """One plan at a time. Stopping takes one callback and waits for nothing."""

    SETTINGS = (
        Setting("viewpoint", "behind", "where the speaker stands: behind, facing, left or right of the robot"),
        Setting("scene_timeout", 1.0, "wall time without a scene after which a plan is given up [s]", 0.2, 10.0),
        Setting(
            "planner_timeout", 4.0, "wall time without a word of the command after which its plan ends [s]", 2.0, 60.0
        ),
        PRIVILEGES,
        SKILLS,
        CAMERA,
        Setting("journal", "", "file that records what is done; empty: llm_planner/journal.jsonl in ROS's folder"),
    )

    def configure(self) -> None:
        self._viewpoint = viewpoint(self.setting("viewpoint"))
        self._library = library_of(self)
        policy = Path(self.setting("privileges")) if self.setting("privileges") else None
        self._settings = planning_settings("off", policy, "", self._library, self._viewpoint)
        self._journal = Journal(journal_path(self.setting("journal")))
        for left in unfinished(read_journal(self._journal.path)):
            done = sum(status == StepStatus.DONE.value for status in left.steps.values())
            self.get_logger().warning(f"left unfinished earlier: {left.command!r}, after {done} steps; say it again")
            note(self._journal, RecordKind.OUTCOME, left.command_id, outcome="abandoned")
        self._running: Running | None = None
        self._unfinished: Running | None = None  # has ended, and another plan may go on from there
        self._commander = Commander(self.setting("planner_timeout"))
        self._listening = Silence()  # its seconds are the commander's clock, which stands while we are held up
        self._listening.heard()
        self._id = time.time_ns()
        self._stops = 0
        self._last = PlanStatus()
        self._status = self.create_lifecycle_publisher(PlanStatus, "plan_status", LATCHED)
        self._constraint_status = self.create_lifecycle_publisher(ConstraintStatus, "constraint_status", LATCHED)
        self._patches = self.create_lifecycle_publisher(MotionPatch, "motion_patch", PATCHES)
        self._skills = SkillClient(self, self._on_skill_result, lambda: self._handle(SkillServerLost()))
        self._scenes = SceneFeed(self, self.setting("scene_timeout"), self._on_scene)
        self.create_subscription(CommandStatus, "command_status", self._on_command, RELIABLE)
        self.create_service(StopRobot, "stop", self._on_stop)
        self.every(0.25, self._on_watch)
        self.every(0.5, self._publish_status)
        self.every(1.0, self._on_diagnose)
        ActionServer(
            self, ExecutePlan, "execute_plan", self._execute,
            goal_callback=self._on_goal, cancel_callback=self._on_cancel,
        )  # fmt: skip

    def close(self) -> None:
        if hasattr(self, "_journal"):
            self._journal.close()

    def _on_goal(self, goal: ExecutePlan.Goal) -> GoalResponse:
        return GoalResponse.ACCEPT if self.is_active else GoalResponse.REJECT

    def _on_cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        if self._running is not None and self._running.goal.goal_id == goal.goal_id:
            self._handle(StopRequested("the command was canceled"))
        return CancelResponse.ACCEPT

    async def _execute(self, goal: ServerGoalHandle) -> Result:
        await self._scenes.wait(SCENE_PATIENCE)  # just started, we may see the simulator later than whoever planned
        refusal = self._begin(goal)
        if refusal is not None:
            (goal.canceled if goal.is_cancel_requested else goal.abort)()
            return refusal
        running = self._running
        await running.done
        return self._result(running)

    def _begin(self, goal: ServerGoalHandle) -> Result | None:
        """Start the plan, or say why not."""
        plan = goal.request.plan
        if goal.is_cancel_requested:
            return Result(error_code=Result.CANCELED, error_msg="Canceled before anything moved.")
        if self._running is not None:
            return Result(error_code=Result.BUSY, error_msg="another plan is running")
        given_up = self._commander.why_stop(plan.id, self._listening.seconds)
        if (plan.executor, plan.stops) != (self._id, self._stops) or given_up:
            return Result(error_code=Result.STOPPED, error_msg="Stopped before it began.")
        if not self._scenes.is_fresh:
            return Result(error_code=Result.NO_SCENE, error_msg=NO_SCENE)
        try:
            state = self._accepted(plan)
        except QuestionError as error:
            return Result(error_code=Result.QUESTION, error_msg=str(error))
        except LlmPlannerError as error:
            return Result(error_code=Result.REFUSED, error_msg=outcome_of(error)[1])
        constraints = list(map(constraint_json, state.plan.constraints))
        note(
            self._journal, RecordKind.PLAN, plan.id, command=plan.command, program=plan.program, constraints=constraints
        )
        self._running, self._unfinished = Running(goal, state), None
        self._publish_watch(self._running)
        self._handle(SceneObserved(self._scenes.scene))
        return None

    def _accepted(self, plan: Plan) -> Execution:
        """The state in which the plan begins; raises LlmPlannerError where it may not."""
        shown = plan_from_msg(plan)
        unfinished = None
        if plan.continues:
            if self._unfinished is None or self._unfinished.id != plan.continues:
                raise InputError("there is no plan to go on with: the robot has been used since; say the command again")
            unfinished = self._unfinished.state
        scene, settings = self._scenes.scene, replace(self._settings, source=plan.source)
        return accept(shown, scene, self._library.for_scene(scene).signatures, self._viewpoint, settings, unfinished)

    def _result(self, running: Running) -> Result:
        end = running.state.end
        if running.goal.is_cancel_requested:
            running.goal.canceled()
            return Result(error_code=Result.CANCELED, error_msg=end.message)
        if end.reason is EndReason.DONE:
            running.goal.succeed()
        else:
            running.goal.abort()
        steps, seen = list(map(step_to_msg, running.state.plan.steps)), trace_to_msg(running.state.watch.trace)
        code, may_go_on = _CODES[end.reason], self._unfinished is running
        return Result(error_code=code, error_msg=end.message, may_go_on=may_go_on, steps=steps, seen=seen)

    def _on_scene(self, restarted: bool) -> None:
        if restarted:
            self._unfinished = None
            self._handle(StopRequested("the robot or its simulator was restarted"))
        else:
            self._handle(SceneObserved(self._scenes.scene))

    def _on_skill_result(self, step_id: str, result: SkillResult) -> None:
        self._handle(SkillFinished(step_id, result))

    def _on_command(self, status: CommandStatus) -> None:
        ended = status.state == CommandStatus.ENDED
        self._commander = self._commander.heard(status.id, self._listening.seconds, ended)
        if ended:
            self._check_command()

    def _check_command(self) -> None:
        """A plan that nobody waits for any more ends, whatever became of whoever sent it."""
        given_up = self._commander.why_stop(self._running.id, self._listening.seconds) if self._running else ""
        if given_up:
            self._handle(StopRequested(given_up))

    def _on_watch(self) -> None:
        self._skills.watch()
        self._listening.look(time.monotonic())
        self._check_command()
        self._scenes.watch()
        if self._running is not None and not self._scenes.is_fresh:
            self._handle(SceneLost())

    def _on_stop(self, request: StopRobot.Request, response: StopRobot.Response) -> StopRobot.Response:
        self._stops += 1
        self._unfinished = None
        if self._running is None:
            response.error_code = StopRobot.Response.NOTHING_TO_STOP
            response.error_msg = "no plan was running"
        self._handle(StopRequested(request.reason or "you said stop"))
        self._publish_status()
        return response

    def _handle(self, event: Event) -> None:
        """Let the state machine have the event, and do what it asks for."""
        running = self._running
        if running is None:
            return
        before = running.state
        running.state, commands = advance(before, event)
        self._bind(running)
        for step in _changed(before.plan.steps, running.state.plan.steps):
            note(self._journal, RecordKind.STEP, running.id, step_id=step.id, step=str(step), status=step.status.value)
        for command in commands:
            match command:
                case StartSkill():
                    self._skills.start(command)
                case CancelSkill():
                    self._skills.cancel()
                case Finish(reason=reason, message=message):
                    kept = list(map(kept_json, running.kept))
                    note(
                        self._journal, RecordKind.OUTCOME, running.id, outcome=reason.value, message=message, kept=kept
                    )
                    self._running = None
                    by_policy = reason is EndReason.STOPPED and not isinstance(event, StopRequested)
                    self._stops += by_policy  # as if a person had said it: what waits is dropped, too
                    self._unfinished = running if command.may_go_on else None
        if self._running is None or _verdicts(running.state.watch) != _verdicts(before.watch):
            self._publish_watch(running)
        if running.state.plan is not before.plan or running.state.phase is not before.phase:
            self._show(running)
        if self._running is None:
            running.done.set_result(None)

    def _bind(self, running: Running) -> None:
        """Tell whoever moves the robot what the rules ask of every motion now."""
        scene = running.state.scene
        if scene is None:
            return
        running.log.see(running.state.watch, scene)
        for patch in running.rules.patches(running.state, scene.time):
            self._patches.publish(patch_to_msg(patch, MAP_FRAME if scene.building else ARM_FRAME))

    def _show(self, running: Running) -> None:
        state = running.state
        self._last = PlanStatus(
            plan_id=running.id,
            state=_number(state),
            message=state.end.message if state.end else "",
            steps=list(map(step_to_msg, state.plan.steps)),
        )
        self._publish_status()
        if running.goal.is_active:
            running.goal.publish_feedback(ExecutePlan.Feedback(status=self._last))

    def _publish_watch(self, running: Running) -> None:
        kept = () if self._running is running else running.kept
        self._constraint_status.publish(watch_to_msg(running.state.watch, running.id, self._scenes.scene, kept))

    def _publish_status(self) -> None:
        self._last.executor, self._last.stops = self._id, self._stops
        self._last.header.stamp = self.get_clock().now().to_msg()
        self._status.publish(self._last)

    def _on_diagnose(self) -> None:
        if not self._scenes.is_fresh:
            self.report(WARN, "no scene arrives")
        else:
            self.report(OK, "running a plan" if self._running else "idle")


def _verdicts(watch: Watch) -> tuple[tuple[Verdict, bool], ...]:
    return tuple((one.verdict, one.monitor.accepts) for one in watch.watched)


def _number(state: Execution) -> int:
    if state.end is not None:
        return _STATES.get(state.end.reason, PlanStatus.FAILED)
    return PlanStatus.PAUSED if state.phase is Phase.PAUSED else PlanStatus.RUNNING


def _changed(before: tuple[PlanStep, ...], after: tuple[PlanStep, ...]) -> list[PlanStep]:
    """The steps whose status is new, unless they are merely foreseen."""
    known = {step.id: step.status for step in before}
    return [step for step in after if known.get(step.id, StepStatus.PENDING) is not step.status]


def main() -> None:
    run_node(PlanExecutorNode, "plan_executor")


if __name__ == "__main__":
    main()
