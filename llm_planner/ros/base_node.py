"""Base class of all nodes: lifecycle, typed parameters, diagnostics, guarded callbacks, redacting logger, main.

The base class guards every callback that a node registers. It logs an unexpected exception with the origin of the
message, calls the node's `on_fault` (which brakes the robot), and keeps the node alive.
"""

from __future__ import annotations

import gc
import inspect
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, ClassVar, NoReturn

import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle, ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription
from rclpy.time_source import CLOCK_TOPIC
from rclpy.timer import Timer

from llm_planner.errors import InputError, LlmPlannerError, fault_message
from llm_planner.ros.heartbeat_monitor import EAGER_PERIOD, StatusPublisher
from llm_planner.ros.node_executor import NodeExecutor, Unattended
from llm_planner.ros.node_table import SENDERS
from llm_planner.ros.other_systems import claim_name, plain
from llm_planner.ros.parameters import OF_RCLPY, Setting, declare, is_of_another_node, unknown_parameter
from llm_planner.ros.processes import end_unstarted
from llm_planner.ros.redacting_logger import RedactingLogger
from llm_planner.ros.sender_identity import PublisherCheck, publisher_gid, publisher_name
from llm_planner.ros.transport import use_sockets

# Publishers of states and scenes are reliable, so that tools that ask for it receive them; readers here need not be.
STATES = QoSProfile(depth=5, reliability=ReliabilityPolicy.RELIABLE)
PICTURES = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
SENSOR_DATA = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST_ONLY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)  # for control loops: no old samples
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
SPOKEN = QoSProfile(depth=500, reliability=ReliabilityPolicy.RELIABLE)  # deep: a stop among many words must not be lost
COMMANDS = QoSProfile(depth=200, reliability=ReliabilityPolicy.RELIABLE)  # commands and their status
PATCHES = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)

