"""What nodes report of themselves: silent processes, nodes that move the robot and are lost, nodes not ready yet.

A node that died during a plan would move the robot again after its restart, so the plan must end.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.timer import Timer

from llm_planner.ros.other_systems import is_claimed, is_known

LONGEST_LOOK = 0.6  # [s] that one look may add by default; a longer gap means that this process was delayed


class HeartbeatMonitor:
    """Counts how long another process has been silent; call `look` a few times a second.

    Messages that arrived while this process was delayed still wait in the queue, so such a delay counts only in part.
    """

    def __init__(self, longest_look: float = LONGEST_LOOK) -> None:
        """Set the time [s] that one look adds at most."""
        self._longest_look = longest_look
        self.seconds = math.inf  # nothing received yet
        self._looked = math.inf

    def heard(self) -> None:
        """Reset the count after a message."""
        self.seconds = 0.0

    def look(self, now: float) -> None:
        """Advance the count to `now` [s, monotonic]."""
        self.seconds += min(max(0.0, now - self._looked), self._longest_look)
        self._looked = now


STANDSTILL = 5.0  # [s, wall time] without the robot's data, after which its clock no longer counts


class DataSilence:
    """Counts how long data of the robot are missing; call `look` a few times a second.

    It counts the lesser of the robot's time and wall time: on a busy computer a simulation comes late, and its clock
    with it. Once wall time reaches `STANDSTILL`, wall time alone counts.
    """

    def __init__(
        self,
        robot_clock: Callable[[], float],
        longest_look: float = LONGEST_LOOK,
        wall_clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set the clocks [s], and the time [s] that one look adds at most."""
        self._clocks = robot_clock, wall_clock
        self._robot, self._wall = HeartbeatMonitor(longest_look), HeartbeatMonitor(longest_look)

    @property
    def seconds(self) -> float:
        """Time without data [s]; infinite before the first."""
        wall = self._wall.seconds
        return wall if wall >= STANDSTILL else min(self._robot.seconds, wall)

    def heard(self) -> None:
        """Reset the count after a message."""
        self._robot.heard()
        self._wall.heard()

    def look(self) -> None:
        """Advance the count."""
        for silence, clock in zip((self._robot, self._wall), self._clocks, strict=True):
            silence.look(clock())


_TOPIC = "/diagnostics"
SILENCE_MAX = 2.5  # [s, wall time] without a report, after which a node counts as dead
BUSY_MAX = 10.0  # [s, wall time] the same while its process lives here: a busy machine holds it up
EAGER_PERIOD, PERIOD = 0.2, 1.0  # [s] between the reports of a node that starts, and of one that has reported OK
EAGER_MAX = 50  # reports, after which a node that has not become OK goes on in the longer period


class StatusPublisher:
    """Publishes the status of `node` on /diagnostics, latched, so that a late reader knows it at once."""

    def __init__(self, node: LifecycleNode, latched: QoSProfile) -> None:
        self._node, self._eager = node, 0
        self._timer: Timer | None = None
        self._topic = node.create_lifecycle_publisher(DiagnosticArray, _TOPIC, latched)

    def paced_by(self, timer: Timer) -> None:
        """Set the timer in whose callback the node calls `publish`."""
        self._timer = timer
        self.hurry()

    def hurry(self) -> None:
        """Report often until the node is OK."""
        self._pace(EAGER_MAX)

    def publish(self, level: bytes, message: str, values: Iterable[tuple[str, object]]) -> None:
        name = self._node.get_fully_qualified_name()
        pairs = [KeyValue(key=key, value=str(value)) for key, value in values]
        array = DiagnosticArray(
            status=[DiagnosticStatus(level=level, name=name, hardware_id=name, message=message, values=pairs)]
        )
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._topic.publish(array)
        if self._eager and self._topic.is_activated:
            self._pace(0 if level == DiagnosticStatus.OK else self._eager - 1)

    def _pace(self, eager: int) -> None:
        """Set how many reports come in the short period."""
        self._eager = eager
        if self._timer is not None:
            self._timer.timer_period_ns = round(1e9 * (EAGER_PERIOD if eager else PERIOD))


