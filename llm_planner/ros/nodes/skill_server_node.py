"""Node that runs skills as the action `execute_skill` and publishes their motion as `motion_reference`.

A skill moves the robot only under a lease: the newest `plan_status`, at most `LEASE_MAX` old, must name its goal. So a
stop takes effect even if messages about it are lost, and a goal that no plan names moves nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
from llm_planner_interfaces.action import ExecuteSkill
from llm_planner_interfaces.msg import MotionConstraints, MotionReference, MotionStatus, PlanStatus, Scene
from rclpy.task import Future
from std_msgs.msg import String

from llm_planner.errors import InputError, LlmPlannerError
from llm_planner.robots.motion import Observation
from llm_planner.ros.base_node import ERROR, LATCHED, NEWEST_ONLY, OK, WARN, BaseNode, run_node
from llm_planner.ros.conversions import message_checks as checks
from llm_planner.ros.conversions.message_checks import validated
from llm_planner.ros.conversions.motion_messages import (
    no_motion,
    reference_to_msg,
    speed_limit_from_msg,
    zones_from_msg,
)
from llm_planner.ros.conversions.plan_messages import arguments_from_msg
from llm_planner.ros.conversions.scene_messages import SceneReader
from llm_planner.ros.external_actions import NAVIGATE_ACTION, NAVIGATE_GRIPPER, navigator_of
from llm_planner.ros.heartbeat_monitor import DataSilence
from llm_planner.ros.idempotent_requests import GoalServer, SharedGoal
from llm_planner.ros.observed_robots import RobotState, StateWatch, observed_robot
from llm_planner.ros.parameters import CAMERA, ROBOT, SCRIPTED, SKILLS, TABLE, Setting
from llm_planner.ros.patch_feed import TuningFeed
from llm_planner.ros.robot_topics import GRIPPER_STATE_TOPIC, SIMULATOR, STATE_TOPIC
from llm_planner.ros.scene_feed import library_of, obstacles_among
from llm_planner.ros.strip_feed import StripView
from llm_planner.scene.driven_base import zones_in_frame_of, zones_seen_anew
from llm_planner.scene.scene import Scene as SceneData
from llm_planner.scene.zones import Zone
from llm_planner.skills.base import MakeBase, own_base
from llm_planner.skills.contract import OriginTracker, SkillError, SkillErrorCode, SkillResult, SkillRun
from llm_planner.skills.navigated_base import NavigatedBase
from llm_planner.skills.reserved import ReservedSkill
from llm_planner.skills.reserved_rooms import ReservedBase
from llm_planner.skills.tuning import TunedSkill

REST_SPEED = 0.02  # [rad/s, m/s] below which the robot counts as at rest
LEASE_MAX = 0.5  # [s] without a plan status that names the skill (sent ten times a second), then it ends
LOOK = 0.05  # [s, wall time] between checks of the lease
# [s, wall time] that a goal waits for the first message of the robot. If the first announcements were lost, DDS
# announces a participant again after 3 s.
FIRST_HEARD_MAX = 10.0
NO_PLAN = (
    "no running plan names this goal. Give the robot a command (topic language_command, action execute_command), or "
    "start the skill server with allow_goals_without_plan:=true for development"
)
REST_TIME_MAX = 2.0  # [s] that the end of a skill waits for rest


@dataclass
class Running:
    """Running goal; once `result` is known, it only waits for the robot to come to rest."""

    goal: SharedGoal
    run: SkillRun
    zones: tuple[Zone, ...]  # in the frame of `scene`
    scene: SceneData  # in which the skill began
    started: float  # [s] the robot's time
    unleased: DataSilence  # since a plan status last named it, or it began
    stepped: float = -np.inf  # [s]
    is_leased: bool = False  # by the newest plan status
    was_leased: bool = False
    result: SkillResult | None = None
    ended: float = 0.0  # [s]
    epoch: int = field(default_factory=time.time_ns)  # distinguishes runs for the controller
    done: Future = field(default_factory=Future)


class SkillServerNode(BaseNode):
    """Runs one skill at a time; the times of the robot's states trigger its steps."""

    SETTINGS = (
        Setting("rate", 10.0, "motion references a second of the robot's time [Hz]", 5.0, 50.0),
        Setting("state_timeout", 1.0, "time without the robot's states after which a skill fails [s]", 0.2, 10.0),
        ROBOT,
        SIMULATOR,
        STATE_TOPIC,
        GRIPPER_STATE_TOPIC,
        SKILLS,
        SCRIPTED,
        CAMERA,
        TABLE,
        Setting("allow_goals_without_plan", False, "for development: run goals of execute_skill that no plan names"),
        NAVIGATE_ACTION,
        NAVIGATE_GRIPPER,
    )

    def configure(self) -> None:
        self._period = 1.0 / self.setting("rate")
        self._needs_lease = not self.setting("allow_goals_without_plan")
        if not self._needs_lease:
            self.get_logger().warning("goals of execute_skill move the robot without plan, rules and privileges")
        self._navigator = navigator_of(self)
        self._strips = StripView(self, wishes=True)
        self._library = library_of(self, not self.setting(SCRIPTED.name), self._base_maker())
        self._robot = observed_robot(self)
        self._running: Running | None = None
        self._state: RobotState | None = None
        self._scene = None
        self._scenes = SceneReader.of(self, self._robot.name)
        self._world_run = 0
        self._speed_limit, self._closed, self._obstacles = np.inf, (), ()  # in force
        self._diagnosis = ""
        self._plan_status = PlanStatus()
        self._states = StateWatch(self, self.setting("state_timeout"), self._robot.topic, self.setting(SIMULATOR.name))
        self._next_watch = Future()
        self._forget()
        self._tunings = TuningFeed(self)
        self._reference = self.create_lifecycle_publisher(MotionReference, "motion_reference", 1)
        self.create_subscription(self._robot.message_type, self._robot.topic, self._on_state, NEWEST_ONLY)
        seen = validated(self, self._scenes.read, self._on_scene, "a scene cannot be used: ")
        self.create_subscription(Scene, "scene", seen, NEWEST_ONLY)
        self.create_subscription(PlanStatus, "plan_status", self._on_plan_status, LATCHED)
        self.create_subscription(MotionStatus, "motion_status", self._on_motion, LATCHED)
        self.create_subscription(String, "diagnosis", validated(self, self._on_diagnosis), LATCHED)
        self.create_subscription(
            MotionConstraints, "motion_constraints", validated(self, self._on_constraints), LATCHED
        )
        self._looks = self.every(LOOK, self._on_look)  # while a skill runs
        self._looks.cancel()
        self.every(0.25, self._on_watch)
        self.report_with(self._on_diagnose)
        GoalServer(self, ExecuteSkill, "execute_skill", self._execute, self._on_cancel, lambda goal: self.is_active)

    def _base_maker(self) -> MakeBase:
        """Return what makes the bodies of mobile skills; raise InputError."""
        navigator, strips = self._navigator, self._strips
        if navigator is None:
            return (lambda seen: ReservedBase(seen, strips)) if strips.are_rooms else own_base
        if strips.are_rooms:
            raise InputError(
                f"{NAVIGATE_ACTION.name} is {self.setting(NAVIGATE_ACTION.name)!r}, but a navigation system reserves "
                "no rooms; leave it out, or start the robot alone, in a building that it does not share"
            )
        return lambda seen: NavigatedBase(seen, navigator)

    def _forget(self) -> None:
        self._origins_tracker = OriginTracker()
        self._origins = {}

    def on_fault(self, error: BaseException) -> None:
        """End the running skill, so that it no longer moves the robot."""
        if self._running is not None:
            self._fail("{skill} was ended by a fault of the skill server; see what its node prints")

    def _on_cancel(self, goal: SharedGoal) -> None:
        """End the skill at once, without waiting for the next state of the robot."""
        running = self._running
        if running is not None and running.result is None and running.goal is goal:
            self._end(running, _stopped(running))

    async def _execute(self, goal: SharedGoal) -> ExecuteSkill.Result:
        # A goal right after a stop waits until the robot is at rest, instead of being refused. So does a goal after
        # one that its sender gave up without knowing that this server had accepted it.
        deadline = time.monotonic() + 2 * LEASE_MAX
        while (last := self._running) is not None:
            if self._gives_way(last, goal):
                await last.done
            elif time.monotonic() < deadline:
                await self._next_watch
            else:
                break
        await self._hear_first(goal)
        try:
            self._running = running = self._begin(goal)
        except SkillError as error:
            return _result(SkillResult(error.code, str(error)))
        except LlmPlannerError as error:
            return _result(SkillResult(SkillErrorCode.INVALID_ARGUMENT, str(error)))
        await running.done
        return _result(running.result)

    def _gives_way(self, running: Running, goal: SharedGoal) -> bool:
        """Return whether `running` is ending; end it if the plan's lease names `goal` instead."""
        if running.result is None and self._plan_status.lease == goal.id:
            self._end(running, _stopped(running))
        return running.result is not None or running.goal.is_cancel_requested

    async def _hear_first(self, goal: SharedGoal) -> None:
        """Wait for the robot's first states and scene, which a new node may receive later than a goal."""
        deadline = time.monotonic() + FIRST_HEARD_MAX
        while self._state is None or self._scene is None or self._robot.obstacle:
            if time.monotonic() > deadline:
                break
            goal.publish_feedback(ExecuteSkill.Feedback(phase="waiting for the robot's states"))
            await self._next_watch

    def _begin(self, goal: SharedGoal) -> Running:
        request = goal.request
        if self._running is not None:
            message = f"{request.skill} cannot start: the robot is busy with {self._running.goal.request.skill}"
            raise SkillError(SkillErrorCode.PRECONDITION_FAILED, message)
        is_silent = self._state is None or self._states.silence > self.setting("state_timeout")
        why = self._states.why if is_silent else "no scene arrives" if self._scene is None else self._robot.obstacle
        if why:
            raise SkillError(SkillErrorCode.CONTROLLER_FAULT, f"{request.skill} cannot start: {why}")
        skill = self._library.find(checks.name("skill", request.skill))
        zones, moved = zones_from_msg(request.zones), checks.texts("moved", request.moved)
        if self._strips.boundaries and not self._strips.are_rooms:
            skill = ReservedSkill(skill, self._strips)
        tuned = TunedSkill(skill, self._tunings.of_step(request.tuning), frozenset(moved))
        run = tuned.start(arguments_from_msg(request.arguments), self._observation(zones, self._scene))
        unleased = DataSilence(self.now, 2 * LOOK)
        running = Running(goal, run, zones, self._scene, self._state.time, unleased)
        running.unleased.heard()
        self._looks.reset()
        self._look_at_lease(running)
        return running

    def _observation(self, zones: tuple[Zone, ...], began: SceneData) -> Observation:
        """Return what a skill observes; `zones` are in the frame of the scene in which it began."""
        seen = self._robot.observation(self._state, self._scene, self._origins)
        obstacles = zones_in_frame_of(seen.scene, self._obstacles)
        zones = (*zones_seen_anew(zones, began, seen.scene), *obstacles)
        return replace(seen, zones=zones, speed_limit=self._speed_limit)

    def _on_scene(self, scene: SceneData) -> None:
        restarted = self._scene is not None and self._scenes.run != self._world_run
        self._scene, self._world_run = scene, self._scenes.run
        if restarted:
            self._forget()
            self._fail("the robot was restarted while {skill} was moving it")
        self._origins = self._origins_tracker.update(self._scene)
        self._close_zones()

    def _close_zones(self) -> None:
        """Tell the navigation system, if one drives the base, which zones the rules close."""
        if self._navigator is not None and self._scene is not None:
            self._navigator.keep_out(self._scene, self._closed)

    def _on_state(self, message) -> None:
        try:
            state = self._robot.state(message)
        except LlmPlannerError as error:
            self._states.refused(str(error))
            self.get_logger().error(str(error), throttle_duration_sec=5.0)
            return
        self._state = state
        self._states.saw(state.time)
        running = self._running
        if running is None:
            return
        if running.result is not None:
            self._finish_at_rest(running)
        elif running.goal.is_cancel_requested or not self.is_active:
            self._end(running, _stopped(running))
        elif running.is_leased and state.time >= running.stepped + 0.95 * self._period:
            running.stepped = state.time
            self._step(running)

    def _step(self, running: Running) -> None:
        observation = self._observation(running.zones, running.scene)
        outcome = running.run.step(observation)
        if isinstance(outcome, SkillResult):
            self._end(running, outcome)
        elif refusal := self._robot.refusal(outcome, observation, self._state):
            self._end(running, SkillResult(SkillErrorCode.CONTROLLER_FAULT, refusal))
        elif self._navigator is None:  # else the references only say where the base stands
            self._reference.publish(reference_to_msg(replace(outcome, epoch=running.epoch), self._robot.frame))

    def _end(self, running: Running, result: SkillResult) -> None:
        """End the motion; the goal completes once the robot is at rest."""
        self._release()
        running.result, running.ended = result.with_report(self._diagnosis), self._state.time
        self._reference.publish(no_motion(running.ended, self._robot.frame))

    def _release(self) -> None:
        """Let go of what a skill may have taken: strips or rooms, and the navigation system."""
        self._strips.want(())
        if self._navigator is not None:
            self._navigator.cancel()

    def _finish_at_rest(self, running: Running) -> None:
        waited = self._state.time - running.ended
        at_rest = waited >= 0.05 and np.abs(self._state.qvel).max() < REST_SPEED
        if at_rest or waited > REST_TIME_MAX:
            self._running = None
            running.done.set_result(None)

    def _fail(self, reason: str) -> None:
        """End the skill at once, since no state may arrive that shows the robot at rest."""
        running = self._running
        if running is None:
            return
        self._release()
        message = reason.format(skill=running.goal.request.skill)
        running.result = SkillResult(SkillErrorCode.CONTROLLER_FAULT, message)
        self._reference.publish(no_motion(self._state.time, self._robot.frame))
        self._running = None
        running.done.set_result(None)

    def _on_motion(self, status: MotionStatus) -> None:
        """End the skill if the controller holds the robot, which then cannot reach its target."""
        running = self._running
        if running is None or running.result is not None:
            return
        if status.state == MotionStatus.STOPPED and status.epoch == running.epoch:
            why = f"was stopped by the controller: {status.reason}{self._states.slowness}"
            self._end(running, SkillResult(SkillErrorCode.CONTROLLER_FAULT, f"{running.goal.request.skill} {why}"))

    def _on_diagnosis(self, message: String) -> None:
        self._diagnosis = checks.text("diagnosis", message.data)

    def _on_constraints(self, constraints: MotionConstraints) -> None:
        self._speed_limit = speed_limit_from_msg(constraints)
        self._closed = zones_from_msg(constraints.zones)
        self._obstacles = obstacles_among(self._closed, self._strips.boundaries)
        self._close_zones()

    def _on_plan_status(self, status: PlanStatus) -> None:
        self._plan_status = status
        if self._running is not None and self._running.result is None:
            self._look_at_lease(self._running)

    def _look_at_lease(self, running: Running) -> None:
        """Renew the lease of `running`, or end the skill if the plan no longer names it."""
        running.is_leased = self._plan_status.lease == running.goal.id or not self._needs_lease
        if running.is_leased:
            running.was_leased = True
            running.unleased.heard()
        elif running.was_leased:
            self._end(running, _stopped(running))

    def _on_look(self) -> None:
        """End a skill whose plan has gone silent or never named it."""
        running = self._running
        if running is None:
            self._looks.cancel()
        if running is None or running.result is not None:
            return
        running.unleased.look()
        if running.unleased.seconds > LEASE_MAX and self._needs_lease:
            skill = running.goal.request.skill
            message = f"{skill} was stopped: its plan has not named it for {LEASE_MAX:g} s"
            if not running.was_leased:
                message = f"{skill} is refused: {NO_PLAN}"
            self._end(running, SkillResult(SkillErrorCode.CONTROLLER_FAULT, message))

    def _on_watch(self) -> None:
        """Publish feedback as a sign of life, and detect a silent robot."""
        self._states.look()
        past, self._next_watch = self._next_watch, Future(executor=self.executor)
        past.set_result(None)
        running = self._running
        if running is not None:
            elapsed = self._state.time - running.started
            running.goal.publish_feedback(ExecuteSkill.Feedback(phase=running.run.phase, elapsed=elapsed))
        if self._states.silence > self.setting("state_timeout"):
            self._fail(f"{{skill}} was ended: {self._states.why}")

    def _on_diagnose(self) -> None:
        values = [("states", self._states.count())]
        if self._states.silence > self.setting("state_timeout"):
            self.report(WARN, self._states.why, values)
        elif self._robot.obstacle:
            self.get_logger().error(self._robot.obstacle, throttle_duration_sec=5.0)
            self.report(ERROR, self._robot.obstacle, values)
        elif self._robot.flaw:
            self.report(WARN, self._robot.flaw, values)
        else:
            self.report(OK, self._running.run.phase if self._running else "idle", values)


def _stopped(running: Running) -> SkillResult:
    return SkillResult(SkillErrorCode.CANCELED, f"{running.goal.request.skill} was stopped")


def _result(result: SkillResult) -> ExecuteSkill.Result:
    return ExecuteSkill.Result(error_code=int(result.code), error_msg=result.message)


def main() -> None:
    run_node(SkillServerNode, "skill_server")


if __name__ == "__main__":
    main()