ENDING = (signal.SIGINT, signal.SIGTERM)
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class BaseNode(LifecycleNode):
    """Lifecycle node with guarded callbacks; subclasses build their entities in `configure`, this class destroys them.

    Subclasses create publishers with `create_lifecycle_publisher`, and check `is_active` before they cause motion.
    """

    SETTINGS: ClassVar[tuple[Setting, ...]] = ()
    senders = SENDERS  # nodes whose messages are taken, by topic; a topic that is missing takes those of any
    AUTOSTART = Setting("autostart", True, "configure and activate at once, without a lifecycle manager")

    def __init__(self, name: str, **options: object) -> None:
        """Declare the parameters; `options` go to rclpy's node."""
        self._faults = 0
        self.has_own_process = False  # `run_node` runs it: nothing else runs in this process
        self.start_error: Exception | None = None  # why `configure` failed
        self._redacting: RedactingLogger | None = None
        self._time_topic: Subscription | None = None  # /clock
        super().__init__(name, **options)
        self._redacting = RedactingLogger(super().get_logger().name)
        self._settings = {setting.name: setting for setting in (*self.SETTINGS, self.AUTOSTART)}
        self._check_names()
        declare(self, self._settings.values(), self._parameter_overrides)
        self.add_on_set_parameters_callback(self._check_values)
        self.is_active = False
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._base_entities = self._entities()

    def configure(self) -> None:
        """Create publishers, subscriptions, timers and the core object; may raise LlmPlannerError."""
        raise NotImplementedError

    def close(self) -> None:
        """Free resources that the garbage collector does not free; the default does nothing."""

    def _check_names(self) -> None:
        """Raise InputError for a given parameter that no node of the package has."""
        unknown = sorted(name for name in self._parameter_overrides if not self.has_parameter(name))
        for name in (name for name in unknown if name not in self._settings):
            if not name.startswith(OF_RCLPY) and not is_of_another_node(name):
                raise InputError(unknown_parameter(self.get_name(), name, self._settings))

    def _check_values(self, parameters: list[Parameter]) -> SetParametersResult:
        """Refuse changes to invalid values, with the reason."""
        known = ((self._settings[one.name], one.value) for one in parameters if one.name in self._settings)
        reason = "; ".join(filter(None, (setting.problem(value) for setting, value in known)))
        return SetParametersResult(successful=not reason, reason=reason)

    def get_clock(self) -> Clock:
        """Return the node's clock, set to the newest time of /clock if `use_sim_time` is set."""
        topic, taken = self._time_topic, None
        if topic is not None:
            with suppress(InvalidHandle), topic.handle:  # invalid once use_sim_time is switched off
                taken = topic.handle.take_message(topic.msg_type, False)
        if taken is not None:
            topic.callback(taken[0])
        return super().get_clock()

    def get_logger(self) -> RcutilsLogger:
        """Return the node's logger, which redacts secrets."""
        return self._redacting or super().get_logger()

    def on_fault(self, error: BaseException) -> None:
        """Brake after an unexpected exception; the default does nothing."""

    def fault(self, origin: str, error: BaseException) -> None:
        """Log and count an unexpected exception in the work for `origin`, and brake."""
        if not self.context.ok():
            return  # during shutdown, rclpy's own work fails in many ways
        trace = "".join(traceback.format_exception(error))
        self.get_logger().error(
            f"a fault in the work for {origin}; the node goes on:\n{trace}", throttle_duration_sec=1.0
        )
        self._faults += 1
        try:
            self.on_fault(error)
        except Exception:
            self.get_logger().error(f"a fault while braking:\n{traceback.format_exc()}")

    def tell(self, text: str) -> None:
        """Log what people should know of the course of a command, as one line at level info."""
        self.get_logger().info(" ".join(text.split()))

    def background(self, work: Callable[..., object], *arguments: object) -> None:
        """Run `work(*arguments)`, a function or coroutine, guarded in the node's executor."""
        self.executor.create_task(self._guarded(work, lambda *_: f"the task {work.__name__}"), *arguments)

    def create_subscription(
        self,
        msg_type: type,
        topic: str,
        callback: Callable[..., object],
        qos_profile: object,
        **options: object,
    ) -> object:
        """Create a subscription as rclpy does, with a guarded callback, for messages of `senders`."""
        if topic == CLOCK_TOPIC:
            self._time_topic = super().create_subscription(
                msg_type, topic, callback, qos_profile, callback_group=Unattended()
            )
            return self._time_topic
        try:
            inspect.signature(callback).bind("message", "info")
            takes_info = True
        except TypeError:
            takes_info = False
        is_latched = getattr(qos_profile, "durability", None) == DurabilityPolicy.TRANSIENT_LOCAL
        above, _, name = topic.rpartition("/")
        check = PublisherCheck(self, topic, [f"{above}/{one}".strip("/") for one in self.senders.get(name, ())])

        def origin(message: object, info: dict[str, Any]) -> str:
            sender = publisher_name(self, topic, publisher_gid(info)) or "an unknown publisher"
            return f"a message on {topic} from {sender}"

        def heard(message: object, info: dict[str, Any]) -> object:
            if not check.passes(info, (lambda: guarded(message, info)) if is_latched else None):
                return None
            return callback(message, info) if takes_info else callback(message)

        guarded = self._guarded(heard, origin)
        return super().create_subscription(
            msg_type, topic, lambda message, info: guarded(message, info), qos_profile, **options
        )

    def create_service(
        self, srv_type: type, srv_name: str, callback: Callable[..., object], **options: object
    ) -> object:
        """Create a service as rclpy does, with a guarded callback; a fault goes into the response's `error_msg`."""

        def failed(error: BaseException, request: object, response: object) -> object:
            response = srv_type.Response()
            if hasattr(response, "error_msg"):
                response.error_msg = fault_message(error)
            return response

        guarded = self._guarded(callback, lambda *_: f"a request of {srv_name}", failed)
        return super().create_service(srv_type, srv_name, guarded, **options)

    def create_timer(
        self, timer_period_sec: float, callback: Callable[..., object] | None, *arguments: object, **options: object
    ) -> object:
        guarded = callback and self._guarded(callback, lambda *_: "a timer")
        return super().create_timer(timer_period_sec, guarded, *arguments, **options)

    def create_guard_condition(self, callback: Callable[..., object], **options: object) -> object:
        return super().create_guard_condition(self._guarded(callback, lambda *_: "finished work"), **options)

    def _guarded(
        self,
        callback: Callable[..., object],
        origin: Callable[..., str],
        failed: Callable[..., object] = lambda error, *arguments: None,
    ) -> Callable[..., object]:
        """Wrap a sync or async callback: if it raises, report the fault and return the result of `failed`."""
        if inspect.iscoroutinefunction(callback):

            async def guarded_async(*arguments: object) -> object:
                try:
                    return await callback(*arguments)
                except Exception as error:
                    self.fault(origin(*arguments), error)
                    return failed(error, *arguments)

            return guarded_async

        def guarded(*arguments: object) -> object:
            try:
                return callback(*arguments)
            except Exception as error:
                self.fault(origin(*arguments), error)
                return failed(error, *arguments)

        return guarded

    def setting(self, name: str) -> bool | int | float | str | list[str]:
        return self.get_parameter(name).value

    def now(self) -> float:
        """Return the time of the node's clock [s]; simulated time if `use_sim_time` is set."""
        return self.get_clock().now().nanoseconds * 1e-9

    def every(self, period: float, callback: Callable[[], None]) -> Timer:
        """Call `callback` every `period` seconds of wall time, independent of the simulated clock."""
        return self.create_timer(period, callback, clock=self._steady)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self._health = StatusPublisher(self, LATCHED)
            self.configure()
        except LlmPlannerError as error:
            self.start_error = error
            self.get_logger().fatal(str(error))
            self._destroy_own()
            return TransitionCallbackReturn.FAILURE
        except Exception as error:
            self.start_error = error
            if not self.context.ok():  # during shutdown, rclpy's own work fails in many ways
                return TransitionCallbackReturn.FAILURE
            # rclpy's lifecycle swallows such an exception silently, so log it here.
            self.get_logger().fatal(f"a fault in this node keeps it from starting:\n{traceback.format_exc()}")
            raise
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.is_active = True
        self._health.hurry()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.is_active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.close()
        self._destroy_own()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.is_active = False
        self.close()
        return super().on_shutdown(state)

    def report(self, level: bytes, message: str, values: Iterable[tuple[str, object]] = ()) -> None:
        """Publish a status on /diagnostics under this node's full name.

        Args:
            level: `OK`, `WARN` or `ERROR`.
            message: Summary for people.
            values: Pairs of key and value; the number of faults is added if there were any.
        """
        counted = [("faults", self._faults)] if self._faults else []
        self._health.publish(level, message, [*values, *counted])

    def report_with(self, callback: Callable[[], None]) -> None:
        """Call `callback`, which reports the status, every second, and more often while the node starts."""
        self._health.paced_by(self.every(EAGER_PERIOD, callback))

    def _entities(self) -> list[object]:
        return [*self.publishers, *self.subscriptions, *self.timers, *self.services, *self.clients, *self.waitables]

    def _destroy_own(self) -> None:
        kept = {id(entity) for entity in self._base_entities}
        for kind in ("publisher", "subscription", "timer", "service", "client"):
            for entity in [entity for entity in getattr(self, f"{kind}s") if id(entity) not in kept]:
                getattr(self, f"destroy_{kind}")(entity)
        for waitable in [entity for entity in self.waitables if id(entity) not in kept]:
            waitable.destroy()


