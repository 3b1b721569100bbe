"""Executor of the nodes: it tells callbacks the publisher of each message, keeps its wait set, and lets /clock wait.

rclpy of Jazzy builds a wait set of all entities for each callback, and a second one for the guard condition that the
callback's end triggers. Together they cost more than most callbacks. This executor looks the entities up again only
after some were created or destroyed, and calls everything that is ready before it waits again.

rclpy's time source subscribes to /clock, which would wake every node a hundred times a second. This executor does not
wait for that subscription; DDS keeps the newest message, and the node takes it when it asks for the time.
"""

from __future__ import annotations

import inspect
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from rclpy._rclpy_pybind11 import WaitSet
from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.waitable import NumberOfEntities, Waitable

from llm_planner.ros.sender_identity import RCLPY_NAMES_PUBLISHERS, take

EVENTS_PERIOD = 1.0  # [s] between looks for events of the middleware, which rclpy only warns of, as incompatible QoS


class NodeExecutor(SingleThreadedExecutor):
    """Runs callbacks in the thread that calls `spin`; functions of two parameters get message and MessageInfo.

    The MessageInfo has the `publisher_gid`. `spin_once` runs all that is ready, where rclpy runs one callback.
    """

    def __init__(self, **options: Any) -> None:
        """Create an executor without nodes; `options` go to rclpy's."""
        self._entities: _Entities | None = None  # None: they have to be looked up
        self._has_changed = True
        self._waiting = threading.Lock()  # held while the entities are in use
        super().__init__(**options)

    def wake(self) -> None:
        """Wait for other entities; nodes call this when they create or destroy one."""
        self._has_changed = True
        super().wake()

    def add_node(self, node: Node) -> bool:
        self._has_changed = True
        return bool(super().add_node(node))

    def remove_node(self, node: Node) -> None:
        super().remove_node(node)
        self._has_changed = True

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        """Stop, as rclpy does; any thread may call this."""
        has_ended = bool(super().shutdown(timeout_sec))  # wakes the thread that waits
        with self._waiting:
            self._release()
        return has_ended

    def _spin_once_impl(self, timeout_sec: Any = None, wait_condition: Callable[[], bool] = lambda: False) -> None:
        """Run tasks, wait for at most `timeout_sec` [s] unless it is None, and run all that is ready."""
        if RCLPY_NAMES_PUBLISHERS:  # a newer rclpy keeps its tasks in other ways
            super()._spin_once_impl(timeout_sec, wait_condition)
            return
        try:
            self._run_tasks()
            if not wait_condition():
                self._run_ready(getattr(timeout_sec, "timeout", timeout_sec))
        except BaseException:
            with self._waiting:
                self._release()
            raise

    def _run_tasks(self) -> None:
        """Start or resume each task that is not done, oldest first."""
        if not self._tasks:
            return
        with self._tasks_lock:
            tasks = [task for task, _, _ in self._tasks]
        try:
            for task in tasks:
                task()
                if task.done():
                    super().wake()  # another task may wait for this one
                    task.result()  # raises what the task raised
        finally:
            with self._tasks_lock:
                self._tasks = [one for one in self._tasks if not (one[0].done() or one[0].cancelled())]

    def _run_ready(self, timeout: float | None) -> None:
        """Wait until something is ready or `timeout` [s] has passed, and run all that is ready."""
        limit = EVENTS_PERIOD if timeout is None or timeout < 0.0 else min(timeout, EVENTS_PERIOD)
        with self._waiting:
            if self._is_shutdown:
                return
            if not self._context.ok():
                raise ExternalShutdownException
            if self._has_changed or self._entities is None:
                self._release()
                self._has_changed = False
                self._entities = _Entities(self.get_nodes(), (self._guard, self._sigint_gc), self._context.handle)
            ready = self._entities.wait(limit)
        if not self._context.ok():
            raise ExternalShutdownException
        for kind, entity in ready:
            if self._is_shutdown:
                return
            if not entity.callback_group.can_execute(entity):
                continue  # it stays ready
            if kind in _CALLS and not inspect.iscoroutinefunction(entity.callback):
                # Without the task and the coroutines that rclpy would create.
                if entity.callback_group.beginning_execution(entity):
                    try:
                        with suppress(InvalidHandle):  # destroyed since it was ready
                            _CALLS[kind](entity)
                    finally:
                        entity.callback_group.ending_execution(entity)
                continue
            task = self._make_handler(entity, None, getattr(self, f"_take_{kind}"))
            task()
            if task.done():
                task.result()  # raises what the callback raised

    def _release(self) -> None:
        if self._entities is not None:
            self._entities.release()
            self._entities = None


def _call_subscription(subscription: Subscription) -> None:
    if subscription._callback_type is not Subscription.CallbackType.MessageOnly:
        taken = take(subscription)
    else:
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        taken = taken and taken[:1]
    if taken is not None:
        subscription.callback(*taken)


