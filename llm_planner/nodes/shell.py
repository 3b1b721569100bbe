"""What every node of ours shares: a lifecycle, typed parameters, diagnostics, a main that ends with one paragraph."""

from __future__ import annotations

import gc
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import ClassVar

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException, ParameterException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from llm_planner.errors import LlmPlannerError
from llm_planner.nodes.settings import Setting, declare

SENSOR_DATA = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
NEWEST_ONLY = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)  # for loops that an old sample would harm
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
SPOKEN = QoSProfile(depth=500, reliability=ReliabilityPolicy.RELIABLE)  # a stop among many words is not to be lost
PATCHES = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)

OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class ShellNode(LifecycleNode):
    """A lifecycle node whose subclass says what to build in `configure`; cleaning up is done here.

    Subclasses create publishers with `create_lifecycle_publisher`, and look at `is_active` in callbacks that move
    something.
    """

    SETTINGS: ClassVar[tuple[Setting, ...]] = ()
    AUTOSTART = Setting("autostart", True, "configure and activate at once, without a lifecycle manager")

    def __init__(self, name: str, **options: object) -> None:
        """`options` are rclpy's."""
        super().__init__(name, **options)
        declare(self, (*self.SETTINGS, self.AUTOSTART))
        self.is_active = False
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._base_entities = self._entities()

    def configure(self) -> None:
        """Build publishers, subscriptions, timers and the core object; may raise LlmPlannerError."""
        raise NotImplementedError

    def close(self) -> None:
        """Free what the garbage collector does not; the default has nothing to free."""

    def setting(self, name: str) -> bool | int | float | str | list[str]:
        """The value of a declared parameter."""
        return self.get_parameter(name).value

    def now(self) -> float:
        """The node's clock [s]: simulated time where `use_sim_time` is set."""
        return self.get_clock().now().nanoseconds * 1e-9

    def every(self, period: float, callback: Callable[[], None]) -> None:
        """Call back every `period` wall seconds, whatever the simulated clock does."""
        self.create_timer(period, callback, clock=self._steady)

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        try:
            self._diagnostics = self.create_lifecycle_publisher(DiagnosticArray, "/diagnostics", 10)
            self.configure()
        except LlmPlannerError as error:
            self.get_logger().fatal(str(error))
            self._destroy_own()
            return TransitionCallbackReturn.FAILURE
        except Exception:
            # A fault of ours: rclpy's lifecycle would swallow it without a word.
            self.get_logger().fatal(f"a fault in this node keeps it from starting:\n{traceback.format_exc()}")
            raise
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self.is_active = True
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
        """One line on /diagnostics, under this node's full name."""
        pairs = [KeyValue(key=key, value=str(value)) for key, value in values]
        name = self.get_fully_qualified_name()
        status = DiagnosticStatus(level=level, name=name, hardware_id=name, message=message, values=pairs)
        array = DiagnosticArray(status=[status])
        array.header.stamp = self.get_clock().now().to_msg()
        self._diagnostics.publish(array)

    def _entities(self) -> list[object]:
        return [*self.publishers, *self.subscriptions, *self.timers, *self.services, *self.clients, *self.waitables]

    def _destroy_own(self) -> None:
        kept = {id(entity) for entity in self._base_entities}
        destroy = (
            (self.publishers, self.destroy_publisher),
            (self.subscriptions, self.destroy_subscription),
            (self.timers, self.destroy_timer),
            (self.services, self.destroy_service),
            (self.clients, self.destroy_client),
        )
        for entities, remove in destroy:
            for entity in [entity for entity in entities if id(entity) not in kept]:
                remove(entity)
        for waitable in [entity for entity in self.waitables if id(entity) not in kept]:
            waitable.destroy()


def run_node(node_class: type[ShellNode], name: str) -> None:
    """The main of every node: spin until interrupted. Exits with 1 and one paragraph when it cannot start."""
    rclpy.init(args=sys.argv)
    try:
        node = node_class(name)
    except (ParameterException, InvalidParameterTypeException, InvalidParameterValueException) as error:
        rclpy.try_shutdown()
        raise SystemExit(f"{name} cannot start: a parameter is wrong: {error}") from None
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        if node.setting("autostart") and not _start(node):
            raise SystemExit(1)  # the reason is in the log
        gc.collect()
        gc.freeze()  # what lives from here on is never scanned again: shorter pauses in the control loop
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass  # asked to end
    except Exception:
        if rclpy.ok():
            raise
        # Otherwise the interrupt came in the middle of rclpy's own work, which then fails in many ways.
    finally:
        node.close()
        node.destroy_node()
        rclpy.try_shutdown()


def _start(node: ShellNode) -> bool:
    success = TransitionCallbackReturn.SUCCESS
    return node.trigger_configure() == success and node.trigger_activate() == success
