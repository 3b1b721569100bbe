"""Clients of the actions of other packages: grippers, and nav2 for a mobile base.

Their goals are absolute targets, of which the newest counts, and carry no id. A server cannot recognise a repetition of
such a goal: it preempts the goal before it. That is harmless, since a goal is an absolute target. The client repeats a
goal until its response arrives, asks for its result until that arrives, and sends it again if the server forgets or
drops it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future

from llm_planner.errors import InputError
from llm_planner.robots.controllers import GRIPPER_ACTIONS, GripperController
from llm_planner.ros.base_node import LATCHED, BaseNode
from llm_planner.ros.conversions.geometry_messages import pose_to_msg
from llm_planner.ros.conversions.message_checks import header
from llm_planner.ros.conversions.robot_messages import MAP_FRAME
from llm_planner.ros.keepout_feed import KeepoutFeed
from llm_planner.ros.message_types import required_type
from llm_planner.ros.parameters import Setting, arm_of
from llm_planner.ros.robot_topics import GripperCommand
from llm_planner.scene.scene import Pose, Scene
from llm_planner.scene.zones import Zone

Target = TypeVar("Target")
FIRST_REPEAT, LAST_REPEAT = 0.3, 2.4  # [s] pauses between repetitions of an unanswered goal; each doubles the last
REFETCH = 1.0  # [s] between requests for a result
HEARD_MAX = 10.0  # [s] from a new target until a server should have accepted its goal
TRIES = 3  # goals for one target that a server may drop without reaching it
_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)


class MotionEnd(Enum):
    """How the motion to a target ended."""

    REACHED = "reached"
    STALLED = "stalled"  # against an object, or blocked; of grippers only
    FAILED = "failed"  # the server gave it up, each time
    SILENT = "silent"  # the server did not answer in time


@dataclass(eq=False)
class _Attempt:
    """Goal that was sent."""

    handle: ClientGoalHandle | None = None
    is_canceled: bool = False
    fetched: float = -float("inf")  # [s]


class NewestGoalClient(Generic[Target]):
    """Moves to the newest target; `on_end(target, MotionEnd)` tells how that went, once per target."""

    def __init__(
        self,
        client: ActionClient,
        make_goal: Callable[[Target], object],
        timeout: float,
        on_end: Callable[[Target, MotionEnd], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use `client`; a target must be reached within `timeout` [s] of wall time; `make_goal` returns its goal."""
        self._client, self._make_goal, self._timeout = client, make_goal, timeout
        self._on_end, self._clock = on_end, clock
        self._target: Target | None = None  # on the way there
        self._attempt: _Attempt | None = None  # the newest one
        self._open: list[_Attempt] = []  # goals for the target, from the newest one that was accepted on
        self._met = -math.inf  # [s] when a server was last there
        self._deadline = self._sent = 0.0
        self._pause, self._drops = FIRST_REPEAT, 0

    def move(self, target: Target) -> None:
        """Move to `target` instead of any other one."""
        for attempt in self._open:
            attempt.is_canceled = True  # if it is accepted only now; what runs is preempted
        self._open.clear()
        self._target, self._deadline = target, self._clock() + self._timeout
        self._pause, self._drops = FIRST_REPEAT, 0
        self._attempt = None
        self._send()

    @property
    def is_unheard(self) -> bool:
        """Whether no server has accepted the goal for `HEARD_MAX`, or none has been there for so long."""
        accepted = self._attempt is not None and self._attempt.handle is not None
        began = self._deadline - self._timeout
        since = max(began, self._met) if accepted else began
        return self._target is not None and self._clock() > since + HEARD_MAX

    def cancel(self) -> None:
        """End the motion to the target, if there is one, without calling `on_end`."""
        self._target, self._attempt = None, None
        for attempt in self._open:
            attempt.is_canceled = True  # at once if it is accepted only later
            if attempt.handle is not None:
                attempt.handle.cancel_goal_async()
        self._open.clear()

    def watch(self) -> None:
        """Repeat what was not answered; call several times a second."""
        now, attempt = self._clock(), self._attempt
        if self._target is None:
            return
        if self._client.server_is_ready():
            self._met = now
        if now > self._deadline:
            target = self._target
            self.cancel()
            self._on_end(target, MotionEnd.SILENT)
        elif attempt is None:
            self._send()
        elif attempt.handle is None:
            if now >= self._sent + self._pause:
                self._pause = min(2 * self._pause, LAST_REPEAT)
                self._send()
        elif now >= attempt.fetched + REFETCH:
            self._fetch(attempt)

    def _send(self) -> None:
        if not self._client.server_is_ready():
            return
        self._attempt, self._sent = _Attempt(), self._clock()
        attempt = self._attempt
        self._open.append(attempt)
        sent = self._client.send_goal_async(self._make_goal(self._target))
        sent.add_done_callback(lambda done: self._on_answer(attempt, done))

    def _on_answer(self, attempt: _Attempt, done: Future) -> None:
        handle = done.result()
        if handle is None:
            return
        if attempt.is_canceled or attempt not in self._open:
            if handle.accepted:
                handle.cancel_goal_async()
        elif handle.accepted:
            attempt.handle = handle
            self._open = self._open[self._open.index(attempt) :]  # it has preempted those before
            self._attempt = attempt
            self._fetch(attempt)
        elif attempt is self._attempt:
            self._drop()

    def _fetch(self, attempt: _Attempt) -> None:
        attempt.fetched = self._clock()
        attempt.handle.get_result_async().add_done_callback(lambda done: self._on_result(attempt, done))

    def _on_result(self, attempt: _Attempt, done: Future) -> None:
        answer = done.result()
        if attempt is not self._attempt or answer is None:
            return
        end = self._verdict(answer) if answer.status in _ENDED else None  # else the server was restarted
        if attempt is not self._open[-1] and end is not MotionEnd.REACHED:
            self._attempt = self._open[-1]  # the same goal, sent again, has preempted it, and is not answered yet
        elif end is None:
            self._drop()
        else:
            self._end(end)

    def _verdict(self, answer: Any) -> MotionEnd | None:
        """Return how the motion ended by the server's `answer`, None to send the goal again."""
        return MotionEnd.REACHED if answer.status == GoalStatus.STATUS_SUCCEEDED else None

    def _drop(self) -> None:
        """Send the goal again later, unless the server has dropped it too often."""
        self._drops += 1
        if self._drops == TRIES:
            self._end(MotionEnd.FAILED)
        else:
            self._attempt, self._sent = _Attempt(), self._clock()

    def _end(self, end: MotionEnd) -> None:
        target = self._target
        assert target is not None
        for attempt in self._open:
            attempt.is_canceled = True
        self._open.clear()
        self._target, self._attempt = None, None
        self._on_end(target, end)