def run_node(node_class: type[BaseNode], name: str) -> None:
    """Run a node until interrupted; if it cannot start, print one paragraph and exit with `CANNOT_START`.

    SIGINT and SIGTERM only tell rclpy to shut down. They wait until it can be told, and never raise KeyboardInterrupt.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    for number in ENDING:
        signal.signal(number, lambda *_: None)  # rclpy's handlers call these afterwards
    use_sockets()
    try:
        rclpy.init(args=sys.argv)
    except RuntimeError as error:
        _refuse(name, error)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    try:
        node = node_class(name)
        node.has_own_process = True
        claim = claim_name(node.get_name(), node.get_namespace(), node.context.get_domain_id())
    except Exception as error:
        if not rclpy.ok():
            _ignore_signals()
            return  # during shutdown, rclpy's own work fails in many ways
        rclpy.try_shutdown()
        _refuse(name, error)
    executor = NodeExecutor()
    executor.add_node(node)
    try:
        if node.setting("autostart") and not _start(node) and rclpy.ok():
            end_unstarted(_reason(node.start_error) if node.start_error else "")
        gc.collect()
        gc.freeze()  # the collector skips objects that exist now, which shortens pauses in the control loop
        _spin(executor, node)
    except ExternalShutdownException:
        pass
    except Exception:
        if rclpy.ok():
            raise
    finally:
        node.close()
        node.destroy_node()
        rclpy.try_shutdown()
        claim.close()
        _ignore_signals()


def _ignore_signals() -> None:
    """Ignore another signal while Python ends, which restores the default: to die of it."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _spin(executor: NodeExecutor, node: BaseNode) -> None:
    """Spin until shutdown; exceptions in rclpy's own work do not end the node."""
    while rclpy.ok():
        try:
            executor.spin()
        except ExternalShutdownException:
            raise
        except Exception as error:
            if rclpy.ok():  # during shutdown, rclpy's own work fails in many ways
                node.fault("rclpy", error)


def _start(node: BaseNode) -> bool:
    success = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == success and node.trigger_activate() == success


def _refuse(name: str, error: Exception) -> NoReturn:
    """End the process with one paragraph, after a traceback if this program is at fault."""
    if not _is_refusal(error):
        traceback.print_exception(error)
    print(f"{name} cannot start: {_reason(error)}", file=sys.stderr)
    end_unstarted(_reason(error))


def _is_refusal(error: Exception) -> bool:
    """Return whether the cause is wrong input from outside, not a fault of this program."""
    return isinstance(error, LlmPlannerError) or type(error).__module__.startswith("rclpy.")


def _reason(error: Exception) -> str:
    if isinstance(error, LlmPlannerError):
        return str(error)
    said = plain(error)
    if isinstance(error, ParameterException):
        return f"a parameter is wrong: {said}"
    return said if _is_refusal(error) else f"a fault of this program, {type(error).__name__}: {said}"