def milliseconds(name: str, durations: Sequence[float]) -> list[tuple[str, str]]:
    """Return median and maximum of durations [s] as values of a status; none without durations."""
    if not durations:
        return []
    median, longest = 1e3 * statistics.median(durations), 1e3 * max(durations)
    return [(f"{name}_median_ms", f"{median:.3f}"), (f"{name}_max_ms", f"{longest:.3f}")]


class MotionNodeMonitor:
    """Watches the nodes called `names` in the namespace of `node`; a node that never appeared is not missed."""

    def __init__(self, node: Node, names: Iterable[str]) -> None:
        self._node, self._known = node, dict.fromkeys(names, frozenset[bytes]())
        prefix = node.get_namespace().rstrip("/")
        self._silences = {f"{prefix}/{name}": HeartbeatMonitor() for name in self._known}
        node.create_subscription(DiagnosticArray, _TOPIC, self._on_reports, 10)

    def _on_reports(self, message: DiagnosticArray) -> None:
        for report in message.status:
            if report.name in self._silences:
                self._silences[report.name].heard()

    def starting(self) -> str:
        """Return the name of a node that is there but has not been heard of yet; "" if there is none."""
        silent = (name.rpartition("/")[2] for name, one in self._silences.items() if one.seconds == math.inf)
        return next((name for name in silent if is_known(self._node, name)), "")

    def lost(self) -> str:
        """Return the name of a node that is silent or has restarted since the last call; "" if there is none.

        Call a few times a second.
        """
        now = time.monotonic()
        for silence in self._silences.values():
            silence.look(now)
        silent = {name.rpartition("/")[2]: one.seconds for name, one in self._silences.items()}
        late = {name: seconds for name, seconds in silent.items() if SILENCE_MAX < seconds < math.inf}
        dead = (name for name, seconds in late.items() if seconds > BUSY_MAX or not is_claimed(self._node, name))
        return self._started_anew() or next(dead, "")

    def _started_anew(self) -> str:
        """Return the name of a restarted node, which shows by new endpoints in the graph; "" if there is none."""
        here, again = self._node.get_namespace(), ""
        seen = [one for one in self._node.get_publishers_info_by_topic(_TOPIC) if one.node_namespace == here]
        for name, known in self._known.items():
            lives = frozenset(bytes(one.endpoint_gid) for one in seen if one.node_name == name)
            if known and not lives <= known:
                again = name
            self._known[name] = known | lives
        return again


# For these nodes a warning means that the scene, the robot's states or the model are still missing.
_WARN_UNTIL_READY = ("language_planner", "plan_executor", "skill_server")
_LATCHED = QoSProfile(depth=50, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Readiness:
    """Watches /diagnostics through `node` for the nodes called `names` in its namespace."""

    def __init__(self, node: Node, names: Iterable[str]) -> None:
        prefix = node.get_namespace().rstrip("/")
        self._lacks = {f"{prefix}/{name}": "it has not been heard of yet" for name in names}
        node.create_subscription(DiagnosticArray, _TOPIC, self._on_report, _LATCHED)

    @property
    def missing(self) -> dict[str, str]:
        """Nodes that are not ready, by name, with the reason for each."""
        return {name.rpartition("/")[2]: lacks for name, lacks in self._lacks.items() if lacks}

    def _on_report(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name in self._lacks:
                self._lacks[status.name] = "" if is_ready(status) else status.message


def is_ready(status: DiagnosticStatus) -> bool:
    """Return whether a node with this status is ready to execute commands."""
    warns_until_ready = status.name.rpartition("/")[2] in _WARN_UNTIL_READY
    return status.level < (DiagnosticStatus.WARN if warns_until_ready else DiagnosticStatus.ERROR)