def _call_timer(timer: Timer) -> None:
    with timer.handle:
        if not timer.handle.is_timer_ready():  # it was cancelled since
            return
        timer.handle.call_timer()
    timer.callback()


_CALLS: Mapping[str, Callable[[Any], None]] = {"timer": _call_timer, "subscription": _call_subscription}


_KINDS = {  # by their names in rclpy's wait set, in the order in which rclpy runs them: where a node lists them
    "timer": "timers",
    "subscription": "subscriptions",
    "guard_condition": "guards",
    "client": "clients",
    "service": "services",
}


@dataclass
class _Members:
    """Entities of one callback group, which lets all of them run or none."""

    one: Any
    handles: list[tuple[str, Any]] = field(default_factory=list)  # each after its kind
    guards: list[GuardCondition] = field(default_factory=list)
    waitables: list[Waitable] = field(default_factory=list)


class _Entities:
    """What nodes wait for, with a wait set that has room for it; holds all handles until `release`."""

    def __init__(self, nodes: Sequence[Node], guards: Sequence[Any], context: Any) -> None:
        self._groups: dict[CallbackGroup, _Members] = {}
        self._events: list[EventHandler] = []
        self._looked = -math.inf  # for events [s, monotonic]
        self._guards = guards
        self._by_pointer: dict[str, dict[int, Any]] = {kind: {} for kind in _KINDS}
        self._held = ExitStack()
        self._held.enter_context(context)
        sizes = NumberOfEntities(num_gcs=len(guards))
        for guard in guards:
            self._held.enter_context(guard.handle)
        for kind, attribute in _KINDS.items():
            for entity in (one for node in nodes for one in getattr(node, attribute)):
                with suppress(InvalidHandle):  # it is being destroyed
                    self._held.enter_context(entity.handle)
                    self._by_pointer[kind][entity.handle.pointer] = entity
                    members = self._groups.setdefault(entity.callback_group, _Members(entity))
                    members.handles.append((kind, entity.handle))
                    if kind == "guard_condition":
                        members.guards.append(entity)
            name = f"num_{kind}s"
            setattr(sizes, name, getattr(sizes, name) + len(self._by_pointer[kind]))
        for waitable in (one for node in nodes for one in node.waitables):
            with suppress(InvalidHandle):
                self._held.enter_context(waitable)
                sizes += waitable.get_num_entities()
                if isinstance(waitable, EventHandler):
                    self._events.append(waitable)
                else:
                    self._groups.setdefault(waitable.callback_group, _Members(waitable)).waitables.append(waitable)
        self._set = WaitSet(
            sizes.num_subscriptions,
            sizes.num_guard_conditions,
            sizes.num_timers,
            sizes.num_clients,
            sizes.num_services,
            sizes.num_events,
            context,
        )
        self._add = {kind: getattr(self._set, f"add_{kind}") for kind in _KINDS}

    def wait(self, timeout: float) -> list[tuple[str, Any]]:
        """Wait for at most `timeout` [s] until some are ready; return these, each after its kind."""
        waitables, now = self._fill(), time.monotonic()
        if now >= self._looked + EVENTS_PERIOD:
            self._looked = now
            for event in self._events:
                event.add_to_wait_set(self._set)
            waitables += self._events
        self._set.wait(round(1e9 * timeout))
        ready = [("waitable", waitable) for waitable in waitables if waitable.is_ready(self._set)]
        for kind, entities in self._by_pointer.items():
            found = (entities.get(pointer) for pointer in self._set.get_ready_entities(kind))
            ready += [(kind, entity) for entity in found if entity is not None]
        for kind, entity in ready:
            if kind == "guard_condition":
                entity._executor_triggered = True  # the wait set has taken the trigger
        return ready

    def _fill(self) -> list[Any]:
        """Add all that may run now to the wait set; return the waitables among them."""
        add = self._add
        self._set.clear_entities()
        for guard in self._guards:
            self._set.add_guard_condition(guard.handle)
        waitables: list[Any] = []
        for group, members in self._groups.items():
            if not group.can_execute(members.one):
                continue
            for kind, handle in members.handles:
                add[kind](handle)
            for waitable in members.waitables:
                waitable.add_to_wait_set(self._set)
            waitables += members.waitables
            for guard in members.guards:
                if guard._executor_triggered:  # it could not run then
                    guard.trigger()
        return waitables

    def release(self) -> None:
        """Let go of all handles, so that destroyed entities can end."""
        self._held.close()


class Unattended(CallbackGroup):
    """Group whose subscriptions no executor waits for: DDS keeps their messages until somebody takes them."""

    def can_execute(self, entity: object) -> bool:
        return False

    def beginning_execution(self, entity: object) -> bool:
        return False

    def ending_execution(self, entity: object) -> None:
        pass
