"""Client of a gripper's action, `GripperCommand` or `ParallelGripperCommand` of control_msgs.

Goals of these actions carry no id, so a server cannot recognise a repetition: it preempts the goal before it. That is
harmless, since a goal is an absolute position, but only the newest goal counts then. The client repeats a goal until
its response arrives, asks for its result until that arrives, and sends it again if the server forgets or drops it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future

from llm_planner.errors import InputError
from llm_planner.robots.controllers import GRIPPER_ACTIONS, GripperController

FIRST_REPEAT, LAST_REPEAT = 0.3, 2.4  # [s] pauses between repetitions of an unanswered goal; each doubles the last
REFETCH = 1.0  # [s] between requests for a result
TRIES = 3  # goals for one width that a server may drop without reaching it
_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)


def action_type(name: str) -> type:
    """Return the action called `name`, one of `GRIPPER_ACTIONS`; raise InputError if it is not installed."""
    try:
        from control_msgs import action
    except ImportError as error:
        raise InputError(
            "the gripper's action needs the ROS package control_msgs, which is not installed: "
            "apt install ros-$ROS_DISTRO-control-msgs, and source the ROS installation"
        ) from error
    if not hasattr(action, name):
        raise InputError(f"the control_msgs that is installed has no action {name}; use {GRIPPER_ACTIONS[0]}")
    return getattr(action, name)


def goal_to_msg(kind: type, controller: GripperController, width: float) -> object:
    """Return the goal, of the action `kind`, that moves the gripper to `width` [m]."""
    goal, position = kind.Goal(), controller.position(width)
    if controller.type == GRIPPER_ACTIONS[0]:
        goal.command.position, goal.command.max_effort = position, controller.effort
    else:
        goal.command.name, goal.command.position = [controller.joint], [position]
        goal.command.effort = [controller.effort] if controller.effort else []
    return goal


class GripperEnd(Enum):
    """How a motion of the gripper ended."""

    REACHED = "reached"
    STALLED = "stalled"  # against an object, or blocked
    FAILED = "failed"  # the server gave it up, each time
    SILENT = "silent"  # the server did not answer in time


@dataclass
class _Attempt:
    """Goal that was sent."""

    handle: ClientGoalHandle | None = None
    fetched: float = -float("inf")  # [s]


class GripperClient:
    """Moves the gripper to the newest width; `on_end(width, GripperEnd)` tells how that went, once per width."""

    def __init__(
        self,
        client: ActionClient,
        make_goal: Callable[[float], object],
        timeout: float,
        on_end: Callable[[float, GripperEnd], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use `client`; a width must be reached within `timeout` [s] of wall time.

        `make_goal` returns the goal for a width [m].
        """
        self._client, self._make_goal, self._timeout = client, make_goal, timeout
        self._on_end, self._clock = on_end, clock
        self._width: float | None = None  # [m] on the way there
        self._attempt: _Attempt | None = None  # the newest one
        self._deadline = self._sent = 0.0
        self._pause, self._drops = FIRST_REPEAT, 0

    @property
    def width(self) -> float | None:
        """Width that the gripper is on the way to [m], None if it has ended its last motion."""
        return self._width

    def move(self, width: float) -> None:
        """Move to `width` [m] instead of any other one."""
        self._width, self._deadline = width, self._clock() + self._timeout
        self._pause, self._drops = FIRST_REPEAT, 0
        self._attempt = None
        self._send()

    def watch(self) -> None:
        """Repeat what was not answered; call several times a second."""
        now, attempt = self._clock(), self._attempt
        if self._width is None:
            return
        if now > self._deadline:
            if attempt is not None and attempt.handle is not None:
                attempt.handle.cancel_goal_async()
            self._end(GripperEnd.SILENT)
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
        sent = self._client.send_goal_async(self._make_goal(self._width))
        sent.add_done_callback(lambda done: self._on_answer(attempt, done))

    def _on_answer(self, attempt: _Attempt, done: Future) -> None:
        handle = done.result()
        if attempt is not self._attempt or handle is None:
            return  # another goal has preempted this one
        if handle.accepted:
            attempt.handle = handle
            self._fetch(attempt)
        else:
            self._drop()

    def _fetch(self, attempt: _Attempt) -> None:
        attempt.fetched = self._clock()
        attempt.handle.get_result_async().add_done_callback(lambda done: self._on_result(attempt, done))

    def _on_result(self, attempt: _Attempt, done: Future) -> None:
        answer = done.result()
        if attempt is not self._attempt or answer is None:
            return
        if answer.status not in _ENDED:  # the server was restarted
            self._drop()
        elif answer.result.stalled:
            self._end(GripperEnd.STALLED)
        elif answer.result.reached_goal or answer.status == GoalStatus.STATUS_SUCCEEDED:
            self._end(GripperEnd.REACHED)
        else:
            self._drop()

    def _drop(self) -> None:
        """Send the goal again later, unless the server has dropped it too often."""
        self._drops += 1
        if self._drops == TRIES:
            self._end(GripperEnd.FAILED)
        else:
            self._attempt, self._sent = _Attempt(), self._clock()

    def _end(self, end: GripperEnd) -> None:
        width, self._width, self._attempt = self._width, None, None
        self._on_end(width, end)
