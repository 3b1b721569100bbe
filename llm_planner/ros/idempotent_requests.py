"""Services and actions that survive the loss of a message: the client repeats, the server does each request once.

rmw_fastrtps discards a response for good when it has not matched the client's reader yet, so a request without an
answer may have been carried out. Every request and goal of ours therefore has an `id`. The client sends it again until
it is answered or a deadline has passed; the server recognises the id and gives the answer to the first again. For ROS
a repeated goal is a goal of its own, which follows the run of the first and ends with the same result.
"""

from __future__ import annotations

import inspect
import time
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.action.client import ClientGoalHandle
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_services_default
from rclpy.task import Future
from rclpy.timer import Timer

from llm_planner.errors import fault_message
from llm_planner.ros.waiting import Deadlines

REPEAT = 0.3  # wall seconds without an answer after which a request is sent again
REFETCH = 10.0  # wall seconds after which a result is asked for again though no status says that the goal has ended
REFUSED_MAX = 5.0  # wall seconds a refused goal is sent again: a node that was started again is not active at once
REMEMBERED = 64  # requests and goals whose answers a server keeps
PERIOD = 0.1  # wall seconds between looks at what is unanswered
_ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)


def new_id() -> str:
    """Return an id for a request or goal."""
    return uuid.uuid4().hex


# Clients


def _timer(node: Node, callback: Callable[[], None]) -> Timer:
    """A timer that does not run yet."""
    timer = node.create_timer(PERIOD, callback, clock=Clock(clock_type=ClockType.STEADY_TIME))
    timer.cancel()
    return timer


@dataclass
class _Call:
    request: object
    first: Future  # the first answer that comes
    answer: Future  # the same, while it is waited for
    sent: float = -float("inf")  # [s] of the clock


