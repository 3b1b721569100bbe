"""The skill library as a node: the action `execute_skill`, whose motion goes out as `motion_reference`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import MotionConstraints, MotionReference, MotionStatus, PlanStatus, Scene
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.control.zones import Zone
from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.message_conversions import arguments_from_msg, no_motion, reference_to_msg, scene_from_msg
from llm_planner.nodes.motion_messages import zone_from_msg
from llm_planner.nodes.observed_robots import OBSERVED, RobotState
from llm_planner.nodes.settings import CAMERA, ROBOT, ROBOT_FILE, SCRIPTED, SKILLS, STATE_TOPIC, Setting, one_of
from llm_planner.nodes.shell import LATCHED, NEWEST_ONLY, OK, WARN, ShellNode, run_node
from llm_planner.nodes.skill_folder import library_of
from llm_planner.nodes.tuning_feed import TuningFeed
from llm_planner.skills.contract import Observation, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.errors import SkillError
from llm_planner.skills.origins import OriginTracker
from llm_planner.skills.tuning import TunedSkill

REST_SPEED = 0.02  # [rad/s, m/s] below which the robot counts as at rest
EXECUTOR_SILENCE = 2.0  # wall seconds without a plan status (two a second are sent) after which the executor is lost
FIRST_HEARD_MAX = 2.0  # wall seconds that whoever asks for a skill waits where nothing was heard of the robot yet
REST_TIME_MAX = 2.0  # [s] the end of a skill waits at most this long for rest


@dataclass
class Running:
    """The goal under way. Once `result` is known it only waits for the robot to come to rest."""

    goal: ServerGoalHandle
    run: SkillRun
    zones: tuple[Zone, ...]
    started: float  # [s], as the next
    stepped: float = -np.inf
    abandoned: bool = False  # by the executor that asked for it
    result: SkillResult | None = None
    ended: float = 0.0
    epoch: int = field(default_factory=time.time_ns)  # tells the controller one run from another
    done: Future = field(default_factory=Future)


class SkillServerNode(ShellNode):
    """Runs one skill at a time, stepped by the time of the robot's states."""

    SETTINGS = (
        Setting("rate", 10.0, "motion references a second of the robot's time [Hz]", 5.0, 50.0),
        Setting("state_timeout", 1.0, "wall time without the robot's states after which a skill fails [s]", 0.2, 10.0),
        ROBOT,
        ROBOT_FILE,
        STATE_TOPIC,
        SKILLS,
        SCRIPTED,
        CAMERA,
    )

    def configure(self) -> None:
        self._period = 1.0 / self.setting("rate")
        self._library = library_of(self, learned=not self.setting(SCRIPTED.name))
        self._robot = one_of(self, ROBOT, OBSERVED)(self)
        self._running: Running | None = None
        self._state: RobotState | None = None
        self._scene = None
        self._world_run = 0
        self._speed_limit = np.inf
        self._diagnosis = ""
        self._executor: PlanStatus | None = None
        self._executor_heard = 0.0
        self._heard = time.monotonic()
        self._next_watch = Future()
        self._forget()
        self._tunings = TuningFeed(self)
        self._reference = self.create_lifecycle_publisher(MotionReference, "motion_reference", 1)
        topic = self.setting(STATE_TOPIC.name) or self._robot.topic
        self.create_subscription(self._robot.message_type, topic, self._on_state, NEWEST_ONLY)
        self.create_subscription(Scene, "scene", self._on_scene, NEWEST_ONLY)
        self.create_subscription(PlanStatus, "plan_status", self._on_executor, LATCHED)
        self.create_subscription(MotionStatus, "motion_status", self._on_motion, LATCHED)
        self.create_subscription(String, "diagnosis", self._on_diagnosis, LATCHED)
        self.create_subscription(MotionConstraints, "motion_constraints", self._on_constraints, LATCHED)
        self.every(0.25, self._on_watch)
        self.every(1.0, self._on_diagnose)
        ActionServer(
            self, ExecuteSkill, "execute_skill", self._execute,
            goal_callback=self._on_goal, cancel_callback=self._on_cancel,
        )  # fmt: skip

    def _forget(self) -> None:
        self._origins_tracker = OriginTracker()
        self._origins = {}

    def _on_goal(self, goal: ExecuteSkill.Goal) -> GoalResponse:
        return GoalResponse.ACCEPT if self.is_active else GoalResponse.REJECT

    def _on_cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        """A stop does not wait for the next state of the robot."""
        running = self._running
        if running is not None and running.result is None and running.goal.goal_id == goal.goal_id:
            self._end(running, _stopped(running))
        return CancelResponse.ACCEPT

    async def _execute(self, goal: ServerGoalHandle) -> ExecuteSkill.Result:
        # Who says the next command right after a stop is not refused while the robot comes to rest.
        while (last := self._running) is not None and (last.result is not None or last.goal.is_cancel_requested):
            await last.done
        await self._hear_first()
        try:
            running = self._begin(goal)
        except SkillError as error:
            return _result(goal, SkillResult(error.code, str(error)))
        except LlmPlannerError as error:
            return _result(goal, SkillResult(SkillErrorCode.INVALID_ARGUMENT, str(error)))
        self._running = running
        await running.done
        return _result(goal, running.result)

    async def _hear_first(self) -> None:
        """Just started, we may hear the robot later than whoever asks for a skill."""
        deadline = time.monotonic() + FIRST_HEARD_MAX
        while (self._state is None or self._scene is None) and time.monotonic() < deadline:
            await self._next_watch

    def _begin(self, goal: ServerGoalHandle) -> Running:
        request = goal.request
        if self._running is not None:
            message = f"{request.skill} cannot start: the robot is busy with {self._running.goal.request.skill}"
            raise SkillError(SkillErrorCode.PRECONDITION_FAILED, message)
        if self._state is None or self._scene is None or self._silence() > self.setting("state_timeout"):
            message = f"{request.skill} cannot start: the robot's {self._robot.topic} or the scene do not arrive"
            raise SkillError(SkillErrorCode.CONTROLLER_FAULT, message)
        skill = self._library.find(request.skill)
        zones = tuple(map(zone_from_msg, request.zones))
        tuned = TunedSkill(skill, self._tunings.of_step(request.tuning), frozenset(request.moved))
        run = tuned.start(arguments_from_msg(request.arguments), self._observation(zones))
        return Running(goal, run, zones, started=self._state.time)

    def _silence(self) -> float:
        return time.monotonic() - self._heard

    def _observation(self, zones: tuple[Zone, ...]) -> Observation:
        seen = self._robot.observation(self._state, self._scene, self._origins)
        return replace(seen, zones=zones, speed_limit=self._speed_limit)

    def _on_scene(self, message: Scene) -> None:
        restarted = self._scene is not None and message.run != self._world_run
        self._scene, self._world_run = scene_from_msg(message), message.run
        if restarted:
            self._forget()
            self._fail("the robot was restarted while {skill} was moving it")
        self._origins = self._origins_tracker.update(self._scene)

    def _on_state(self, message) -> None:
        try:
            state = self._robot.state(message)
        except LlmPlannerError as error:
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        if not (np.isfinite(state.qpos).all() and np.isfinite(state.qvel).all()):
            self.get_logger().error(f"{self._robot.topic} are not all finite", throttle_duration_sec=5.0)
            return
        self._state, self._heard = state, time.monotonic()
        running = self._running
        if running is None:
            return
        if running.result is not None:
            self._finish_at_rest(running)
        elif running.goal.is_cancel_requested or running.abandoned or not self.is_active:
            self._end(running, _stopped(running))
        elif state.time >= running.stepped + 0.95 * self._period:
            running.stepped = state.time
            self._step(running)

    def _step(self, running: Running) -> None:
        outcome = running.run.step(self._observation(running.zones))
        if isinstance(outcome, SkillResult):
            self._end(running, outcome)
            return
        self._reference.publish(reference_to_msg(replace(outcome, epoch=running.epoch)))

    def _end(self, running: Running, result: SkillResult) -> None:
        """No more motion; the result is told once the robot is at rest."""
        running.result, running.ended = result.with_report(self._diagnosis), self._state.time
        self._reference.publish(no_motion(running.ended))

    def _finish_at_rest(self, running: Running) -> None:
        waited = self._state.time - running.ended
        at_rest = waited >= 0.05 and np.abs(self._state.qvel).max() < REST_SPEED
        if at_rest or waited > REST_TIME_MAX:
            self._running = None
            running.done.set_result(None)

    def _fail(self, reason: str) -> None:
        """End the skill without waiting for a rest that nobody would report."""
        running = self._running
        if running is None:
            return
        message = reason.format(skill=running.goal.request.skill)
        running.result = SkillResult(SkillErrorCode.CONTROLLER_FAULT, message)
        self._reference.publish(no_motion(self._state.time))
        self._running = None
        running.done.set_result(None)

    def _on_motion(self, status: MotionStatus) -> None:
        """A robot that is held will not come to where the skill wants it."""
        running = self._running
        held = status.state == MotionStatus.STOPPED
        if held and running is not None and running.result is None and status.epoch == running.epoch:
            message = f"{running.goal.request.skill} was stopped by the controller: {status.reason}"
            self._end(running, SkillResult(SkillErrorCode.CONTROLLER_FAULT, message))

    def _on_diagnosis(self, message: String) -> None:
        self._diagnosis = message.data

    def _on_constraints(self, constraints: MotionConstraints) -> None:
        self._speed_limit = constraints.speed

    def _on_executor(self, status: PlanStatus) -> None:
        """Whoever is started anew knows nothing of the skill that it once asked for."""
        before, self._executor, self._executor_heard = self._executor, status, time.monotonic()
        if self._running is not None and before is not None and before.executor != status.executor:
            self._running.abandoned = True

    def _executor_is_lost(self) -> bool:
        """Whether there was an executor when the skill began, and there is none any more."""
        return self._executor is not None and time.monotonic() - self._executor_heard > EXECUTOR_SILENCE

    def _on_watch(self) -> None:
        """Show that this node is alive, and notice when the robot is not."""
        past, self._next_watch = self._next_watch, Future(executor=self.executor)
        past.set_result(None)
        running = self._running
        if running is not None:
            elapsed = self._state.time - running.started
            running.goal.publish_feedback(ExecuteSkill.Feedback(phase=running.run.phase, elapsed=elapsed))
            running.abandoned = running.abandoned or self._executor_is_lost()
        if self._silence() > self.setting("state_timeout"):
            self._fail(f"the robot's {self._robot.topic} stopped arriving during {{skill}}")

    def _on_diagnose(self) -> None:
        if self._silence() > self.setting("state_timeout"):
            self.report(WARN, f"no {self._robot.topic} arrive")
        else:
            self.report(OK, self._running.run.phase if self._running else "idle")


def _stopped(running: Running) -> SkillResult:
    return SkillResult(SkillErrorCode.CANCELED, f"{running.goal.request.skill} was stopped")


def _result(goal: ServerGoalHandle, result: SkillResult) -> ExecuteSkill.Result:
    if result.code is SkillErrorCode.SUCCEEDED:
        goal.succeed()
    elif result.code is SkillErrorCode.CANCELED and goal.is_cancel_requested:
        goal.canceled()
    else:
        goal.abort()
    return ExecuteSkill.Result(error_code=int(result.code), error_msg=result.message)


def main() -> None:
    run_node(SkillServerNode, "skill_server")


if __name__ == "__main__":
    main()
