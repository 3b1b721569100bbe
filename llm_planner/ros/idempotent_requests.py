"""Services and actions that tolerate lost messages: the client repeats, the server executes each request once.

rmw_fastrtps discards a response if it has not matched the client's reader yet, so an unanswered request may have been
executed. Every request and goal of this package therefore has an `id`. The client repeats it until a response arrives
or the deadline passes. The server recognises the id and repeats the first response. For ROS, a repeated goal is a new
goal; it follows the run of the first and ends with the same result.
"""

from __future__ import annotations

import inspect
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, CancelResponse, GoalResponse
from rclpy.action.client import ClientGoalHandle
from rclpy.action.server import ServerGoalHandle
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_services_default
from rclpy.task import Future

from llm_planner.errors import fault_message
from llm_planner.ros.sender_identity import IdentifyingActionServer
from llm_planner.ros.waiting import NoAnswerError

REPEAT = 0.3  # [s, wall time] between repetitions of an unanswered request
REFETCH = 10.0  # [s, wall time] between requests for a result while no status says that the goal has ended
REFUSED_MAX = 5.0  # [s, wall time] a rejected goal is repeated: a restarted node is not active at once
REMEMBERED = 64  # requests and goals whose responses a server keeps
Pending = TypeVar("Pending", "_Call", "SentGoal")
PERIOD = 0.1  # [s, wall time] between checks for unanswered requests
_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)


def new_id() -> str:
    return uuid.uuid4().hex


# Clients


class _Call:
    """Request that is repeated until the service responds, or its deadline passes."""

    def __init__(self, client: Client, request: object, answer: Future, deadline: float, otherwise: str) -> None:
        self._client, self._request, self._answer = client, request, answer
        self._deadline, self._otherwise, self._sent = deadline, otherwise, -float("inf")  # [s]

    @property
    def has_ended(self) -> bool:
        return bool(self._answer.done())

    def drop(self, reason: str) -> None:
        if not self._answer.done():
            self._answer.set_exception(NoAnswerError(reason))

    def watch(self, now: float) -> None:
        if now > self._deadline:
            self.drop(self._otherwise)
        elif now >= self._sent + REPEAT and self._client.service_is_ready():
            self._sent = now
            self._client.call_async(self._request).add_done_callback(self._on_response)

    def _on_response(self, done: Future) -> None:
        if not self._answer.done() and done.exception() is None and done.result() is not None:
            self._answer.set_result(done.result())