def goal_to_msg(kind: type, controller: GripperController, width: float) -> object:
    """Return the goal, of the action `kind`, that moves the gripper to `width` [m]."""
    goal, position = kind.Goal(), controller.position(width)
    if controller.type == GRIPPER_ACTIONS[0]:
        goal.command.position, goal.command.max_effort = position, controller.effort
    else:
        goal.command.name, goal.command.position = [controller.joint], [position]
        goal.command.effort = [controller.effort] if controller.effort else []
    return goal


class GripperClient(NewestGoalClient[float]):
    """Moves the gripper to the newest width [m]."""

    def _verdict(self, answer: Any) -> MotionEnd | None:
        if answer.result.stalled:
            return MotionEnd.STALLED
        return MotionEnd.REACHED if answer.result.reached_goal else super()._verdict(answer)


NAVIGATE_ACTION = Setting(
    "navigate_action",
    "",
    "the action nav2_msgs/NavigateToPose that drives a mobile base instead of the controller of this package, such as "
    "navigate_to_pose; empty: none",
)
NAVIGATE_GRIPPER = Setting(
    "navigate_gripper", False, "a base that navigate_action drives has a gripper, which takes gripper_command"
)
PERIOD = 0.1  # [s, wall time] between checks for unanswered goals
LIMIT_PERIOD = 1.0  # [s, wall time] between repetitions of a speed limit: nav2 does not read latched ones
LONGEST = 600.0  # [s, wall time] of a drive; skills have shorter timeouts


