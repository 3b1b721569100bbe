"""Client of an action whose goals are absolute targets and carry no id, of which the newest counts.

A server cannot recognise a repetition of such a goal: it preempts the goal before it. That is harmless, since a goal is
an absolute target. The client repeats a goal until its response arrives, asks for its result until that arrives, and
sends it again if the server forgets or drops it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.task import Future

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


@dataclass
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
        self._deadline = self._sent = 0.0
        self._pause, self._drops = FIRST_REPEAT, 0

    @property
    def target(self) -> Target | None:
        """Target on the way to which the robot is, None after the end of its last motion."""
        return self._target

    def move(self, target: Target) -> None:
        """Move to `target` instead of any other one."""
        self._target, self._deadline = target, self._clock() + self._timeout
        self._pause, self._drops = FIRST_REPEAT, 0
        self._attempt = None
        self._send()

    @property
    def is_unheard(self) -> bool:
        """Whether no server has accepted the goal for `HEARD_MAX`, or none is there."""
        accepted = self._attempt is not None and self._attempt.handle is not None
        began = self._deadline - self._timeout
        return self._target is not None and not accepted and self._clock() > began + HEARD_MAX

    def cancel(self) -> None:
        """End the motion to the target, if there is one, without calling `on_end`."""
        attempt, self._target, self._attempt = self._attempt, None, None
        if attempt is not None:
            attempt.is_canceled = True
            if attempt.handle is not None:
                attempt.handle.cancel_goal_async()

    def watch(self) -> None:
        """Repeat what was not answered; call several times a second."""
        now, attempt = self._clock(), self._attempt
        if self._target is None:
            return
        if now > self._deadline:
            if attempt is not None and attempt.handle is not None:
                attempt.handle.cancel_goal_async()
            self._end(MotionEnd.SILENT)
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
        sent = self._client.send_goal_async(self._make_goal(self._target))
        sent.add_done_callback(lambda done: self._on_answer(attempt, done))

    def _on_answer(self, attempt: _Attempt, done: Future) -> None:
        handle = done.result()
        if attempt.is_canceled and handle is not None and handle.accepted:
            handle.cancel_goal_async()
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
        elif (end := self._verdict(answer)) is not None:
            self._end(end)
        else:
            self._drop()

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
        target, self._target, self._attempt = self._target, None, None
        assert target is not None
        self._on_end(target, end)