class _Repeating(Generic[Pending]):
    """What a client has sent and repeats; the timer runs only while something is pending."""

    def __init__(self, node: Node, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pending: list[Pending] = []
        self._timer = node.create_timer(PERIOD, self.watch, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._timer.cancel()

    def _follow(self, pending: Pending) -> None:
        self._pending.append(pending)
        if self._timer.is_canceled():
            self._timer.reset()

    def watch(self) -> None:
        """Repeat unanswered messages and abandon overdue ones."""
        now = self._clock()
        self._pending = [one for one in self._pending if not one.has_ended]
        for one in self._pending:
            one.watch(now)
        if not self._pending:
            self._timer.cancel()


class ServiceCaller(_Repeating[_Call]):
    """Service client that repeats each request until the service responds; requests have an `id`."""

    def __init__(self, node: Node, service_type: type, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(node, clock)
        self._node, self._client = node, node.create_client(service_type, name)

    def call(self, request: object, seconds: float, otherwise: str) -> Future:
        """Send `request` now, and repeat it until the service responds.

        Args:
            request: Receives an id if it has none.
            seconds: Deadline [s, wall time]. The server may also start within it.
            otherwise: Message of the NoAnswerError after the deadline.

        Returns:
            Future of the response or NoAnswerError, completed in the node's executor.
        """
        request.id = request.id or new_id()
        answer, now = Future(executor=self._node.executor), self._clock()
        call = _Call(self._client, request, answer, now + seconds, otherwise)
        self._follow(call)
        call.watch(now)
        return answer

    def drop(self, reason: str) -> None:
        """Abandon all pending calls; their futures raise NoAnswerError."""
        for call in self._pending:
            call.drop(reason)


@dataclass(frozen=True)
class GoalEnd:
    """End of a goal as its client sees it.

    `result` is None if no server accepted the goal in time or the server has forgotten it. `was_refused` says that a
    server rejected the goal.
    """

    result: object | None
    was_refused: bool = False


class SentGoal:
    """Goal that is repeated until a server accepts it, and whose result is requested until it arrives.

    `on_feedback(feedback)` is called from the node's executor, and `on_end(GoalEnd)` once.
    """

    def __init__(
        self,
        client: ActionClient,
        goal: object,
        seconds: float,
        on_feedback: Callable[[object], None],
        on_end: Callable[[GoalEnd], None],
        now: float,
    ) -> None:
        """Send the goal at `now` [s]; a server must accept it within `seconds` [s, wall time]."""
        goal.id = goal.id or new_id()
        self.goal = goal
        self.has_ended = False
        self._client, self._on_feedback, self._on_end = client, on_feedback, on_end
        self._deadline = now + seconds
        self._sent = self._fetched = self._canceled = -float("inf")
        self._handle: ClientGoalHandle | None = None
        self._was_refused = self._cancel_wanted = False
        self.watch(now)

    @property
    def is_taken(self) -> bool:
        return self._handle is not None

    def cancel(self, now: float) -> None:
        """Request cancellation until the goal ends; an unanswered goal is repeated first, as it may be running."""
        self._cancel_wanted = True
        self.watch(now)

    def watch(self, now: float) -> None:
        """Repeat unanswered messages at `now` [s]; call a few times a second."""
        if self.has_ended:
            return
        if self._handle is None:
            self._insist(now)
            return
        if self._cancel_wanted and now >= self._canceled + REPEAT:
            self._canceled = now
            self._handle.cancel_goal_async()
        if now >= self._fetched + (REPEAT if self._handle.status in _ENDED else REFETCH):
            self._fetch(self._handle, now)

    def _insist(self, now: float) -> None:
        if now > self._deadline:
            self._end(GoalEnd(None, self._was_refused))
        elif now >= self._sent + REPEAT and self._client.server_is_ready():
            self._sent = now
            sent = self._client.send_goal_async(
                self.goal, feedback_callback=lambda told: self.has_ended or self._on_feedback(told.feedback)
            )
            sent.add_done_callback(lambda done: self._on_answer(done, now))

    def _on_answer(self, done: Future, now: float) -> None:
        handle = done.result()
        if self.has_ended or self._handle is not None or handle is None:
            return  # response to a repetition
        if not handle.accepted:
            if not self._was_refused:
                self._was_refused, self._deadline = True, min(self._deadline, now + REFUSED_MAX)
            return
        self._handle = handle
        self._fetch(handle, now)
        if self._cancel_wanted:
            self.cancel(now)

    def _fetch(self, handle: ClientGoalHandle, now: float) -> None:
        self._fetched = now
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, done: Future) -> None:
        answer = done.result()
        if answer is not None:
            self._end(GoalEnd(answer.result if answer.status in _ENDED else None))

    def _end(self, end: GoalEnd) -> None:
        if not self.has_ended:
            self.has_ended = True
            self._on_end(end)


class GoalClient(_Repeating[SentGoal]):
    """Action client that repeats goals; they have an `id` and their results an `error_code`."""

    def __init__(self, node: Node, action_type: type, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(node, clock)
        self._client = ActionClient(node, action_type, name)

    @property
    def is_ready(self) -> bool:
        """Whether a server is known."""
        return bool(self._client.server_is_ready())

    def send(
        self, goal: object, seconds: float, on_feedback: Callable[[object], None], on_end: Callable[[GoalEnd], None]
    ) -> SentGoal:
        """Send `goal`; the arguments are as in `SentGoal`."""
        sent = SentGoal(self._client, goal, seconds, on_feedback, on_end, self._clock())
        self._follow(sent)
        return sent

    def cancel(self, sent: SentGoal) -> None:
        """Request cancellation until the goal has ended."""
        sent.cancel(self._clock())


# Servers


def answer_once(handle: Callable[[object, object], object]) -> Callable[[object, object], Awaitable[object]]:
    """Wrap a sync or async service callback so that it executes each request id once.

    A repetition receives the first response. A request without an id always counts as new.
    """
    answers: OrderedDict[str, Future] = OrderedDict()

    async def answered(request: object, response: object) -> object:
        known = answers.get(request.id)
        if known is not None:
            return await known
        answer = Future()
        if request.id:
            answers[request.id] = answer
            while len(answers) > REMEMBERED:
                answers.popitem(last=False)
        try:
            outcome = handle(request, response)
            answer.set_result(await outcome if inspect.isawaitable(outcome) else outcome)
        except Exception as error:  # repetitions receive the same error
            answer.set_exception(error)
        return answer.result()

    return answered


class SharedGoal:
    """Goal of the node `sender` on the server side; it unites the handles of all repetitions, which end alike."""

    def __init__(self, request: object, sender: str = "") -> None:
        self.request, self.sender = request, sender
        self.has_begun = False
        self.done = Future()  # the result
        self._handles: list[ServerGoalHandle] = []

    @property
    def id(self) -> str:
        return str(self.request.id)

    @property
    def is_active(self) -> bool:
        """Whether the goal has no result yet."""
        return not self.done.done()

    @property
    def is_cancel_requested(self) -> bool:
        return any(handle.is_cancel_requested for handle in self._handles)

    def publish_feedback(self, feedback: object) -> None:
        for handle in self._handles:
            if handle.is_active:
                handle.publish_feedback(feedback)

    async def followed(self, handle: ServerGoalHandle) -> object:
        """Wait for the result, set the handle's status to match its error code, and return it."""
        self._handles.append(handle)
        result = await self.done
        self._handles.remove(handle)
        if result.error_code == result.SUCCEEDED:
            handle.succeed()
        elif handle.is_cancel_requested and result.error_code == result.CANCELED:
            handle.canceled()
        else:
            handle.abort()
        return result


class GoalServer:
    """Action server that executes each goal id once; a repetition receives the same result."""

    def __init__(
        self,
        node: Node,
        action_type: type,
        name: str,
        execute: Callable[[SharedGoal], Awaitable[object]],
        on_cancel: Callable[[SharedGoal], None],
        accepts: Callable[[SharedGoal], bool],
        requests: QoSProfile = qos_profile_services_default,
    ) -> None:
        """Create the action server.

        Args:
            node: Node that owns the server.
            action_type: Action whose goals have an `id`.
            name: Name of the action.
            execute: Coroutine that returns the result; called once per goal id.
            on_cancel: Called when a client requests cancellation.
            accepts: Decides whether to accept a goal; called once per goal id, before `execute`.
            requests: QoS of the goal and result services.
        """
        self._node, self._name, self._result_type = node, name, action_type.Result
        self._execute_once, self._on_cancel, self._accepts = execute, on_cancel, accepts
        self._goals: dict[str, SharedGoal] = {}  # oldest first
        self._server = IdentifyingActionServer(
            node, action_type, name, self._execute, goal_callback=self._on_goal, cancel_callback=self._cancel,
            goal_service_qos_profile=requests, result_service_qos_profile=requests,
        )  # fmt: skip

    def _on_goal(self, request: object) -> GoalResponse:
        request.id = request.id or new_id()
        if request.id in self._goals:
            return GoalResponse.ACCEPT
        goal = SharedGoal(request, self._server.sender)
        if not self._accepts(goal):
            return GoalResponse.REJECT
        self._goals[goal.id] = goal
        over = [one.id for one in self._goals.values() if not one.is_active]
        for old in over[: max(0, len(over) - REMEMBERED)]:
            del self._goals[old]
        return GoalResponse.ACCEPT

    def _cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        goal = self._goals.get(handle.request.id)
        if goal is not None and goal.is_active:
            self._on_cancel(goal)
        return CancelResponse.ACCEPT

    async def _execute(self, handle: ServerGoalHandle) -> object:
        goal = self._goals[handle.request.id]
        if not goal.has_begun:
            goal.has_begun = True
            self._node.executor.create_task(self._carry_out, goal)
        return await goal.followed(handle)

    async def _carry_out(self, goal: SharedGoal) -> None:
        """Execute the goal; a fault ends it with the code UNKNOWN, which is a failure."""
        try:
            result = await self._execute_once(goal)
        except Exception as error:
            self._node.fault(f"a goal of {self._name}", error)
            result = self._result_type(error_msg=fault_message(error))
        goal.done.set_result(result)
        self._node.executor.wake()  # rclpy resumes waiting tasks only on events