class ServiceCaller:
    """Calls a service of ours, whose requests have an `id`, until it answers."""

    def __init__(self, node: Node, service_type: type, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._deadlines = clock, Deadlines(node, clock)
        self._client = node.create_client(service_type, name)
        self._calls: list[_Call] = []
        self._timer = _timer(node, self.watch)

    @property
    def is_ready(self) -> bool:
        """Whether a server is known."""
        return bool(self._client.service_is_ready())

    def call(self, request: object, seconds: float, otherwise: str) -> Future:
        """Send `request` now, and again until it is answered.

        Args:
            request: gets an id where it has none.
            seconds: wall seconds after which NoAnswerError is raised; a server may also appear until then.
            otherwise: what NoAnswerError says.

        Returns:
            The future response. It completes in the node's executor.
        """
        request.id = request.id or new_id()
        first = Future()
        call = _Call(request, first, self._deadlines.within(seconds, first, otherwise))
        self._calls.append(call)
        if self._timer.is_canceled():
            self._timer.reset()
        self._send(call, self._clock())
        return call.answer

    def drop(self, reason: str) -> None:
        """Wait for no answer any more; whoever did gets NoAnswerError."""
        self._deadlines.drop(reason)

    def watch(self) -> None:
        """Repeat what is unanswered, and give up what is overdue."""
        self._deadlines.watch()
        now = self._clock()
        self._calls = [call for call in self._calls if not call.answer.done()]
        for call in self._calls:
            if now >= call.sent + REPEAT:
                self._send(call, now)
        if not self._calls:
            self._timer.cancel()

    def _send(self, call: _Call, now: float) -> None:
        if not self._client.service_is_ready():
            return
        call.sent = now
        self._client.call_async(call.request).add_done_callback(lambda done: _hand_on(done, call.first))


def _hand_on(done: Future, first: Future) -> None:
    if not first.done() and done.exception() is None and done.result() is not None:
        first.set_result(done.result())


@dataclass(frozen=True)
class GoalEnd:
    """How a goal ended for its client.

    `result` is None where nobody took the goal in time (`was_refused`: a server answered that it takes none now), or
    the server has forgotten it.
    """

    result: object | None
    was_refused: bool = False


class SentGoal:
    """A goal that is sent until a server has taken it, and whose result is fetched until it is there.

    `on_feedback(feedback)` and, once, `on_end(GoalEnd)` are called from the node's executor.
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
        """`seconds` [wall time] are given for being taken; `now` is the clock's [s]."""
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
        """Whether a server has taken it."""
        return self._handle is not None

    def cancel(self, now: float) -> None:
        """Ask for its end until it has ended; one that may have been taken without a word is sent again for that."""
        self._cancel_wanted = True
        self.watch(now)

    def watch(self, now: float) -> None:
        """Repeat what is unanswered at `now` [s]; to be called a few times a second."""
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
            sent = self._client.send_goal_async(self.goal, feedback_callback=self._hear)
            sent.add_done_callback(lambda done: self._on_answer(done, now))

    def _hear(self, message: object) -> None:
        if not self.has_ended:
            self._on_feedback(message.feedback)

    def _on_answer(self, done: Future, now: float) -> None:
        handle = done.result()
        if self.has_ended or self._handle is not None or handle is None:
            return  # an answer to a repetition
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


class GoalClient:
    """Sends goals of an action of ours, whose goals have an `id` and whose results have an `error_code`."""

    def __init__(self, node: Node, action_type: type, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._client, self._clock = ActionClient(node, action_type, name), clock
        self._goals: list[SentGoal] = []
        self._timer = _timer(node, self.watch)

    @property
    def is_ready(self) -> bool:
        """Whether a server is known."""
        return bool(self._client.server_is_ready())

    def send(
        self, goal: object, seconds: float, on_feedback: Callable[[object], None], on_end: Callable[[GoalEnd], None]
    ) -> SentGoal:
        """Send `goal`; the arguments are those of `SentGoal`."""
        sent = SentGoal(self._client, goal, seconds, on_feedback, on_end, self._clock())
        self._goals.append(sent)
        if self._timer.is_canceled():
            self._timer.reset()
        return sent

    def cancel(self, sent: SentGoal) -> None:
        """Ask for its end, until it has ended."""
        sent.cancel(self._clock())

    def watch(self) -> None:
        """Repeat what is unanswered."""
        now = self._clock()
        self._goals = [goal for goal in self._goals if not goal.has_ended]
        for goal in self._goals:
            goal.watch(now)
        if not self._goals:
            self._timer.cancel()


# Servers


def answer_once(handle: Callable[[object, object], object]) -> Callable[[object, object], Awaitable[object]]:
    """Wrap the callback of a service, sync or async: a request is carried out once, a repetition gets the same answer.

    A request without an id is always new.
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
        except Exception as error:  # whoever repeats the request is told the same
            answer.set_exception(error)
        return answer.result()

    return answered


class SharedGoal:
    """A goal as its server knows it, however often it was sent: all its handles end alike."""

    def __init__(self, request: object) -> None:
        self.request = request
        self.has_begun = False
        self.done = Future()  # the result
        self._handles: list[ServerGoalHandle] = []

    @property
    def id(self) -> str:
        return str(self.request.id)

    @property
    def is_active(self) -> bool:
        """Whether it has no result yet."""
        return not self.done.done()

    @property
    def is_cancel_requested(self) -> bool:
        return any(handle.is_cancel_requested for handle in self._handles)

    def publish_feedback(self, feedback: object) -> None:
        """Tell everybody who sent it."""
        for handle in self._handles:
            if handle.is_active:
                handle.publish_feedback(feedback)

    async def followed(self, handle: ServerGoalHandle) -> object:
        """The result, once there is one; the handle's status says the same as its code."""
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
    """An action server that carries each goal out once, however often it is sent.

    A goal that repeats the id of one that has ended gets its result; one without an id is new."""

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
        """`execute` gives the result and is called once a goal; `accepts` is asked first, also once."""
        self._node, self._name, self._result_type = node, name, action_type.Result
        self._execute_once, self._on_cancel, self._accepts = execute, on_cancel, accepts
        self._goals: dict[str, SharedGoal] = {}  # the oldest first
        ActionServer(
            node, action_type, name, self._execute, goal_callback=self._on_goal, cancel_callback=self._cancel,
            goal_service_qos_profile=requests, result_service_qos_profile=requests,
        )  # fmt: skip

    def _on_goal(self, request: object) -> GoalResponse:
        request.id = request.id or new_id()
        if request.id in self._goals:
            return GoalResponse.ACCEPT
        goal = SharedGoal(request)
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
        """A fault on the way ends the goal with the code UNKNOWN, which is a failure."""
        try:
            result = await self._execute_once(goal)
        except Exception as error:
            self._node.fault(f"a goal of {self._name}", error)
            result = self._result_type(error_msg=fault_message(error))
        goal.done.set_result(result)
        self._node.executor.wake()  # tasks that wait are looked at when something happens