class _NavigationClient(NewestGoalClient[Pose]):
    """Client that remembers why nav2 gave a goal up; nav2 has tried its recoveries then, so it is not sent again."""

    reason = ""

    def _verdict(self, answer: Any) -> MotionEnd | None:
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            return MotionEnd.REACHED
        told = getattr(answer.result, "error_msg", "") or "it does not say why"
        self.reason = f"nav2 gave up (error code {getattr(answer.result, 'error_code', 0)}): {told[:200]}"
        return MotionEnd.FAILED


class ActionNavigator:
    """`Navigator` (which says what its methods mean) of nav2's actions."""

    def __init__(self, node: BaseNode, action: str) -> None:
        """Raise InputError if nav2_msgs is not installed."""
        needed = "the parameter navigate_action needs"
        navigate = required_type("nav2_msgs.action", "NavigateToPose", needed)
        self._node, self._action, self._goal_type = node, action, navigate.Goal
        self._limit_type = required_type("nav2_msgs.msg", "SpeedLimit", needed)
        self._client = _NavigationClient(
            ActionClient(node, navigate, action), self._goal, LONGEST, lambda pose, end: self._on_end(end)
        )
        self._limits = node.create_lifecycle_publisher(self._limit_type, "speed_limit", LATCHED)
        self._limit, self._limited = math.inf, -math.inf
        self._keepout, self.zones = KeepoutFeed(node), ()
        self._gripper = GripperCommand(node) if node.setting(NAVIGATE_GRIPPER.name) else None
        self._failure: str | None = ""
        node.every(PERIOD, self._client.watch)

    @property
    def failure(self) -> str | None:
        if self._failure is None and self._client.is_unheard:
            self._client.cancel()
            self._failure = f"no action server answers at {self._action}: is nav2 running and active?"
        return self._failure

    def go(self, pose: Pose) -> None:
        self._failure, self._client.reason = None, ""
        self._client.move(pose)

    def cancel(self) -> None:
        self._client.cancel()

    def keep_out(self, scene: Scene, zones: tuple[Zone, ...]) -> None:
        """Close `zones`, in the map frame, to nav2; `scene` has the building and the base."""
        self.zones = zones
        self._keepout.tell(scene, zones)

    def grip(self, width: float) -> bool:
        if self._gripper is not None:
            self._gripper.send(width)
        return self._gripper is not None

    def limit_speed(self, speed: float) -> None:
        now = time.monotonic()
        if speed != self._limit or (math.isfinite(speed) and now > self._limited + LIMIT_PERIOD):
            self._limit, self._limited = speed, now
            message = self._limit_type(speed_limit=speed if math.isfinite(speed) else 0.0)  # 0: none
            message.header.stamp = self._node.get_clock().now().to_msg()
            self._limits.publish(message)

    def _goal(self, pose: Pose) -> Any:
        goal = self._goal_type()
        goal.pose.header, goal.pose.pose = header(self._node.now(), MAP_FRAME), pose_to_msg(pose)
        return goal

    def _on_end(self, end: MotionEnd) -> None:
        said = {MotionEnd.REACHED: "", MotionEnd.SILENT: f"nav2 did not arrive within {LONGEST:g} s"}
        self._failure = said.get(end, self._client.reason or "nav2 refuses the goal")


def navigator_of(node: BaseNode) -> ActionNavigator | None:
    """Return the navigator that the parameter `navigate_action` names, None if it is empty; raise InputError."""
    action = str(node.setting(NAVIGATE_ACTION.name))
    if action and arm_of(node) is not None:
        raise InputError(
            f"the parameter navigate_action is {action!r}, but robot is {node.setting('robot')!r}: nav2 drives a "
            "mobile base; set robot to mobile, or leave navigate_action empty"
        )
    return ActionNavigator(node, action) if action else None
