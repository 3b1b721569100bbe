"""Node that executes plans: feeds scenes and skill results to the state machine of `execution`; uses no model."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from llm_planner_interfaces.action import ExecutePlan
from llm_planner_interfaces.msg import CommandStatus, ConstraintStatus, MotionPatch, MotionTuning, Plan, PlanStatus
from llm_planner_interfaces.srv import StopRobot
from std_msgs.msg import Empty, Header

from llm_planner.corrections.resume import as_before, is_left, is_of_work, left_over, offer
from llm_planner.errors import InputError, LlmPlannerError, QuestionError
from llm_planner.execution.execution import advance
from llm_planner.execution.execution_state import (
    CancelSkill,
    Command,
    EndReason,
    Event,
    Execution,
    Finish,
    SceneLost,
    SceneObserved,
    SkillFinished,
    SkillServerLost,
    StartSkill,
    StopRequested,
)
from llm_planner.execution.journal import RecordKind
from llm_planner.execution.journal_buffer import OPENING, Journal, JournalError
from llm_planner.execution.motion_rules import in_fixed_frame
from llm_planner.execution.supervision import CommandHeartbeat
from llm_planner.language.stop_words import GO_ON
from llm_planner.planning.in_process import accept
from llm_planner.planning.planned import planning_settings
from llm_planner.planning.planning import outcome_of
from llm_planner.planning.report import kept_json
from llm_planner.plans.manner import moved_along
from llm_planner.ros.base_node import COMMANDS, LATCHED, OK, PATCHES, RELIABLE, SENSOR_DATA, WARN, BaseNode, run_node
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.correction_messages import tuning_to_msg
from llm_planner.ros.conversions.motion_messages import patch_to_msg
from llm_planner.ros.conversions.plan_messages import (
    plan_from_msg,
    step_to_msg,
    trace_to_msg,
    watch_to_msg,
)
from llm_planner.ros.conversions.robot_messages import MAP_FRAME
from llm_planner.ros.execution_clients import NOT_BEGUN, PlanStart, SkillClient
from llm_planner.ros.heartbeat_monitor import HeartbeatMonitor, MotionNodeMonitor
from llm_planner.ros.idempotent_requests import GoalServer, SharedGoal, answer_once
from llm_planner.ros.journal_file import close_journal, journal_path, log_news, note, system_of
from llm_planner.ros.parameters import JOURNAL, PLAN_SETTINGS, PRIVILEGES, Setting
from llm_planner.ros.running_plan import EditService, Running, note_plan, note_steps, step_news
from llm_planner.ros.scene_feed import NO_SCENE, SceneFeed, library_of
from llm_planner.ros.sender_identity import stop_of
from llm_planner.scene.places import viewpoint

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
LEASE_PERIOD = 0.1  # [s, wall time] between renewals of the running skill's lease
IDLE_BEATS = 5  # lease periods between two statuses without a lease
FAULT = "The plan executor failed by a fault of its own, and the robot has stopped; see what its node prints."
REASON_MAX = 500  # [characters] of the reason for a stop; longer ones are cut, never refused
MOVERS = {"mpc_controller": "the controller", "safety_filter": "the safety filter"}


class PlanExecutorNode(BaseNode):
    """Executes one plan at a time; a stop takes effect within one callback and waits for nothing."""

    SETTINGS = (
        Setting("scene_timeout", 1.0, "time without a scene after which a plan is given up [s]", 0.2, 10.0),
        Setting(
            "planner_timeout", 4.0, "wall time without a word of the command after which its plan ends [s]", 2.0, 60.0
        ),
        PRIVILEGES,
        JOURNAL,
        *PLAN_SETTINGS,
    )

    def configure(self) -> None:
        self._viewpoint = viewpoint(self.setting("viewpoint"))
        self._library = library_of(self)
        policy = Path(self.setting("privileges")) if self.setting("privileges") else None
        self._planning = planning_settings("off", policy, "", self._library, self._viewpoint)
        self._journal = Journal(journal_path(self.setting("journal"), *system_of(self)))
        self._last = PlanStatus()
        self._tell_of_unfinished()
        self._running: Running | None = None
        self._unfinished: Running | None = None  # ended plan that another plan may continue
        self._commander = CommandHeartbeat(self.setting("planner_timeout"))
        self._listening = HeartbeatMonitor()  # the commander's clock, which stands still while this node is delayed
        self._listening.heard()
        self._id, self._start = time.time_ns(), PlanStart(self, self._lacking)
        self._stops = self._beats = 0
        self._status = self.create_lifecycle_publisher(PlanStatus, "plan_status", LATCHED)
        self._constraint_status = self.create_lifecycle_publisher(ConstraintStatus, "constraint_status", LATCHED)
        self._plan = self.create_lifecycle_publisher(Plan, "plan", LATCHED)
        self._tuning = self.create_lifecycle_publisher(MotionTuning, "motion_tuning", LATCHED)
        self._patches = self.create_lifecycle_publisher(MotionPatch, "motion_patch", PATCHES)
        self._skills = SkillClient(
            self,
            lambda step, result: self._handle(SkillFinished(step, result)),
            lambda: self._handle(SkillServerLost()),
            lambda: self._running and self._show(self._running),
        )
        self._scenes = SceneFeed(self, self.setting("scene_timeout"), self._on_scene)
        self.create_subscription(
            CommandStatus, "command_status", checks.validated(self, _checked, self._on_command), COMMANDS
        )
        self.create_service(StopRobot, "stop", answer_once(self._on_stop))
        for qos in (RELIABLE, SENSOR_DATA):  # a publisher of either kind is heard; a second stop does no harm
            self.create_subscription(Empty, "stop", lambda _, info: self._stop(stop_of(self, "stop", info)), qos)
        EditService(self, self._journal, lambda: self._running, self._go, self._stop)
        self._movers = MotionNodeMonitor(self, MOVERS)
        self.every(0.25, self._on_watch)
        self.every(LEASE_PERIOD, self._on_beat)
        self.report_with(self._on_diagnose)
        GoalServer(self, ExecutePlan, "execute_plan", self._execute, self._on_cancel, lambda goal: self.is_active)

    def close(self) -> None:
        if hasattr(self, "_journal"):
            close_journal(self, self._journal)

    def _tell_of_unfinished(self) -> None:
        try:
            commands = [left for left in self._journal.unfinished() if left.planned]  # the planner handles others
            records = self._journal.tail(is_of_work, seconds=OPENING)
        except JournalError as error:
            self.get_logger().warning(str(error))
            return
        for left in commands:
            self._last.message = offer(left, records)
            self.get_logger().warning(self._last.message)
            note(self._journal, RecordKind.OUTCOME, left.command_id, outcome="abandoned")

    def on_fault(self, error: BaseException) -> None:
        """Cancel the skill and end the plan as failed, in whatever state it is."""
        self._skills.cancel()
        running, self._running, self._unfinished = self._running, None, None
        self._stops += 1
        if running is not None:
            self._last.state, self._last.message = PlanStatus.FAILED, FAULT
        self._publish_status()
        if running is not None and not running.done.done():
            running.done.set_result(None)

    def _on_cancel(self, goal: SharedGoal) -> None:
        if self._running is not None and self._running.goal is goal:
            self._handle(StopRequested("the command was canceled"))

    async def _execute(self, goal: SharedGoal) -> Result:
        lacking = await self._start.wait(goal, lambda: goal.request.plan.stops != self._stops)
        refusal = self._begin(goal, lacking)
        if refusal is not None:
            return refusal
        running = self._running
        await running.done
        return self._result(running)

    def _lacking(self) -> str:
        """Return what a plan has to wait for, "" if it may begin."""
        if not self._scenes.is_fresh:
            return "the scene"
        return "the skill server" if not self._skills.is_ready else MOVERS.get(self._movers.starting(), "")

    def _begin(self, goal: SharedGoal, lacking: str) -> Result | None:
        """Start the plan; return a result if it cannot start."""
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
        if lacking:
            return Result(error_code=Result.SKILLS_LOST, error_msg=NOT_BEGUN.format(lacking))
        try:
            state = self._accepted(plan)
        except QuestionError as error:
            return Result(error_code=Result.QUESTION, error_msg=str(error))
        except LlmPlannerError as error:
            return Result(error_code=Result.REFUSED, error_msg=outcome_of(error)[1])
        running = Running(goal, state)
        note_plan(self._journal, running)
        self._plan.publish(plan)
        self._movers.lost()  # a restart before the plan does not stop it
        self._running, self._unfinished = running, None
        self.tell(f"executing “{plan.command}”")
        for rule in state.plan.constraints:
            self.tell(f"rule in force: {rule}")
        self._publish_watch(self._running)
        self._handle(SceneObserved(self._scenes.scene))
        return None

    def _accepted(self, plan: Plan) -> Execution:
        """Return the initial state of the plan; raise LlmPlannerError if the plan is refused."""
        unfinished = self._unfinished if self._unfinished and self._unfinished.id == plan.continues else None
        left = None
        if plan.continues and not unfinished:  # a new command that continues an earlier one
            records = self._journal.tail(is_of_work, plan.id)
            left = left_over(records, plan.id) if is_left(plan.continues, records, plan.id) else None
        if plan.continues and not (unfinished or left):
            raise InputError("there is no plan to go on with: the robot has been used since; say the command again")
        scene, settings = self._scenes.scene, replace(self._planning, source=plan.source)
        skills = self._library.for_scene(scene).signatures
        state = accept(plan_from_msg(plan), scene, skills, self._viewpoint, settings, unfinished and unfinished.state)
        return as_before(state, left) if left else state

    def _result(self, running: Running) -> Result:
        end = running.state.end
        if end is None:
            return Result(error_msg=FAULT)
        if running.goal.is_cancel_requested and end.reason is not EndReason.DONE:
            return Result(error_code=Result.CANCELED, error_msg=end.message)
        steps, seen = list(map(step_to_msg, running.state.plan.steps)), trace_to_msg(running.state.watch.trace)
        code, may_go_on = _CODES[end.reason], self._unfinished is running
        return Result(error_code=code, error_msg=running.told_at_the_end, may_go_on=may_go_on, steps=steps, seen=seen)

    def _on_scene(self, restarted: bool) -> None:
        if restarted:
            self._unfinished = None
            self._handle(StopRequested("the robot or its simulator was restarted"))
        else:
            self._handle(SceneObserved(self._scenes.scene))

    def _on_command(self, status: CommandStatus) -> None:
        ended = status.state == CommandStatus.ENDED
        self._commander = self._commander.heard(status.id, self._listening.seconds, ended)
        if ended:
            self._check_command()

    def _check_command(self) -> None:
        """End the plan if its command has ended or its sender has gone silent."""
        given_up = self._commander.why_stop(self._running.id, self._listening.seconds) if self._running else ""
        if given_up:
            self._handle(StopRequested(f"{given_up}; {GO_ON}"))

    def _on_watch(self) -> None:
        self._start.watch()
        self._skills.watch()
        self._listening.look(time.monotonic())
        self._check_command()
        self._scenes.watch()
        if self._running is not None and not self._scenes.is_fresh:
            self._handle(SceneLost())

    def _on_stop(self, request: StopRobot.Request, response: StopRobot.Response) -> StopRobot.Response:
        response.error_code = StopRobot.Response.STOPPED
        if self._running is None:
            response.error_code = StopRobot.Response.NOTHING_TO_STOP
            response.error_msg = "no plan was running"
        self._stop(request.reason[:REASON_MAX] or "you said stop")
        return response

    def _stop(self, reason: str) -> None:
        self._stops += 1
        self._unfinished = None
        was_running = self._running is not None
        self._handle(StopRequested(reason))
        self._publish_status()
        if was_running:
            self.tell(f"stop: {reason}")

    def _handle(self, event: Event) -> None:
        """Feed an event to the state machine and execute the commands that it returns."""
        running = self._running
        if running is None or (isinstance(event, SceneObserved) and running.checked is not None):
            return
        state, commands = advance(running.state, event)
        self._go(running, state, commands, by_person=isinstance(event, StopRequested))

    def _go(
        self, running: Running, state: Execution, commands: tuple[Command, ...], by_person: bool = False
    ) -> None:  # fmt: skip
        """Put a state of the plan in force, execute the commands, and publish what has changed."""
        if running is not self._running:
            return
        before, running.state = running.state, state
        if any(isinstance(command, CancelSkill) for command in commands):
            self._skills.cancel()  # before slow work, such as the journal
            self._publish_status()  # without a lease, so that the skill stops even if the request is lost
        self._bind(running)
        note_steps(self._journal, running, before)
        for line in step_news(before.plan, state.plan):
            self.tell(line)
        for command in commands:
            self._obey(running, command, by_person)
        self._tune(running, before)
        if state.version != before.version:
            self._plan.publish(running.shown(self.now()))
        if self._running is None or _verdicts(state) != _verdicts(before):
            self._publish_watch(running)
        if state.plan is not before.plan or (state.phase, state.version) != (before.phase, before.version):
            self._show(running)
        if self._running is None:
            running.done.set_result(None)

    def _obey(self, running: Running, command: Command, by_person: bool) -> None:
        match command:
            case StartSkill():
                moved = moved_along(running.state.run.goals)
                self._skills.start(command, self._tuning_of(running), moved)
                self._publish_status()
            case Finish(reason=reason, message=message):
                kept = list(map(kept_json, running.kept))
                note(self._journal, RecordKind.OUTCOME, running.id, outcome=reason.value, message=message, kept=kept)
                self._running = None
                self.tell(f"plan ended, {reason.value}: {message}")
                by_policy = reason is EndReason.STOPPED and not by_person
                self._stops += by_policy  # like a person's stop, it drops waiting commands
                self._unfinished = running if running.may_go_on else None

    def _tuning_of(self, running: Running) -> MotionTuning:
        step, stamp = running.state.run.step.id, Header(stamp=self.get_clock().now().to_msg())
        return tuning_to_msg(running.state.manner.tuning_of(step), step, self._id, stamp)

    def _tune(self, running: Running, before: Execution) -> None:
        state = running.state
        if state.run and before.run and state.manner is not before.manner:
            self._tuning.publish(self._tuning_of(running))

    def _bind(self, running: Running) -> None:
        """Publish the motion patches that the rules require now."""
        scene = running.state.scene
        if scene is None:
            return
        running.log.see(running.state.watch, scene)
        for patch in running.rules.patches(running.state, scene.time):
            frame = MAP_FRAME if scene.building or scene.base else self._scenes.arm.frame
            self._patches.publish(patch_to_msg(in_fixed_frame(patch, scene), frame))

    def _show(self, running: Running) -> None:
        self._last = running.status
        if running.state.end is None and self._skills.waits:
            self._last.message = f"{self._last.message} The robot has to {self._skills.waits}.".lstrip()
        self._publish_status()
        if running.goal.is_active:
            running.goal.publish_feedback(ExecutePlan.Feedback(status=self._last))

    def _publish_watch(self, running: Running) -> None:
        kept = () if self._running is running else running.kept
        self._constraint_status.publish(watch_to_msg(running.state.watch, running.id, self._scenes.scene, kept))

    def _on_beat(self) -> None:
        """Renew the running skill's lease; without one, publish the status twice a second as a sign of life."""
        self._beats += 1
        if self._running is not None or self._beats % IDLE_BEATS == 0:
            lost = self._movers.lost()
            if lost and self._running is not None:  # the robot would move again on the restart of what is lost
                self._stop(f"{MOVERS[lost]} has died; {GO_ON} once it is back")
        if self._skills.lease or self._beats % IDLE_BEATS == 0:
            self._publish_status()

    def _publish_status(self) -> None:
        self._last.executor, self._last.stops, self._last.lease = self._id, self._stops, self._skills.lease
        self._last.header.stamp = self.get_clock().now().to_msg()
        self._status.publish(self._last)

    def _on_diagnose(self) -> None:
        log_news(self, self._journal)
        if not self._scenes.is_fresh:
            self.report(WARN, "no scene arrives")
        elif trouble := self._journal.trouble:
            self.report(WARN, trouble)
        else:
            self.report(OK, "running a plan" if self._running else "idle")


def _checked(status: CommandStatus) -> CommandStatus:
    checks.name("command_status.id", status.id)
    checks.number("command_status.state", status.state, CommandStatus.QUEUED, CommandStatus.ENDED)
    return status


def _verdicts(state: Execution) -> tuple[tuple[object, ...], ...]:
    return tuple((one.constraint.formula, one.verdict, one.monitor.accepts) for one in state.watch.watched)


def main() -> None:
    run_node(PlanExecutorNode, "plan_executor")


if __name__ == "__main__":
    main()
